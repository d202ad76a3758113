use super::*;

/// Another agent reads the log without the commands that owners alone are shown.
#[test]
fn agents_read_no_command_that_is_for_owners() {
    let event = |command: &str| EventRecord {
        v: EVENT_VERSION,
        seq: "1".to_owned(),
        agent: "oak-ada".parse().unwrap(),
        turn: None,
        kind: "assistant".to_owned(),
        at: "2026-11-28T12:00:00Z".to_owned(),
        payload: json!({"type": "assistant", "model": "m", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": command}},
        ]}),
    };
    let told = |command: &str| {
        let event = for_agents(event(command));
        at_depth(&event, Depth::Work).into_iter().map(|it| it.text).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        told("echo \"--token=abcdef12"),
        format!("I look. Bash {{\"command\":\"{}\"}}", view::WITHHELD)
    );
    assert_eq!(told("ls -l"), "I look. Bash {\"command\":\"ls -l\"}");
}
