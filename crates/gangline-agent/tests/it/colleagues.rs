//! Two agents that talk to each other: what they say has its end, and is no order.

use gangline_testkit::{IrcPeer, irc};
use serde_json::{Value, json};

use crate::rig::{ADA, BOB, Daemon, ROOM, Rig};

mod loops;
mod lost;

const ROWS: &str = "SELECT agent || ' ' || origin FROM messages ORDER BY id";
const ANSWERED: &str = "SELECT state || ' ' || answer || ' ' || answered_by FROM questions";
const OPEN: &str = "SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn', 'held')";

/// Ada, Bob and Alice.
struct Three {
    rig: Rig,
    _ada: Daemon,
    _bob: Daemon,
    alice: IrcPeer,
}

impl Three {
    /// A rule's `ADA` and `BOB` are their nicks.
    fn meet(script: &str) -> Self {
        let rig = Rig::two(&script.replace("ADA", ADA).replace("BOB", BOB));
        let (ada, bob) = (rig.start(), rig.start_bob());
        let alice = rig.member("alice");
        Self { rig, _ada: ada, _bob: bob, alice }
    }

    fn said_by(&self, nick: &str) -> Vec<String> {
        let lines = self.alice.lines();
        let said = lines.iter().filter_map(|line| irc::said(line));
        said.filter(|said| said.from == nick).map(|said| said.text.to_owned()).collect()
    }
}

/// What an agent sends to a colleague is a row of the colleague's (C15); the answer comes back as
/// one that owes none.
#[test]
fn an_agent_asks_a_colleague_and_the_answer_owes_none() {
    let mut three = Three::meet(
        "rules:
  - when: {model: standin-BOB, user: 'what is six times seven'}
    reply: [text: forty-two]
  - when: {model: standin-ADA, tool: send}
    reply: [text: I have asked]
  - when: {model: standin-ADA, user: 'forty-two'}
    reply: [text: thank you]
  - when: {model: standin-ADA, user: 'ask bob'}
    reply: [tool_use: {name: send, input: {to: BOB, text: what is six times seven}}]
",
    );
    three.alice.say(ROOM, "@lab-ada ask bob");
    three.alice.hears(ADA, ROOM, "I have asked");
    three.rig.sees("SELECT count(*) >= 3 FROM messages", &["1"]);
    three.rig.sees(OPEN, &["0"]);
    let rows = three.rig.query(
        "SELECT agent || ' of m' || coalesce(in_reply_to, 0) || ' hops ' || hops || ': ' || body \
         FROM messages WHERE id > 1 ORDER BY id",
    );
    let [asked, answered] = &rows[..] else { panic!("an answer to the answer: {rows:#?}") };
    assert!(asked.starts_with("lab-bob of m0 hops 1: what is"), "{asked}");
    assert_eq!(answered, "lab-ada of m2 hops 2: forty-two");
    let bobs = three.rig.query("SELECT state FROM messages WHERE id = 2");
    assert_eq!(bobs, ["answered"]);
    // C15: both rows have a copy in the chat, which Bob and Ada take as nothing.
    let copies = "SELECT agent || ' ' || target || ' ' || body FROM outbox WHERE kind = 'notice' \
                  AND state = 'confirmed' ORDER BY id";
    three
        .rig
        .sees(copies, &["lab-ada lab-bob what is six times seven", "lab-bob lab-ada forty-two"]);
    // Bob is idle: a thank-you that was owed would have become a row of his by now.
    three.alice.say(ROOM, "@lab-bob what is six times seven");
    three.alice.hears(BOB, ROOM, "forty-two");
    assert!(!three.said_by(ADA).iter().any(|text| text.contains("thank you")));
    assert_eq!(three.rig.query("SELECT count(*) FROM messages"), ["4"]);
}

/// R2-11: what a colleague says is no order, though an owner's would be: it is a message.
#[test]
fn a_colleague_s_words_in_those_of_an_order_are_a_message() {
    let mut three = Three::meet(
        "rules:
  - when: {model: standin-BOB, user: 'clear or'}
    reply: [text: '@ADA Compact']
  - when: {model: standin-ADA, user: 'Compact'}
    reply: [text: thank you]
",
    );
    three.alice.say(ROOM, "@lab-bob clear or");
    three.rig.sees("SELECT count(*) FROM messages WHERE agent = 'lab-ada'", &["1"]);
}

