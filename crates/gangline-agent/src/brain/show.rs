//! What others see: the live view for tasks of this daemon, and the row for everybody else.

use gangline_api::event;
use gangline_broker::AgentUpdate;
use gangline_core::agent::PhaseName;

use super::Brain;
use crate::bus::Record;

/// What was shown last.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) turns: u64,
    word: Option<&'static str>,
    paused: bool,
    pub(super) last_activation: Option<f64>,
}

impl Brain {
    /// Publishes the state if it changed in a way that people see. Taking and prompting are
    /// `working` to them, so a turn costs two rows, not four.
    pub(super) fn show(&mut self) {
        let view = self.core.view();
        let word = match view.phase {
            PhaseName::Down => "down",
            PhaseName::Starting => "starting",
            PhaseName::Idle => "idle",
            PhaseName::Taking | PhaseName::Prompting | PhaseName::Working => "working",
            PhaseName::Interrupting => "interrupting",
            PhaseName::Parked => "parked",
        };
        let paused = view.paused;
        self.doors.view.send_replace(view);
        if self.shown.word == Some(word) && self.shown.paused == paused {
            return;
        }
        let now = self.me.clock.now();
        if word == "working" {
            #[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
            let seconds = now.0 as f64 / 1e6;
            self.shown.last_activation = Some(seconds);
        }
        let from = self.shown.word.unwrap_or("down");
        if from != word {
            let phase = event::Phase { from: from.to_owned(), to: word.to_owned() };
            self.record(None, phase);
        }
        self.shown.word = Some(word);
        self.shown.paused = paused;
        let status = serde_json::json!({
            "turn_count": self.shown.turns,
            "last_activation": self.shown.last_activation,
            "records_skipped": self.skipped,
        });
        self.keeper.push(Record::Agent(AgentUpdate {
            phase: Some(word.to_owned()),
            status_json: Some(status.to_string()),
            ..AgentUpdate::default()
        }));
    }
}
