//! Commands about the agent itself: its context, its state, its owner's orders.

use std::cmp::Reverse;

use gangline_api::{
    ipc::{HeldData, ModelChoice, ModelData},
    status::still_held,
};
use gangline_core::{
    agent::{ContextChange, PhaseName},
    pause::{Continue, PauseReason},
};
use gangline_os::change_notice;
use gangline_store::NewPause;
use jiff::tz::TimeZone;

use super::requests::{Reply, Requests};
use crate::{
    bus::{Incoming, Word},
    model,
    rooms::Unread,
    status::Around,
    texts::{self, pauses},
    whereabouts::BUSY,
};

/// The most places with unread lines in a status.
const UNREAD_MAX: usize = 200;
/// F.2: what there is no backend for.
const NOT_RUNNING: &str = "Agent runner is not running";

impl Requests {
    pub(super) fn compact(&self) -> Result<Reply, String> {
        self.change_context(ContextChange::Compact, self.can.compact, "shorten its context")
    }

    pub(super) fn clear(&self) -> Result<Reply, String> {
        self.change_context(ContextChange::Clear, self.can.clear, "begin a new context")
    }

    /// Asks for it; it is done once no turn is open, and told as an event.
    fn change_context(
        &self,
        change: ContextChange,
        can: bool,
        what: &str,
    ) -> Result<Reply, String> {
        match self.showing.borrow().view.phase {
            PhaseName::Down | PhaseName::Starting | PhaseName::Parked => {
                return Err(NOT_RUNNING.to_owned());
            }
            PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => {}
        }
        if !can {
            return Err(format!("this agent's backend cannot {what}"));
        }
        self.notify(Incoming::Change(change))?;
        Reply::nothing()
    }

    pub(super) async fn status(&self) -> Result<Reply, String> {
        let showing = self.showing.borrow().clone();
        let now = self.me.clock.now();
        let around = showing.around(&self.speaker.store, &self.me.agent, now).await;
        let mut channels: Vec<_> = self.whereabouts.joined.borrow().iter().cloned().collect();
        channels.sort();
        let around = Around { unread: self.most_unread(), channels, ..around };
        Reply::new(&showing.status((&self.me.agent, self.me.epoch), around))
    }

    /// Returns the places with the most unread lines: a response has a length.
    fn most_unread(&self) -> Unread {
        let unread = self.unread.borrow();
        let mut places: Vec<(&String, &u64)> = unread.iter().collect();
        places.sort_by_key(|(_, count)| Reverse(**count));
        places.truncate(UNREAD_MAX);
        places.into_iter().map(|(place, count)| (place.clone(), *count)).collect()
    }

    /// The row first: an order that was confirmed outlives the daemon.
    pub(super) async fn pause(&self, ends: Option<&str>) -> Result<Reply, String> {
        let until = ends.map(|ends| pauses::ends(ends, self.me.clock.now())).transpose()?;
        let pause = NewPause::new(self.me.agent.clone(), PauseReason::Operator, until);
        let kept = self.speaker.store.begin_pause(pause).await;
        kept.map_err(|error| texts::whole(&error))?;
        self.notify(Incoming::Operator(Word::Pause { until }))?;
        Reply::nothing()
    }

    pub(super) async fn resume(&self) -> Result<Reply, String> {
        let kept = self.speaker.store.resume(&self.me.agent).await;
        kept.map_err(|error| texts::whole(&error))?;
        self.notify(Incoming::Operator(Word::Resume))?;
        Reply::new(&self.held_after(Continue::Resume))
    }

    /// As the reply to the word in a room.
    fn held_after(&self, word: Continue) -> HeldData {
        let showing = self.showing.borrow();
        let pauses = &showing.note.pauses;
        HeldData { held: still_held(self.me.agent.as_str(), word, pauses, &TimeZone::system()) }
    }

    pub(super) fn interrupt(&self) -> Result<Reply, String> {
        let showing = self.showing.borrow();
        // It ends an escalation too.
        if showing.view.turn.is_none() && showing.note.escalated.is_none() {
            return Err("there is no turn to end".to_owned());
        }
        drop(showing);
        self.notify(Incoming::Operator(Word::Abort))?;
        Reply::new(&self.held_after(Continue::Abort))
    }

    /// Keeps the choice, if there is one; the inbox sees it by the change notice.
    pub(super) fn model(&self, choice: Option<ModelChoice>) -> Result<Reply, String> {
        let (paths, agent) = (&self.speaker.paths, &self.me.agent);
        if let (Some(ModelChoice::To(_)), true) = (&choice, self.can.fixed_model) {
            return Err(texts::FIXED_MODEL.to_owned());
        }
        let chosen = match choice {
            None => model::chosen(paths, agent, &self.model_owner),
            Some(choice) => {
                let chosen = match choice {
                    ModelChoice::To(model) => Some(model),
                    ModelChoice::Configured => None,
                };
                model::choose(paths, agent, &self.model_owner, chosen.as_ref())
                    .map_err(|error| format!("the model is not changed: {error}"))?;
                change_notice::notify(&paths.change_notice(agent.as_str()));
                // What it uses until then is not what the next turn has.
                let model = chosen.as_ref().map(ToString::to_string);
                return Reply::new(&ModelData { chosen: model.clone(), model });
            }
        };
        let chosen = chosen.map(|model| model.to_string());
        let used = self.showing.borrow().note.model.clone();
        Reply::new(&ModelData { model: chosen.clone().or(used), chosen })
    }

    fn notify(&self, incoming: Incoming) -> Result<(), String> {
        self.agent_loop.try_send(incoming).map_err(|_| BUSY.to_owned())
    }
}
