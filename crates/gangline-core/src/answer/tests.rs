//! The answer rule, a test for each of its sentences.

use proptest::prelude::*;

use super::*;

fn message(id: i64) -> TurnMessage {
    TurnMessage {
        id: MessageId(id),
        asker: "ori".to_owned(),
        target: "#lab".to_owned(),
        origin: Origin::Mention,
        attempt: 1,
        in_reply_to: None,
        how: How::Woke,
        joined: 0,
    }
}

fn text(words: &str) -> TurnAction {
    TurnAction::Text(words.to_owned())
}

fn tool() -> TurnAction {
    TurnAction::ToolResult(Tool::Other)
}

fn sent(to: &str) -> TurnAction {
    TurnAction::Sent { to: to.to_owned(), in_reply_to: None }
}

fn reply(to: &str, id: i64) -> TurnAction {
    TurnAction::Sent { to: to.to_owned(), in_reply_to: Some(MessageId(id)) }
}

fn short(one: &Settlement) -> String {
    let mut text = one.state.to_string();
    if let Some(reason) = &one.reason {
        text.push_str(&format!("({reason})"));
    }
    if let Some(relay) = &one.relay {
        text.push_str(&format!(" relay `{relay}`"));
    }
    if let Some(tell) = &one.tell {
        text.push_str(&format!(" tell {}", tell.as_str()));
    }
    text
}

fn outcome(log: &TurnLog, rules: Rules) -> String {
    settle(log, rules).iter().map(short).collect::<Vec<_>>().join("; ")
}

fn check_mode(reply: ReplyMode, messages: &[TurnMessage], actions: &[TurnAction], expect: &str) {
    let rules = Rules { reply, ..Rules::default() };
    let log = TurnLog {
        messages: messages.to_vec(),
        actions: actions.to_vec(),
        outcome: Outcome::Completed,
    };
    assert_eq!(outcome(&log, rules), expect, "{actions:?}");
}

fn check(messages: &[TurnMessage], actions: &[TurnAction], expect: &str) {
    check_mode(ReplyMode::RelayIfSilent, messages, actions, expect);
}

fn check_one(actions: &[TurnAction], expect: &str) {
    check(&[message(1)], actions, expect);
}

/// C12, R0-19.
#[test]
fn the_final_text_is_relayed_if_no_send_was_the_answer() {
    check_one(&[text("all pass")], "answered relay `all pass`");
    check_one(&[text("on it"), tool(), text("all pass")], "answered relay `all pass`");
    check_one(&[sent("#lab"), tool(), text("all pass")], "answered relay `all pass`");
    check_one(&[tool(), sent("#else"), text("all pass")], "answered relay `all pass`");
    check_one(&[text("a"), text(" "), text("b\n")], "answered relay `a\nb`");
    // Last words may stand before a last tool.
    check_one(&[text("all pass"), tool()], "answered relay `all pass`");
}

/// C12.
#[test]
fn an_answer_by_tool_is_not_repeated() {
    check_one(&[tool(), sent("#lab"), text("I answered")], "answered");
    check_one(&[tool(), sent("#LAB")], "answered");
    check_one(&[tool(), sent("Ori"), text("I answered")], "answered");
    check_one(&[sent("#lab")], "answered");
    let own_result = TurnAction::ToolResult(Tool::Send);
    check_one(&[tool(), sent("#lab"), own_result, text("done")], "answered");
}

#[test]
fn a_send_that_names_the_message_is_its_answer_at_any_time_and_place() {
    check_one(&[reply("#else", 1), tool(), text("done")], "answered");
    // A name that is none of the turn's messages counts like no name.
    check_one(&[reply("#lab", 9), text("done")], "answered");
    let two = [message(1), message(2)];
    check(&two, &[reply("#lab", 1), text("for both?")], "answered; answered relay `for both?`");
}

#[test]
fn a_shell_command_that_sends_is_itself_a_send() {
    let shell = || TurnAction::ToolResult(Tool::Shell);
    check_one(&[tool(), sent("#lab"), shell(), text("done")], "answered");
    check_one(&[sent("#lab"), shell(), shell(), text("done")], "answered relay `done`");
    check_one(&[sent("#lab"), tool(), text("done")], "answered relay `done`");
}

