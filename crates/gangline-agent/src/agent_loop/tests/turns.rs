//! The loop in a turn: what the turn is about, how it ends, orders that come late or twice, and what
//! is recorded of it.

use gangline_core::{
    ApprovalNumber,
    agent::{ContextChange, PhaseName},
    answer::{AskerNotice, Reason, Settlement},
    approval::Decision,
};
use gangline_runtime::{ApprovalAsk, TurnResult};
use gangline_store::{AllowedBefore, OpenTurnOrder, TurnOrderKind};

use super::*;
use crate::{
    bus::{Ruled, Word},
    journal::Single,
};

/// Lets a look end, in a store that is empty.
fn looks(rig: &mut Rig) {
    let Rig { agent_loop, _runtime, .. } = rig;
    let found = _runtime.block_on(agent_loop.looks.next());
    agent_loop.found(found);
}

/// Returns how many events of this kind wait to be recorded.
fn recorded(rig: &mut Rig, kind: &str) -> usize {
    let records = rig.agent_loop.journal.take_waiting();
    let events = records.iter().filter_map(|record| match record {
        Record::Entry(Entry::Events(events)) => Some(events),
        Record::Entry(_) | Record::Single(_) => None,
    });
    events.flatten().filter(|event| event.kind == kind).count()
}

/// Ada works on a message of ori's.
fn working() -> Rig {
    Rig::working_on(row(1, ("ori", Tier::Owner), "#lab"), false)
}

/// What tools may speak about: the messages of the turn, also those that joined it, until it ends.
#[test]
fn what_a_turn_is_about_is_known_until_it_ends() {
    let mut rig = working();
    let turn = rig.turn();
    let about = |rig: &Rig| {
        let context = rig.context.borrow().clone();
        context.map(|it| (it.turn, it.hops, it.messages.iter().map(|id| id.0).collect::<Vec<_>>()))
    };
    assert_eq!(about(&rig), Some((turn, 0, vec![1])));
    let row = MessageRow { hops: 3, ..row(2, ("oak-bob", Tier::Agent), "oak-ada") };
    rig.agent_loop.message(Waiting { row, said: Vec::new() });
    rig.agent_loop.think(Input::Read { messages: vec![MessageId(2)] });
    assert_eq!(about(&rig), Some((turn, 3, vec![1, 2])));
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Completed });
    assert_eq!(about(&rig), None);
}

/// C3: a waiting `receive` may read a row in the store before the loop hears of it. The row joins the turn
/// at once, since the turn may end first, and is not delivered again when the loop does hear of it.
#[test]
fn a_row_that_the_loop_was_not_told_of_joins_when_it_is_read() {
    let mut rig = working();
    let wake = row(2, ("matrix", Tier::Agent), "");
    let (heard, mut taken) = tokio::sync::oneshot::channel();
    let read = Incoming::Read { messages: vec![MessageId(2)], rows: vec![wake.clone()], heard };
    rig.agent_loop.take(read);
    assert_eq!(taken.try_recv(), Ok(()));
    let about = |rig: &Rig| rig.context.borrow().clone().map(|it| it.messages);
    assert_eq!(about(&rig), Some(vec![MessageId(1), MessageId(2)]));
    rig.agent_loop.message(Waiting { row: wake, said: Vec::new() });
    assert_eq!(about(&rig).map(|it| it.len()), Some(2));
    assert_eq!(rig.agent_loop.core.view().waiting, 0);
}

fn settled(relay: Option<&str>, tell: Option<AskerNotice>) -> Settlement {
    Settlement {
        message: MessageId(7),
        state: MessageState::Answered,
        reason: None,
        relay: relay.map(str::to_owned),
        tell,
        not_before: None,
        counts_attempt: true,
    }
}

fn sends(row: &MessageRow, one: &Settlement) -> Vec<gangline_store::Send> {
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    let me = Identity {
        agent: "oak-ada".parse().unwrap(),
        epoch: Epoch(1),
        clock: gangline_os::clock::system(),
        redactor: Arc::default(),
        everybody: ["oak-ada", "oak-bob"].map(|it| it.parse().unwrap()).into(),
    };
    sends_for(&me, turn, row, one)
}

