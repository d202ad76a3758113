//! Questions: numbered with approvals, answered once, counted, expired, withdrawn.

use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, QuestionNumber, Tier, TurnId,
    answer::How,
    approval::view::Extent,
    hook::WebhookEvent,
    outcome::Outcome,
    question::{AnswerRule, Asked, Facts, OnTimeout, QuestionState, Standing, Where, may_answer},
    trust::Policy,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AnswerError, AskedBy, EndTurn, EventQuery, NewAlert, NewAnswer, NewMessage, NewQuestion,
    QuestionFilter, QuestionPlaced, Settle, Store, StoreError, Take,
};

use serde_json::json;

use crate::support::*;

fn agent_answer(by: &AgentName, said: &str, standing: Standing) -> NewAnswer {
    NewAnswer {
        by: Principal { account: by.to_string(), tier: Tier::Agent },
        known_as: by.to_string(),
        standing,
        text: text(said),
    }
}

async fn asked(store: &Store, new: NewQuestion) -> QuestionNumber {
    store.ask(new, |_| AskedBy::default()).await.unwrap().number
}

/// Approvals and questions have one sequence: a number names one thing.
pub(crate) async fn a_number_names_an_approval_or_a_question(fixture: &Fixture) {
    let store = fixture.open().await;
    let message = store.accept(keyed(&ada(), "m")).await.unwrap().id;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    store.take(take(&ada(), turn(epoch, 1), &[message])).await.unwrap();
    let first = asked(&store, question(&ada(), "a")).await;
    let approval = store.open_approval(ask(&ada(), turn(epoch, 1), message)).await.unwrap().number;
    let second = asked(&store, question(&ada(), "b")).await;
    assert_eq!((first.0, approval.0, second.0), (1, 2, 3));
    // An older program counts approvals by their own table.
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let sql =
        "SELECT min(seq), count(*) FROM sqlite_sequence WHERE name IN ('approvals', 'questions')";
    let kept: (i64, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(kept, (3, 2));
    connection.close().unwrap();
}

/// A question is asked once, with all that goes with it: the rows of the agents and the lines.
pub(crate) async fn a_question_is_asked_once_with_its_rows_and_lines(fixture: &Fixture) {
    let store = fixture.open().await;
    let new = NewQuestion { asked: Asked::Agents(vec![bob()]), ..question(&ada(), "r") };
    let bring = |number: QuestionNumber| AskedBy {
        deliver: vec![NewMessage {
            origin: Origin::Agent,
            ..keyed(&bob(), &format!("question/{number}/to"))
        }],
        announce: vec![QuestionPlaced {
            place: "#room".to_owned(),
            extent: Extent::Whole,
            send: send(&ada(), "announced", &["question"]),
            question: None,
        }],
        alert: Some(
            NewAlert::new(ada(), WebhookEvent::AgentQuestion, text("merge?\n[ERROR] forged"))
                .about(number.0),
        ),
    };
    let first = store.ask(new.clone(), bring).await.unwrap();
    let again = store.ask(new, bring).await.unwrap();
    assert_eq!((first.repeated, first.notify.clone()), (false, vec![bob()]));
    assert_eq!((again.number, again.repeated, again.notify), (first.number, true, vec![]));
    let waiting = store.pending(&bob(), UnixMicros(i64::MAX), 9).await.unwrap();
    assert_eq!(waiting.len(), 1);
    let of = store.question_of(waiting[0].id).await.unwrap().unwrap();
    assert_eq!((of.number, of.asked.agents()), (first.number, &[bob()][..]));
    assert_eq!(of.options, ["yes", "no"]);
    assert_eq!(store.outbox_by_idem(&ada(), "announced").await.unwrap().len(), 1);
    // R0-41, R1-39: people are alerted once, in the same commit, and by one line.
    let alerts = store.alerts_due(None, UnixMicros(i64::MAX)).await.unwrap();
    let alerts: Vec<_> = alerts.iter().map(|row| (row.about, row.text.as_str())).collect();
    assert_eq!(alerts, [(Some(first.number.0), "merge? ⏎ [ERROR] forged")]);
    // R2-22: the record of each side has it once.
    let told = |agent: AgentName, payload: serde_json::Value| (agent.to_string(), payload);
    let asks = json!({"event": "QuestionAsked", "id": first.number, "asker": ada(),
        "question": "merge?", "options": ["yes", "no"], "multi": false});
    assert_eq!(events(&store).await, [told(bob(), asks.clone())]);
    // Once it is answered nobody else needs to look at it.
    store.answer_question(first.number, answer("yes")).await.unwrap();
    let row = store.message(waiting[0].id).await.unwrap().unwrap();
    let why = format!("question {} is closed", first.number);
    assert_eq!((row.state, row.reason), (MessageState::Cancelled, Some(why)));
    let answered = json!({"event": "QuestionAnswered", "id": first.number, "question": "merge?",
        "answer": "yes", "answerer": "otto"});
    assert_eq!(events(&store).await, [told(bob(), asks), told(ada(), answered)]);
}

/// Returns the events that questions have left, with whose they are.
async fn events(store: &Store) -> Vec<(String, serde_json::Value)> {
    let page = store.events(EventQuery::default()).await.unwrap();
    let of_questions = page.events.into_iter().filter(|it| it.kind.starts_with("question_"));
    of_questions
        .map(|it| (it.agent.to_string(), serde_json::from_str(it.payload.as_str()).unwrap()))
        .collect()
}

/// R2-22, R1-51: the answer stands once, and comes to the asker as one message.
pub(crate) async fn an_answer_stands_once_and_comes_to_the_asker(fixture: &Fixture) {
    let store = fixture.open().await;
    let number = asked(&store, question(&ada(), "r")).await;
    let closed = store.answer_question(number, answer("yes")).await.unwrap();
    let row = store.message(closed.message.unwrap()).await.unwrap().unwrap();
    assert_eq!(row.body.as_str(), "[ANSWER 1] <otto> yes\nYou asked: merge?");
    assert_eq!((row.origin, row.sender.as_str()), (Origin::Answer, "otto"));
    assert_eq!((row.agent, row.target.as_str()), (ada(), "#room"));
    assert_eq!(store.question_of(row.id).await.unwrap().unwrap().number, number);
    let found = store.question(number).await.unwrap().unwrap();
    assert_eq!(found.state, QuestionState::Answered);
    assert_eq!(found.answer.as_ref().unwrap().as_str(), "yes");
    assert_eq!(found.answered_by.as_deref(), Some("otto"));
    let late = store.answer_question(number, answer("no")).await.unwrap_err();
    assert_eq!(late.to_string(), "question 1 is answered already");
    assert!(matches!(late, AnswerError::Closed(row) if row == found.into()));
    let none = store.answer_question(QuestionNumber(9), answer("x")).await.unwrap_err();
    assert_eq!(none.to_string(), "there is no question 9");
}

/// R2-24, R1-53: who asked hears that the time is over, once, and what that means.
pub(crate) async fn a_question_whose_time_is_over_is_closed_by_the_watchdog(fixture: &Fixture) {
    let store = fixture.open().await;
    let at = |at: i64| Some(UnixMicros(at));
    let late = NewQuestion { expires_at: at(10), ..question(&ada(), "late") };
    let no =
        NewQuestion { expires_at: at(9), on_timeout: OnTimeout::Deny, ..question(&ada(), "no") };
    let open = NewQuestion { expires_at: None, ..question(&ada(), "open") };
    let later = NewQuestion { expires_at: at(11), ..question(&ada(), "later") };
    let others = NewQuestion { expires_at: at(1), ..question(&bob(), "other") };
    for new in [late, no, open, later, others] {
        asked(&store, new).await;
    }
    assert_eq!(store.next_expiry(&ada()).await.unwrap(), at(9));
    let closed = store.expire_questions(&ada(), UnixMicros(10)).await.unwrap();
    let found: Vec<_> = closed
        .iter()
        .map(|it| {
            let answer = it.row.answer.as_ref().unwrap().as_str();
            (it.row.number.0, answer, it.row.answered_by.as_deref().unwrap())
        })
        .collect();
    assert_eq!(found, [(2, "[denied]", "ttl-watchdog"), (1, "[expired]", "ttl-watchdog")]);
    assert!(closed.iter().all(|it| it.row.state == QuestionState::Expired));
    let row = store.message(closed[1].message.unwrap()).await.unwrap().unwrap();
    assert!(row.body.as_str().starts_with("[ANSWER 1] <ttl-watchdog> [expired]"));
    assert_eq!(store.expire_questions(&ada(), UnixMicros(10)).await.unwrap(), []);
    assert_eq!(store.next_expiry(&ada()).await.unwrap(), at(11));
    // What follows for the asker is in the same commit.
    let paused = async || store.agent(&ada()).await.unwrap().is_some_and(|row| row.paused);
    assert!(!paused().await);
    let on_timeout = OnTimeout::Pause;
    asked(&store, NewQuestion { expires_at: at(10), on_timeout, ..question(&ada(), "p") }).await;
    assert_eq!(store.expire_questions(&ada(), UnixMicros(10)).await.unwrap().len(), 1);
    assert!(paused().await);
}

/// R2-24, R2-27: a question that is withdrawn says by whom.
pub(crate) async fn a_withdrawn_question_says_by_whom(fixture: &Fixture) {
    let store = fixture.open().await;
    let numbers = [
        asked(&store, question(&ada(), "a")).await,
        asked(&store, question(&ada(), "b")).await,
        asked(&store, question(&ada(), "c")).await,
    ];
    let agent = |name: &AgentName| Principal { account: name.to_string(), tier: Tier::Agent };
    let mut found = Vec::new();
    for (number, by) in numbers.into_iter().zip([owner(), agent(&bob()), agent(&ada())]) {
        let closed = store.cancel_question(number, by).await.unwrap();
        assert_eq!(closed.row.state, QuestionState::Cancelled);
        found.push((closed.row.answer.unwrap().as_str().to_owned(), closed.message.is_some()));
    }
    let expect = [
        ("[cancelled]".to_owned(), true),
        ("[cancelled by spark-bob]".to_owned(), true),
        ("[cancelled by spark-ada]".to_owned(), false),
    ];
    assert_eq!(found, expect);
    assert!(store.cancel_question(numbers[0], owner()).await.is_err());
}

/// R1-52: agents that are asked together vote; each has one vote, its last.
pub(crate) async fn votes_are_counted_until_one_answer_stands(fixture: &Fixture) {
    let store = fixture.open().await;
    let eve: AgentName = "spark-eve".parse().unwrap();
    let new = NewQuestion {
        asked: Asked::Agents(vec![bob(), eve.clone()]),
        rule: AnswerRule::Consensus,
        ..question(&ada(), "r")
    };
    let number = asked(&store, new).await;
    let said = |by: &AgentName, said: &str| agent_answer(by, said, Standing::Counts);
    for (by, text) in [(&bob(), "no"), (&bob(), "yes")] {
        let closed = store.answer_question(number, said(by, text)).await.unwrap();
        assert_eq!((closed.row.state, closed.message), (QuestionState::Open, None));
    }
    assert_eq!(store.votes(number).await.unwrap().len(), 1);
    let closed = store.answer_question(number, said(&eve, "Yes")).await.unwrap();
    assert_eq!(closed.row.state, QuestionState::Answered);
    assert_eq!(closed.row.answer.unwrap().as_str(), "yes");
    assert_eq!(closed.row.answered_by.as_deref(), Some("consensus"));
    assert!(closed.message.is_some());
}

/// R1-52: agents' answers count as their rule says; an answer of a person who may answer decides at once, and later
/// answers do not count.
pub(crate) async fn agents_count_as_their_rule_says_and_people_always(_: &Fixture) {
    let agents = || vec![bob(), "spark-carol".parse().unwrap(), "spark-eve".parse().unwrap()];
    let (no, vote) = (None, Some(("yes", "vote")));
    for (rule, said, stands) in [
        (AnswerRule::First, vec!["yes"], Some(("yes", "spark-bob"))),
        (AnswerRule::Any, vec!["yes"], Some(("yes", "spark-bob"))),
        (AnswerRule::Vote, vec!["yes"], no),
        (AnswerRule::Vote, vec!["yes", "no"], no),
        (AnswerRule::Vote, vec!["yes", "YES"], vote),
        (AnswerRule::Vote, vec!["yes", "no", "yes"], vote),
        (AnswerRule::Consensus, vec!["yes", "yes"], no),
        (AnswerRule::Consensus, vec!["yes", "yes", "yes"], Some(("yes", "consensus"))),
        (AnswerRule::Never, vec!["yes", "yes", "yes"], no),
    ] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let asked_of = Asked::Agents(agents());
        let new = NewQuestion { asked: asked_of.clone(), rule, ..question(&ada(), "r") };
        let number = asked(&store, new).await;
        let facts = Facts { number, asker: &ada(), asked: &asked_of, rule };
        for (by, said) in agents().iter().zip(&said) {
            let who = Principal { account: by.to_string(), tier: Tier::Agent };
            let standing = may_answer(facts, &who, Where::Direct, &Policy::default()).unwrap();
            store.answer_question(number, agent_answer(by, said, standing)).await.unwrap();
        }
        let by_person = store.answer_question(number, answer("no")).await;
        assert_eq!(by_person.is_ok(), stands.is_none(), "{rule} {said:?}");
        let row = store.question(number).await.unwrap().unwrap();
        let found = (row.answer.as_ref().unwrap().as_str(), row.answered_by.as_deref().unwrap());
        assert_eq!(found, stands.unwrap_or(("no", "otto")), "{rule} {said:?}");
        let late = agent_answer(&agents()[2], "late", Standing::Decides);
        assert!(store.answer_question(number, late).await.is_err(), "{rule} {said:?}");
    }
}

