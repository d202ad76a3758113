//! Calls that end with their answer, and without it.

use gangline_core::{
    Epoch, MessageState, Origin, Principal, QuestionNumber, Tier,
    question::{AnswerRule, Asked, Choose, OnTimeout, Standing},
    redact::Redacted,
};
use gangline_os::task::TaskGroup;
use gangline_store::{AskedBy, MessageFilter, NewAnswer, NewQuestion, OpenOptions, Whose};

use super::*;

fn question(agent: &AgentName, request: &str, epoch: Epoch) -> NewQuestion {
    NewQuestion {
        agent: agent.clone(),
        turn: None,
        request: request.to_owned(),
        asked: Asked::Operator,
        rule: AnswerRule::Humans,
        body: Redacted::from_store("where?".to_owned()),
        options: Vec::new(),
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: String::new(),
        waits: Some(epoch),
    }
}

/// R1-16: who has the answer gets no message; who is gone does, whether the answer comes before or
/// after that.
#[tokio::test]
async fn the_answer_of_a_call_whose_caller_is_gone_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    let agent: AgentName = "oak-ada".parse().unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    let epoch = store.begin_epoch(&agent, (1, "test"), whose).await.unwrap().epoch;
    let rescan = Arc::new(Notify::new());
    let calls = Calls {
        agent: agent.clone(),
        store: store.clone(),
        clock: clock::system(),
        rescan: Arc::clone(&rescan),
    };
    let (sender, receiver) = mpsc::channel(CALLS_QUEUE);
    let closed = CancellationToken::new();
    let mut tasks = TaskGroup::new("test");
    let run = calls.run(receiver, closed.clone());
    tasks.spawn("calls", async move { assert_eq!(run.await, CallsEnd::Closed) });
    let ask = async |request: &str| {
        let (answered, call) = oneshot::channel();
        sender.send(Call { request: request.to_owned(), answered: call }).await.unwrap();
        let new = question(&agent, request, epoch);
        (store.ask(new, |_| AskedBy::default()).await.unwrap().number, answered)
    };
    let answer = async |number: QuestionNumber| {
        let by = Principal { account: "owner".to_owned(), tier: Tier::Owner };
        let (known_as, standing) = ("boss".to_owned(), Standing::Decides);
        let text = Redacted::from_store(format!("here, {number}"));
        store.answer_question(number, NewAnswer { by, known_as, standing, text }).await.unwrap();
    };
    let waits = async |number: QuestionNumber| store.question(number).await.unwrap().unwrap().waits;
    let (first, answered) = ask("first").await;
    answer(first).await;
    answered.send(()).unwrap();
    let (second, caller) = ask("second").await;
    answer(second).await;
    drop(caller);
    rescan.notified().await;
    let (third, caller) = ask("third").await;
    drop(caller);
    while waits(third).await.is_some() {
        tokio::task::yield_now().await;
    }
    answer(third).await;
    let mut told = store.messages(MessageFilter::default(), 9).await.unwrap();
    told.reverse();
    let told: Vec<_> = told.iter().map(|row| (row.body.as_str(), row.origin, row.state)).collect();
    let here = |text| (text, Origin::Answer, MessageState::Accepted);
    assert_eq!(
        told,
        [
            here("[ANSWER 2] <boss> here, 2\nYou asked: where?"),
            here("[ANSWER 3] <boss> here, 3\nYou asked: where?")
        ]
    );
    assert_eq!(waits(first).await, None);
    closed.cancel();
}
