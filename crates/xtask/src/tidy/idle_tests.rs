//! Tests neither sleep nor are switched off. A test waits for the fact it needs, with a deadline;
//! where a pause is the thing under test, a comment `// sleep: why` stands on the line or within
//! three lines above it. Examples in documentation are compiled or deleted.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// Files whose pauses are the way others wait for facts, each with the reason.
const MAY_SLEEP: &[(&str, &str)] = &[];

/// Calls that only let time pass.
const PAUSES: [&str; 2] = ["sleep(", "park_timeout("];
/// A wait for a message or a change whose result is thrown away is a pause as well.
const TIMED_WAITS: [&str; 2] = ["recv_timeout(", "wait_timeout("];
const THROWN_AWAY: &str = "let _ = ";
const REASON: &str = "// sleep: ";
const IGNORED: &str = concat!("#[", "ignore");
const UNCHECKED: [&str; 2] = [concat!("/// ```", "ignore"), concat!("//! ```", "ignore")];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    check_with(repo, MAY_SLEEP)
}

fn check_with(repo: &Repo, may_sleep: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.rust() {
        let lines: Vec<&str> = file.text.lines().collect();
        let may_sleep = may_sleep.iter().any(|(path, _)| *path == file.path);
        for (index, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            if code.starts_with(IGNORED) {
                let text = "a test that is switched off proves nothing: mend it or delete it";
                findings.push(Finding::fail(file.path, index + 1, text));
            }
            if UNCHECKED.iter().any(|mark| code.starts_with(mark)) {
                let text = "an example that is not compiled can lie: compile it or delete it";
                findings.push(Finding::fail(file.path, index + 1, text));
            }
            let excused = may_sleep
                || lines[index.saturating_sub(3)..=index].iter().any(|near| near.contains(REASON));
            if is_test(file.path) && pauses(code) && !excused {
                let text = "a test waits for a fact, not for time; or says why: `// sleep: …`";
                findings.push(Finding::fail(file.path, index + 1, text));
            }
        }
    }
    for (path, _) in may_sleep.iter().filter(|(path, _)| !repo.files.contains(path)) {
        findings.push(Finding::fail(path, 0, "may sleep, but is not there: take it off the list"));
    }
    findings
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("-testkit/")
}

/// Whether a line only lets time pass.
fn pauses(code: &str) -> bool {
    let calls_any = |names: &[&str]| names.iter().any(|name| calls(code, name));
    calls_any(&PAUSES) || (code.starts_with(THROWN_AWAY) && calls_any(&TIMED_WAITS))
}

/// A call of something with this very name, outside comments and string literals.
fn calls(code: &str, name: &str) -> bool {
    let Some(at) = code.find(name) else { return false };
    let before = &code[..at];
    !before.contains("//")
        && before.matches('"').count().is_multiple_of(2)
        && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}
