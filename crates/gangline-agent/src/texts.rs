//! What the daemon says by itself, in one place.

use gangline_broker::NUMBER_PLACEHOLDER;
use gangline_core::{AgentName, redact::Redactor};
use serde_json::Value;

pub(crate) const DENIED: &str = "a person refused this; do not try it again in another way";
pub(crate) const WITHDRAWN: &str =
    "nobody refused this: the request was withdrawn because the turn ends";
pub(crate) const START_TIMEOUT: &str = "the backend did not get ready in time and was ended";
pub(crate) const TURN_TIMEOUT: &str = "the turn gave no sign of life and is being ended";
pub(crate) const INTERRUPT_TIMEOUT: &str = "the backend did not react to an interrupt: ended";
pub(crate) const LOGGED_IN: &str = "the backend has a login again; messages are fed";
pub(crate) const COMPACTING: &str = "the context is being shortened";
pub(crate) const COMPACTED: &str = "the context was shortened";
pub(crate) const PAUSED: &str = "messages are kept and not fed";
pub(crate) const RESUMED: &str = "messages are fed again";

/// An argument shown in one line is cut here, in bytes: the announcement is one IRC line.
const ARGUMENT_MAX: usize = 120;

pub(crate) fn model(name: Option<&str>) -> String {
    let name = name.map_or_else(|| "the backend's own".to_owned(), |name| format!("`{name}`"));
    format!("the model is {name} from the next turn on")
}

pub(crate) fn circuit_open(deaths: usize) -> String {
    format!("the backend died {deaths} times in a row: say `resume` to try again")
}

/// Returns one line that says what a tool would do: masked, then cut, so that no half of a secret
/// is left; without control characters.
pub(crate) fn approval_summary(input: &Value, redactor: &Redactor) -> String {
    let known = ["command", "file_path", "path", "pattern", "url"];
    let argument = known.iter().find_map(|name| input.get(name).and_then(Value::as_str));
    let shown = argument.map_or_else(|| input.to_string(), str::to_owned);
    let shown = redactor.redact(&shown).into_string();
    let clean: String = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let cut = &clean[..clean.floor_char_boundary(ARGUMENT_MAX)];
    if cut.len() < clean.len() { format!("{cut} …") } else { clean }
}

/// Returns the line by which a room learns that an approval waits.
pub(crate) fn approval_announcement(
    (agent, asker): (&AgentName, &str),
    (tool, summary): (&str, &str),
) -> String {
    format!(
        "approval {NUMBER_PLACEHOLDER} for {asker}: {tool}: {summary} - the owner says `@{agent} yes` or \
         `@{agent} no`"
    )
}

#[cfg(test)]
mod tests;