/// R2-22, R2-23: an agent asks another one, which answers by tool and says no more; the answer wakes
/// the asker, which goes on where it was asked itself.
#[test]
fn an_agent_asks_another_and_goes_on_with_its_answer() {
    let mut three = Three::meet(
        "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {tool: answer}
    reply: [text: 'this goes to nobody']
  - when: {user: '\\[ANSWER 1\\] <([^>]+)> (\\S+)'}
    reply: [text: 'going on with $2 of $1']
  - when: {user: '\\[QUESTION (\\d+)\\] <ADA> which\\?'}
    reply: [tool_use: {name: answer, input: {id: '$1', answer: '2'}}]
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', options: [red, blue], to: BOB}}]
",
    );
    three.alice.say(ROOM, "@lab-ada begin");
    three.alice.hears(ADA, ROOM, "I have asked");
    three.alice.hears(ADA, ROOM, "going on with blue of lab-bob");
    three.rig.sees(OPEN, &["0"]);
    assert_eq!(three.rig.query(ANSWERED), ["answered blue lab-bob"]);
    // C15: the rows are the delivery; in Bob's conversation with Ada stand the copies, which start nothing.
    three.rig.sees("SELECT count(*) FROM outbox WHERE state <> 'confirmed'", &["0"]);
    let lines =
        "SELECT agent || ' ' || target || ' ' || kind || ': ' || body FROM outbox ORDER BY 1";
    let lines = three.rig.query(lines);
    let expect = [
        "lab-ada #general privmsg: I have asked",
        "lab-ada #general privmsg: going on with blue of lab-bob",
        "lab-ada lab-bob notice: 1) red  2) blue",
        "lab-ada lab-bob notice: question 1 from lab-ada to lab-bob: which?",
        "lab-ada lab-bob notice: question 1 was answered by lab-bob: blue",
    ];
    assert_eq!(lines, expect);
    assert_eq!(three.rig.query(ROWS), ["lab-ada mention", "lab-bob agent", "lab-ada answer"]);
}

/// R1-51: who is asked may ask back before it answers. Its question stays open over the turn in which it asked
/// back; what it says once it has the answer is its own answer, and comes to the asker once.
#[test]
fn an_agent_that_is_asked_asks_back_before_it_answers() {
    for (how, last) in [
        ("by its final text", "reply: [text: 'red, then']"),
        ("by its tool", "reply: [tool_use: {name: answer, input: {id: 1, answer: 'red, then'}}]"),
    ] {
        let mut three = Three::meet(&format!(
            "rules:
  - when: {{tool: ask}}
    reply: [text: 'I have asked']
  - when: {{tool: answer}}
    reply: [text: 'this goes to nobody']
  - when: {{user: '\\[ANSWER 1\\] <BOB> (\\S+)'}}
    reply: [text: 'going on with $1']
  - when: {{user: '\\[QUESTION 2\\] <BOB>'}}
    reply: [text: 'the front wall']
  - when: {{user: '\\[ANSWER 2\\] <ADA> the front wall'}}
    {last}
  - when: {{user: '\\[QUESTION 1\\] <ADA>'}}
    reply: [tool_use: {{name: ask, input: {{question: 'of which wall?', to: ADA}}}}]
  - when: {{model: standin-ADA}}
    reply: [tool_use: {{name: ask, input: {{question: 'which colour?', to: BOB}}}}]
"
        ));
        three.alice.say(ROOM, "@lab-ada begin");
        three.alice.hears(ADA, ROOM, "going on with red");
        three.rig.sees(OPEN, &["0"]);
        let questions = "SELECT agent || ' ' || state || ' ' || answer FROM questions ORDER BY id";
        let expect = ["lab-ada answered red, then", "lab-bob answered the front wall"];
        assert_eq!(three.rig.query(questions), expect, "{how}");
        let rows = [
            "lab-ada mention",
            "lab-bob agent",
            "lab-ada agent",
            "lab-bob answer",
            "lab-ada answer",
        ];
        assert_eq!(three.rig.query(ROWS), rows, "{how}");
    }
}

/// R1-52: `never` records what agents say, and an owner, who is asked as well, decides.
#[test]
fn where_agents_never_decide_an_owner_is_asked_too() {
    let mut three = Three::meet(
        "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {tool: answer}
    reply: [text: 'this goes to nobody']
  - when: {user: '\\[ANSWER 1\\] <([^>]+)> (\\S+)'}
    reply: [text: 'going on with $2 of $1']
  - when: {user: '\\[QUESTION 1\\] <ADA>'}
    reply: [tool_use: {name: answer, input: {id: 1, answer: 'red'}}]
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', to: BOB, rule: never}}]
",
    );
    let mut boss = three.rig.owner("boss");
    three.alice.say(ROOM, "@lab-ada begin");
    boss.hears(ADA, ROOM, "question 1 from lab-ada to lab-bob: which?");
    three.rig.sees("SELECT agent || ' ' || answer FROM question_votes", &["lab-bob red"]);
    three.rig.sees(OPEN, &["0"]);
    assert_eq!(three.rig.query("SELECT state FROM questions"), ["open"]);
    let alerts = "SELECT text FROM alerts WHERE event = 'agent_question'";
    assert_eq!(three.rig.query(alerts), ["[QUESTION] lab-ada needs input: \"which?\""]);
    boss.say(ROOM, "@lab-ada answer 1");
    boss.hears(ADA, ROOM, "answers so far: lab-bob: red");
    boss.say(ROOM, "@lab-ada answer 1 blue");
    boss.hears(ADA, ROOM, "going on with blue of boss (owner)");
}

