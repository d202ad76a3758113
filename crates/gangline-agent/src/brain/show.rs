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
    /// What somebody has to do so that the backend has a login.
    pub(super) login_hint: Option<String>,
    pub(super) compacting: bool,
    /// Tokens that the conversation holds, and that the model's context can hold.
    pub(super) context: (Option<u64>, Option<u64>),
    pub(super) last_activation: Option<f64>,
    /// What the row said last, beside the phase, that people must hear of at once.
    told: Trouble,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Trouble {
    degraded: bool,
    login_hint: Option<String>,
    compacting: bool,
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
        let (degraded, view_needs_login) = (view.degraded, view.needs_login);
        self.doors.view.send_replace(view);
        if !view_needs_login {
            self.shown.login_hint = None;
        }
        let trouble = Trouble {
            degraded,
            login_hint: self.shown.login_hint.clone(),
            compacting: self.shown.compacting,
        };
        let same = self.shown.word == Some(word) && self.shown.paused == paused;
        if same && self.shown.told == trouble {
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
        let status = self.status(degraded);
        self.shown.told = trouble;
        self.keeper.push(Record::Agent(AgentUpdate {
            phase: Some(word.to_owned()),
            status_json: Some(status),
            ..AgentUpdate::default()
        }));
    }

    /// Returns what the agent's row says beside its phase.
    fn status(&self, degraded: bool) -> String {
        serde_json::json!({
            "turn_count": self.shown.turns,
            "last_activation": self.shown.last_activation,
            "records_skipped": self.skipped,
            "degraded": degraded,
            "needs_login": self.shown.login_hint,
            "compacting": self.shown.compacting,
            "context_tokens": self.shown.context.0,
            "context_window": self.shown.context.1,
        })
        .to_string()
    }
}
