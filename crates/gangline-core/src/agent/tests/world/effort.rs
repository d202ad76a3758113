//! What the world checks of the backend's effort (R1-11).

use super::*;
use crate::{
    effort::{Effort, EffortChange},
    whisper::WhisperRoad,
};

/// What is known of it.
#[derive(Debug, Default)]
pub(in super::super) struct Efforts {
    told: Effort,
    can: EffortChange,
    /// The turn that was told to think deeper, and what it was about.
    task: Option<(TurnId, BTreeSet<MessageId>)>,
    /// A turn of the task has ended, and nothing of it waits.
    is_over: bool,
}

/// What a message began with: few, so that several have the same.
pub(super) fn cause_of(id: MessageId) -> MessageId {
    MessageId((id.0 - 1) % 4 + 1)
}

impl World {
    /// A whisper that asks to think deeper is given in the open turn.
    pub(in super::super) fn think_deeper(&mut self, turn: TurnId, road: WhisperRoad) {
        self.give(Input::ThinkDeeper { turn, road });
        let can = self.efforts.can != EffortChange::Never && self.is_recorded(turn);
        if can && !self.interrupting {
            self.efforts.task = Some((turn, self.causes()));
            let in_time = self.efforts.can == EffortChange::AtOnce || road == WhisperRoad::Prompt;
            assert!(!in_time || self.efforts.told == Effort::Raised, "{:?}", self.efforts);
        }
    }

    fn causes(&self) -> BTreeSet<MessageId> {
        self.agent.view().messages.into_iter().map(cause_of).collect()
    }

    /// A generation begins as it is configured.
    pub(super) fn begins_at_ground(&mut self) {
        self.efforts = Efforts::default();
    }

    pub(super) fn can_think(&mut self, generation: Generation, abilities: Abilities) {
        if self.is_alive(generation) {
            self.efforts.can = abilities.effort;
        }
    }

    pub(super) fn effort_told(&mut self, generation: Generation, effort: Effort) {
        assert_eq!(self.alive, Some((generation, true)));
        assert_ne!(std::mem::replace(&mut self.efforts.told, effort), effort, "told twice");
    }

    /// A prompt for messages is given: it is thought about harder only if it is about the task, and
    /// surely if it is about that alone.
    pub(super) fn prompted_with(&self, turn: TurnId) {
        let raised = self.efforts.told == Effort::Raised;
        let causes = self.open.as_ref().map(|open| &open.messages);
        let causes = causes.into_iter().flatten().map(|id| cause_of(*id)).collect();
        let task = self.efforts.task.as_ref();
        let about = task.is_some_and(|(_, task)| !task.is_disjoint(&causes));
        assert_eq!(raised, about, "{turn} {causes:?} {:?}", self.efforts);
    }

    /// A turn is about to be forgotten, in which these messages were.
    pub(super) fn thought(&mut self, open: &Open, settle: &[Settlement]) {
        let Some((turn, task)) = &self.efforts.task else { return };
        let about =
            *turn == open.turn || open.messages.iter().any(|id| task.contains(&cause_of(*id)));
        let returned = settle.iter().any(|one| one.state == MessageState::Accepted);
        let waits = self.agent.queue.iter().any(|queued| task.contains(&queued.cause));
        // What was taken in the same breath waited.
        let next = self.agent.view().messages.into_iter().any(|id| task.contains(&cause_of(id)));
        self.efforts.is_over = about && !returned && !waits && !next;
    }

    /// Everything that follows from an input was done.
    pub(super) fn lowered(&mut self) {
        if std::mem::take(&mut self.efforts.is_over) {
            self.efforts.task = None;
            let alive = self.alive.is_some();
            assert!(!alive || self.efforts.told == Effort::Ground, "{:?}", self.efforts);
        }
    }
}