pub(crate) async fn questions_are_listed_newest_first_and_narrowed(fixture: &Fixture) {
    let store = fixture.open().await;
    let long: AgentName = "x-spark-bob".parse().unwrap();
    let to = |agents: Vec<AgentName>| Asked::Agents(agents);
    asked(&store, question(&ada(), "a")).await;
    asked(&store, NewQuestion { asked: to(vec![bob()]), ..question(&ada(), "b") }).await;
    asked(&store, NewQuestion { asked: to(vec![long, ada()]), ..question(&bob(), "c") }).await;
    let done = asked(&store, question(&bob(), "d")).await;
    store.answer_question(done, answer("x")).await.unwrap();
    let list = async |filter: QuestionFilter| -> Vec<i64> {
        store.questions(filter, 9).await.unwrap().iter().map(|row| row.number.0).collect()
    };
    let every = QuestionFilter::default();
    assert_eq!(list(every.clone()).await, [3, 2, 1]);
    assert_eq!(list(QuestionFilter { closed: true, ..every.clone() }).await, [4, 3, 2, 1]);
    assert_eq!(list(QuestionFilter { asker: Some(ada()), ..every.clone() }).await, [2, 1]);
    assert_eq!(list(QuestionFilter { asked: Some(bob()), ..every.clone() }).await, [2]);
    assert_eq!(list(QuestionFilter { asked: Some(ada()), ..every.clone() }).await, [3]);
    let before = Some(QuestionNumber(3));
    assert_eq!(list(QuestionFilter { before, ..every }).await, [2, 1]);
}

