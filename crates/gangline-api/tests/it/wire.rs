//! The golden JSON of every wire type: a change here is a change of the wire.

use std::collections::BTreeMap;

use gangline_api::{
    approval::{AllowedBefore, Approval, ApprovalState, Decision},
    budget::Counted,
    error::{ApiError, ErrorCode},
    event::{
        Alert, ApprovalAsked, ApprovalDecided, Assistant, EVENT_VERSION, Event, EventRecord,
        HookData, HookPayload, MessageAccepted, Notice, Phase, QuestionAnswered, QuestionAsked,
        Sent, StartStep, StepState, ToolResult, TurnEnded, TurnStarted, TurnSteered, Whisper,
        WhisperDelivered,
    },
    finding::Finding,
    ready::ReadyLine,
    status::{Activity, AgentStatus, WaitingFor},
    trace::{Trace, TracedCause, TracedMessage, TracedRepeat, TracedSend, TracedTurn},
};
use gangline_core::{
    act::ActKind,
    agent::AgentPhase,
    answer::How,
    block::Block,
    budget::{Spent, UsageSource},
    finding::{ChoiceWord, FindingKind, FindingState, Severity},
    hook::{HookEvent, WebhookEvent},
    id::{ApprovalNumber, Epoch, FindingNumber, MessageId, QuestionNumber, TurnId},
    message::{MessageState, Origin, Principal, Tier},
    outcome::OutcomeWord,
    whisper::{WhisperKind, WhisperRoad, WhisperSource},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

const AT: &str = "2026-11-21T21:33:48.123Z";

fn turn() -> TurnId {
    TurnId { epoch: Epoch(3), number: 17 }
}

fn approval() -> Approval {
    Approval {
        number: ApprovalNumber(12),
        agent: "spark-ada".parse().unwrap(),
        turn: turn(),
        message: Some(MessageId(42)),
        tool: "Bash".into(),
        summary: "run `make test`".into(),
        detail: "make test".into(),
        allowed_before: Some(AllowedBefore { by: "ori".into(), at: AT.into() }),
        state: ApprovalState::Allowed,
        asked_at: AT.into(),
        decided_at: Some(AT.into()),
        decided_by: Some("owner".into()),
        decided_as: None,
        folder: None,
        said_before: None,
        note: None,
        progress: None,
        outcome: None,
    }
}

fn hook(event: HookEvent) -> HookPayload {
    HookPayload {
        event,
        runtime: "claude".into(),
        session_id: Some("3d1f".into()),
        workdir: "/srv/app".into(),
        rig: Some("forge".into()),
        role: None,
        bead: None,
        actor: "spark-ada".into(),
        timestamp: AT.into(),
        data: HookData::default(),
    }
}

#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn every_event() -> Vec<Event> {
    vec![
        MessageAccepted {
            message: MessageId(42),
            origin: Origin::Mention,
            sender: "eve".into(),
            target: Some("#general".parse().unwrap()),
            preview: "say hello".into(),
        }
        .into(),
        TurnStarted { turn: turn(), messages: vec![MessageId(42)], attempt: 1 }.into(),
        TurnSteered { turn: turn(), messages: vec![MessageId(43)], how: How::Read.into() }.into(),
        Assistant {
            model: "claude-opus-4-6".into(),
            content: vec![
                Block::Thinking { thinking: "hm".into() },
                Block::Text { text: "hello".into() },
                Block::ToolUse {
                    id: "toolu_1".into(),
                    name: "Bash".into(),
                    input: json!({"command": "ls"}),
                },
            ],
        }
        .into(),
        ToolResult {
            id: "toolu_1".into(),
            name: "Bash".into(),
            is_error: false,
            preview: "a b".into(),
        }
        .into(),
        Sent {
            to: "#general".parse().unwrap(),
            in_reply_to: Some(MessageId(42)),
            preview: "hello".into(),
        }
        .into(),
        TurnEnded {
            turn: turn(),
            outcome: OutcomeWord::Completed.into(),
            reason: None,
            messages: vec![MessageId(42)],
        }
        .into(),
        ApprovalAsked {
            number: ApprovalNumber(12),
            tool: "Bash".into(),
            summary: "run `make test`".into(),
        }
        .into(),
        ApprovalDecided {
            number: ApprovalNumber(12),
            decision: Decision::Deny,
            by: "owner".into(),
        }
        .into(),
        Phase { from: AgentPhase::Idle.into(), to: AgentPhase::Working.into() }.into(),
        StartStep { step: "supervisor".into(), state: StepState::Absent }.into(),
        hook(HookEvent::SessionStart).into(),
        hook(HookEvent::SessionStop).into(),
        HookPayload {
            data: HookData {
                message: "say hello".into(),
                id: Some(MessageId(42)),
                sender: Some("eve".into()),
            },
            ..hook(HookEvent::OnMessage)
        }
        .into(),
        hook(HookEvent::OnError).into(),
        Alert {
            event: WebhookEvent::AgentError,
            severity: "error".into(),
            text: "[ERROR] spark-ada crashed: process exited with code 1".into(),
        }
        .into(),
        gangline_api::event::Verdict {
            verdict: gangline_core::watch::Verdict::Correction.into(),
            message: "You have retried this 3 times.".into(),
            evaluation: 2,
            by: "claude".into(),
        }
        .into(),
        Notice { code: "resumed".into(), text: "session resumed".into() }.into(),
        QuestionAsked {
            id: QuestionNumber(13),
            asker: "spark-bob".parse().unwrap(),
            question: "deploy where?".into(),
            options: vec!["staging".into(), "production".into()],
            multi: false,
        }
        .into(),
        QuestionAnswered {
            id: QuestionNumber(14),
            question: "merge?".into(),
            answer: "yes".into(),
            answerer: "ori".into(),
        }
        .into(),
        Finding {
            number: FindingNumber(15),
            state: FindingState::Resolved.into(),
            kind: FindingKind::SilentTurn.into(),
            severity: Severity::Warning.into(),
            cause: "no output for 10 minutes".into(),
            choice: Some(ChoiceWord::Abort.into()),
            by: Some("ori".into()),
        }
        .into(),
        Whisper {
            id: 3,
            whisper_type: WhisperKind::Correction.into(),
            source: WhisperSource::Operator.into(),
            text: "ask #help".into(),
            by: Some("ori".into()),
            finding: None,
        }
        .into(),
        WhisperDelivered { ids: vec![3], road: WhisperRoad::Hook.into() }.into(),
    ]
}

