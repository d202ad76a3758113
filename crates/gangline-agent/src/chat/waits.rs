//! Notices to authors of waiting lines: why the line waits ([`gangline_core::patience`]).

use std::time::Duration;

use gangline_core::{
    MessageId, MessageState, Principal, Target, Tier,
    agent::PhaseName,
    patience::{Owed, STRANGER_EVERY, Waiting},
    time::Now,
};
use gangline_irc::client::{Line, LinkCommand, TypingState};
use tracing::debug;

use super::{Chat, answer::place_of};
use crate::texts;

impl Chat {
    fn monotonic(&self) -> Now {
        Now(self.deps.clock.monotonic())
    }

    /// Watches a line that was accepted, if a person said it.
    pub(super) fn watch(&mut self, line: &Line, who: &Principal, message: MessageId) {
        match who.tier {
            Tier::Owner | Tier::Member if !line.bot => {}
            Tier::Owner | Tier::Member | Tier::Agent | Tier::Stranger => return,
        }
        let waiting = Waiting { message, nick: line.nick.clone(), place: place_of(line) };
        self.patience.accepted(self.monotonic(), waiting);
    }

    /// Returns how long until somebody is owed something.
    pub(super) fn owed_in(&self) -> Option<Duration> {
        Some(self.patience.next_deadline()?.0.saturating_sub(self.deps.clock.monotonic()))
    }

    /// Tells those who are owed a reason or their position.
    pub(super) async fn give_what_is_owed(&mut self) {
        let now = self.monotonic();
        for (owed, waiting) in self.patience.due(now) {
            // A position takes a look into the store, which others wait for.
            if owed == Owed::Position && !self.patience.could_notify(now, &waiting.nick) {
                continue;
            }
            // The row is the truth: an answer, an open turn or a reason that was given settles it.
            let row = self.deps.store.message(waiting.message).await;
            let waits = |state, takes| state == MessageState::Accepted && takes == 0;
            let still = matches!(row, Ok(Some(ref row)) if waits(row.state, row.takes));
            // A store that cannot be read cannot be written either, which is a reason.
            if !still && row.is_ok() {
                continue;
            }
            let text = match owed {
                Owed::Reason => self.reason(waiting.message),
                Owed::Position => Some(self.position(&waiting).await),
            };
            match text {
                Some(text) if self.patience.may_notify(now, &waiting.nick) => {
                    let text = match waiting.place == waiting.nick {
                        true => text,
                        false => format!("{}: {text}", waiting.nick),
                    };
                    let key = format!("y-{}-{:x}", waiting.message, now.0.as_millis());
                    let told = (&[text][..], Some(waiting.message));
                    self.notify(key, waiting.place, told, None).await;
                }
                Some(_) => {
                    debug!(nick = waiting.nick, "the limit of notices with reasons is reached")
                }
                None => {
                    self.mark(&waiting);
                    self.patience.goes_on(now, waiting);
                }
            }
        }
    }

    /// Returns why nothing is begun now; `None` if the agent only has other things to do first.
    fn reason(&self, message: MessageId) -> Option<String> {
        let showing = self.deps.showing.borrow();
        let view = &showing.view;
        let why = match view.phase {
            // Who waits for a parked agent is told when it parks, and when their line comes.
            PhaseName::Parked => return None,
            PhaseName::Down
            | PhaseName::Starting
            | PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => texts::why_kept(view, &showing.note)?,
        };
        Some(format!("{message} is stored and waits: {why}"))
    }

    /// Returns the message's position in the queue, and what it waits for.
    async fn position(&self, waiting: &Waiting) -> String {
        let message = waiting.message;
        let place = self.deps.store.place(&self.deps.agent, message).await;
        let place = place.map_or_else(
            |_| String::new(),
            |(place, all)| format!(", number {place} of {all} in the queue"),
        );
        let status = self.status(&waiting.place).await;
        format!("{message} waits{place}. Now: {status}. `cancel {message}` cancels it")
    }

    /// Shows that the line was seen.
    fn mark(&self, waiting: &Waiting) {
        if let Ok(target) = waiting.place.parse::<Target>() {
            self.command(LinkCommand::Typing { target, state: TypingState::Active });
        }
    }

    /// Returns whether somebody may be told one more reason now.
    pub(super) fn may_notify(&mut self, nick: &str) -> bool {
        self.patience.may_notify(self.monotonic(), nick)
    }

    /// Returns whether a stranger may be told again that they start nothing.
    pub(super) fn may_notify_stranger(&mut self, nick: &str) -> bool {
        self.strangers.may(Now(self.deps.clock.monotonic()), nick, (STRANGER_EVERY, 1))
    }
}

#[cfg(test)]
mod tests;
