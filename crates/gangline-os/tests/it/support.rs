//! What the tests share: shells, this test binary in a role, lines of a child, deadlines.

use std::ffi::OsString;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use gangline_os::clock::{Clock, SystemClock};
use gangline_os::lines::{Line, LineReader};
use gangline_os::proc;
use gangline_os::run_id::RunId;
use gangline_os::{
    kill::Signal,
    process::{Child, Group, Output, Spawn, Stdin, base_env, spawn},
};
use tokio::io::AsyncRead;
use tokio::time::{sleep, timeout};

/// Far beyond what anything here takes, even on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The variable that tells this binary which role to play.
pub(crate) const ROLE: &str = "GANGLINE_OS_TEST_ROLE";

/// A shell with this script, all three streams piped.
pub(crate) fn sh(script: &str) -> Spawn {
    Spawn {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: base_env(),
        stdin: Stdin::Piped,
        stdout: Output::Piped,
        stderr: Output::Piped,
        group: Group::New,
    }
}

/// This test binary, playing a role of [`crate::roles`]. It speaks on its error output, since the
/// test harness has the other one.
pub(crate) fn role(name: &str, env: &[(&str, &str)]) -> Spawn {
    let mut spec = sh("");
    spec.program = std::env::current_exe().unwrap();
    spec.args =
        ["--exact", "roles::role", "--nocapture", "--test-threads=1"].map(OsString::from).into();
    spec.stdout = Output::Null;
    spec.env.push((ROLE.into(), name.into()));
    spec.env.extend(env.iter().map(|(key, value)| (key.into(), value.into())));
    spec
}

pub(crate) fn with_run_id(mut spec: Spawn, run_id: &RunId) -> Spawn {
    spec.env.push(run_id.variable());
    spec
}

pub(crate) fn start(spec: Spawn) -> Child {
    spawn(spec).unwrap()
}

pub(crate) type Lines = LineReader<Box<dyn AsyncRead + Unpin + Send>>;

pub(crate) fn output(child: &mut Child) -> Lines {
    LineReader::new(Box::new(child.take_stdout().unwrap()), 10_000)
}

pub(crate) fn errors(child: &mut Child) -> Lines {
    LineReader::new(Box::new(child.take_stderr().unwrap()), 10_000)
}

/// Waits for something that is bound to come.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("it did not come in time")
}

pub(crate) async fn line(lines: &mut Lines) -> String {
    match soon(lines.next()).await.unwrap() {
        Some(Line::Text(text)) => text,
        other => panic!("not a line: {other:?}"),
    }
}

pub(crate) async fn rest(lines: &mut Lines) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(line) = soon(lines.next()).await.unwrap() {
        match line {
            Line::Text(text) => all.push(text),
            Line::Oversize { kept, .. } => all.push(kept),
        }
    }
    all
}

/// Waits until a fact about the system holds, by looking.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let clock = SystemClock;
    let end = clock.monotonic() + DEADLINE;
    while !holds() {
        // sleep: looks at a fact of the system again and again, within a deadline
        assert!(clock.monotonic() < end, "waited in vain until {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// A process that must be gone later, named so that its pid cannot become another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) pid: u32,
    started: u64,
}

impl Known {
    pub(crate) fn alive(self) -> bool {
        proc::alive(self.pid, self.started)
    }

    pub(crate) fn kill(self) {
        assert!(proc::signal_exact(self.pid, self.started, Signal::Kill).unwrap());
    }

    pub(crate) async fn gone(self) {
        until("it is gone", || !self.alive()).await;
    }
}

pub(crate) fn known(pid: u32) -> Known {
    Known { pid, started: proc::start_time(pid).expect("it runs") }
}

/// The state letter of `/proc/<pid>/stat`.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim().chars().next()
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Why tests with a second user cannot run.
pub(crate) const NOT_ROOT: &str = "only root can be another user";

/// Records that a test cannot run here, in the file that `GANGLINE_SKIPPED` names.
pub(crate) fn skip(test: &str, why: &str) {
    use std::io::Write as _;
    eprintln!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("GANGLINE_SKIPPED") else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "gangline-os::{test}: {why}").unwrap();
}
