//! What the supervisor is told of the agent's steps. None of it waits.

use gangline_api::status::SupervisorStatus;
use gangline_core::{agent::Effect, redact::Redacted};

use super::AgentLoop;
use crate::supervisor::feed::{Feed, Seen};

/// The task of a turn that the backend began on its own.
const BEGAN_ITSELF: &str = "(the agent's program began this turn on its own)";
/// The task of a turn with the configured first prompt.
const PRIMED: &str = "(the first prompt of the session)";

impl AgentLoop {
    /// Says who is told of the agent's steps.
    pub(crate) fn feeds(mut self, feed: Feed) -> Self {
        self.feed = feed;
        self
    }

    /// Tells of a turn's beginning and end.
    pub(super) fn feed_effect(&mut self, effect: &Effect) {
        if !self.feed.is_on() {
            return;
        }
        let now = self.now();
        match effect {
            Effect::SendPrompt { turn } => {
                let turn = *turn;
                let messages = self.core.view().messages;
                let rows = messages.iter().filter_map(|id| self.rows.get(id));
                let bodies: Vec<&str> = rows.map(|it| it.row.body.as_str()).collect();
                let task = self.me.redactor.redact(&bodies.join("\n"));
                self.feed.tell(now, || Seen::TurnStarted { turn, task });
            }
            Effect::AdoptTurn { turn, .. } => {
                let (turn, task) = (*turn, Redacted::constant(BEGAN_ITSELF));
                self.feed.tell(now, || Seen::TurnStarted { turn, task });
            }
            Effect::Prime { turn } => {
                let (turn, task) = (*turn, Redacted::constant(PRIMED));
                self.feed.tell(now, || Seen::TurnStarted { turn, task });
            }
            Effect::EndTurn { .. } => self.feed.tell(now, || Seen::TurnEnded),
            _ => {}
        }
    }

    /// Tells how many approvals the turn waits for.
    pub(super) fn feed_waits(&mut self) {
        let (now, approvals) = (self.now(), self.core.view().approvals);
        self.feed.waits_for(now, approvals);
    }

    /// The agent looked at its inbox or at a channel.
    pub(super) fn looked(&mut self) {
        let now = self.now();
        self.feed.tell(now, || Seen::LookedAtInbox);
    }

    /// The supervisor says what it is doing.
    pub(super) fn watched(&mut self, status: SupervisorStatus) {
        self.shown.supervisor = Some(status);
        self.show();
    }
}