pub(crate) async fn an_agent_has_a_bounded_number_of_open_questions(fixture: &Fixture) {
    let store = fixture.open().await;
    for at in 0..gangline_core::question::OPEN_MAX {
        asked(&store, question(&ada(), &at.to_string())).await;
    }
    let more = store.ask(question(&ada(), "more"), |_| AskedBy::default()).await;
    assert!(matches!(more, Err(StoreError::Invalid(why)) if why.contains("too many questions")));
    asked(&store, question(&bob(), "more")).await;
    store.cancel_question(QuestionNumber(1), owner()).await.unwrap();
    asked(&store, question(&ada(), "more")).await;
}

/// A turn that asked itself: what becomes of the message that brought the question.
pub(super) async fn bobs_turn(store: &Store, number: QuestionNumber) -> (TurnId, MessageId) {
    let epoch = store.begin_epoch(&bob(), (1, ""), claude()).await.unwrap().epoch;
    let waiting = store.pending(&bob(), UnixMicros(i64::MAX), 9).await.unwrap();
    let id = waiting[0].id;
    assert_eq!(store.question_of(id).await.unwrap().unwrap().number, number);
    let turn = TurnId { epoch, number: 1 };
    let take = Take {
        agent: bob(),
        turn,
        messages: vec![id],
        prompt_uuid: "u".to_owned(),
        how: How::Woke,
        turns_per_cause: 30,
    };
    store.take(take).await.unwrap();
    (turn, id)
}

