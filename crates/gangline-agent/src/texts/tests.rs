use gangline_core::name::CHANNEL_MAX;
use serde_json::json;

use super::*;

#[test]
fn a_summary_names_what_the_tool_would_do() {
    let masks = Redactor::new(["hunter2hunter2".to_owned()]);
    let summary = |input| approval_summary(&input, &masks);
    assert_eq!(summary(json!({"command": "ls -la", "description": "list"})), "ls -la");
    assert_eq!(summary(json!({"command": "a\nb\tc"})), "a⏎b<U+0009>c");
    assert_eq!(summary(json!({"odd": 1})), r#"{"odd":1}"#);
}

/// A command that reads otherwise than it runs is shown as what it is.
#[test]
fn what_turns_or_hides_text_is_written_out_in_a_summary_and_its_announcement() {
    let summary = approval_summary(
        &json!({"command": "rm \u{202e}dliub\u{200b} \u{e0041}"}),
        &Redactor::default(),
    );
    assert_eq!(summary, "rm <U+202E>dliub<U+200B> <U+E0041>");
    let agent: AgentName = "oak-ada".parse().unwrap();
    let line = approval_announcement((&agent, "o\u{200d}ri"), ("Ba\u{202e}sh", &summary));
    assert!(line.contains("o<U+200D>ri") && line.contains("Ba<U+202E>sh"), "{line}");
}

/// F27: a secret that would be cut in the middle is masked before it is cut.
#[test]
fn half_a_secret_is_never_left_by_the_cut() {
    let secret = "hunter2hunter2hunter2";
    let masks = Redactor::new([secret.to_owned()]);
    for before in 90..130 {
        let command = format!("{} {secret} rest", "x".repeat(before));
        let summary = approval_summary(&json!({ "command": command }), &masks);
        assert!(!summary.contains("hunter2"), "{before}: {summary}");
    }
}

/// The announcement is one line of IRC, whatever letters the command has.
#[test]
fn an_announcement_fits_one_line() {
    let masks = Redactor::new([]);
    let agent: AgentName = format!("a-{}", "b".repeat(61)).parse().unwrap();
    let summary = approval_summary(&json!({"command": "ä€𝄞".repeat(200)}), &masks);
    let line = approval_announcement((&agent, &"n".repeat(20)), ("Bash", &summary));
    let frame = ":nick!user@host PRIVMSG  :\r\n".len() + CHANNEL_MAX;
    assert!(line.len() + frame <= 512, "{} bytes", line.len() + frame);
}

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
