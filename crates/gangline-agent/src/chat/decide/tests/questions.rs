//! Answers without a number, beside bare `yes` and `no`: only in private, only by who was asked, only
//! to the one question that is open, and never where an approval may be meant.

use gangline_core::{
    QuestionNumber,
    question::{Asked, Choose, OnTimeout, QuestionState},
};
use gangline_store::{AskedBy, NewQuestion, QuestionPlaced, QuestionRow};

use super::*;

const OWNER: Who = ("owner", Tier::Owner);
const ZOE: Who = ("zoe", Tier::Member);
/// The owners' private conversation, and Zoe's.
pub(super) const OWNERS: (&str, &str) = ("owner", "=owner");
pub(super) const ZOES: (&str, &str) = ("zoe", "=zoe");

/// An agent asks, and says so in a place.
pub(super) async fn asks(
    room: &mut Room,
    (agent, to): (&str, &str),
    place: ((&str, &str), Extent),
) -> QuestionNumber {
    asks_and_waits(room, (agent, to), place, None).await
}

/// The same by a call that the daemon of this epoch holds open.
async fn asks_and_waits(
    room: &mut Room,
    (agent, to): (&str, &str),
    ((target, place), extent): ((&str, &str), Extent),
    waits: Option<Epoch>,
) -> QuestionNumber {
    let text = |text: &str| Redacted::from_store(text.to_owned());
    let store = room.rig.chat.deps.store.clone();
    let before = store.questions(gangline_store::QuestionFilter::default(), 9).await.unwrap().len();
    let agent: gangline_core::AgentName = agent.parse().unwrap();
    let asked: Asked = to.parse().unwrap();
    let new = NewQuestion {
        agent: agent.clone(),
        turn: None,
        request: before.to_string(),
        rule: asked.usual_rule(),
        asked,
        body: text("where?"),
        options: vec![text("staging"), text("production")],
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: "#lab".to_owned(),
        waits,
    };
    let (target, place) = (target.to_owned(), place.to_owned());
    let bring = move |number: QuestionNumber| AskedBy {
        deliver: Vec::new(),
        announce: vec![QuestionPlaced {
            place,
            extent,
            send: Send {
                agent,
                turn: None,
                idem_key: format!("q-{number}").into(),
                target,
                lines: vec![text(&format!("question {number}")).into()],
                kind: LineKind::Privmsg,
                in_reply_to: None,
                deliver: None,
            },
            question: None,
        }],
        alert: None,
    };
    let asked = store.ask(new, bring).await.unwrap();
    room.heard().await;
    asked.number
}

async fn question(room: &Room, number: QuestionNumber) -> QuestionRow {
    room.rig.chat.deps.store.question(number).await.unwrap().unwrap()
}

async fn answer(room: &Room, number: QuestionNumber) -> Option<String> {
    question(room, number).await.answer.map(|answer| answer.to_string())
}

fn read(room: &Room) {
    room.rig.clock.forward(Duration::from_secs(2));
}

/// What was asked, who says what where after it was read or not, and the answer that is taken; `None`:
/// it is a prompt.
#[tokio::test]
async fn a_private_line_answers_the_only_question_that_its_author_has_read() {
    let (whole, cut) = (Extent::Whole, Extent::Cut);
    for (to, place, who, at, text, is_read, taken) in [
        ("operator", (OWNERS, whole), OWNER, "oak-ada", "2", true, Some("production")),
        ("operator", (OWNERS, whole), OWNER, "oak-ada", "use make", true, Some("use make")),
        ("operator", (OWNERS, whole), OWNER, "oak-ada", "Yes", true, Some("Yes")),
        ("operator", (OWNERS, whole), OWNER, "oak-ada", "2", false, None),
        ("operator", (OWNERS, cut), OWNER, "oak-ada", "2", true, None),
        ("operator", (OWNERS, whole), OWNER, "#lab", "@ada 2", true, None),
        ("operator", (OWNERS, whole), ZOE, "oak-ada", "2", true, None),
        ("operator", (("#lab", "#lab"), whole), OWNER, "oak-ada", "2", true, None),
        ("person:zoe", (ZOES, whole), ZOE, "oak-ada", "staging", true, Some("staging")),
        ("person:zoe", (ZOES, whole), BOB, "oak-ada", "2", true, None),
        ("person:zoe", (ZOES, whole), OWNER, "oak-ada", "2", true, None),
        ("room:#lab", (("#lab", "#lab"), whole), ZOE, "#lab", "@ada 2", true, None),
    ] {
        let case = format!("{to} {place:?} {who:?} {at} {text} {is_read}");
        let mut room = Room::open().await;
        let number = asks(&mut room, ("oak-ada", to), place).await;
        if is_read {
            read(&room);
        }
        room.says(who, at, text).await;
        assert_eq!(answer(&room, number).await.as_deref(), taken, "{case}");
        let prompts = if taken.is_some() { vec![] } else { vec![text.to_owned()] };
        assert_eq!(
            room.prompts().await.iter().filter(|it| **it == text).count(),
            prompts.len(),
            "{case}"
        );
    }
}

