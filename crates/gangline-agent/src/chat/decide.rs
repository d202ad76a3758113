//! Decisions on approvals, said in the chat.

use gangline_core::{
    ApprovalNumber, Principal, Tier,
    approval::{
        self, Addressed, Announced, ApprovalState, Decision, Moment, OpenApproval, Reach,
        Resolution, view,
    },
    name::fold,
    room_words::Asked,
    trust::Action,
};
use gangline_irc::client::Line;
use gangline_os::clock;
use gangline_store::{ApprovalRow, DecideError, Ruling, StoreError};
use tracing::{info, warn};

use super::Chat;
use crate::{place, texts::approvals};

/// What came of a line that may be no prompt.
pub(super) enum Handled {
    /// It was a decision, a room word or a near miss, and is dealt with.
    Yes,
    /// It is a prompt like any other.
    No,
    /// It may be one, and the store does not say now: it must be taken in again.
    NotNow,
}

/// What a line says about the approval that it names.
pub(super) struct Word {
    pub(super) number: ApprovalNumber,
    pub(super) decision: Decision,
    pub(super) reach: Reach,
    pub(super) reason: Option<String>,
}

/// Returns how others know who said the line; several people may use one account.
pub(super) fn known_as(line: &Line, who: &Principal) -> String {
    let account = who.account.trim_start_matches('~');
    match fold(account) == fold(&line.nick) {
        true => line.nick.clone(),
        false => format!("{} ({account})", line.nick),
    }
}

fn is_decided_so(row: &ApprovalRow, decision: Decision, who: &Principal) -> bool {
    row.decision.zip(row.decided_by.as_ref()) == Some((decision, who))
}

impl Chat {
    /// Takes the line as a decision, if it is one. `text` is without the mention, and `said` is
    /// what stood there before other words for `yes` and `no` were replaced.
    pub(super) async fn decision(
        &mut self,
        line: &Line,
        who: &Principal,
        (text, said): (&str, &str),
        addressed: Addressed,
    ) -> Handled {
        let open = match self.open_here(line, who).await {
            Ok(open) => open,
            Err(error) => {
                warn!(%error, "cannot read approvals");
                return Handled::NotNow;
            }
        };
        match approval::resolve(text, addressed, &open, self.moment(line)) {
            Resolution::NotADecision => self.nothing_to_decide(line, who, said).await,
            Resolution::NeedsNumber { open, decision, why } => {
                let text = approvals::unclear(said, &open, decision, why);
                self.answer_who_may(line, who, &text).await
            }
            Resolution::Unknown { number, decision, reach, reason } => {
                let word = Word { number, decision, reach, reason };
                match self.decide_change(line, who, &word).await {
                    Some(handled) => handled,
                    None => self.decide_closed(line, who, word).await,
                }
            }
            Resolution::Decided { number, decision, reach, reason } => {
                let word = Word { number, decision, reach, reason };
                match self.decide_change(line, who, &word).await {
                    Some(handled) => handled,
                    None => self.decide(line, who, word).await,
                }
            }
        }
    }

    /// Returns the open approvals, each with how it was announced where the line was said.
    async fn open_here(
        &self,
        line: &Line,
        who: &Principal,
    ) -> Result<Vec<OpenApproval>, StoreError> {
        let store = &self.deps.store;
        let here = place::key(&line.target, who);
        let mut open = Vec::new();
        for row in store.approvals(Some(&self.deps.agent), true).await? {
            let places = store.approval_places(row.number).await?;
            let place = places.into_iter().find(|it| it.place == here);
            let announced = place.and_then(|it| {
                let told = it.told_at.as_deref().and_then(clock::parse_rfc3339).map(|at| at.0);
                let at = Moment { told, heard: it.heard_at?.0 };
                Some(Announced { extent: it.extent, at })
            });
            open.push(OpenApproval { number: row.number, announced });
        }
        // No line shows all of a change, so none is decided by a bare word.
        let changes = self.open_changes().await?;
        open.extend(changes.into_iter().map(|number| OpenApproval { number, announced: None }));
        Ok(open)
    }

    /// Returns when a live line was said.
    pub(super) fn moment(&self, line: &Line) -> Option<Moment> {
        let told = line.server_time.as_deref().and_then(clock::parse_rfc3339).map(|at| at.0);
        (!line.from_history).then(|| Moment { told, heard: self.deps.clock.now().0 })
    }

    /// Tells somebody who may decide; tells others that they may not.
    async fn answer_who_may(&self, line: &Line, who: &Principal, text: &str) -> Handled {
        match self.deps.policy.may(who, Action::Approve, 0) {
            Ok(()) => self.answer(line, text).await,
            Err(refusal) => self.answer(line, &refusal.to_string()).await,
        }
        Handled::Yes
    }

