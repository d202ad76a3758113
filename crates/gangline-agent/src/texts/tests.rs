mod ours;

use super::*;

/// C5: everybody sees in WHOIS that tools run unasked, whoever decided it.
#[test]
fn whois_says_that_tools_run_unasked() {
    for (permissions, unasked, name) in [
        (Permissions::Ask, None, "gangline agent (x)"),
        (Permissions::Allowlist, None, "gangline agent (x)"),
        (Permissions::Bypass, None, "gangline agent (x), permissions: BYPASS"),
        (Permissions::Bypass, Some("Bash"), "gangline agent (x), permissions: BYPASS"),
        (Permissions::Ask, Some("Bash"), "gangline agent (x), permissions: ask DOES NOT HOLD"),
    ] {
        assert_eq!(realname("x", permissions, unasked), name);
    }
}

/// The next attempt hears how the backend ended, also by a signal, and not what a program said.
#[test]
fn how_a_backend_ended_is_told_without_what_it_said() {
    let killed = "claude ended with signal 9; it said: nothing";
    for (how, words, expect) in [
        (
            exited(1),
            Some("claude ended with code 1; it said: no key"),
            "process exited with code 1",
        ),
        (exited(-1), Some(killed), "claude ended with signal 9"),
        (
            exited(-1),
            Some("claude cannot be started again: x"),
            "claude cannot be started again: x",
        ),
        (exited(-1), None, "process ended without a code"),
    ] {
        assert_eq!(how_ended(&how, words), expect);
    }
}