#[test]
fn an_answer_to_an_agent_is_a_row_one_hop_further_in_the_same_cause() {
    let asked = MessageRow {
        origin: Origin::Agent,
        cause_root: Some(MessageId(3)),
        hops: 2,
        ..row(7, ("oak-bob", Tier::Agent), "oak-bob")
    };
    let sends = sends(&asked, &settled(Some("done"), None));
    let answer = sends[0].deliver.as_ref().unwrap();
    assert_eq!((answer.agent.as_str(), answer.hops), ("oak-bob", 3));
    let follows = (answer.cause_root, answer.in_reply_to);
    assert_eq!(follows, (Some(MessageId(3)), Some(MessageId(7))));
}

/// C15: what is said to an answer or a reminder that is wanted in another agent's conversation is that agent's row,
/// which owes none, and a notice; a person's is a line.
#[test]
fn what_is_said_in_an_agents_conversation_is_its_row() {
    for (origin, target, to) in [
        (Origin::Answer, "oak-bob", Some("oak-bob")),
        (Origin::Reminder, "OAK-BOB", Some("oak-bob")),
        (Origin::Answer, "zoe", None),
        (Origin::Answer, "#lab", None),
        (Origin::Direct, "oak-bob", None),
    ] {
        let row = MessageRow { origin, ..row(7, ("owner", Tier::Owner), target) };
        let send = sends(&row, &settled(Some("done"), None)).remove(0);
        let given = send.deliver.map(|it| (it.agent.to_string(), it.in_reply_to));
        assert_eq!(given, to.map(|to| (to.to_owned(), Some(MessageId(7)))), "{origin} {target}");
        assert_eq!(send.kind == LineKind::Notice, to.is_some(), "{origin} {target}");
    }
}

/// A repeated key would be a line that is in the room already.
#[test]
fn each_attempt_that_fails_is_told_and_a_rate_limit_once() {
    let key = |takes: i64, tell: AskerNotice| {
        let row = MessageRow { takes, ..row(7, ("ori", Tier::Owner), "#lab") };
        sends(&row, &settled(None, Some(tell)))[0].idem_key.clone()
    };
    let failed = || AskerNotice::Failed(Reason::Silent);
    assert_ne!(key(1, failed()), key(2, failed()));
    assert_eq!(key(1, AskerNotice::RateLimited), key(2, AskerNotice::RateLimited));
}

/// Returns what waits to be recorded of the session: which orders about it are done, and that it is forgotten.
fn session_records(rig: &mut Rig) -> Vec<String> {
    let one = |record: &Record| match record {
        Record::Entry(Entry::SessionDone(_, upto)) => Some(format!("done {upto}")),
        Record::Entry(Entry::Agent(.., update)) if update.session == Some(None) => {
            Some("forgotten".to_owned())
        }
        Record::Entry(_) | Record::Single(_) => None,
    };
    rig.agent_loop.journal.take_waiting().iter().filter_map(one).collect()
}

/// A daemon that dies before the clear is done does not go on with the session either.
#[test]
fn a_clear_is_recorded_before_it_is_done() {
    for (change, forgets) in [(ContextChange::Clear, true), (ContextChange::Compact, false)] {
        let mut rig = working();
        rig.agent_loop.journal.take_waiting();
        rig.agent_loop.take(Incoming::Change { change, order: 1 });
        let forgotten = if forgets { vec!["forgotten"] } else { vec![] };
        assert_eq!(session_records(&mut rig), forgotten, "{change:?}");
    }
}

/// What the backend tells of its session in the open turn is the old one: it is forgotten again at the clear.
#[test]
fn an_order_about_the_session_is_done_when_it_was_carried_out() {
    let mut rig = working();
    let turn = rig.turn();
    rig.agent_loop.journal.take_waiting();
    rig.agent_loop.take(Incoming::Change { change: ContextChange::Compact, order: 1 });
    rig.agent_loop.take(Incoming::Change { change: ContextChange::Clear, order: 2 });
    rig.hears(RuntimeEvent::Compacted { failed: None });
    rig.hears(RuntimeEvent::Session { session: SessionId("s".to_owned()) });
    assert_eq!(session_records(&mut rig), ["forgotten"], "it is still to be emptied");
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Completed });
    assert_eq!(session_records(&mut rig), ["forgotten", "done 2"]);
    let mut rig = working();
    let turn = rig.turn();
    rig.agent_loop.take(Incoming::Change { change: ContextChange::Compact, order: 3 });
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Completed });
    assert_eq!(session_records(&mut rig), [] as [&str; 0], "it is under way");
    rig.hears(RuntimeEvent::Compacted { failed: None });
    assert_eq!(session_records(&mut rig), ["done 3"]);
}

