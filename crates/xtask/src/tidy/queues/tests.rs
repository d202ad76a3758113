use super::check;
use crate::tidy::{repo_of, said};

const BANS: &str = "disallowed-methods = [\n  { path = \"tokio::sync::mpsc::unbounded_channel\", reason = \"x\" },\n]\n";

fn findings(path: &str, text: &str) -> Vec<String> {
    said(&check(&repo_of(&[("clippy.toml", BANS), (path, text)])))
}

#[test]
fn state_behind_a_lock_is_found_in_the_daemon_only() {
    let what = "fail: state has one owner: send a message, or publish it by `watch`";
    for line in ["    rows: Arc<Mutex<Rows>>,", "static SEEN: RwLock<u8> = x;", "a: RefCell<u8>,"] {
        let path = "crates/gangline-agent/src/chat/x.rs";
        assert_eq!(findings(path, line), [format!("{path}:1: {what}")], "{line}");
        assert_eq!(findings("crates/gangline-runtime/src/x.rs", line), [""; 0]);
        assert_eq!(findings("crates/gangline-agent/src/chat/tests.rs", line), [""; 0]);
    }
    assert_eq!(findings("crates/gangline-agent/src/x.rs", "// no Arc<Mutex<T>>"), [""; 0]);
}

/// R1-08: wherever the product makes one, and whatever the linter was told to allow there.
#[test]
fn a_queue_without_a_bound_is_found_in_every_crate() {
    let what = "fail: a queue without a bound: give it one, and say what a full one means";
    for line in ["let (a, b) = mpsc::channel();", "let (a, b) = mpsc::unbounded_channel();"] {
        for path in ["crates/gangline-irc/src/x.rs", "crates/gangline/src/cmd/x.rs"] {
            assert_eq!(findings(path, line), [format!("{path}:1: {what}")], "{line}");
        }
        assert_eq!(findings("crates/gangline-os/src/task/tests.rs", line), [""; 0]);
        assert_eq!(findings("crates/xtask/src/x.rs", line), [""; 0]);
    }
    assert_eq!(findings("crates/gangline-irc/src/x.rs", "let (a, b) = mpsc::channel(8);"), [""; 0]);
}

#[test]
fn a_linter_that_allows_a_queue_without_a_bound_is_found() {
    let found = said(&check(&repo_of(&[("clippy.toml", "disallowed-methods = []\n")])));
    let what = "`disallowed-methods` does not name tokio::sync::mpsc::unbounded_channel";
    assert_eq!(found, [format!("clippy.toml: fail: {what}")]);
}

/// In `run` the loop may wait in its `select!`, which needs no `.await`, and for its end: not in an arm,
/// nor in what is done with an event.
#[test]
fn a_wait_in_the_agent_loop_outside_its_select_is_found() {
    let what = "fail: the agent loop waits in its `select!` only: make it a field to poll there";
    let main = "crates/gangline-agent/src/agent_loop.rs";
    let run = |arm: &str, act: &str| {
        format!(
            "    pub(crate) async fn run(mut self) -> LoopEnd {{\n        let event = tokio::select! {{\n            \
             {arm}\n        }};\n        match event {{\n            {act}\n        }}\n        return \
             self.wind_up().await;\n    }}\n"
        )
    };
    let (arm, act) = ("found = self.looks.next() => Event::Found(found),", "E::Found(it) => it(),");
    assert_eq!(findings(main, &run(arm, act)), [""; 0]);
    let waits = "Event::Session(event) => self.session(event).await,";
    assert_eq!(findings(main, &run(arm, waits)), [format!("{main}:6: {what}")]);
    let waits = "found = self.looks.next() => self.found(found).await,";
    assert_eq!(findings(main, &run(waits, act)), [format!("{main}:3: {what}")]);
}

#[test]
fn a_wait_in_what_the_agent_loop_polls_is_found_unless_it_is_listed() {
    let what = "fail: the agent loop waits in its `select!` only: make it a field to poll there";
    let text =
        |name: &str, line: &str| format!("    async fn {name}(self) {{\n        {line}\n    }}\n");
    for (file, function, line) in [
        ("agent_loop.rs", "wind_up", "let _ = generations.next().await;"),
        ("session.rs", "next", "let event = self.port.next().await;"),
        ("journal.rs", "flush", "self.step().await;"),
        ("journal.rs", "step", "let wrote = write.await;"),
        ("journal.rs", "write_together", "anything().await;"),
        ("looks.rs", "next", "let found = running.await;"),
        ("looks.rs", "look", "anything().await;"),
    ] {
        let path = format!("crates/gangline-agent/src/{file}");
        assert_eq!(findings(&path, &text(function, line)), [""; 0], "{file} {function}");
        let found = [format!("{path}:2: {what}")];
        assert_eq!(findings(&path, &text("think", line)), found, "{file} {function}");
    }
    for (path, function) in [("session.rs", "next"), ("agent_loop/effects.rs", "run")] {
        let path = format!("crates/gangline-agent/src/{path}");
        let found = [format!("{path}:2: {what}")];
        assert_eq!(findings(&path, &text(function, "one.next().await;")), found);
    }
    let elsewhere = "crates/gangline-agent/src/chat.rs";
    assert_eq!(findings(elsewhere, &text("think", "one.next().await;")), [""; 0]);
}