#[test]
fn no_reply_comes_by_tool_or_by_the_exact_final_text() {
    let by_tool = TurnAction::NoReply { message: None };
    check_one(&[by_tool.clone(), text("bye")], "no_reply(said_by_tool)");
    check_one(&[TurnAction::NoReply { message: Some(MessageId(1)) }], "no_reply(said_by_tool)");
    check_one(
        &[TurnAction::NoReply { message: Some(MessageId(2)) }, text("x")],
        "answered relay `x`",
    );
    check_one(&[text(" NO_REPLY\n")], "no_reply(said_so)");
    check_one(&[text("NO_REPLY needed")], "answered relay `NO_REPLY needed`");
    check_one(&[text("no_reply")], "answered relay `no_reply`");
    check_one(&[sent("#lab"), text("NO_REPLY")], "answered");
    check_one(&[by_tool, sent("#lab")], "answered");
}

#[test]
fn neither_text_nor_send_is_a_failure_that_is_told() {
    check_one(&[], "failed(silent) tell failed");
    check_one(&[tool(), text(" ")], "failed(silent) tell failed");
    check_one(&[sent("#lab"), tool()], "failed(silent) tell failed");
}

/// C12: the pure forms.
#[test]
fn the_pure_forms_relay_always_or_never() {
    let one = [message(1)];
    let actions = [tool(), sent("#lab"), text("done")];
    check_mode(ReplyMode::Relay, &one, &actions, "answered relay `done`");
    check_mode(ReplyMode::Tools, &one, &actions, "answered");
    check_mode(ReplyMode::Relay, &one, &[sent("#lab")], "answered");
    check_mode(ReplyMode::Tools, &one, &[text("done")], "no_reply(not_relayed)");
    check_mode(ReplyMode::Tools, &one, &[tool()], "failed(silent) tell failed");
    check_mode(ReplyMode::Relay, &one, &[text("NO_REPLY")], "no_reply(said_so)");
}

#[test]
fn one_text_goes_to_one_place_once() {
    let two = [message(1), message(2)];
    check(&two, &[text("both done")], "answered relay `both done`; answered");
}

fn elsewhere(how: How) -> TurnMessage {
    TurnMessage { target: "#else".to_owned(), how, ..message(2) }
}

#[test]
fn a_steered_message_from_another_place_goes_back_and_never_gets_the_text() {
    let both = [message(1), elsewhere(How::Steered)];
    check(&both, &[text("done")], "answered relay `done`; accepted(elsewhere)");
    check(&both, &[sent("#else"), text("done")], "answered relay `done`; answered");
    let last = TurnMessage { attempt: 5, ..elsewhere(How::Steered) };
    let expect = "answered relay `done`; dead_letter(elsewhere) tell dead_letter";
    check(&[message(1), last], &[text("done")], expect);
}

#[test]
fn a_message_that_joined_later_is_not_answered_by_what_came_before() {
    let joined = TurnMessage { how: How::Steered, joined: 1, ..message(2) };
    let both = [message(1), joined];
    check(&both, &[sent("#lab"), text("more")], "answered; answered relay `more`");
    check(&both, &[sent("#lab")], "answered; accepted(elsewhere)");
    check(&both, &[text("early"), tool()], "answered relay `early`; accepted(elsewhere)");
}

#[test]
fn what_was_read_goes_back_once_and_then_needs_no_reply() {
    let both = [message(1), elsewhere(How::Read)];
    check(&both, &[text("done")], "answered relay `done`; accepted(read_only)");
    let again = TurnMessage { attempt: 2, ..elsewhere(How::Read) };
    let expect = "answered relay `done`; no_reply(read_twice)";
    check(&[message(1), again], &[text("done")], expect);
}

#[test]
fn a_turn_that_nobody_woke_speaks_to_nobody_unless_by_tool() {
    check(&[], &[text("by myself")], "");
    let read = TurnMessage { how: How::Read, ..message(1) };
    check(std::slice::from_ref(&read), &[text("by myself")], "accepted(read_only)");
    check(&[read], &[sent("#lab")], "answered");
}

#[test]
fn an_answer_owes_none() {
    let answer = TurnMessage { in_reply_to: Some(MessageId(9)), ..message(1) };
    let one = [answer.clone()];
    check(&one, &[text("thanks")], "no_reply(owes_none)");
    check(&one, &[], "no_reply(owes_none)");
    check(&one, &[sent("#lab")], "answered");
    check_mode(ReplyMode::Relay, &one, &[text("thanks")], "no_reply(owes_none)");
    let log = |outcome| TurnLog { messages: one.to_vec(), actions: vec![], outcome };
    assert_eq!(outcome(&log(Outcome::TimedOut), Rules::default()), "failed(timed_out)");
}

