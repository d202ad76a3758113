//! Whispers: recorded, and given to the agent in front of its next prompt at the latest (C9).
//!
//! The store is the truth; [`Pool`] knows what is in transit. A whisper counts as delivered once the
//! model has it, and that is recorded then: a daemon that is killed in between gives it once more.

use gangline_core::{
    TurnId,
    agent::Input,
    effort::EffortLevel,
    whisper::{
        self, WhisperKind, WhisperRoad, WhisperSource,
        pool::{Batch, Pool, Whisper},
    },
};
use gangline_runtime::{Prompt, RuntimeEvent};
use gangline_store::{Delivered, Entry, NewWhisper, OfFinding, WhisperRow};
use tokio::sync::watch;
use uuid::Uuid;

use super::AgentLoop;
use crate::{
    bus, texts,
    whispers::{InTransit, Taking, Transit},
};

/// What the loop knows of whispers.
#[derive(Debug)]
pub(super) struct Whispers {
    pool: Pool,
    /// Those that stand in front of the open turn's prompt, until the model has it.
    prompted: Option<(TurnId, Batch)>,
    /// Those that were put into the open turn, by the id of that text.
    steered: Option<(String, TurnId, Batch)>,
    /// Those that answers to the agent carry.
    pub(super) in_transit: InTransit,
    count: watch::Sender<usize>,
}

impl Whispers {
    pub(super) fn new(count: watch::Sender<usize>) -> Self {
        let (pool, in_transit) = (Pool::default(), InTransit::default());
        Self { pool, prompted: None, steered: None, in_transit, count }
    }

    /// Returns all that wait, and publishes that none does.
    fn take(&mut self) -> Option<(Batch, Vec<Whisper>)> {
        let taken = self.pool.take();
        self.publish();
        taken
    }

    fn back(&mut self, batch: Batch) {
        self.pool.back(batch);
        self.publish();
    }

    /// Returns how many wait.
    pub(super) fn waiting(&self) -> usize {
        self.pool.waiting()
    }

    fn publish(&self) {
        let waiting = self.pool.waiting();
        self.count.send_if_modified(|count| std::mem::replace(count, waiting) != waiting);
    }
}

impl AgentLoop {
    /// Records a whisper; it is delivered once the store has it.
    pub(super) fn whisper(&mut self, said: bus::Whisper) {
        let bus::Whisper { kind, source, text, finding, turn } = said;
        let text = whisper::text(&self.me.redactor, &text);
        let agent = self.me.agent.clone();
        // The finding has its number once it is in the store: it was told before.
        let finding = finding.map(OfFinding::Key);
        let new = NewWhisper { agent, kind, source, text, by: None, finding, turn };
        self.journal.push(Entry::Whisper(Box::new(new)));
    }

    /// Takes what the store says was not delivered.
    pub(super) fn whispers_found(&mut self, undelivered: Vec<WhisperRow>) {
        self.whispers.pool.learn(undelivered.into_iter().map(Whisper::from).collect());
        self.whispers.publish();
        self.steer_whispers();
        self.show();
    }

    /// Returns a prompt with the whispers that wait in front of it. A program that takes commands
    /// would run them, so its prompts carry none.
    pub(super) fn with_whispers(&mut self, turn: TurnId, prompt: String) -> String {
        if self.bare {
            return prompt;
        }
        let Some((batch, whispers)) = self.whispers.take() else { return prompt };
        self.whispers.prompted = Some((turn, batch));
        self.deeper(&whispers, (turn, WhisperRoad::Prompt));
        let texts = texts_of(&whispers, turn);
        let lines = whisper::lines(texts.iter().map(|(kind, text)| (*kind, text.as_str())));
        format!("{lines}\n{prompt}")
    }

