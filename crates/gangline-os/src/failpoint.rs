//! Fail points: named places where a debug build can be told to die, stop or fail.
//!
//! `GANGLINE_FAILPOINTS="name=kill@2;other=exit;third=stop;fourth=error"`, read once. Release
//! builds never look at it.
//!
//! | action | effect |
//! |---|---|
//! | `kill` | SIGKILL to ourselves |
//! | `exit` | the process exits with 99 |
//! | `stop` | SIGSTOP to ourselves: it goes on after SIGCONT |
//! | `error` | [`fails`] says yes |
//!
//! `@n` names the n-th passing of that point (from 1). Without it, `error` means each passing and
//! the others mean the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::signal::{Signal, kill, raise};
use nix::unistd::getpid;

#[cfg(test)]
mod tests;

/// The variable that arms fail points.
pub const VARIABLE: &str = "GANGLINE_FAILPOINTS";

/// The exit code of the action `exit`.
pub const EXIT_CODE: i32 = 99;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Kill,
    Exit,
    Stop,
    Error,
}

#[derive(Debug)]
struct Point {
    name: String,
    action: Action,
    at: Option<u64>,
    passed: AtomicU64,
}

/// Passes the fail point of this name: dies, exits or stops here when it is armed so.
pub fn hit(name: &'static str) {
    let _ = fails(name);
}

/// Passes the fail point of this name and says whether the caller is to fail (action `error`).
#[must_use]
pub fn fails(name: &'static str) -> bool {
    static ARMED: OnceLock<Vec<Point>> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return false;
    }
    let armed = ARMED.get_or_init(|| parse(&std::env::var(VARIABLE).unwrap_or_default()));
    match pass(armed, name) {
        None => false,
        Some(Action::Error) => true,
        Some(Action::Kill) => {
            let _ = kill(getpid(), Signal::SIGKILL);
            loop {
                std::thread::park();
            }
        }
        Some(Action::Exit) => std::process::exit(EXIT_CODE),
        Some(Action::Stop) => {
            // To this thread: one that was sent to the process may stop another thread first, and this one
            // goes on for a while.
            let _ = raise(Signal::SIGSTOP);
            false
        }
    }
}

/// Counts a passing and returns the action that is due at it.
fn pass(armed: &[Point], name: &str) -> Option<Action> {
    let mut due = None;
    for point in armed.iter().filter(|point| point.name == name) {
        let passed = point.passed.fetch_add(1, Ordering::SeqCst) + 1;
        let each = point.at.is_none() && point.action == Action::Error;
        if each || passed == point.at.unwrap_or(1) {
            due = due.or(Some(point.action));
        }
    }
    due
}

fn parse(text: &str) -> Vec<Point> {
    let entries = text.split(';').map(str::trim).filter(|entry| !entry.is_empty());
    let parsed = entries.filter_map(|entry| {
        let point = parse_point(entry);
        if point.is_none() {
            tracing::warn!(entry, "a fail point that nobody understands");
        }
        point
    });
    parsed.collect()
}

fn parse_point(entry: &str) -> Option<Point> {
    let (name, rest) = entry.split_once('=')?;
    let (action, at) = match rest.split_once('@') {
        Some((action, at)) => (action, Some(at.trim().parse().ok().filter(|at| *at > 0)?)),
        None => (rest, None),
    };
    let action = match action.trim() {
        "kill" => Action::Kill,
        "exit" => Action::Exit,
        "stop" => Action::Stop,
        "error" => Action::Error,
        _ => return None,
    };
    Some(Point { name: name.trim().to_owned(), action, at, passed: AtomicU64::new(0) })
}