/// A successor makes the session shorter that its predecessor did not come to, before anything else.
#[test]
fn what_was_ordered_of_an_earlier_daemon_is_done_first() {
    let mut rig = Rig::starting(false);
    let left = OpenTurnOrder { id: 7, kind: TurnOrderKind::Compact, turn: None };
    rig.agent_loop = rig.agent_loop.ordered(vec![left]);
    rig.agent_loop.take(Incoming::Begin);
    rig.agent_loop.message(Waiting { row: row(1, ("ori", Tier::Owner), "#lab"), said: Vec::new() });
    rig.hears(RuntimeEvent::Ready { session: SessionId("s".to_owned()) });
    rig.agent_loop.journal.take_waiting();
    rig.hears(RuntimeEvent::Compacted { failed: None });
    assert_eq!(session_records(&mut rig), ["done 7"]);
}

/// There may be room for what was passed over.
#[test]
fn what_was_gone_when_a_turn_was_recorded_makes_room_for_a_look() {
    for gone in [vec![], vec![MessageId(1)]] {
        let mut rig = Rig::starting(false);
        rig.agent_loop
            .message(Waiting { row: row(1, ("ori", Tier::Owner), "#lab"), said: Vec::new() });
        rig.hears(RuntimeEvent::Ready { session: SessionId("s".to_owned()) });
        looks(&mut rig);
        assert!(rig.agent_loop.looks.is_settled());
        let (turn, looks) = (rig.turn(), !gone.is_empty());
        let attempts = if looks { vec![] } else { vec![(MessageId(1), 1)] };
        rig.agent_loop.written(Reply::Taken { turn, attempts, gone, pending: 0 });
        assert_eq!(rig.agent_loop.looks.is_settled(), !looks);
    }
}

/// The row was read before our own word was written.
#[test]
fn a_row_that_is_older_than_a_word_does_not_undo_it() {
    let mut rig = working();
    rig.agent_loop.take(Incoming::Operator(Word::Pause { until: None }));
    let paused = |rig: &Rig| rig.agent_loop.core.view().paused;
    rig.agent_loop.written(standing(0));
    assert!(paused(&rig));
    rig.agent_loop.written(standing(1));
    assert!(!paused(&rig));
}

#[test]
fn the_order_to_end_a_turn_ends_no_other() {
    let mut rig = working();
    let turn = rig.turn();
    let other = TurnId { number: turn.number + 1, ..turn };
    for (turn, phase) in [(other, PhaseName::Working), (turn, PhaseName::Interrupting)] {
        rig.agent_loop.take(Incoming::EndTurn { turn });
        assert_eq!(rig.agent_loop.core.view().phase, phase);
    }
}

/// Each look tells it anew until the store knows that it was heard. The backend hears it only then: what it
/// may have done by a decision, it never does by the same decision again.
#[test]
fn a_backend_hears_a_decision_once_it_is_on_disk_that_it_does() {
    let mut rig = working();
    let (turn, request) = (rig.turn(), "r1".to_owned());
    let ask = ApprovalAsk {
        request: request.clone(),
        tool: "Bash".to_owned(),
        input: json!({"command": "ls"}),
        presumed: false,
        files: Vec::new(),
    };
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask });
    let number = ApprovalNumber(5);
    let opened = Reply::Opened { number, turn, request: request.clone(), decided: None };
    rig.agent_loop.written(opened);
    for times in [1, 0] {
        let ruled = Ruled { decision: Decision::Allow, by: "otto".to_owned(), reason: None };
        rig.agent_loop.decided(number, (turn, request.clone()), ruled);
        assert_eq!(recorded(&mut rig, "approval_decided"), times, "recorded once");
        assert_eq!(rig.agent_loop.core.view().approvals, 1, "the backend has not heard it");
    }
    rig.agent_loop.written(Reply::Delivered { number });
    assert_eq!(rig.agent_loop.core.view().approvals, 0);
    let ruled = Ruled { decision: Decision::Allow, by: "otto".to_owned(), reason: None };
    rig.agent_loop.decided(number, (turn, request.clone()), ruled);
    assert_eq!(recorded(&mut rig, "approval_decided"), 0, "a look that was late");
}