/// In a room an option behind the number of an open question, without the word, is no prompt: the reply shows the
/// words that answer it.
#[tokio::test]
async fn a_number_and_an_option_in_a_room_get_a_reply() {
    let mut room = Room::open().await;
    let number = asks(&mut room, ("oak-ada", "operator"), (OWNERS, Extent::Whole)).await;
    let said = format!("@ada {number} 2");
    let told = room.says(ORI, "#lab", &said).await;
    let expect = format!("#lab ori: {number} is a question: say `answer {number} 2`");
    assert_eq!((told, answer(&room, number).await), (vec![expect], None));
    assert_eq!(room.prompts().await, [""; 0]);
    room.says(ORI, "#lab", "@ada 99 2").await;
    room.says(ORI, "#lab", &format!("@ada answer {number} 2")).await;
    room.says(ORI, "#lab", &said).await;
    let prompts = room.prompts().await;
    assert_eq!(
        (prompts.first().map(String::as_str), prompts.last()),
        (Some("@ada 99 2"), Some(&said))
    );
}

/// The `~` of somebody who has no account does not hide whose conversation it is.
#[tokio::test]
async fn a_person_without_an_account_is_known_by_the_nick() {
    let mut room = Room::open().await;
    let number = asks(&mut room, ("oak-ada", "person:zoe"), (ZOES, Extent::Whole)).await;
    read(&room);
    let zoe = Principal { account: "~zoe".to_owned(), tier: Tier::Member };
    let told = room.says_as(("zoe", zoe), "oak-ada", "2").await;
    assert_eq!(told, ["zoe question 1 was answered by zoe: production"]);
    assert_eq!(answer(&room, number).await.as_deref(), Some("production"));
}

/// Two questions, also of another agent: an option's number is answered with the open numbers, a text
/// is a prompt, and the number still answers.
#[tokio::test]
async fn of_two_questions_a_line_without_a_number_answers_none() {
    let mut room = Room::open().await;
    let operator = "operator";
    asks(&mut room, ("oak-ada", operator), (OWNERS, Extent::Whole)).await;
    asks(&mut room, ("oak-bob", operator), (OWNERS, Extent::Whole)).await;
    read(&room);
    let told = room.says(OWNER, "oak-ada", "2").await;
    let both = "owner 2 questions are open to you, so `2` alone answers none: say `answer 1 2` or \
                `/msg oak-bob answer 2 2`";
    assert_eq!(told, [both]);
    room.says(OWNER, "oak-ada", "use make").await;
    assert_eq!(room.prompts().await, ["use make"]);
    for number in [1, 2] {
        assert_eq!(question(&room, QuestionNumber(number)).await.state, QuestionState::Open);
    }
    room.says(OWNER, "oak-ada", "answer 1 2").await;
    assert_eq!(answer(&room, QuestionNumber(1)).await.as_deref(), Some("production"));
}

/// C8: a question to somebody else, and one that agents were asked, does not count as open to who speaks:
/// the line without a number answers the one question that is theirs.
#[tokio::test]
async fn a_question_to_another_person_is_not_open_to_who_speaks() {
    for (who, theirs) in [(OWNER, 1), (ZOE, 2)] {
        let mut room = Room::open().await;
        asks(&mut room, ("oak-ada", "operator"), (OWNERS, Extent::Whole)).await;
        asks(&mut room, ("oak-ada", "person:zoe"), (ZOES, Extent::Whole)).await;
        asks(&mut room, ("oak-ada", "agents:oak-bob"), (OWNERS, Extent::Whole)).await;
        asks(&mut room, ("oak-bob", "person:max"), (("max", "=max"), Extent::Whole)).await;
        read(&room);
        let told = room.says(who, "oak-ada", "2").await;
        for number in 1..=4 {
            let expect = (number == theirs).then_some("production");
            let given = answer(&room, QuestionNumber(number)).await;
            assert_eq!(given.as_deref(), expect, "{who:?}, question {number}: {told:?}");
        }
    }
}