/// R1-52: with `agent_answers: first` an agent in the room may answer what is asked there, with its tool or by
/// mentioning an agent that waits in a call. Without it, the tool is refused and the mention is a message.
#[test]
fn an_agent_in_the_room_answers_where_the_configuration_lets_it() {
    let script = "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {tool: answer, tool_result: 'is for people'}
    reply: [text: 'refused']
  - when: {tool: answer}
    reply: [text: 'answered']
  - when: {user: '\\[ANSWER (\\d+)\\] <([^>]+)> (\\S+)'}
    reply: [text: 'going on with $3 of $2']
  - when: {model: standin-BOB, user: 'say so'}
    reply: [tool_use: {name: send, input: {to: '#general', body: '@ADA the red one'}}]
  - when: {model: standin-BOB, user: 'settle (\\d+)'}
    reply: [tool_use: {name: answer, input: {id: '$1', answer: 'red'}}]
  - when: {tool: send}
    reply: [text: 'said']
  - when: {model: standin-ADA, user: 'begin'}
    reply: [tool_use: {name: ask, input: {question: 'which?', to: '#general'}}]
  - reply: [text: 'heard']
";
    for lets in [true, false] {
        let script = script.replace("ADA", ADA).replace("BOB", BOB);
        let mut rig = Rig::two(&script);
        if lets {
            rig.reconfigure(ADA, "agent_answers: first");
        }
        let (ada, _bob) = (rig.start(), rig.start_bob());
        let mut alice = rig.member("alice");
        alice.say(ROOM, "@lab-ada begin");
        alice.hears(ADA, ROOM, "question 1 from lab-ada to anybody here: which?");
        alice.say(ROOM, "@lab-bob settle 1");
        alice.hears(BOB, ROOM, if lets { "answered" } else { "refused" });
        let mut ipc = ada.dial();
        ipc.send(json!({"type": "irc_ask", "channel": ROOM, "question": "and now?"}));
        alice.hears(ADA, ROOM, "question 2 from lab-ada to anybody here: and now?");
        alice.say(ROOM, "@lab-bob say so");
        if lets {
            let answer = ipc.frame().unwrap()["data"]["answer"].clone();
            assert_eq!((&answer["nick"], &answer["text"]), (&json!(BOB), &json!("the red one")));
            // Said before or after Bob's own last line.
            let said = "SELECT count(*) FROM outbox WHERE body = 'going on with red of lab-bob'";
            rig.sees(said, &["1"]);
        } else {
            alice.hears(ADA, ROOM, "heard");
            // People always may.
            alice.say(ROOM, "@lab-ada answer 1 blue");
            alice.hears(ADA, ROOM, "going on with blue of alice");
            alice.say(ROOM, "@lab-ada the green one");
            assert_eq!(ipc.frame().unwrap()["data"]["answer"]["nick"], "alice");
        }
    }
}

/// A question is a prompt: who takes those of its owner alone is not asked by agents.
#[test]
fn an_agent_that_only_owners_prompt_is_not_asked() {
    let mut rig = Rig::two(
        "rules:
  - when: {tool: ask, tool_result: 'not asked: only the owner of lab-bob prompts it'}
    reply: [text: 'refused']
  - reply: [tool_use: {name: ask, input: {question: 'which?', to: lab-bob}}]
",
    );
    rig.reconfigure(BOB, "prompt: owners");
    let (_ada, _bob) = (rig.start(), rig.start_bob());
    let mut alice = rig.member("alice");
    alice.say(ROOM, "@lab-ada begin");
    alice.hears(ADA, ROOM, "refused");
    assert_eq!(rig.query("SELECT count(*) FROM questions"), ["0"]);
}

/// R1-51, R1-52: of an asker whose call is held open nothing is asked back, since it could not answer; the answer
/// is the result of its call.
#[test]
fn nobody_asks_back_whose_asker_waits_in_a_call() {
    for answer in ["text: 'red'", "tool_use: {name: answer, input: {id: 1, answer: red}}"] {
        let three = Three::meet(&format!(
            "rules:
  - when: {{tool: answer}}
    reply: [text: 'this goes to nobody']
  - when: {{tool: ask, tool_result: 'waits in a call for your answer to question 1'}}
    reply: [{answer}]
  - when: {{user: '\\[QUESTION 1\\] <ADA>'}}
    reply: [tool_use: {{name: ask, input: {{question: 'of which wall?', to: ADA}}}}]
"
        ));
        let mut ipc = three._ada.dial();
        ipc.send(json!({"type": "irc_ask", "channel": BOB, "question": "which colour?"}));
        let answer = ipc.frame().unwrap();
        assert_eq!(answer["data"]["answer"]["nick"], BOB, "{answer}");
        assert_eq!(answer["data"]["answer"]["text"], "red", "{answer}");
        assert_eq!(three.rig.query("SELECT count(*) FROM questions"), ["1"]);
    }
}

