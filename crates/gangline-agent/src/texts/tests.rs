use gangline_core::name::CHANNEL_MAX;
use serde_json::json;

use super::*;

#[test]
fn a_summary_names_what_the_tool_would_do() {
    let masks = Redactor::new(["hunter2hunter2".to_owned()]);
    let summary = |input| approval_summary(&input, &masks);
    assert_eq!(summary(json!({"command": "ls -la", "description": "list"})), "ls -la");
    assert_eq!(summary(json!({"command": "a\nb\tc"})), "a b c");
    assert_eq!(summary(json!({"odd": 1})), r#"{"odd":1}"#);
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