/// An approval and a question at once: `yes` alone does nothing, the numbers do, and what cannot be a
/// decision answers the question.
#[tokio::test]
async fn a_bare_yes_that_may_be_meant_for_an_approval_or_a_question_does_nothing() {
    for (words, allowed, answered) in [
        ("yes", false, None),
        ("No.", false, None),
        ("yes 1", true, None),
        ("answer 2 yes", false, Some("yes")),
        ("2", false, Some("production")),
        ("use make", false, Some("use make")),
    ] {
        let mut room = Room::open().await;
        let message = asked_in(&mut room, "#lab").await;
        wants(&mut room, (message, "ls"), OWNERS).await;
        let number = asks(&mut room, ("oak-ada", "operator"), (OWNERS, Extent::Whole)).await;
        assert_eq!(number, QuestionNumber(2), "one sequence");
        read(&room);
        let before = room.prompts().await;
        let told = room.says(OWNER, "oak-ada", words).await;
        let is_allowed = row(&room, 1).await.state == ApprovalState::Allowed;
        assert_eq!(
            (is_allowed, answer(&room, number).await.as_deref()),
            (allowed, answered),
            "{words}"
        );
        let after: Vec<String> = room.prompts().await;
        let after: Vec<String> =
            after.into_iter().filter(|it| !it.starts_with("[ANSWER")).collect();
        assert_eq!(after, before, "{words} is no prompt");
        if !allowed && answered.is_none() {
            assert!(told[0].contains("for an approval or for question 2"), "{told:?}");
        }
    }
}

/// A question that nobody can have read keeps no approval from being decided; one that was cut does.
#[tokio::test]
async fn a_question_that_was_just_asked_keeps_no_approval_open() {
    for (extent, is_read, allowed) in
        [(Extent::Whole, false, true), (Extent::Whole, true, false), (Extent::Cut, true, false)]
    {
        let mut room = Room::open().await;
        let message = asked_in(&mut room, "#lab").await;
        wants(&mut room, (message, "ls"), OWNERS).await;
        read(&room);
        let number = asks(&mut room, ("oak-ada", "operator"), (OWNERS, extent)).await;
        if is_read {
            read(&room);
        }
        room.says(OWNER, "oak-ada", "yes").await;
        let is_allowed = row(&room, 1).await.state == ApprovalState::Allowed;
        assert_eq!((is_allowed, answer(&room, number).await), (allowed, None), "{extent:?}");
    }
}

/// Wherever a question was announced, people hear who answered it what; in a place where it was not,
/// whoever answers hears that it is taken. Late words hear of the answer.
#[tokio::test]
async fn people_hear_of_an_answer_where_they_were_asked() {
    let mut room = Room::open().await;
    let number = asks(&mut room, ("oak-ada", "room:#lab"), (("#lab", "#lab"), Extent::Whole)).await;
    let told = room.says(OWNER, "oak-ada", "answer 1 2").await;
    let said = "question 1 was answered by owner: production";
    let own = "owner your answer to question 1 is taken: production";
    assert_eq!(told, [format!("#lab {said}"), own.to_owned()]);
    let told = room.says(ZOE, "#lab", "@ada answer 1 1").await;
    assert!(told[0].contains("question 1 is answered already: production (owner)"), "{told:?}");
    let told = room.says(ZOE, "#lab", "@ada answer 1").await;
    assert_eq!(told, [format!("#lab zoe: {said}")]);
    assert_eq!(question(&room, number).await.answered_by.as_deref(), Some("owner"));
}

/// R1-20, C8: who speaks to an agent whose call waits for an answer answers it: in the room that was
/// asked, or in private. Words to several agents, of agents, from history, in another room, or to the
/// call of a daemon that is gone do not.
#[tokio::test]
async fn words_to_an_agent_that_waits_are_its_answer() {
    let (lab, ops) = (("#lab", "#lab"), ("#ops", "#ops"));
    let (ours, gone) = (Some(Epoch(1)), Some(Epoch(0)));
    let bot = ("oak-bob", Tier::Agent);
    for (place, waits, who, at, text, from_history, taken) in [
        (lab, ours, ZOE, "#lab", "@ada blue", false, Some("blue")),
        (lab, ours, OWNER, "#lab", "oak-ada: 2", false, Some("production")),
        (lab, ours, ZOE, "oak-ada", "blue", false, Some("blue")),
        (lab, ours, ZOE, "#lab", "blue", false, None),
        (lab, ours, ZOE, "#lab", "@ada @bob blue", false, None),
        (lab, ours, ZOE, "#lab", "@ada blue", true, None),
        (lab, ours, ZOE, "oak-ada", "blue", true, None),
        (lab, ours, bot, "#lab", "@ada blue", false, None),
        (lab, ours, bot, "oak-ada", "blue", false, None),
        (lab, ours, ("eve", Tier::Stranger), "#lab", "@ada blue", false, None),
        (lab, ours, ZOE, "#lab", "@ada", false, None),
        (lab, gone, ZOE, "#lab", "@ada blue", false, None),
        (lab, gone, ZOE, "oak-ada", "blue", false, None),
        (lab, None, ZOE, "#lab", "@ada blue", false, None),
        (ops, ours, ZOE, "#lab", "@ada blue", false, None),
    ] {
        let mut room = Room::open().await;
        room.rig.chat.deps.everybody.push("oak-bob".parse().unwrap());
        let to = format!("room:{}", place.1);
        let place = (place, Extent::Whole);
        let number = asks_and_waits(&mut room, ("oak-ada", &to), place, waits).await;
        room.from_history = from_history;
        room.says(who, at, text).await;
        let case = format!("{to} {waits:?} {who:?} {at} {text} {from_history}");
        assert_eq!(answer(&room, number).await.as_deref(), taken, "{case}");
        let prompts = room.prompts().await;
        assert!(
            taken.is_none() || prompts.iter().all(|it| it.starts_with("[ANSWER")),
            "{prompts:?}"
        );
        // What answers nothing is a prompt, and not lost.
        if taken.is_none() && (who, text, from_history) == (ZOE, "@ada blue", false) {
            assert!(prompts.iter().any(|it| it.contains("blue")), "{case}: {prompts:?}");
        }
    }
}