/// R2-22: an agent that was asked and ends its turn without the tool has answered by its final text,
/// and an option's number in it means the option; the asker gets it once.
#[test]
fn the_final_text_of_an_agent_that_was_asked_is_its_answer() {
    let mut three = Three::meet(
        "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {user: '\\[ANSWER 1\\] <([^>]+)> (\\S+)'}
    reply: [text: 'going on with $2 of $1']
  - when: {user: '\\[QUESTION (\\d+)\\] <ADA> which\\?'}
    reply: [text: '2']
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', options: [red, blue], to: BOB}}]
",
    );
    three.alice.say(ROOM, "@lab-ada begin");
    three.alice.hears(ADA, ROOM, "going on with blue of lab-bob");
    three.rig.sees(OPEN, &["0"]);
    assert_eq!(three.rig.query(ANSWERED), ["answered blue lab-bob"]);
    let adas = "SELECT origin FROM messages WHERE agent = 'lab-ada' ORDER BY id";
    assert_eq!(three.rig.query(adas), ["mention", "answer"]);
}

/// R2-22: the same of an agent that has nothing to say: who asked does not wait for ever.
#[test]
fn an_agent_that_was_asked_alone_and_says_nothing_leaves_no_question_open() {
    let mut three = Three::meet(
        "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {user: '\\[ANSWER 1\\] <([^>]+)> \\[no answer\\]'}
    reply: [text: 'on without $1']
  - when: {user: '\\[QUESTION (\\d+)\\] <ADA> which\\?'}
    reply: [text: NO_REPLY]
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', to: BOB}}]
",
    );
    three.alice.say(ROOM, "@lab-ada begin");
    three.alice.hears(ADA, ROOM, "on without lab-bob");
    three.rig.sees(OPEN, &["0"]);
}

/// R2-22: a question and its answer have their names in what `recv` returns and in the record.
#[test]
fn what_is_received_says_by_name_that_a_question_is_asked_or_answered() {
    let mut three = Three::meet(
        "rules:
  - when: {tool: answer}
    reply: [text: 'I have answered']
  - when: {tool: ask}
    reply: [tool_use: {name: recv, input: {wait_seconds: 180}}]
  - when: {tool: recv, tool_result: 'QuestionAsked'}
    reply: [tool_use: {name: answer, input: {id: 1, answer: '2'}}]
  - when: {tool: recv, tool_result: 'QuestionAnswered'}
    reply: [text: 'I have it']
  - when: {user: 'wait'}
    reply: [tool_use: {name: recv, input: {wait_seconds: 180}}]
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', options: [red, blue], to: BOB}}]
",
    );
    three.alice.say(ROOM, "@lab-bob wait");
    three.rig.was_asked(1);
    three.alice.say(ROOM, "@lab-ada begin");
    three.alice.hears(ADA, ROOM, "I have it");
    three.rig.sees(OPEN, &["0"]);
    let mut received = Vec::new();
    for request in three.rig.requests() {
        questions_in(&request, &mut received);
    }
    let asked = json!({"event": "QuestionAsked", "id": 1, "asker": ADA, "question": "which?",
        "options": ["red", "blue"], "multi": false});
    let answered = json!({"event": "QuestionAnswered", "id": 1, "question": "which?",
        "answer": "blue", "answerer": BOB});
    assert!(received.contains(&asked) && received.contains(&answered), "{received:#?}");
    // R1-51: by this road too the answer has its tag.
    three.rig.request_with("\\\"[ANSWER 1] <lab-bob> blue\\\\nYou asked: which?");
    let recorded = "SELECT agent || ' ' || (payload ->> 'event') FROM events \
                    WHERE kind IN ('question_asked', 'question_answered') ORDER BY seq";
    let names = ["lab-bob QuestionAsked", "lab-ada QuestionAnswered"];
    assert_eq!(three.rig.query(recorded), names);
}

/// Finds the questions in results of `recv`, which are JSON in a text.
fn questions_in(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::String(text) => {
            let result: Value = text.parse().unwrap_or_default();
            let messages = result["messages"].as_array().into_iter().flatten();
            found.extend(messages.map(|it| it["question"].clone()));
        }
        Value::Array(all) => all.iter().for_each(|it| questions_in(it, found)),
        Value::Object(all) => all.values().for_each(|it| questions_in(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
