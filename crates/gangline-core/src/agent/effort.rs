//! More thinking for one task, and back (R1-11). Pure.
//!
//! The *task* is what the turn is about that was told to think deeper: the root causes of its messages.
//! It lasts until a turn about it has ended and nothing of it waits. The backend thinks harder in turns
//! about the task and in no other; a new generation begins at its ground level, and the task is
//! forgotten.

use std::collections::BTreeSet;

use crate::{
    answer::Settlement,
    effort::{Effort, EffortChange},
    id::{MessageId, TurnId},
    message::MessageState,
    whisper::WhisperRoad,
};

use super::{Agent, Effect, Notice};

#[cfg(test)]
mod tests;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Deeper {
    /// What the generation that runs was told last.
    told: Effort,
    task: Option<Task>,
}

#[derive(Debug)]
struct Task {
    /// The turn that was told to think deeper.
    turn: TurnId,
    causes: BTreeSet<MessageId>,
}

impl Agent {
    /// The agent is told in this turn to think deeper, by this road.
    pub(super) fn think_deeper(&mut self, turn: TurnId, road: WhisperRoad, out: &mut Vec<Effect>) {
        let change = self.session.can.effort;
        let Some(open) = self.open(turn).filter(|open| open.may_join()) else {
            return out.push(Effect::Notice(Notice::Late { turn }));
        };
        let causes = open.causes();
        let in_time = match (change, road) {
            (EffortChange::Never, _) => return,
            (EffortChange::AtOnce, _) | (EffortChange::NextTurn, WhisperRoad::Prompt) => true,
            // The turn has its prompt already: what follows of its task is thought about harder.
            (
                EffortChange::NextTurn,
                WhisperRoad::Hook | WhisperRoad::Steer | WhisperRoad::Tool | WhisperRoad::Socket,
            ) => false,
        };
        self.deeper.task = Some(Task { turn, causes });
        if in_time {
            self.set_effort(Effort::Raised, out);
        }
    }

    /// A turn about these causes is about to begin.
    pub(super) fn effort_for(&mut self, causes: &BTreeSet<MessageId>, out: &mut Vec<Effect>) {
        let task = self.deeper.task.as_ref();
        let effort = match task.is_some_and(|task| !task.causes.is_disjoint(causes)) {
            true => Effort::Raised,
            false => Effort::Ground,
        };
        self.set_effort(effort, out);
    }

    /// Returns whether the end of a turn about these causes is the end of the task: nothing of it goes
    /// back to the queue or waits there.
    pub(super) fn task_is_over(
        &self,
        (turn, causes): (TurnId, BTreeSet<MessageId>),
        settle: &[Settlement],
    ) -> bool {
        let Some(task) = &self.deeper.task else { return false };
        let about = task.turn == turn || !task.causes.is_disjoint(&causes);
        let returned = settle.iter().any(|one| one.state == MessageState::Accepted);
        let waits = self.queue.iter().any(|queued| task.causes.contains(&queued.cause));
        about && !returned && !waits
    }

    /// The task is over.
    pub(super) fn think_as_before(&mut self, out: &mut Vec<Effect>) {
        self.deeper.task = None;
        self.set_effort(Effort::Ground, out);
    }

    fn set_effort(&mut self, effort: Effort, out: &mut Vec<Effect>) {
        let Some(generation) = self.generation() else { return };
        if std::mem::replace(&mut self.deeper.told, effort) != effort {
            out.push(Effect::SetEffort { generation, effort });
        }
    }
}