/// A call that somebody allowed in an attempt that was cut off is asked again, and the line says so.
#[test]
fn a_call_that_was_allowed_before_is_asked_with_the_time_of_that() {
    let mut rig = working();
    let turn = rig.turn();
    let ask = |request: &str, command: &str| ApprovalAsk {
        request: request.to_owned(),
        tool: "Bash".to_owned(),
        input: json!({"command": command}),
        presumed: false,
        files: Vec::new(),
    };
    let announced = |rig: &mut Rig| -> Vec<String> {
        let records = rig.agent_loop.journal.take_waiting();
        let open = records.into_iter().find_map(|record| match record {
            Record::Single(single) => match *single {
                Single::Approval(open) => Some(open),
                _ => None,
            },
            Record::Entry(_) => None,
        });
        let lines = open.unwrap().announce.unwrap().send.lines;
        lines.iter().map(|line| line.text.to_string()).collect()
    };
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask: ask("r1", "ls") });
    let args_hash = {
        let records = rig.agent_loop.journal.take_waiting();
        let hash = records.into_iter().find_map(|record| match record {
            Record::Single(single) => match *single {
                Single::Approval(open) => Some(open.args_hash),
                _ => None,
            },
            Record::Entry(_) => None,
        });
        hash.unwrap()
    };
    let before = AllowedBefore {
        turn: TurnId { epoch: Epoch(0), number: 1 },
        tool: "Bash".to_owned(),
        args_hash,
        at: UnixMicros(0),
        by: "ori".to_owned(),
    };
    let minute = gangline_os::clock::local_minute(UnixMicros(0)).1;
    rig.agent_loop.asks.allowed_before(vec![(MessageId(1), vec![before])]);
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask: ask("r2", "ls") });
    let told = announced(&mut rig).join(" ");
    assert!(told.ends_with(&format!("(ori allowed this at {minute}; it may have run)")), "{told}");
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask: ask("r3", "ls -l") });
    let told = announced(&mut rig).join(" ");
    assert!(!told.contains("may have run"), "another call: {told}");
}

/// Another process may have put lines into the outbox; a task of our own tells of its lines itself.
#[test]
fn the_outbox_is_looked_at_after_a_notice_from_outside() {
    let mut rig = working();
    let outbox = Arc::clone(&rig.agent_loop.change_notices.outbox);
    for (noticed, looks) in [(ChangeNoticed::Inside, false), (ChangeNoticed::Outside, true)] {
        let Rig { agent_loop, _runtime, .. } = &mut rig;
        let _entered = _runtime.enter();
        agent_loop.change_noticed(noticed);
        let notified = futures::FutureExt::now_or_never(outbox.notified()).is_some();
        assert_eq!(notified, looks, "{noticed:?}");
    }
}

/// A token that is known by its form: half of one is not.
fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// Returns whether anything of the token waits to be recorded.
fn leaks(rig: &mut Rig) -> bool {
    let records = rig.agent_loop.journal.take_waiting();
    assert!(!records.is_empty());
    format!("{records:?}").contains("ghp_")
}

/// Half a secret is one too.
#[test]
fn what_is_cut_was_masked_before() {
    let mut rig = working();
    let (turn, id, name) = (rig.turn(), "c1".to_owned(), "Bash".to_owned());
    let content = format!("{} {}", "x".repeat(RESULT_PREVIEW - 20), token());
    rig.hears(RuntimeEvent::ToolResult { turn, id, name, is_error: false, content });
    assert!(!leaks(&mut rig), "a tool's result");
    let text = format!("{} {}", "x".repeat(16 * 1024 - 20), token());
    let long =
        MessageRow { body: Redacted::from_store(text), ..row(2, ("ori", Tier::Owner), "#lab") };
    rig.agent_loop.rows.insert(long.id, Waiting { row: long, said: Vec::new() });
    rig.agent_loop.messages_taken(turn, &[MessageId(2)]);
    assert!(!leaks(&mut rig), "a message for a hook");
}

/// A store that does not keep up costs details and no memory.
#[test]
fn records_beyond_those_that_may_wait_are_left_out_and_counted() {
    let mut rig = working();
    for _ in 0..RECORDS_WAITING_MAX + 5 {
        rig.hears(RuntimeEvent::Notice { text: "x".to_owned() });
    }
    assert_eq!(rig.agent_loop.journal.waiting(), RECORDS_WAITING_MAX);
    assert!(rig.agent_loop.skipped >= 5);
}

/// What says or settles something is no work after which a send would count anew.
#[test]
fn the_daemons_own_tools_are_sends_and_a_shell_may_be_one() {
    for (name, kind) in [
        ("send", Tool::Send),
        ("no_reply", Tool::Send),
        ("Bash", Tool::Shell),
        ("Read", Tool::Other),
    ] {
        assert_eq!(tool_kind(name), kind, "{name}");
    }
}
