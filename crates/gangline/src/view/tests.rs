//! Rows for tests of everything that shows them.

use gangline_api::{
    event::{Event as Recorded, TurnStarted},
    status::{Activity, WaitingFor},
};
use gangline_core::{
    ApprovalNumber, Epoch, MessageId, MessageState, Origin, Principal, Redacted, Tier, TurnId,
    act::ActKind,
    agent::AgentPhase,
    answer::How,
    approval::{ApprovalState, Audience},
    outcome::OutcomeWord,
    pause::PauseReason,
    split::Joint,
    word::Stored,
};
use gangline_os::{clock::UnixMicros, lock::Holder};
use gangline_store::{
    ActAgain, ActRow, AgentRow, AllowedBefore, ApprovalRow, Event, Holds, LineKind, Made,
    MessageRow, OutboxId, OutboxRow, OutboxState, PauseRow, Trace, TurnRow,
};

use super::{Around, Facts, status, trace};

/// A moment so many seconds after 2026-11-21T12:00:00Z.
pub(crate) fn at(seconds: i64) -> UnixMicros {
    UnixMicros::from_seconds(1_795_262_400 + seconds)
}

fn text(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

pub(crate) fn turn() -> TurnId {
    TurnId { epoch: Epoch(3), number: 7 }
}

pub(crate) fn row() -> AgentRow {
    AgentRow {
        agent: "oak-ada".parse().unwrap(),
        epoch: Epoch(3),
        pid: 77,
        note: String::new(),
        phase: Some(AgentPhase::Idle.into()),
        runtime: Some("claude".into()),
        session: Some("s-1".into()),
        paused: false,
        pauses: Vec::new(),
        status_json: Some(r#"{"turn_count":4,"last_activation":1795262390.5}"#.into()),
        started_at: at(-100),
        ready_at: Some(at(-99)),
        updated_at: at(-10),
    }
}

pub(crate) fn facts() -> Facts {
    Facts {
        nick: "oak-ada".parse().unwrap(),
        row: Some(row()),
        holder: Some(Holder { pid: Some(77), start_time: Some(1), note: "daemon".into() }),
        working: Vec::new(),
        around: Around::default(),
        trouble: None,
    }
}

pub(crate) fn approval() -> ApprovalRow {
    ApprovalRow {
        number: ApprovalNumber(12),
        agent: "oak-ada".parse().unwrap(),
        turn: turn(),
        message: Some(MessageId(42)),
        request: "r".into(),
        tool: "Bash".into(),
        args_hash: "h".into(),
        summary: text("ls -l\u{1b}[2J"),
        detail: text("ls -l"),
        audience: Audience::Everybody,
        state: ApprovalState::Open,
        decision: None,
        decided_by: None,
        decided_as: None,
        folder: Some(text("/srv/app")),
        said_before: Some(text("I look first.")),
        note: None,
        delivered: false,
        announced_at: None,
        announced_msgid: None,
        opened_at: at(2),
        closed_at: None,
        before: None,
    }
}

pub(crate) fn owner() -> Principal {
    Principal { account: "owner".into(), tier: Tier::Owner }
}

pub(crate) fn message() -> MessageRow {
    MessageRow {
        id: MessageId(42),
        agent: "oak-ada".parse().unwrap(),
        network_id: "n".into(),
        intake_key: None,
        origin: Origin::Mention,
        principal: owner(),
        sender: "ada".into(),
        target: "#general".into(),
        body: text("@oak-ada run ls"),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Answered,
        reason: None,
        answer: Some(text("two files\nand a folder")),
        attempt: 1,
        takes: 1,
        turn: Some(turn()),
        not_before: None,
        msgid: None,
        question: None,
        restart: None,
        accepted_at: at(0),
        taken_at: Some(at(1)),
        settled_at: Some(at(9)),
    }
}

pub(crate) fn happened(seconds: i64, kind: &str, payload: &str) -> Event {
    Event {
        v: 1,
        seq: seconds,
        agent: "oak-ada".parse().unwrap(),
        epoch: Some(Epoch(3)),
        turn: Some(turn()),
        kind: kind.into(),
        at: at(seconds),
        payload: text(payload),
    }
}

pub(crate) fn line() -> OutboxRow {
    OutboxRow {
        id: OutboxId(1),
        agent: "oak-ada".parse().unwrap(),
        idem_key: "k".to_owned().into(),
        part: 0,
        parts: 1,
        target: "#general".into(),
        body: text("two files"),
        joint: Joint::Anew,
        kind: LineKind::Privmsg,
        state: OutboxState::Confirmed,
        sent_as: None,
        turn: Some(turn()),
        in_reply_to: Some(MessageId(42)),
        attempts: 2,
        tell: None,
        why: None,
        msgid: Some("x1".into()),
        may_be_doubled: true,
        question: None,
        cause_root: None,
        hops: 0,
        created_at: at(9),
        sent_at: Some(at(10)),
        settled_at: Some(at(11)),
    }
}

/// The store's own record of the take, as it writes it.
pub(crate) const TAKEN: &str =
    r#"{"turn":"t3.7","how":"woke","prompt_uuid":"u","messages":[{"id":"m42","attempt":2}]}"#;

pub(crate) fn life() -> Trace {
    let decided = ApprovalRow {
        state: ApprovalState::Allowed,
        decided_by: Some(owner()),
        closed_at: Some(at(5)),
        ..approval()
    };
    Trace {
        message: message(),
        cause: None,
        turns: vec![TurnRow {
            agent: "oak-ada".parse().unwrap(),
            turn: turn(),
            prompt_uuid: "u".into(),
            started_at: at(1),
            ended_at: Some(at(9)),
            outcome: Some(OutcomeWord::Completed.into()),
        }],
        outbox: vec![line()],
        made: vec![Made {
            what: "question 7".into(),
            to: "the owners".into(),
            body: text("merge?"),
            at: at(6),
        }],
        again: vec![ActAgain {
            turn: turn(),
            request: "t3.7/q".into(),
            in_reply_to: None,
            at: at(8),
            act: ActRow {
                id: 1,
                kind: ActKind::Question,
                turn: TurnId { epoch: Epoch(2), number: 9 },
                request: "t2.9/q".into(),
                number: 7,
                message: None,
                at: at(1),
            },
        }],
        approvals: vec![decided],
        events: vec![
            happened(1, "turn_started", TAKEN),
            happened(
                1,
                "assistant",
                r#"{"type":"assistant","model":"m","content":[{"type":"tool_use","id":"i","name":"Bash","input":{"command":"ls"}}]}"#,
            ),
            happened(
                6,
                "tool_result",
                r#"{"id":"i","name":"Bash","is_error":false,"preview":"a\nb"}"#,
            ),
            happened(7, "of_tomorrow", r#"{"x":1}"#),
        ],
    }
}

/// C5: whoever reads the JSON of an approval learns that the call may have run.
#[test]
fn an_approval_tells_that_its_call_was_allowed_before() {
    let before = AllowedBefore {
        turn: turn(),
        tool: "Bash".into(),
        args_hash: "h".into(),
        at: at(3),
        by: "ori".into(),
    };
    let row = ApprovalRow { before: Some(before), ..approval() };
    let told = serde_json::to_value(super::approval(&row)).unwrap();
    assert_eq!(told["allowed_before"]["by"], "ori", "{told}");
    let at = told["allowed_before"]["at"].as_str().unwrap();
    assert!(at.starts_with("2026-11-21T12:00:03"), "{told}");
    assert!(
        serde_json::to_value(super::approval(&approval())).unwrap()["allowed_before"].is_null()
    );
}

#[test]
fn a_daemon_that_is_gone_is_down_whatever_it_said_last() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().phase = Some(AgentPhase::Working.into());
    facts.holder = None;
    facts.around.pending = 2;
    let status = status(&facts);
    assert_eq!((status.phase.as_str(), status.running, status.pid), ("down", false, None));
    assert_eq!(status.description, "its daemon is not running, 2 messages wait");
    assert_eq!((status.activity, status.pending), (Activity::Idle, 2));
}

/// R1-11: the next daemon begins with the effort of the file.
#[test]
fn a_raised_effort_ends_with_its_daemon() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().status_json = Some(r#"{"effort":"high"}"#.to_owned());
    assert_eq!(status(&facts).effort.as_deref(), Some("high"));
    facts.holder = None;
    assert_eq!(status(&facts).effort, None);
}

/// R0-53.
#[test]
fn an_open_breaker_is_told_even_when_the_daemon_is_gone() {
    let mut facts = facts();
    let row = facts.row.as_mut().unwrap();
    row.phase = Some(AgentPhase::Parked.into());
    row.status_json = Some(r#"{"parked":"no such file"}"#.into());
    for holder in [facts.holder.take(), None] {
        facts.holder = holder;
        let status = status(&facts);
        assert_eq!((status.circuit_open, status.running), (true, false));
        assert_eq!(status.waiting_for, [WaitingFor::Resume { why: "no such file".into() }]);
    }
    // What ended the one before is nothing to the one that works.
    facts.row.as_mut().unwrap().phase = Some(AgentPhase::Idle.into());
    assert_eq!(status(&facts).waiting_for, []);
}

#[test]
fn a_status_says_what_the_agent_works_on_and_waits_for() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().phase = Some(AgentPhase::Working.into());
    facts.working = vec![MessageId(42)];
    assert_eq!(status(&facts).description, "works on m42");
    facts.around.approvals = vec![approval()];
    let status = status(&facts);
    assert_eq!(status.description, "waits for approval 12 (Bash), on m42");
    assert_eq!(status.activity, Activity::Working);
    assert_eq!((status.turn_count, status.last_activation), (4, Some(1_795_262_390.5)));
    let WaitingFor::Approval { number, asked_at, .. } = &status.waiting_for[0] else {
        panic!("{:?}", status.waiting_for);
    };
    assert_eq!((number.0, asked_at.as_str()), (12, "2026-11-21T12:00:02.000Z"));
}

/// R0-52.
#[test]
fn a_paused_agent_is_paused_only_while_it_does_nothing() {
    let mut facts = facts();
    let (reason, at) = (PauseReason::Operator, UnixMicros(0));
    let pause = PauseRow { reason, until: None, holds: Holds::Yes, note: None, at };
    facts.row.as_mut().unwrap().pauses = vec![pause];
    assert_eq!(status(&facts).activity, Activity::Paused);
    assert_eq!(status(&facts).description, "paused");
    facts.row.as_mut().unwrap().phase = Some(AgentPhase::Working.into());
    assert_eq!(status(&facts).activity, Activity::Working);
    assert_eq!(status(&facts).description, "works, paused");
}

#[test]
fn an_agent_that_never_ran_has_a_status_too() {
    let facts = Facts { row: None, holder: None, ..facts() };
    let status = status(&facts);
    assert_eq!((status.epoch, status.turn_count, status.phase.as_str()), (None, 0, "down"));
}

#[test]
fn the_stores_record_of_a_take_becomes_the_wires() {
    let record = gangline_agent::log::record(&happened(1, "turn_started", TAKEN));
    let expect = TurnStarted { turn: turn(), messages: vec![MessageId(42)], attempt: 2 };
    assert_eq!(record.event().unwrap(), Some(Recorded::TurnStarted(expect)));
}

#[test]
fn a_trace_for_programs_has_every_part() {
    let wire = trace(&life());
    assert_eq!((wire.turns.len(), wire.sends.len(), wire.approvals.len()), (1, 1, 1));
    assert_eq!(wire.turns[0].how, Stored::Known(How::Woke));
    assert_eq!((wire.sends[0].part, wire.sends[0].may_be_doubled), ((1, 1), true));
    assert_eq!(wire.approvals[0].decided_by.as_deref(), Some("owner"));
    assert_eq!(wire.message.answer.as_deref(), Some("two files\nand a folder"));
}