#[test]
fn a_message_without_a_target_gets_its_answer_recorded() {
    let cli = TurnMessage { target: String::new(), origin: Origin::Cli, ..message(1) };
    check(std::slice::from_ref(&cli), &[text("done")], "answered relay `done`");
    check(std::slice::from_ref(&cli), &[sent("")], "failed(silent) tell failed");
    // Two of them are two places.
    let other = TurnMessage { id: MessageId(2), ..cli.clone() };
    let expect = "answered relay `done`; accepted(elsewhere)";
    check(&[cli, other], &[text("done")], expect);
}

#[test]
fn each_outcome_has_its_state() {
    use Outcome::{Failed, Interrupted, Lost, NeedsLogin, RateLimited, TimedOut};
    let actions = [text("half")];
    for (ended, expect) in [
        (Failed("api_error".to_owned()), "failed(turn_failed:api_error) tell failed"),
        (TimedOut, "failed(timed_out) tell failed"),
        (Interrupted(By::Operator), "failed(interrupted:operator) tell failed"),
        (Interrupted(By::Supervisor), "failed(interrupted:supervisor) tell failed"),
        (Interrupted(By::Drain), "accepted(drained)"),
        (Lost(EndedBy::Itself), "accepted(turn_lost)"),
        (RateLimited(WallMicros(7)), "accepted(rate_limited) tell rate_limited"),
        (NeedsLogin, "accepted(needs_login) tell needs_login"),
    ] {
        let log = TurnLog {
            messages: vec![message(1)],
            actions: actions.to_vec(),
            outcome: ended.clone(),
        };
        assert_eq!(outcome(&log, Rules::default()), expect, "{ended}");
        let log = TurnLog { actions: vec![sent("#lab")], ..log };
        let kept = settle(&log, Rules::default());
        let returns = expect.starts_with("accepted");
        assert_eq!(kept[0].state == MessageState::Answered, returns, "{ended}: answered twice?");
        assert!(kept[0].tell.is_some(), "{ended}: the asker is told");
    }
}

#[test]
fn only_what_is_not_our_doing_uses_up_an_attempt() {
    for (ended, counts, not_before) in [
        (Outcome::Lost(EndedBy::Itself), true, None),
        (Outcome::Lost(EndedBy::Us), false, None),
        (Outcome::Interrupted(By::Drain), false, None),
        (Outcome::RateLimited(WallMicros(7)), false, Some(WallMicros(7))),
        (Outcome::NeedsLogin, false, None),
    ] {
        let last = TurnMessage { attempt: 5, ..message(1) };
        let log = TurnLog { messages: vec![last], actions: vec![], outcome: ended.clone() };
        let one = &settle(&log, Rules::default())[0];
        assert_eq!(one.not_before, not_before, "{ended}");
        let state = if counts { MessageState::DeadLetter } else { MessageState::Accepted };
        assert_eq!((one.state, one.counts_attempt), (state, counts), "{ended}");
    }
}

#[test]
fn what_is_told_is_one_safe_line() {
    let reason = Reason::TurnFailed("a\r\nQUIT".to_owned());
    let line = AskerNotice::Failed(reason).text();
    assert_eq!(line, "no answer: the turn failed (a??QUIT)");
    let limit = AskerNotice::Failed(Reason::TurnFailed("step_limit".to_owned())).text();
    assert!(limit.starts_with("no answer: the turn reached its limit of steps"), "{limit}");
    let spent = AskerNotice::Failed(Reason::TurnFailed("budget_spent".to_owned())).text();
    assert!(spent.starts_with("no answer: the budget for today is spent"), "{spent}");
    let refused = AskerNotice::Failed(Reason::TurnFailed("api_refused".to_owned())).text();
    let expect = "no answer: the model's server cannot be reached: nothing listens at its address; `gangline \
                  logs` says more";
    assert_eq!(refused, expect);
    let dead = AskerNotice::DeadLetter { attempts: 5 }.text();
    assert_eq!(dead, "no answer: given up after 5 attempts");
}

fn action() -> impl Strategy<Value = TurnAction> {
    prop_oneof![
        prop::sample::select(vec!["x", "y", "", NO_REPLY]).prop_map(text),
        prop::sample::select(vec![Tool::Send, Tool::Shell, Tool::Other])
            .prop_map(TurnAction::ToolResult),
        prop::sample::select(vec!["#lab", "#else", "ori", ""]).prop_map(sent),
        (1i64..4).prop_map(|id| reply("#lab", id)),
        prop::option::of(1i64..4).prop_map(|id| TurnAction::NoReply { message: id.map(MessageId) }),
    ]
}

