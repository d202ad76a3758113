//! Words that are not prompts: decisions on approvals.

use gangline_broker::{ApprovalRow, ApprovalState, DecideError, Decision as Decided};
use gangline_core::{
    ApprovalNumber, Principal,
    approval::{self, Addressed, Decision, LineOrder, OpenApproval, Reach, Resolution},
    trust::Action,
};
use gangline_irc::client::Line;
use tracing::{info, warn};

use super::Courier;

/// What came of a line that may be no prompt.
pub(super) enum Handled {
    /// It was a decision or an operator's word.
    Yes,
    /// It is a prompt like any other.
    No,
    /// It may be one, and the store does not say now: it must be taken in again.
    NotNow,
}

/// Returns what the line means for the open approvals.
fn resolve(line: &Line, text: &str, addressed: Addressed, open: &[ApprovalRow]) -> Resolution {
    // Echoes and lines come in the order of the room, so an announcement that was echoed stands
    // before this line. A line from history has no such order: it needs a number.
    let announced = |row: &ApprovalRow| {
        let echoed = row.announced_at.is_some() || row.announced_msgid.is_some();
        echoed.then(|| LineOrder("0".to_owned()))
    };
    let waiting: Vec<OpenApproval> = open
        .iter()
        .map(|row| OpenApproval { number: row.number, announced: announced(row) })
        .collect();
    let order = (!line.from_history).then(|| LineOrder("1".to_owned()));
    approval::resolve(text, addressed, &waiting, order.as_ref())
}

fn as_stored(decision: Decision) -> Decided {
    match decision {
        Decision::Allow => Decided::Allow,
        Decision::Deny => Decided::Deny,
    }
}

impl Courier {
    /// Takes the line as a decision, if it is one. `text` is without the mention.
    pub(super) async fn decision(
        &mut self,
        line: &Line,
        who: &Principal,
        text: &str,
        addressed: Addressed,
    ) -> Handled {
        let open = match self.office.broker.approvals(Some(&self.office.agent), true).await {
            Ok(open) => open,
            Err(error) => {
                warn!(%error, "cannot read approvals");
                return Handled::NotNow;
            }
        };
        match resolve(line, text, addressed, &open) {
            Resolution::NotADecision => self.nothing_to_decide(line, who, text).await,
            Resolution::NeedsNumber { open } => {
                let numbers: Vec<String> = open.iter().map(|n| format!("yes {n}")).collect();
                let text = format!("which one? say {}", numbers.join(" or "));
                self.answer_who_may(line, who, &text).await
            }
            Resolution::Unknown(number) => self.decide_void(line, who, (number, text)).await,
            // Without rules in the store, a permission for good is one for this time.
            Resolution::Decided { number, decision, reach: Reach::Once | Reach::Always } => {
                self.decide(line, who, (number, decision)).await
            }
        }
    }

    /// Tells somebody who may decide; tells others that they may not.
    async fn answer_who_may(&self, line: &Line, who: &Principal, text: &str) -> Handled {
        match self.office.policy.may(who, Action::Approve, 0) {
            Ok(()) => self.answer(line, text).await,
            Err(refusal) => self.answer(line, &refusal.to_string()).await,
        }
        Handled::Yes
    }

    /// An approval whose daemon died is decided for the message's next attempt.
    async fn decide_void(
        &self,
        line: &Line,
        who: &Principal,
        (number, text): (ApprovalNumber, &str),
    ) -> Handled {
        let row = match self.office.broker.approval(number).await {
            Ok(row) => row,
            Err(error) => {
                warn!(%error, "cannot read an approval");
                return Handled::NotNow;
            }
        };
        let row = row.filter(|row| row.agent == self.office.agent);
        let void = row.as_ref().is_some_and(|row| row.state == ApprovalState::Void);
        let is_decided_so = |decision| {
            let by = row.as_ref().and_then(|row| row.decision.zip(row.decided_by.as_ref()));
            by == Some((as_stored(decision), who))
        };
        match approval::parse(text) {
            Some(said) if void => self.decide(line, who, (number, said.decision)).await,
            // The same line taken in twice finds its own decision: nothing to say.
            Some(said) if line.from_history && is_decided_so(said.decision) => Handled::Yes,
            Some(_) | None => {
                let text = format!("there is no open approval {number}");
                self.answer_who_may(line, who, &text).await
            }
        }
    }

    async fn decide(
        &self,
        line: &Line,
        who: &Principal,
        (number, decision): (ApprovalNumber, Decision),
    ) -> Handled {
        if let Err(refusal) = self.office.policy.may(who, Action::Approve, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        match self.office.broker.decide(number, as_stored(decision), who.clone(), None).await {
            Ok(_) => {
                info!(%number, %decision, by = who.account, "decided");
                self.office.rescan.notify_one();
            }
            Err(DecideError::Store(error)) => {
                warn!(%error, "cannot record a decision; the line is taken from history later");
                return Handled::NotNow;
            }
            // The same line taken in twice finds its own decision: nothing to say.
            Err(DecideError::Closed { .. }) if line.from_history => {}
            Err(error) => self.answer(line, &error.to_string()).await,
        }
        Handled::Yes
    }
}