pub(super) async fn asks_bob(store: &Store, rule: AnswerRule) -> QuestionNumber {
    let agents = vec![bob(), "oak-eve".parse().unwrap()];
    let alone = rule == AnswerRule::First;
    let asked = Asked::Agents(if alone { vec![bob()] } else { agents });
    let new = NewQuestion { asked, rule, ..question(&ada(), "r") };
    let bring = |number: QuestionNumber| AskedBy {
        deliver: vec![NewMessage {
            origin: Origin::Agent,
            ..keyed(&bob(), &format!("question/{number}/to"))
        }],
        ..AskedBy::default()
    };
    store.ask(new, bring).await.unwrap().number
}

pub(super) fn ends(
    turn: TurnId,
    id: MessageId,
    state: MessageState,
    said: Option<&str>,
) -> EndTurn {
    EndTurn {
        agent: bob(),
        turn,
        outcome: (&Outcome::Completed).into(),
        settle: vec![Settle {
            message: id,
            state,
            reason: None,
            answer: said.map(text),
            not_before: None,
            uncount_attempt: false,
        }],
        sends: Vec::new(),
        events: Vec::new(),
        withdraw_approvals: None,
    }
}

/// R2-22: what an agent said at the end of its turn is its answer, or its vote, unless it has given one
/// by tool.
pub(crate) async fn the_end_of_a_turn_answers_what_it_was_asked(_: &Fixture) {
    let two = (MessageState::Answered, Some("2"));
    let nothing = (MessageState::NoReply, None);
    for (rule, before, (state, said), after) in [
        (AnswerRule::First, None, two, Some("no")),
        (AnswerRule::First, None, nothing, Some("[no answer] no_reply")),
        (AnswerRule::Any, None, nothing, None),
        (AnswerRule::Vote, None, nothing, None),
        (AnswerRule::Vote, None, two, None),
        (AnswerRule::Vote, Some("yes"), two, None),
        (AnswerRule::Humans, None, two, None),
    ] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let number = asks_bob(&store, rule).await;
        let (turn, id) = bobs_turn(&store, number).await;
        if let Some(said) = before {
            let vote = agent_answer(&bob(), said, Standing::Counts);
            store.answer_question(number, vote).await.unwrap();
        }
        let ended = store.end_turn(ends(turn, id, state, said)).await.unwrap();
        let row = store.question(number).await.unwrap().unwrap();
        assert_eq!(row.answer.as_ref().map(|it| it.as_str()), after, "{rule}");
        let told = before.is_none() && rule != AnswerRule::Humans;
        assert_eq!(ended.notify, if told { vec![ada()] } else { vec![] }, "{rule}: its asker");
        let votes: Vec<String> =
            store.votes(number).await.unwrap().into_iter().map(|vote| vote.answer).collect();
        let counted = match (rule, said) {
            (AnswerRule::Vote, Some(_)) => vec![before.unwrap_or("no")],
            (AnswerRule::Vote | AnswerRule::Any, None) => vec!["[no answer] no_reply"],
            (_, _) => vec![],
        };
        assert_eq!(votes, counted, "{rule}");
    }
}

