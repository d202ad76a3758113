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

#[test]
fn a_wait_in_the_agent_loop_outside_its_select_is_found() {
    let what = "fail: the agent loop waits in its `select!` only: make it a field to poll there";
    let main = "crates/gangline-agent/src/agent_loop.rs";
    let text =
        |name: &str| format!("    async fn {name}(self) {{\n        one.next().await;\n    }}\n");
    assert_eq!(findings(main, &text("run")), [""; 0]);
    assert_eq!(findings(main, &text("wind_up")), [""; 0]);
    assert_eq!(findings(main, &text("think")), [format!("{main}:2: {what}")]);
    let part = "crates/gangline-agent/src/agent_loop/effects.rs";
    assert_eq!(findings(part, &text("run")), [format!("{part}:2: {what}")]);
    assert_eq!(findings("crates/gangline-agent/src/chat.rs", &text("think")), [""; 0]);
}
