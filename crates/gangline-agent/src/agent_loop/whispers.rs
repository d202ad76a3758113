//! Whispers: recorded, and given to the agent in front of its next prompt at the latest (C9).
//!
//! The store is the truth; [`Pool`] knows what is in transit. A whisper counts as delivered once the
//! model has it, and that is recorded then: a daemon that is killed in between gives it once more.

use gangline_core::{
    TurnId,
    whisper::{
        self, WhisperRoad, WhisperSource,
        pool::{Batch, Pool, Whisper},
    },
};
use gangline_runtime::RuntimeEvent;
use gangline_store::{Delivered, Entry, NewWhisper, WhisperRow};

use super::AgentLoop;
use crate::{bus, texts};

/// What the loop knows of whispers.
#[derive(Debug, Default)]
pub(super) struct Whispers {
    pool: Pool,
    /// Those that stand in front of the open turn's prompt, until the model has it.
    prompted: Option<(TurnId, Batch)>,
}

impl AgentLoop {
    /// Records a whisper; it is delivered once the store has it.
    pub(super) fn whisper(&mut self, said: bus::Whisper) {
        let bus::Whisper { kind, source, text, finding } = said;
        let text = whisper::text(&self.me.redactor, &text);
        let (agent, turn) = (self.me.agent.clone(), self.open_turn_id());
        let new = NewWhisper { agent, kind, source, text, by: None, finding, turn };
        self.journal.push(Entry::Whisper(Box::new(new)));
    }

    /// Takes what the store says was not delivered.
    pub(super) fn whispers_found(&mut self, undelivered: Vec<WhisperRow>) {
        self.whispers.pool.learn(undelivered.into_iter().map(Whisper::from).collect());
    }

    /// Returns a prompt with the whispers that wait in front of it. A program that takes commands
    /// would run them, so its prompts carry none.
    pub(super) fn with_whispers(&mut self, turn: TurnId, prompt: String) -> String {
        if self.bare {
            return prompt;
        }
        let Some((batch, whispers)) = self.whispers.pool.take() else { return prompt };
        self.whispers.prompted = Some((turn, batch));
        format!("{}\n{prompt}", self.whispers_as_text(&whispers, turn))
    }

    /// Returns whispers as the model sees them.
    fn whispers_as_text(&self, whispers: &[Whisper], turn: TurnId) -> String {
        let text = |whisper: &Whisper| match whisper.source {
            // The agent has another task by now.
            WhisperSource::Supervisor | WhisperSource::Rules
                if whisper.turn.is_some_and(|about| about != turn) =>
            {
                format!("{} {}", whisper.text, texts::WHISPER_OF_EARLIER_TASK)
            }
            WhisperSource::Supervisor | WhisperSource::Rules | WhisperSource::Operator => {
                whisper.text.to_string()
            }
        };
        let texts: Vec<_> = whispers.iter().map(|it| (it.kind, text(it))).collect();
        whisper::lines(texts.iter().map(|(kind, text)| (*kind, text.as_str())))
    }

    /// Notes that the model has the prompt of the open turn, if this event shows it.
    pub(super) fn hear_of_whispers(&mut self, event: &RuntimeEvent) {
        let turn = match event {
            RuntimeEvent::Accepted { turn }
            | RuntimeEvent::Message { turn, .. }
            | RuntimeEvent::ToolResult { turn, .. } => *turn,
            _ => return,
        };
        if let Some((_, batch)) = self.whispers.prompted.take_if(|(of, _)| *of == turn) {
            self.whispers_arrived(batch, WhisperRoad::Prompt);
        }
    }

    /// The turn is over: what did not reach the model in it waits again.
    pub(super) fn whispers_left(&mut self) {
        if let Some((_, batch)) = self.whispers.prompted.take() {
            self.whispers.pool.back(batch);
        }
    }

    fn whispers_arrived(&mut self, batch: Batch, road: WhisperRoad) {
        let ids: Vec<i64> = self.whispers.pool.arrived(batch).iter().map(|it| it.id).collect();
        if ids.is_empty() {
            return;
        }
        let (agent, turn) = (self.me.agent.clone(), self.open_turn_id());
        self.journal.push(Entry::WhispersDelivered(Delivered { agent, ids, road, turn }));
    }

    fn open_turn_id(&self) -> Option<TurnId> {
        self.ports.context.borrow().as_ref().map(|open| open.turn)
    }
}
