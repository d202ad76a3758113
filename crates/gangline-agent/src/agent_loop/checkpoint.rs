//! The checkpoint in the agent loop: before a prompt that must carry it, the store is read; the prompt
//! goes out when that is done (C13).
//!
//! A prompt that waits belongs to the open turn and is dropped with it. An agent that is given
//! nothing but what was said has no checkpoint.

use gangline_core::{MessageId, TurnId};
use gangline_os::fsio;
use gangline_runtime::Prompt;
use gangline_store::StoreError;
use tracing::warn;

use super::AgentLoop;
use crate::{
    checkpoint::{self, Found, Reading, Why},
    texts,
};

/// What is known of the checkpoint, and the prompt that waits for it.
pub(super) struct Checkpoint {
    /// Polled by the loop.
    pub(super) reading: Reading,
    owed: Owed,
    /// A prompt that waits until the store was read.
    waits: Option<What>,
    /// The turn whose prompt carries it and is not known to have reached the model.
    given_in: Option<TurnId>,
}

/// Whether the next prompt carries the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    /// An earlier daemon may have owed it: the record of events says so.
    Unknown,
    No,
    Yes(Why),
}

/// What is sent when the store was read.
enum What {
    /// The agent is asked for its notes; what Gangline knows is written beside them first.
    Notes(Prompt),
    /// A prompt, with the checkpoint if it is owed.
    Prompt(Prompt),
    /// The last prompt once more.
    Again(TurnId),
}

impl Checkpoint {
    pub(super) fn new(reading: Reading) -> Self {
        Self { reading, owed: Owed::Unknown, waits: None, given_in: None }
    }

    fn read(&mut self, what: What, in_turn: Vec<MessageId>) {
        self.reading.begin(in_turn);
        self.waits = Some(what);
    }

    /// Returns what waits, which waits no longer.
    fn take_waiting(&mut self) -> Option<What> {
        self.reading.stop();
        self.waits.take()
    }

    /// The turn is over: its prompt waits no longer.
    pub(super) fn turn_ends(&mut self) {
        self.take_waiting();
        self.given_in = None;
    }
}

impl AgentLoop {
    /// The next prompt carries the checkpoint.
    pub(super) fn owes_checkpoint(&mut self, why: Why) {
        self.checkpoint.owed = Owed::Yes(why);
    }

    /// The context is as it was.
    pub(super) fn owes_no_checkpoint(&mut self) {
        if self.checkpoint.owed == Owed::Yes(Why::Shortened) {
            self.checkpoint.owed = Owed::No;
        }
    }

    /// Somebody wants an empty context.
    pub(super) fn emptied(&mut self) {
        self.checkpoint.owed = Owed::No;
        self.record_notice(None, checkpoint::EMPTIED, texts::EMPTIED.to_owned());
    }

    /// Asks the agent for its notes.
    pub(super) fn ask_notes(&mut self, turn: TurnId) {
        let (text, uuid) = (self.notes.prompt(), self.prompt_uuid.clone());
        self.checkpoint.read(What::Notes(Prompt { turn, text, uuid }), Vec::new());
    }

    /// Gives a prompt, with the checkpoint if that is owed.
    pub(super) fn prompt(&mut self, prompt: Prompt) {
        match self.checkpoint.owed {
            Owed::No => self.generations.prompt(prompt, None),
            Owed::Unknown | Owed::Yes(_) if self.bare => self.generations.prompt(prompt, None),
            Owed::Unknown | Owed::Yes(_) => {
                let in_turn = self.core.view().messages;
                self.checkpoint.read(What::Prompt(prompt), in_turn);
            }
        }
    }

    /// Gives the turn's prompt once more: its context was made shorter for it.
    pub(super) fn prompt_again(&mut self, turn: TurnId) {
        let in_turn = self.core.view().messages;
        self.checkpoint.read(What::Again(turn), in_turn);
    }

    /// The turn is to end. Returns whether its prompt was still waiting: then nothing has begun.
    pub(super) fn takes_prompt_back(&mut self) -> bool {
        self.checkpoint.take_waiting().is_some()
    }

    /// The store was read for the prompt that waits.
    pub(super) fn known(&mut self, found: Result<Found, StoreError>) {
        let Some(what) = self.checkpoint.take_waiting() else { return };
        let found = found.unwrap_or_else(|error| {
            warn!(%error, "cannot read what the agent must not forget");
            Found::default()
        });
        let why = match self.checkpoint.owed {
            Owed::Yes(why) => Some(why),
            Owed::Unknown => found.owed,
            Owed::No => None,
        };
        match what {
            What::Notes(prompt) => {
                self.keep_record(&found);
                self.generations.prompt(prompt, None);
            }
            What::Prompt(prompt) => {
                self.checkpoint.owed = Owed::No;
                let told = why.map(|why| self.tells(why, prompt.turn, &found));
                self.generations.prompt(prompt, told);
            }
            What::Again(turn) => {
                let told = why.map(|why| self.tells(why, turn, &found));
                self.generations.prompt_again(told);
            }
        }
    }

    /// Returns what the prompt of this turn carries.
    fn tells(&mut self, why: Why, turn: TurnId, found: &Found) -> String {
        self.checkpoint.owed = Owed::Yes(why);
        self.checkpoint.given_in = Some(turn);
        self.keep_record(found);
        let place = (self.notes.folder(), self.me.clock.now());
        checkpoint::text(&found.record, place, (&self.pinned, why))
    }

    fn keep_record(&self, found: &Found) {
        let path = self.notes.folder().join(checkpoint::RECORD);
        if let Err(error) = fsio::write_private(&path, found.record.file().as_bytes()) {
            warn!(%error, "cannot write the checkpoint into the agent's notes");
        }
    }

    /// A prompt has reached the model.
    pub(super) fn checkpoint_reached(&mut self, turn: TurnId) {
        if self.checkpoint.given_in.take_if(|it| *it == turn).is_some() {
            self.checkpoint.owed = Owed::No;
            self.record_notice(Some(turn), checkpoint::GIVEN, texts::CHECKPOINT_GIVEN.to_owned());
        }
    }

    /// The turn for the notes has ended: says what the agent left out of its form.
    pub(super) fn check_form(&mut self, turn: TurnId) {
        let (form, _) = checkpoint::form(self.notes.folder());
        let missing = form.missing();
        if !missing.is_empty() {
            let text =
                texts::form_incomplete(&missing, &self.notes.folder().join(checkpoint::FORM));
            warn!(?missing, "the agent's checkpoint is incomplete");
            self.record_notice(Some(turn), "checkpoint_incomplete", text);
        }
    }

    /// Says which rules always hold.
    pub(crate) fn pins(mut self, pinned: Vec<String>) -> Self {
        self.pinned = pinned;
        self
    }
}