fn any_message(id: i64) -> impl Strategy<Value = TurnMessage> {
    let how = prop::sample::select(vec![How::Woke, How::Steered, How::Read]);
    let target = prop::sample::select(vec!["#lab", "#else", ""]);
    (how, target, 1i64..7, 0usize..6, any::<bool>()).prop_map(
        move |(how, target, attempt, joined, answer)| TurnMessage {
            how,
            target: target.to_owned(),
            attempt,
            joined: if how == How::Woke { 0 } else { joined },
            in_reply_to: answer.then_some(MessageId(50)),
            ..message(id)
        },
    )
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Completed,
        Outcome::Completed,
        Outcome::Failed("x".to_owned()),
        Outcome::RateLimited(WallMicros(1)),
        Outcome::NeedsLogin,
        Outcome::Interrupted(By::Operator),
        Outcome::Interrupted(By::Drain),
        Outcome::TimedOut,
        Outcome::Lost(EndedBy::Itself),
        Outcome::Lost(EndedBy::Us),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    /// Each message is settled once; one text goes to one place; whoever woke a turn that ended
    /// gets an answer, a recorded "no reply needed" or a line; and what goes back is not answered.
    #[test]
    fn every_message_ends_in_one_of_the_ways(
        messages in (any_message(1), any_message(2), any_message(3)),
        count in 0usize..4,
        actions in proptest::collection::vec(action(), 0..10),
        outcome in any_outcome(),
        reply in prop::sample::select(vec![ReplyMode::RelayIfSilent, ReplyMode::Relay, ReplyMode::Tools]),
    ) {
        let mut messages = vec![messages.0, messages.1, messages.2];
        messages.truncate(count);
        let log = TurnLog { messages, actions, outcome };
        let settled = settle(&log, Rules { reply, max_attempts: 5 });
        prop_assert_eq!(settled.len(), log.messages.len());
        let mut places = HashSet::new();
        let mut told = HashSet::new();
        for (message, one) in log.messages.iter().zip(&settled) {
            prop_assert_eq!(message.id, one.message);
            prop_assert!(one.state == MessageState::Accepted || one.state.is_terminal());
            prop_assert!(one.state != MessageState::InTurn);
            if let Some(relay) = &one.relay {
                prop_assert_eq!(one.state, MessageState::Answered);
                prop_assert!(reply != ReplyMode::Tools && log.outcome == Outcome::Completed);
                prop_assert!(message.in_reply_to.is_none() && relay.as_str() != NO_REPLY);
                prop_assert!(places.insert(place(message)), "one text, one place, once");
            }
            if let Some(tell) = &one.tell {
                prop_assert!(!tell.text().contains(['\r', '\n']));
                told.insert((place(message), tell.clone()));
            }
            if one.state == MessageState::Accepted {
                let may_tell = matches!(
                    log.outcome,
                    Outcome::NeedsLogin | Outcome::RateLimited(_)
                );
                prop_assert!(one.relay.is_none() && (may_tell || one.tell.is_none()));
            }
            let bad = matches!(one.state, MessageState::Failed | MessageState::DeadLetter);
            if bad && message.in_reply_to.is_none() {
                let here = told.iter().any(|(told, _)| *told == place(message));
                prop_assert!(here, "a failure is told");
            }
        }
    }
}

/// R2-22, R2-28: nobody waits for what the agent asked for itself. What it says about it goes
/// where the conversation was; silence is no failure.
#[test]
fn an_answer_a_reminder_and_a_wake_owe_no_answer() {
    for origin in [Origin::Answer, Origin::Reminder, Origin::Wake, Origin::System] {
        let it = TurnMessage { origin, ..message(1) };
        check(std::slice::from_ref(&it), &[], "no_reply(owes_none)");
        check(std::slice::from_ref(&it), &[tool(), text("done")], "answered relay `done`");
        let nowhere = TurnMessage { target: String::new(), ..it.clone() };
        check(std::slice::from_ref(&nowhere), &[], "no_reply(owes_none)");
        check(&[nowhere], &[text("done")], "answered relay `done`");
        let read = TurnMessage { how: How::Read, ..it };
        check(&[message(2), read], &[text("for 2")], "answered relay `for 2`; answered");
    }
    for origin in [Origin::Mention, Origin::Direct, Origin::Cli, Origin::Http, Origin::Agent] {
        assert!(TurnMessage { origin, ..message(1) }.owes_answer(), "{origin}");
        let answer = TurnMessage { origin, in_reply_to: Some(MessageId(9)), ..message(1) };
        assert!(!answer.owes_answer(), "{origin}");
    }
}
