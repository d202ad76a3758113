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
/// The agent loop, its parts, and the functions of it that wait.
const LOOP: &str = "crates/gangline-agent/src/agent_loop.rs";
const LOOP_PARTS: &str = "crates/gangline-agent/src/agent_loop/";
const WAITING: [&str; 2] = ["run", "wind_up"];

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
    let main = path == LOOP;
    if !main && (!path.starts_with(LOOP_PARTS) || !is_product(path)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut function = "";
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if let Some((_, name)) = code.split_once("fn ") {
            function = name.split('(').next().unwrap_or_default();
        }
        let may = main && WAITING.contains(&function);
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
