//! Why a daemon is not started again: its last error, and whether this shell has what the hub lacks.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

use gangline_core::AgentName;
use gangline_os::{paths::Paths, proc::has_variable};

#[cfg(test)]
mod tests;

/// How many bytes at the end of a log are searched for an error.
const LOG_TAIL: u64 = 16 * 1024;
/// The words around the name of a variable that is missing.
const UNSET: (&str, &str) = ("the variable ", " is not set");

/// Returns what is said of a variable that the configuration names and nobody has set.
pub(crate) fn unset(name: &str) -> String {
    format!("{}{name}{}", UNSET.0, UNSET.1)
}

/// Returns why the daemon of this agent ended the last time, with what to do if that can be told.
pub(crate) fn of(paths: &Paths, agent: &AgentName, hub: Option<u32>) -> Option<String> {
    let why = last_error(&paths.agent_dir(agent.folded()).join("daemon.log"))?;
    let here = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let hub_has = |name: &str| hub.and_then(|pid| has_variable(pid, name)).unwrap_or(true);
    Some(match named(&why).filter(|name| here(name) && !hub_has(name)) {
        Some(name) => format!(
            "the hub was started without the variable {name}, which is set here: `gangline restart \
             --hub` gives it to the hub"
        ),
        None => why,
    })
}

/// Returns the variable that is missing, if that is what is said.
fn named(why: &str) -> Option<&str> {
    let (_, rest) = why.split_once(UNSET.0)?;
    rest.split_once(UNSET.1).map(|(name, _)| name)
}

/// Returns the last error that a daemon has logged, with its causes.
fn last_error(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LOG_TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut bytes).ok()?;
    in_lines(&String::from_utf8_lossy(&bytes))
}

fn in_lines(text: &str) -> Option<String> {
    let mut last: Option<String> = None;
    for line in text.lines() {
        if let Some(error) = line.strip_prefix("error: ") {
            last = Some(error.to_owned());
        } else if let (Some(cause), Some(last)) = (line.strip_prefix("caused by: "), &mut last) {
            last.push_str(&format!(": {cause}"));
        }
    }
    last
}
