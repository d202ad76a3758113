//! Recovery of lost turns: a table, and that it never loses or doubles anything.

use proptest::prelude::*;

use super::*;
use crate::{
    answer::{AskerNotice, How, Reason, Tool},
    id::Epoch,
    message::Origin,
};

fn message(id: i64, attempt: i64) -> TurnMessage {
    TurnMessage {
        id: MessageId(id),
        asker: "ori".to_owned(),
        target: "#lab".to_owned(),
        origin: Origin::Mention,
        attempt,
        in_reply_to: None,
        how: How::Woke,
        joined: 0,
    }
}

fn sent(to: &str, in_reply_to: Option<i64>) -> TurnAction {
    TurnAction::Sent { to: to.to_owned(), in_reply_to: in_reply_to.map(MessageId) }
}

fn lost(messages: Vec<TurnMessage>, actions: Vec<TurnAction>) -> LostTurn {
    let lines = actions.iter().filter_map(|action| match action {
        TurnAction::Sent { to, .. } => Some(SentLine { to: to.clone(), text: "on it".to_owned() }),
        TurnAction::Text(_) | TurnAction::ToolResult(_) | TurnAction::NoReply { .. } => None,
    });
    let sent = lines.collect();
    LostTurn { turn: TurnId { epoch: Epoch(1), number: 1 }, messages, actions, sent, ended: None }
}

fn check(
    attempt: i64,
    actions: Vec<TurnAction>,
    state: MessageState,
    tell: Option<AskerNotice>,
    quoted: usize,
) {
    let recovery = recover(lost(vec![message(1, attempt)], actions.clone()), Rules::default());
    let [one] = recovery.settle.as_slice() else { panic!("{recovery:?}") };
    assert_eq!((one.state, &one.tell), (state, &tell), "{actions:?}");
    assert_eq!(one.relay, None);
    let lines: usize = recovery.quote.iter().map(|quote| quote.lines.len()).sum();
    assert_eq!(lines, quoted, "{actions:?}");
}

#[test]
fn an_answer_that_was_sent_stands_and_the_asker_is_told_once() {
    use MessageState::{Accepted, Answered, NoReply};
    let tool = || TurnAction::ToolResult(Tool::Other);
    check(1, vec![tool(), sent("#lab", None)], Answered, Some(AskerNotice::TurnLost), 0);
    check(1, vec![sent("#lab", Some(1)), tool()], Answered, Some(AskerNotice::TurnLost), 0);
    check(1, vec![TurnAction::NoReply { message: None }], NoReply, None, 0);
    // Said before the work, to another place, or never sent: no answer.
    check(1, vec![sent("#lab", None), tool()], Accepted, None, 1);
    check(1, vec![sent("#else", None)], Accepted, None, 1);
    check(1, vec![TurnAction::Text("all pass".to_owned())], Accepted, None, 0);
    check(1, vec![], Accepted, None, 0);
}

#[test]
fn the_last_attempt_becomes_a_dead_letter() {
    let dead = Some(AskerNotice::DeadLetter { attempts: 5 });
    check(5, vec![], MessageState::DeadLetter, dead, 0);
    check(4, vec![], MessageState::Accepted, None, 0);
    check(5, vec![sent("ori", None)], MessageState::Answered, Some(AskerNotice::TurnLost), 0);
}

/// What a person had ended is not taken again, whatever the turn had done by then.
#[test]
fn a_turn_that_a_person_had_ended_fails_and_its_askers_are_told() {
    for actions in [vec![], vec![sent("#lab", None)], vec![TurnAction::Text("x".to_owned())]] {
        let ended = Some(By::Operator);
        let lost = LostTurn { ended, ..lost(vec![message(1, 1), message(2, 5)], actions) };
        let recovery = recover(lost, Rules::default());
        assert_eq!(recovery.outcome, Outcome::Interrupted(By::Operator));
        let found: Vec<_> =
            recovery.settle.iter().map(|one| (one.state, one.reason.clone())).collect();
        let failed = (MessageState::Failed, Some(Reason::Interrupted(By::Operator)));
        assert_eq!(found, [failed.clone(), failed]);
        let tells: Vec<bool> = recovery.settle.iter().map(|one| one.tell.is_some()).collect();
        assert_eq!((tells, recovery.quote), (vec![true, false], vec![]), "once for an asker");
    }
}

#[test]
fn two_messages_of_one_asker_are_told_once() {
    let actions = vec![sent("#lab", None)];
    let recovery = recover(lost(vec![message(1, 1), message(2, 1)], actions), Rules::default());
    let tells: Vec<_> = recovery.settle.iter().map(|one| one.tell.clone()).collect();
    assert_eq!(tells, [Some(AskerNotice::TurnLost), None]);
}

fn action() -> impl Strategy<Value = TurnAction> {
    prop_oneof![
        Just(TurnAction::Text("x".to_owned())),
        prop::sample::select(vec![Tool::Send, Tool::Shell, Tool::Other])
            .prop_map(TurnAction::ToolResult),
        (prop::sample::select(vec!["#lab", "ori", "#else"]), prop::option::of(1i64..4))
            .prop_map(|(to, named)| sent(to, named)),
        prop::option::of(1i64..4).prop_map(|id| TurnAction::NoReply { message: id.map(MessageId) }),
    ]
}

proptest! {
    /// Each message of a lost turn is settled or returned once; nothing is relayed from it; what
    /// goes back is quoted; and only sends make an answer.
    #[test]
    fn a_lost_turn_loses_nothing_and_answers_nothing_by_itself(
        actions in proptest::collection::vec(action(), 0..12),
        attempts in proptest::collection::vec(1i64..7, 0..3),
    ) {
        let messages: Vec<TurnMessage> =
            (1..).zip(&attempts).map(|(id, attempt)| message(id, *attempt)).collect();
        let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        let recovery = recover(lost(messages, actions.clone()), Rules::default());
        let settled: Vec<MessageId> = recovery.settle.iter().map(|one| one.message).collect();
        prop_assert_eq!(settled, ids);
        let any_send = actions.iter().any(|action| matches!(action, TurnAction::Sent { .. }));
        for one in &recovery.settle {
            prop_assert!(one.relay.is_none());
            prop_assert!(one.state != MessageState::Answered || any_send);
            prop_assert!(one.state != MessageState::Failed);
            let quoted = recovery.quote.iter().filter(|quote| quote.message == one.message).count();
            prop_assert_eq!(quoted, usize::from(one.state == MessageState::Accepted));
        }
    }
}
