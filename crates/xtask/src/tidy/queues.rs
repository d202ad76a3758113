//! Parts of a program talk by bounded queues only (R1-08): the daemon shares no state behind a lock,
//! and the linter knows every queue without a bound. The agent loop waits in one place.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// Where state has one owner, and others ask or are told.
const OWNED: &str = "crates/gangline-agent/src/";
/// What shares it all the same.
const SHARED: [&str; 3] = ["Mutex<", "RwLock<", "RefCell<"];
/// Queues that grow without end, as the linter calls them, and as they look in a file.
const UNBOUNDED: &str = "tokio::sync::mpsc::unbounded_channel";
const GROWS: [&str; 2] = ["unbounded_channel(", "mpsc::channel()"];
const LINTER: &str = "clippy.toml";
/// The parts of the agent loop that are in its folder: they wait nowhere.
const LOOP_PARTS: &str = "crates/gangline-agent/src/agent_loop/";

/// Where the loop and what it polls may wait, by function. Nothing else in these files waits: neither
/// an arm of the `select!` nor what is done with the event that it makes.
const WAITS: [(&str, &[(&str, May)]); 4] = [
    (
        "crates/gangline-agent/src/agent_loop.rs",
        &[
            // The deadline is polled in the `select!`; the end comes after the last event.
            (
                "run",
                May::In(&[
                    "Some(due) => due.await,",
                    "None => std::future::pending().await,",
                    "return self.wind_up().await;",
                ]),
            ),
            ("wind_up", May::In(&["let _ = generations.next().await;"])),
        ],
    ),
    (
        "crates/gangline-agent/src/session.rs",
        &[("next", May::In(&["let event = self.port.next().await;"]))],
    ),
    (
        "crates/gangline-agent/src/journal.rs",
        &[
            ("next", May::In(&["self.step().await;"])),
            ("flush", May::In(&["self.step().await;"])),
            (
                "step",
                May::In(&[
                    "State::Idle if self.queue.is_empty() => std::future::pending().await,",
                    "let wrote = write.await;",
                    "until.await;",
                    "State::Failed => std::future::pending().await,",
                ]),
            ),
            ("write_together", May::Anywhere),
        ],
    ),
    (
        "crates/gangline-agent/src/looks.rs",
        &[
            (
                "next",
                May::In(&[
                    "let found = running.await;",
                    "Some(due) => due.await,",
                    "None => std::future::pending().await,",
                ]),
            ),
            ("look", May::Anywhere),
            ("allowed", May::Anywhere),
            ("whispers", May::Anywhere),
            ("decided", May::Anywhere),
            ("said", May::Anywhere),
        ],
    ),
];

/// Where a function may wait.
#[derive(Clone, Copy)]
enum May {
    /// In these lines.
    In(&'static [&'static str]),
    /// It is a future of its own, which is polled.
    Anywhere,
}

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.rust().filter(|file| is_product(file.path)) {
        for (index, line) in file.text.lines().enumerate() {
            let code = line.trim_start();
            let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
            if code.starts_with("//") {
                continue;
            }
            if has(&GROWS) {
                let text = "a queue without a bound: give it one, and say what a full one means";
                findings.push(Finding::fail(file.path, index + 1, text));
            }
            if has(&SHARED) && file.path.starts_with(OWNED) {
                let text = "state has one owner: send a message, or publish it by `watch`";
                findings.push(Finding::fail(file.path, index + 1, text));
            }
        }
    }
    findings.extend(repo.files.rust().flat_map(|file| waits(file.path, file.text)));
    let bans = repo.files.text(LINTER).unwrap_or_default();
    if !bans.contains(&format!("path = \"{UNBOUNDED}\"")) {
        let text = format!("`disallowed-methods` does not name {UNBOUNDED}");
        findings.push(Finding::fail(LINTER, 0, text));
    }
    findings
}

/// The agent loop waits in its `select!` and nowhere else: a write or a look that is under way is a
/// field that is polled there. After its end it waits for what is left.
fn waits(path: &str, text: &str) -> Vec<Finding> {
    let listed = WAITS.iter().find(|(file, _)| *file == path).map(|(_, functions)| *functions);
    let is_part = path.starts_with(LOOP_PARTS) && is_product(path);
    let Some(functions) = listed.or(is_part.then_some(&[][..])) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut function = "";
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if let Some((_, name)) = code.split_once("fn ") {
            function = name.split('(').next().unwrap_or_default();
        }
        let may = functions.iter().find(|(name, _)| *name == function).map(|(_, may)| *may);
        let may = match may {
            Some(May::Anywhere) => true,
            Some(May::In(lines)) => lines.contains(&code),
            None => false,
        };
        if code.contains(".await") && !code.starts_with("//") && !may {
            let text = "the agent loop waits in its `select!` only: make it a field to poll there";
            findings.push(Finding::fail(path, index + 1, text));
        }
    }
    findings
}

fn is_product(path: &str) -> bool {
    let of_ours = path.starts_with("crates/gangline") && path.contains("/src/");
    of_ours
        && !path.contains("-testkit/")
        && !path.ends_with("/tests.rs")
        && !path.contains("/tests/")
}