    /// Puts what waits into the open turn, where the backend can have it there without a loss: while
    /// a tool runs, so that the model sees it with the tool's result and no answer is begun anew.
    pub(super) fn steer_whispers(&mut self) {
        let can = self.generations.whispers() == Some(WhisperRoad::Steer);
        if !can || self.whispers.steered.is_some() || self.shown.tools.is_empty() {
            return;
        }
        let Some(turn) = self.open_turn_id() else { return };
        let Some((batch, whispers)) = self.whispers.take() else { return };
        let text = whisper::lines(
            texts_of(&whispers, turn).iter().map(|(kind, text)| (*kind, text.as_str())),
        );
        let uuid = Uuid::new_v4().to_string();
        self.whispers.steered = Some((uuid.clone(), turn, batch));
        self.deeper(&whispers, (turn, WhisperRoad::Steer));
        self.generations.steer(Prompt { turn, text, uuid });
    }

    /// Returns whether a text that has reached the model was whispers.
    pub(super) fn whispers_steered(&mut self, uuid: &str) -> bool {
        let steered = self.whispers.steered.take_if(|(of, _, _)| of == uuid);
        let Some((_, turn, batch)) = steered else { return false };
        self.whispers_arrived(batch, (WhisperRoad::Steer, turn));
        true
    }

    /// An answer to the agent can carry whispers: gives it what waits.
    pub(super) fn take_whispers(&mut self, taking: Taking) {
        let Some(turn) = self.open_turn_id().filter(|_| self.whispers.in_transit.has_room()) else {
            return;
        };
        let Some((batch, whispers)) = self.whispers.take() else { return };
        let texts = texts_of(&whispers, turn);
        self.deeper(&whispers, (turn, taking.road));
        let carried = self.whispers.in_transit.begin(batch, (taking.road, turn), texts);
        // Dropped here, it is told as not arrived.
        let _ = taking.reply.send(carried);
    }

    /// Raises the effort for the task of a `THINK_DEEPER`, before the model reads that whisper (R1-11).
    fn deeper(&mut self, whispers: &[Whisper], (turn, road): (TurnId, WhisperRoad)) {
        if whispers.iter().any(|whisper| whisper.kind == WhisperKind::ThinkDeeper) {
            self.think(Input::ThinkDeeper { turn, road });
        }
    }

    /// The model thinks harder, or as before.
    pub(super) fn effort(&mut self, raised: Option<EffortLevel>) {
        self.shown.effort = raised;
        self.record_notice(self.open_turn_id(), "effort", texts::supervisor::effort(raised));
        self.show();
    }

    /// It is known whether what an answer carried has arrived.
    pub(super) fn carried(&mut self, transit: &Transit, arrived: bool) {
        match arrived {
            true => self.whispers_arrived(transit.batch, (transit.road, transit.turn)),
            false => self.whispers.back(transit.batch),
        }
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
            self.whispers_arrived(batch, (WhisperRoad::Prompt, turn));
        }
    }

    /// The turn is over: what did not reach the model in it waits again.
    pub(super) fn whispers_left(&mut self) {
        let prompted = self.whispers.prompted.take().map(|(_, batch)| batch);
        let steered = self.whispers.steered.take().map(|(_, _, batch)| batch);
        for batch in prompted.into_iter().chain(steered) {
            self.whispers.back(batch);
        }
    }

    fn whispers_arrived(&mut self, batch: Batch, (road, turn): (WhisperRoad, TurnId)) {
        let ids: Vec<i64> = self.whispers.pool.arrived(batch).iter().map(|it| it.id).collect();
        let (agent, turn) = (self.me.agent.clone(), Some(turn));
        self.journal.push(Entry::WhispersDelivered(Delivered { agent, ids, road, turn }));
    }

    fn open_turn_id(&self) -> Option<TurnId> {
        self.ports.context.borrow().as_ref().map(|open| open.turn)
    }
}

/// Returns what whispers ask and say, for the model in this turn.
fn texts_of(whispers: &[Whisper], turn: TurnId) -> Vec<(WhisperKind, String)> {
    let text = |whisper: &Whisper| match whisper.source {
        // The agent has another task by now.
        WhisperSource::Supervisor | WhisperSource::Rules if whisper.turn != Some(turn) => {
            format!("{} {}", whisper.text, texts::WHISPER_OF_EARLIER_TASK)
        }
        WhisperSource::Supervisor | WhisperSource::Rules | WhisperSource::Operator => {
            whisper.text.to_string()
        }
    };
    whispers.iter().map(|whisper| (whisper.kind, text(whisper))).collect()
}
