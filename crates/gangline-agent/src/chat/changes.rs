//! Decisions on what a manager has asked for, said in the chat (R2-35, R2-37, R2-39): only with their
//! number, since no line shows all of a change.

use gangline_core::{
    ApprovalNumber, Principal, Target, Tier,
    approval::{Decision, Reach, page},
    split::LINE_BYTES,
    trust::Action,
};
use gangline_irc::client::Line;
use gangline_os::change_notice;
use gangline_store::{ChangeRow, ChangeState, DecideError, StoreError};
use tracing::{info, warn};

use super::{
    Chat,
    decide::{Handled, Word},
};
use crate::{place, texts::changes};

/// The most lines that are shown in private.
const LINES_MAX: usize = 60;
/// As in a room: before the first line stands who is meant.
const NAME_ROOM: usize = 64;

impl Chat {
    /// Decides the change of this number, if there is one; `None` if there is none.
    pub(super) async fn decide_change(
        &mut self,
        line: &Line,
        who: &Principal,
        word: &Word,
    ) -> Option<Handled> {
        let row = match self.deps.store.change(word.number).await {
            Ok(row) => row?,
            Err(error) => {
                warn!(%error, "cannot read a change");
                return Some(Handled::NotNow);
            }
        };
        Some(self.rule_on(line, who, (&row, word)).await)
    }

    async fn rule_on(
        &mut self,
        line: &Line,
        who: &Principal,
        (row, word): (&ChangeRow, &Word),
    ) -> Handled {
        if let Err(refusal) = self.deps.policy.may(who, Action::Approve, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        if row.agent != self.deps.agent {
            self.answer(line, &changes::of_another(row, word.decision)).await;
            return Handled::Yes;
        }
        if row.state != ChangeState::Requested {
            // The same line taken in twice finds its own decision: nothing to say.
            let own = row.decision.zip(row.decided_by.as_ref()) == Some((word.decision, who));
            if !(line.from_history && own) {
                self.answer(line, &changes::closed(row)).await;
            }
            return Handled::Yes;
        }
        if word.reach == Reach::Always {
            self.answer(line, &changes::no_always(row.number)).await;
            return Handled::Yes;
        }
        if word.decision == Decision::Allow && !self.change_was_shown_here(line, who, row) {
            return self.show_change_first(line, who, (row, word)).await;
        }
        let (ruling, _) = self.ruling(line, who, word);
        match self.deps.store.decide_change(row.number, ruling).await {
            Ok(decided) => {
                info!(number = %row.number, decision = %word.decision, by = who.account, "decided");
                self.deps.rescan.notify_one();
                self.deps.outbox.notify_one();
                change_notice::notify(&self.deps.paths.change_notice("hub"));
                self.answer(line, &changes::decided(&decided)).await;
                Handled::Yes
            }
            Err(DecideError::Store(error)) => {
                warn!(%error, "cannot record a decision; the line is taken from history later");
                Handled::NotNow
            }
            Err(error @ (DecideError::Closed { .. } | DecideError::Unknown(_))) => {
                self.answer(line, &error.to_string()).await;
                Handled::Yes
            }
        }
    }

    /// Shows a change to an owner in private; `None` if there is none of this number.
    pub(super) async fn show_change(
        &mut self,
        line: &Line,
        who: &Principal,
        number: ApprovalNumber,
    ) -> Option<Handled> {
        let row = match self.deps.store.change(number).await {
            Ok(row) => row?,
            Err(error) => {
                warn!(%error, "cannot read a change");
                return Some(Handled::NotNow);
            }
        };
        let texts = match (&line.target, who.tier) {
            (Target::Nick(_), Tier::Owner) => {
                self.shown_changes.insert((number, place::key(&line.target, who)));
                shown(&row)
            }
            (Target::Nick(_) | Target::Channel(_), _) => vec![changes::only_owners(number)],
        };
        self.answer_shown(line, &texts).await;
        Some(Handled::Yes)
    }

    /// Returns the numbers of what the agent has asked for and nobody has decided.
    pub(super) async fn open_changes(&self) -> Result<Vec<ApprovalNumber>, StoreError> {
        let rows = self.deps.store.changes(Some(&self.deps.agent), true).await?;
        Ok(rows.iter().map(|row| row.number).collect())
    }
}

/// Returns the lines of a change for the wire.
fn shown(row: &ChangeRow) -> Vec<String> {
    let mut lines = page::wire(&changes::card(row), LINE_BYTES - NAME_ROOM);
    if lines.len() > LINES_MAX {
        let left = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        let number = row.number;
        lines.push(format!("… {left} more lines: run `gangline approvals {number}`"));
    }
    lines
}
