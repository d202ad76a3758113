//! Orders that people give in the chat: stored, then confirmed, then obeyed. A word from history was said to
//! another state of things: it orders nothing.

use gangline_core::{
    Principal, TurnId,
    agent::{ContextChange, PhaseName},
    pause::{Continue, PauseReason},
    time::WallMicros,
};
use gangline_irc::client::Line;
use gangline_store::{NewPause, StoreError};
use tracing::warn;

use super::{
    Chat,
    decide::{Handled, known_as},
    findings::NO_TURN,
};
use crate::{
    bus::{Incoming, Word},
    orders::{NotOrdered, Orders},
    texts::pauses,
};

impl Chat {
    pub(super) fn is_escalated(&self) -> bool {
        self.deps.showing.borrow().note.escalated.is_some()
    }

    pub(super) async fn pause(&self, line: &Line, ends: Option<&str>) {
        let until = match ends.map(|ends| pauses::ends(ends, self.deps.clock.now())).transpose() {
            Ok(until) => until,
            Err(why) => return self.answer(line, &format!("nothing changes: {why}")).await,
        };
        let told = until.map_or_else(String::new, |at| {
            format!(" until {}, or", pauses::local(WallMicros(at.0)))
        });
        let text = match (self.deps.showing.borrow().view.paused, until) {
            (true, None) => "I am paused already; say `resume` to continue".to_owned(),
            (_, _) => {
                format!("paused: I store new messages and begin no turn{told} until `resume`")
            }
        };
        let pause = NewPause::new(self.deps.agent.clone(), PauseReason::Operator, until);
        let stored = self.deps.store.begin_pause(pause);
        self.order(line, (Word::Pause { until }, &text), stored).await;
    }

    /// Also what is parked, or waits for a login, tries again.
    pub(super) async fn resume(&self, line: &Line) {
        let view = self.deps.showing.borrow().view.clone();
        let waits = view.paused || view.needs_login || view.phase == PhaseName::Parked;
        let text = match (self.still_held(Continue::Resume), waits) {
            (Some(held), _) => held,
            (None, true) => "resumed".to_owned(),
            (None, false) if self.is_escalated() => "resumed: the escalation is over".to_owned(),
            (None, false) => {
                "I am not paused, so nothing changes; `status` shows what I do".to_owned()
            }
        };
        let stored = self.deps.store.resume(&self.deps.agent);
        self.order(line, (Word::Resume, &text), stored).await;
    }

    /// Returns where orders of this person are stored.
    pub(super) fn orders<'a>(&'a self, by: &'a str) -> Orders<'a> {
        let deps = &self.deps;
        Orders { store: &deps.store, clock: &deps.clock, agent: &deps.agent, by }
    }

    /// Ends a turn for its author, and none that has begun since.
    pub(super) async fn end_own(&self, line: &Line, who: &Principal, turn: TurnId) {
        // A word from history was said to another state of things.
        if line.from_history {
            return;
        }
        let text = match self.orders(&known_as(line, who)).end(turn).await {
            Ok(true) => {
                self.notify_loop(Incoming::EndTurn { turn }).await;
                "ending the turn".to_owned()
            }
            Ok(false) => NO_TURN.to_owned(),
            Err(error) => not_ordered(&error),
        };
        self.answer(line, &text).await;
    }

    /// Ends the open turn, and an escalation.
    pub(super) async fn abort(&self, line: &Line, who: &Principal) {
        if line.from_history {
            return;
        }
        let text = self.aborts();
        let text = match self.orders(&known_as(line, who)).abort(&self.deps.showing).await {
            Ok(turn) => {
                self.notify_loop(Incoming::Operator(Word::Abort { turn })).await;
                text
            }
            Err(error) => not_ordered(&error),
        };
        self.answer(line, &text).await;
    }

    /// Stores what a person ordered, says so, and has the agent loop act on it. A word from history was
    /// said to another state of things.
    async fn order(
        &self,
        line: &Line,
        (word, text): (Word, &str),
        stored: impl Future<Output = Result<(), StoreError>>,
    ) {
        if line.from_history {
            return;
        }
        match stored.await {
            Ok(()) => {
                self.notify_loop(Incoming::Operator(word)).await;
                self.answer(line, text).await;
            }
            Err(error) => self.answer(line, &not_ordered(&error.into())).await,
        }
    }

    /// Has the context shortened or emptied once no turn is open.
    pub(super) async fn change_context(
        &self,
        line: &Line,
        who: &Principal,
        change: ContextChange,
    ) -> Handled {
        if line.from_history {
            return Handled::Yes;
        }
        let can = self.deps.can;
        let (can, text, cannot) = match change {
            ContextChange::Compact => (can.compact, "I shorten my context", "shorten my context"),
            ContextChange::Clear => {
                (can.clear, "the next turn begins a new session", "begin a new session")
            }
        };
        let phase = self.deps.showing.borrow().view.phase;
        let text = match phase {
            PhaseName::Down | PhaseName::Starting | PhaseName::Parked => {
                "my backend is not running; try again when `status` shows it is".to_owned()
            }
            PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting
                if can =>
            {
                match self.orders(&known_as(line, who)).change(change).await {
                    Ok(order) => {
                        self.notify_loop(Incoming::Change { change, order }).await;
                        text.to_owned()
                    }
                    Err(error) => not_ordered(&error),
                }
            }
            PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => format!("my backend cannot {cannot}"),
        };
        self.answer(line, &text).await;
        Handled::Yes
    }
}

/// Returns the reply to an order that could not be stored.
fn not_ordered(error: &NotOrdered) -> String {
    warn!(%error, "an order is not carried out");
    error.to_string()
}
