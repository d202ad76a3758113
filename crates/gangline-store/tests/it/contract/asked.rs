//! What agents say about questions at the end of their turns, and whom it reaches.

use gangline_core::{
    MessageState, Origin,
    question::{AnswerRule, QuestionState},
};
use gangline_store::{EndTurn, MessageFilter, NewMessage, Send};

use super::questions::{asks_bob, bobs_turn, ends};
use crate::support::*;

/// R1-52: what an agent says at the end of its turn does not reach the asker where it is no answer any more:
/// somebody else's answer stands, or only people's count. It is a message where nobody has answered.
pub(crate) async fn what_is_no_answer_does_not_prompt_the_asker(_: &Fixture) {
    use QuestionState::{Answered, Cancelled, Open};
    for (rule, before, messages) in [
        (AnswerRule::First, Answered, vec!["answer"]),
        (AnswerRule::Never, Answered, vec!["answer"]),
        (AnswerRule::Humans, Answered, vec!["answer"]),
        (AnswerRule::Humans, Open, vec![]),
        (AnswerRule::First, Cancelled, vec!["answer", "agent"]),
    ] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let number = asks_bob(&store, rule).await;
        let (turn, id) = bobs_turn(&store, number).await;
        match before {
            Answered => drop(store.answer_question(number, answer("yes")).await.unwrap()),
            Cancelled => drop(store.cancel_question(number, owner()).await.unwrap()),
            Open | QuestionState::Expired => {}
        }
        let deliver = Some(NewMessage { origin: Origin::Agent, ..keyed(&ada(), "reply") });
        let reply = Send { in_reply_to: Some(id), deliver, ..send(&bob(), "reply", &["no"]) };
        let end = EndTurn {
            sends: vec![Send { turn: Some(turn), ..reply }],
            ..ends(turn, id, MessageState::Answered, Some("no"))
        };
        let ended = store.end_turn(end).await.unwrap();
        let all = MessageFilter { agent: Some(ada()), ..MessageFilter::default() };
        let rows = store.messages(all, 9).await.unwrap();
        let mut origins: Vec<_> = rows.iter().map(|row| row.origin.as_str()).collect();
        origins.reverse();
        assert_eq!(origins, messages, "{rule} {before:?}");
        assert_eq!(ended.notify.contains(&ada()), messages.contains(&"agent"), "{rule} {before:?}");
    }
}
