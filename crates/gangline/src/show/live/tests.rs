//! Tests of the live view.

use anstream::adapter::strip_str;
use gangline_api::{
    event::{EVENT_VERSION, EventRecord},
    ipc::Whisper,
    status::{Activity, AgentStatus, RunningTool, WaitingFor},
};
use gangline_core::{ApprovalNumber, agent::AgentPhase};
use gangline_os::clock::UnixMicros;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{event, status, whisper};

fn happened(kind: &str, payload: Value) -> EventRecord {
    EventRecord {
        v: EVENT_VERSION,
        seq: "1".into(),
        agent: "oak-ada".parse().unwrap(),
        turn: Some("t3.7".parse().unwrap()),
        kind: kind.into(),
        at: "2026-11-21T12:00:01.000Z".into(),
        payload,
    }
}

#[test]
fn what_an_agent_says_and_does_is_shown_in_full() {
    let long = "word ".repeat(60);
    let blocks = json!({"type": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "First I look.\nThen I act."},
        {"type": "thinking", "thinking": ""},
        {"type": "text", "text": format!("{}\n\nsecond \u{1b}[31mline\n", long.trim_end())},
        {"type": "text", "text": " "},
        {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls\nmake", "timeout": 5}},
    ]});
    let events = [
        happened("turn_started", json!({"turn": "t3.7", "messages": ["m42"], "attempt": 1})),
        happened("assistant", blocks),
        happened(
            "approval_asked",
            json!({"number": 12, "tool": "Bash", "summary": "run `make\u{7}`"}),
        ),
        happened(
            "turn_ended",
            json!({"turn": "t3.7", "outcome": "completed", "messages": ["m42"]}),
        ),
        happened("of_tomorrow", json!({"x": 1})),
    ];
    let text: String = events.iter().map(|it| event(it, &TimeZone::UTC)).collect();
    insta::assert_snapshot!(strip_str(&text).to_string().replace(long.trim_end(), "LONG"), @r#"
    12:00:01.000 turn        started for m42, attempt 1
    12:00:01.000 thinking    First I look.
                             Then I act.
    12:00:01.000 thinking    …
    12:00:01.000 text        LONG

                             second <U+001B>[31mline
    12:00:01.000 tool        Bash command: ls
                             make
                             timeout: 5
    12:00:01.000 approval 12 Bash: run `make<U+0007>`
                             `gangline approvals 12` shows all of it
                             decide: `gangline approve 12` or `gangline deny 12 --reason TEXT`, or in the room: `@oak-ada yes 12` or `no 12 REASON`
    12:00:01.000 turn        ended: completed
    12:00:01.000 of_tomorrow {"x":1}
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn the_beginning_tells_how_it_stands_and_what_is_waited_for() {
    let agent = AgentStatus {
        nick: "oak-ada".parse().unwrap(),
        running: true,
        paused: false,
        circuit_open: false,
        turn_count: 4,
        last_activation: Some(1_000.0),
        activity: Activity::Working,
        description: "waits for approval 12, 2 messages wait".into(),
        phase: AgentPhase::Working.into(),
        epoch: None,
        pid: Some(7),
        session: None,
        tool: Some(RunningTool {
            name: "Bash".into(),
            what: "npm test".into(),
            since: "1970-01-01T00:17:25.000Z".into(),
        }),
        task: None,
        pending: 2,
        waiting_for: vec![
            WaitingFor::Approval {
                number: ApprovalNumber(12),
                tool: "Bash".into(),
                summary: "run `make`".into(),
                asked_at: "2026-11-21T12:00:01.000Z".into(),
            },
            WaitingFor::Login { hint: "run `claude`".into() },
            WaitingFor::Resume { why: "no such file".into() },
        ],
        needs_login: true,
        rate_limited: false,
        pauses: Vec::new(),
        escalated: false,
        degraded: false,
        compacting: false,
        context_tokens: None,
        context_window: None,
        unread: [].into(),
        channels: Vec::new(),
        version: None,
        model: None,
        effort: None,
        whispers: 0,
        runtime: None,
        configured_runtime: None,
        permissions: None,
        unasked: None,
        spent: Vec::new(),
        supervisor: None,
    };
    let text = status(&agent, UnixMicros::from_seconds(1_090));
    insta::assert_snapshot!(strip_str(&text).to_string(), @"
    oak-ada working: waits for approval 12, 2 messages wait; the last turn began 1m ago
      runs Bash: npm test, for 45s
      approval 12: Bash: run `make`
      `gangline approvals 12` shows all of it
      decide: `gangline approve 12` or `gangline deny 12 --reason TEXT`, or in the room: `@oak-ada yes 12` or `no 12 REASON`
      a login: run `claude`
      `resume`: no such file
    Ctrl-C leaves; the agent keeps running
    ");
    let idle = AgentStatus {
        last_activation: None,
        tool: None,
        pending: 0,
        waiting_for: vec![],
        description: "idle".into(),
        phase: AgentPhase::Idle.into(),
        ..agent
    };
    let text = strip_str(&status(&idle, UnixMicros(0))).to_string();
    assert_eq!(text, "oak-ada idle: idle\nCtrl-C leaves; the agent keeps running\n");
    let word = Whisper { whisper_type: "CORRECTION".into(), message: "stop\nit".into() };
    insta::assert_snapshot!(strip_str(&whisper(&word)).to_string(), @"
                 whisper     [CORRECTION] stop
                             it
    ");
}