    /// The line names an approval that is not open. One whose daemon died is decided for the
    /// message's next attempt.
    async fn decide_closed(&self, line: &Line, who: &Principal, word: Word) -> Handled {
        let number = word.number;
        let row = match self.deps.store.approval(number).await {
            Ok(row) => row,
            Err(error) => {
                warn!(%error, "cannot read an approval");
                return Handled::NotNow;
            }
        };
        let (row, other) = match row {
            Some(row) if row.agent == self.deps.agent => (Some(row), None),
            other => (None, other),
        };
        let waits =
            |row: &ApprovalRow| matches!(row.state, ApprovalState::Open | ApprovalState::Void);
        let elsewhere = match &other {
            Some(other) => approvals::of_another(other, Some(word.decision)),
            None if row.is_none() => self.no_approval(number).await,
            None => approvals::unknown(number),
        };
        match row {
            Some(row) if row.state == ApprovalState::Void => self.decide(line, who, word).await,
            // The same line taken in twice finds its own decision: nothing to say.
            Some(row) if line.from_history && is_decided_so(&row, word.decision, who) => {
                Handled::Yes
            }
            Some(row) => self.answer_who_may(line, who, &approvals::closed(&row)).await,
            // "no 5 is too few" is talk where nothing was asked. Where something was, a refusal
            // with a wrong number must not become a prompt.
            None if word.reason.is_some() && who.tier == Tier::Agent => Handled::No,
            // It was said to the wrong agent.
            None if other.as_ref().is_some_and(waits) => {
                self.answer_who_may(line, who, &elsewhere).await
            }
            None if word.reason.is_some() => match self.asked_lately().await {
                Some(Asked::Lately) => self.answer_who_may(line, who, &elsewhere).await,
                Some(Asked::Not) => Handled::No,
                None => Handled::NotNow,
            },
            None => self.answer_who_may(line, who, &elsewhere).await,
        }
    }

    async fn decide(&self, line: &Line, who: &Principal, word: Word) -> Handled {
        if let Err(refusal) = self.deps.policy.may(who, Action::Approve, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        let number = word.number;
        if word.decision == Decision::Allow {
            match self.was_shown_here(line, who, number).await {
                Ok(true) => {}
                Ok(false) => return self.show_first(line, who, &word).await,
                Err(error) => {
                    warn!(%error, "cannot read where an approval was announced");
                    return Handled::NotNow;
                }
            }
        }
        let deps = &self.deps;
        let (ruling, said) = self.ruling(line, who, &word);
        let done = match word.reach {
            Reach::Once => deps.store.decide(number, ruling).await.map(|it| (it, None)),
            Reach::Always => {
                let done = deps.store.decide_always(number, ruling).await;
                done.map(|it| (it.decided, Some(it.stored)))
            }
        };
        let (decided, stored) = match done {
            Ok(done) => done,
            Err(error) => return self.not_decided(line, error).await,
        };
        info!(%number, decision = %word.decision, by = who.account, "decided");
        deps.rescan.notify_one();
        deps.outbox.notify_one();
        let here = place::key(&line.target, who);
        let places = deps.store.approval_places(number).await.unwrap_or_default();
        let mut texts = Vec::new();
        if decided.for_next_attempt {
            texts.push(approvals::for_next_attempt(&said));
        } else if places.iter().all(|it| it.place != here) {
            texts.push(said);
        }
        if let Some(stored) = stored {
            texts.push(approvals::always(number, &stored));
        }
        if !texts.is_empty() {
            self.answer_lines(line, &texts).await;
        }
        Handled::Yes
    }

    pub(super) fn ruling(&self, line: &Line, who: &Principal, word: &Word) -> (Ruling, String) {
        let known_as = known_as(line, who);
        let number = word.number.to_string();
        let said = view::decided(&number, word.decision, &known_as, word.reason.as_deref());
        let redact = |text: &str| self.deps.redactor.redact(text);
        let ruling = Ruling {
            decision: word.decision,
            by: who.clone(),
            known_as,
            note: word.reason.as_deref().map(redact),
            say: Some(redact(&said)),
        };
        (ruling, said)
    }

    async fn not_decided(&self, line: &Line, error: DecideError) -> Handled {
        match error {
            DecideError::Store(error) => {
                warn!(%error, "cannot record a decision; the line is taken from history later");
                return Handled::NotNow;
            }
            // The same line taken in twice finds its own decision: nothing to say.
            DecideError::Closed { .. } if line.from_history => {}
            error @ (DecideError::Closed { .. } | DecideError::Unknown(_)) => {
                self.answer(line, &error.to_string()).await;
            }
        }
        Handled::Yes
    }
}

#[cfg(test)]
mod tests;