/// An answer that was given while history was not all taken in is in a page, and again in the next one
/// if the store fails in the midst of the first: it is never a prompt.
#[tokio::test]
async fn an_answer_that_history_tells_twice_is_no_prompt() {
    let mut room = Room::open().await;
    let number = asks(&mut room, ("oak-ada", "operator"), (OWNERS, Extent::Whole)).await;
    read(&room);
    room.says(OWNER, "oak-ada", "use make").await;
    assert_eq!(answer(&room, number).await.as_deref(), Some("use make"));
    for _ in 0..2 {
        room.repeats();
        room.says(OWNER, "oak-ada", "use make").await;
        let prompts = room.prompts().await;
        assert!(prompts.iter().all(|it| it.starts_with("[ANSWER")), "{prompts:?}");
    }
}

/// What was asked in private is shown to those two and to owners, whatever number somebody says: of an
/// open question, and of one that was answered there.
#[tokio::test]
async fn a_private_question_is_shown_to_its_two_and_to_owners() {
    for (to, place, one) in [("operator", OWNERS, OWNER), ("person:zoe", ZOES, ZOE)] {
        let mut room = Room::open().await;
        let number = asks(&mut room, ("oak-ada", to), (place, Extent::Whole)).await;
        assert_eq!(number.0, 1);
        let secret = "question 1 was asked in private";
        for text in ["answer 1", "answer 1 staging"] {
            assert_eq!(room.says(BOB, "oak-ada", text).await, [format!("bob {secret}")], "{to}");
            let said = room.says(BOB, "#lab", &format!("@ada {text}")).await;
            assert_eq!(said, [format!("#lab bob: {secret}")], "{to}");
        }
        let wrong = room.says(BOB, "#lab", "@ada answer 7").await;
        assert!(wrong.iter().all(|line| !line.contains("open:")), "{to}: {wrong:?}");
        let shown = room.says(one, "oak-ada", "answer 1").await;
        assert_eq!(shown[0], format!("{} question 1 from oak-ada: where?", one.0));
        let aside = room.says(OWNER, "#lab", "@ada answer 1").await;
        let (here, private): (Vec<_>, Vec<_>) =
            aside.iter().partition(|line| line.starts_with("#lab"));
        let told = "#lab owner: I show you question 1 in private: it was not asked here";
        assert_eq!(here, [told]);
        assert!(private[0].ends_with("question 1 from oak-ada: where?"), "{private:?}");
        read(&room);
        room.says(one, "oak-ada", "answer 1 the gate code is 4711").await;
        assert_eq!(answer(&room, number).await.as_deref(), Some("the gate code is 4711"));
        for (at, text) in [("oak-ada", "answer 1"), ("#lab", "@ada answer 1 9")] {
            let said = room.says(BOB, at, text).await;
            assert!(said.len() == 1 && said[0].ends_with(secret), "{to}: {said:?}");
        }
    }
}

/// An owner may answer in a room what was asked in private: the reply there repeats nothing of it.
#[tokio::test]
async fn the_reply_in_a_room_repeats_nothing_of_a_private_question() {
    let mut room = Room::open().await;
    let number = asks(&mut room, ("oak-ada", "person:zoe"), (ZOES, Extent::Whole)).await;
    for text in ["@ada answer 1 2", "@ada answer 1 1"] {
        let said = room.says(OWNER, "#lab", text).await;
        let here: Vec<&String> = said.iter().filter(|line| line.starts_with("#lab")).collect();
        assert!(here.iter().all(|line| !line.contains("production")), "{here:?}");
        assert_eq!(here.len(), 1, "{here:?}");
    }
    assert_eq!(answer(&room, number).await.as_deref(), Some("production"));
}