/// R1-51: a turn that asks its asker back leaves the question open until the turn that reads the reply has ended. The
/// tool `answer` settles it at any time; a question to others delays nothing.
pub(crate) async fn a_turn_that_asks_back_leaves_its_question_open(_: &Fixture) {
    let carol: AgentName = "spark-carol".parse().unwrap();
    for (to, reads, answer) in [
        (ada(), true, Some("by the answer's turn")),
        (ada(), false, None),
        (carol, false, Some("by the first turn")),
    ] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let first = asks_bob(&store, AnswerRule::First).await;
        let (one, asked) = bobs_turn(&store, first).await;
        let asked_of = Asked::Agents(vec![to.clone()]);
        let back = NewQuestion {
            turn: Some(one),
            in_reply_to: Some(asked),
            asked: asked_of,
            rule: AnswerRule::First,
            ..question(&bob(), "back")
        };
        let back = store.ask(back, |_| AskedBy::default()).await.unwrap().number;
        let said = |turn, id, said| ends(turn, id, MessageState::Answered, Some(said));
        store.end_turn(said(one, asked, "by the first turn")).await.unwrap();
        // It is answered, and not yet read.
        let closed = store.answer_question(back, agent_answer(&to, "x", Standing::Decides)).await;
        let told = closed.unwrap().message.unwrap();
        assert_eq!(store.message(asked).await.unwrap().unwrap().state, MessageState::Answered);
        let about = store.questions_about(&bob(), told).await.unwrap();
        let about: Vec<_> = about.iter().map(|it| it.number).collect();
        assert_eq!(about, if to == ada() { vec![first] } else { vec![] });
        let two = TurnId { number: 2, ..one };
        if reads {
            store.take(take(&bob(), two, &[told])).await.unwrap();
            let ended = store.end_turn(said(two, told, "by the answer's turn")).await.unwrap();
            assert_eq!(ended.notify, [ada()], "its asker is told it by the answer");
        }
        let row = store.question(first).await.unwrap().unwrap();
        assert_eq!(row.answer.as_ref().map(|it| it.as_str()), answer, "{to} {reads}");
    }
}

