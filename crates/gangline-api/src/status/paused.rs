//! Why an agent begins no new turn, as a status shows it.

use gangline_core::{
    name::AgentName,
    pause::{Continue, PauseReason},
    word::Stored,
};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{cut::cut, local::minute};

/// The longest cause in a description, in characters.
const NOTE_MAX: usize = 80;

/// One reason of a pause. Several may hold at once; the agent continues when none does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPause {
    /// Why: `operator`, `question`, `escalation`, `schedule`, `budget`, `rate_limit`, `fleet`, or the
    /// word of a newer program.
    pub reason: Stored<PauseReason>,
    /// When it ends by itself, RFC 3339; absent = only a person or its cause ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What caused it, in one line, redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ShownPause {
    /// Returns it as a clause for people of this zone: `asleep until 2026-11-26 08:00`.
    #[must_use]
    pub fn describe(&self, zone: &TimeZone) -> String {
        self.describe_with(zone, "")
    }

    /// As [`Self::describe`], with more about the end behind its time: `asleep until 2026-11-26 08:00
    /// (in 3h)`.
    #[must_use]
    pub fn describe_with(&self, zone: &TimeZone, more: &str) -> String {
        let until = self.until.as_deref().and_then(|at| minute(at, zone));
        let until = until.map_or_else(String::new, |at| format!(" until {at}{more}"));
        let note = self.note.as_deref().map(|note| cut(note, NOTE_MAX));
        let note = note.map_or_else(String::new, |note| format!(": {note}"));
        match self.reason.known() {
            Some(PauseReason::Operator) | None => format!("paused{until}"),
            Some(PauseReason::Question) => format!("paused{until}: nobody answered its question"),
            Some(PauseReason::Escalation) => {
                format!("held until `resume` or `abort`: it was escalated{note}")
            }
            Some(PauseReason::Schedule) => format!("asleep{until}"),
            Some(PauseReason::Budget) => format!("held{until}: its budget is spent{note}"),
            Some(PauseReason::RateLimit) => {
                format!("waiting{until} for its provider's quota{note}")
            }
            Some(PauseReason::Fleet) => {
                format!("held{until}: the limit of the whole installation is reached{note}")
            }
        }
    }

    /// Returns what people can do so that it ends: `raise it with ...`.
    #[must_use]
    pub fn helps(&self, nick: &AgentName) -> String {
        match self.reason.known() {
            Some(PauseReason::Escalation) => {
                format!("`gangline resume {nick}` or `gangline interrupt {nick}` ends it")
            }
            known => {
                let instead = known.and_then(|it| Continue::Resume.instead(it));
                instead.map_or_else(|| format!("`gangline resume {nick}` ends it"), str::to_owned)
            }
        }
    }
}

/// Returns the reply to a word that does not release the agent: what holds it, until when, and what helps.
/// `None` if the word ends all `pauses`.
#[must_use]
pub fn still_held(
    nick: &str,
    word: Continue,
    pauses: &[ShownPause],
    zone: &TimeZone,
) -> Option<String> {
    let of = |pause: &ShownPause| {
        Some((pause.describe(zone), word.instead(pause.reason.known()?)?.to_owned()))
    };
    let (held, helps): (Vec<_>, Vec<_>) = pauses.iter().filter_map(of).unzip();
    let (held, helps) = (held.join("; "), helps.join("; "));
    let word = word.as_str();
    let text = format!("{nick} is still {held}. `{word}` does not end this: {helps}");
    (!helps.is_empty()).then_some(text)
}