/// Asserts that the value survives the wire, and returns its golden form.
fn golden<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    text
}

/// R0-18: among them the assistant's form, the same for every backend.
#[test]
fn every_event_has_its_golden_form_and_is_read_again() {
    let events = every_event();
    let kinds: Vec<&str> = events.iter().map(Event::kind).collect();
    assert_eq!(kinds, Event::KINDS);
    let mut lines = String::new();
    for (number, event) in events.into_iter().enumerate() {
        let bytes = event.encode().unwrap();
        lines.push_str(&format!("{} {}\n", event.kind(), std::str::from_utf8(&bytes).unwrap()));
        let record = EventRecord {
            v: EVENT_VERSION,
            seq: format!("e{number}"),
            agent: "spark-ada".parse().unwrap(),
            turn: Some(turn()),
            kind: event.kind().into(),
            at: AT.into(),
            payload: serde_json::from_slice(&bytes).unwrap(),
        };
        assert_eq!(record.event().unwrap(), Some(event));
        let line = golden(&record);
        if record.kind == "phase" {
            lines.push_str(&format!("\n{line}\n\n"));
        }
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn an_unknown_kind_is_skipped_but_a_broken_payload_is_an_error() {
    assert_eq!(Event::decode("from_the_future", json!({"x": 1})).unwrap(), None);
    let error = Event::decode("turn_started", json!({"turn": "t3.17"})).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the payload of a `turn_started` event");
    let more = json!({"from": "idle", "to": "working", "since": 1});
    assert!(Event::decode("phase", more).unwrap().is_some(), "new fields are ignored");
}

/// R0-52, C36: S0's seven fields keep their names and forms.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn status_has_its_golden_form() {
    let idle = AgentStatus {
        nick: "spark-ada".parse().unwrap(),
        running: true,
        paused: false,
        circuit_open: false,
        turn_count: 0,
        last_activation: None,
        activity: Activity::Idle,
        description: "idle".into(),
        phase: AgentPhase::Idle.into(),
        epoch: None,
        pid: None,
        session: None,
        tool: None,
        task: None,
        pending: 0,
        waiting_for: vec![],
        needs_login: false,
        rate_limited: false,
        pauses: Vec::new(),
        escalated: false,
        degraded: false,
        compacting: false,
        context_tokens: None,
        context_window: None,
        unread: BTreeMap::new(),
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
    let working = AgentStatus {
        turn_count: 4,
        last_activation: Some(1_795_296_828.5),
        activity: Activity::Working,
        description: "waits for approval 12".into(),
        phase: AgentPhase::Working.into(),
        epoch: Some(Epoch(3)),
        pid: Some(4711),
        session: Some("5e55".into()),
        pending: 2,
        waiting_for: vec![
            WaitingFor::Approval {
                number: ApprovalNumber(12),
                tool: "Bash".into(),
                summary: "run `make test`".into(),
                asked_at: AT.into(),
            },
            WaitingFor::Login { hint: "run `claude` once and log in".into() },
            WaitingFor::Resume { why: "the program ended with code 1".into() },
        ],
        needs_login: true,
        context_tokens: Some(41_000),
        context_window: Some(200_000),
        unread: [("#general".to_owned(), 3)].into(),
        channels: Vec::new(),
        version: Some("0.1.0".into()),
        model: Some("haiku".into()),
        effort: None,
        whispers: 0,
        runtime: Some("native".into()),
        configured_runtime: Some("claude".into()),
        spent: vec![Counted::of(
            UsageSource::Relay.into(),
            &Spent { tokens: 1200, micros: 0, unknown: 2 },
            9000,
        )],
        ..idle.clone()
    };
    let older: AgentStatus = serde_json::from_str(
        r#"{"nick":"spark-ada","running":true,"paused":false,"circuit_open":false,"turn_count":0,
            "last_activation":null,"activity":"idle","description":"idle","phase":"idle","pending":0}"#,
    )
    .unwrap();
    assert_eq!(older, idle, "fields that came later may be absent");
    insta::assert_snapshot!([golden(&idle), golden(&working)].join("\n"));
}

/// C36: our own times.
#[test]
fn errors_approvals_and_the_ready_line_have_their_golden_form() {
    let error =
        ApiError::new(ErrorCode::NotFound, "no agent `spark-bob`").hint("`gangline ps` lists them");
    assert_eq!(error.to_string(), "no agent `spark-bob`\nhint: `gangline ps` lists them");
    let ready = ReadyLine {
        pid: 4711,
        irc: "127.0.0.1:6667".into(),
        http: None,
        token: Some("s3cret".into()),
        token_file: Some("/state/owner.token".into()),
        state: "/state".into(),
    };
    assert!(!format!("{ready:?}").contains("s3cret"));
    let newer: ApiError = serde_json::from_str(r#"{"code":"teapot","message":"x"}"#).unwrap();
    assert_eq!(newer.code, ErrorCode::Unknown);
    insta::assert_snapshot!([golden(&error), golden(&ready), golden(&approval())].join("\n"));
}

#[test]
fn a_trace_has_its_golden_form() {
    let trace = Trace {
        message: TracedMessage {
            id: MessageId(42),
            agent: "spark-ada".parse().unwrap(),
            origin: Origin::Mention,
            principal: Principal { account: "owner".into(), tier: Tier::Owner },
            sender: "eve".into(),
            target: Some("#general".parse().unwrap()),
            body: "say hello".into(),
            state: MessageState::Answered,
            reason: None,
            answer: Some("hello".into()),
            attempt: 1,
            cause_root: None,
            hops: 0,
            accepted_at: AT.into(),
            settled_at: Some(AT.into()),
        },
        cause: Some(TracedCause {
            root: MessageId(42),
            turns: 30,
            agents: 5,
            tokens: 48_210,
            held: 2,
            held_at: Some(AT.into()),
            ended_by: None,
        }),
        turns: vec![TracedTurn {
            turn: turn(),
            how: How::Woke.into(),
            started_at: AT.into(),
            ended_at: Some(AT.into()),
            outcome: Some(OutcomeWord::Completed.into()),
        }],
        sends: vec![TracedSend {
            to: "#general".parse().unwrap(),
            text: "hello".into(),
            state: "confirmed".into(),
            part: (1, 1),
            msgid: Some("abc".into()),
            may_be_doubled: false,
            reason: None,
        }],
        repeats: vec![TracedRepeat {
            turn: turn(),
            at: AT.into(),
            kind: ActKind::Send.into(),
            number: Some(15),
            message: None,
            done_by: TurnId { epoch: Epoch(2), number: 4 },
        }],
        approvals: vec![approval()],
        events: vec![],
    };
    golden(&trace);
    insta::assert_json_snapshot!(trace);
}