/// A turn that is lost after its question was answered does not get it again; one that was not, does.
pub(crate) async fn a_lost_turn_does_not_get_its_answered_question_again(_: &Fixture) {
    for (answers, state) in [(true, MessageState::Answered), (false, MessageState::Accepted)] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let number = asks_bob(&store, AnswerRule::Vote).await;
        let (turn, id) = bobs_turn(&store, number).await;
        if answers {
            let vote = agent_answer(&bob(), "yes", Standing::Counts);
            store.answer_question(number, vote).await.unwrap();
        }
        store.end_turn(ends(turn, id, MessageState::Accepted, None)).await.unwrap();
        assert_eq!(store.message(id).await.unwrap().unwrap().state, state);
        let open = store.question(number).await.unwrap().unwrap().state;
        assert_eq!(open, QuestionState::Open);
    }
}

/// R2-22: of two questions in one turn each gets what was said to it; what was said to a message that
/// asked nothing answers none of another asker's.
pub(crate) async fn each_question_of_a_turn_gets_its_own_answer(fixture: &Fixture) {
    let store = fixture.open().await;
    let asks = async |asker: AgentName, request: &str| {
        let asked = Asked::Agents(vec![bob()]);
        let rule = AnswerRule::First;
        let new = NewQuestion { asked, rule, options: Vec::new(), ..question(&asker, request) };
        let bring = move |number: QuestionNumber| AskedBy {
            deliver: vec![NewMessage {
                origin: Origin::Agent,
                principal: Principal { account: asker.to_string(), tier: Tier::Agent },
                ..keyed(&bob(), &format!("question/{number}/to"))
            }],
            ..AskedBy::default()
        };
        store.ask(new, bring).await.unwrap().number
    };
    let eve: AgentName = "spark-eve".parse().unwrap();
    let numbers = [asks(ada(), "1").await, asks(eve.clone(), "2").await, asks(eve, "3").await];
    store.accept(keyed(&bob(), "words")).await.unwrap();
    let epoch = store.begin_epoch(&bob(), (1, ""), claude()).await.unwrap().epoch;
    let waiting = store.pending(&bob(), UnixMicros(i64::MAX), 9).await.unwrap();
    let ids: Vec<MessageId> = waiting.iter().map(|row| row.id).collect();
    let turn = TurnId { epoch, number: 1 };
    store.take(take(&bob(), turn, &ids)).await.unwrap();
    // The first one has no words of its own, and its asker said nothing else.
    let said = [None, Some("two"), Some("three"), Some("to somebody")];
    let one = |(id, said): (&MessageId, Option<&str>)| {
        ends(turn, *id, MessageState::Answered, said).settle.remove(0)
    };
    let settle = ids.iter().zip(said).map(one).collect();
    store
        .end_turn(EndTurn { settle, ..ends(turn, ids[0], MessageState::Answered, None) })
        .await
        .unwrap();
    let mut answers = Vec::new();
    for number in numbers {
        answers
            .push(store.question(number).await.unwrap().unwrap().answer.map(|it| it.to_string()));
    }
    assert_eq!(answers, [None, Some("two".to_owned()), Some("three".to_owned())]);
}
