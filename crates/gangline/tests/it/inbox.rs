//! What agents want from the owners, at the command line: questions and letters.

use std::path::Path;

use gangline_core::{
    AgentName, QuestionNumber, Redactor,
    question::{AnswerRule, Asked, Choose, OnTimeout},
};
use gangline_os::clock;
use gangline_store::{AskedBy, NewLetter, NewQuestion, OpenOptions, Store};
use gangline_testkit::World;
use serde_json::json;

/// Stores what an agent would have: questions with these texts, and a letter.
pub(crate) fn ask(state: &Path, agent: &str, questions: &[&str], letter: &str) {
    let agent: AgentName = agent.parse().unwrap();
    let redact = |text: &str| Redactor::default().redact(text);
    let letter = NewLetter {
        agent: agent.clone(),
        turn: None,
        idem_key: "letter".to_owned(),
        in_reply_to: None,
        body: redact(letter),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = state.join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        for text in questions {
            store
                .ask(question(&agent, text), |_: QuestionNumber| AskedBy::default())
                .await
                .unwrap();
        }
        store.send_letter(letter).await.unwrap();
        store.close().await.unwrap();
    });
}

/// A question to the operator with two options.
pub(crate) fn question(agent: &AgentName, text: &str) -> NewQuestion {
    let redact = |text: &str| Redactor::default().redact(text);
    NewQuestion {
        agent: agent.clone(),
        turn: None,
        request: text.to_owned(),
        asked: Asked::Operator,
        rule: AnswerRule::Humans,
        body: redact(text),
        options: vec![redact("staging"), redact("production")],
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: String::new(),
        waits: None,
    }
}

/// Stores a letter.
pub(crate) fn letter(state: &Path, agent: &str, text: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = state.join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let letter = NewLetter {
            agent: agent.parse().unwrap(),
            turn: None,
            idem_key: text.to_owned(),
            in_reply_to: None,
            body: Redactor::default().redact(text),
        };
        store.send_letter(letter).await.unwrap();
        store.close().await.unwrap();
    });
}

/// R2-19, R2-21 … R2-25: with every daemon down the owners see what waits for them, answer
/// by number or word, and are told what is wrong.
#[test]
fn questions_and_letters_are_answered_while_nobody_runs() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    ask(&world.state(), "oak-ada", &["deploy where?", "merge?"], "the disk is full");
    let list = world.run(&["questions"]).ok();
    assert!(list.contains("deploy where?") && list.contains("1) staging  2) production"), "{list}");
    let waiting = world.run(&["attention"]).ok();
    assert!(waiting.ends_with("1 letter of an agent waits in `gangline inbox`\n"), "{waiting}");
    let seen = world.run(&["attention", "seen", "1"]).stderr;
    let told = "only a finding can be marked as seen, and 1 is of kind question\nhint: `gangline \
                answer 1 …` answers it";
    assert!(seen.contains(told), "{seen}");
    let waits = "warning: the daemon of oak-ada is not running: the answer waits until it is";
    let answered = world.run(&["answer", "1", "2"]);
    assert!(answered.stderr.contains(waits), "{}", answered.stderr);
    assert_eq!(answered.ok(), "question 1 of oak-ada is answered: production\n");
    let again = world.run(&["answer", "1", "staging"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("question 1 is answered already"), "{}", again.stderr);
    let none = world.run(&["answer", "2", "5"]);
    assert!(none.stderr.contains("there is no option 5: give 1 to 2"), "{}", none.stderr);
    let unknown = world.run(&["answer", "9", "x"]);
    assert!(unknown.stderr.contains("there is no question 9"), "{}", unknown.stderr);
    let withdrawn = world.run(&["answer", "2", "--cancel"]).ok();
    assert_eq!(withdrawn, "question 2 of oak-ada is cancelled: [cancelled]\n");
    assert_eq!(world.run(&["questions"]).ok(), "no open questions\n");
    let all = world.run(&["questions", "--all", "--json"]).json();
    assert_eq!((&all[0]["answer"], &all[1]["state"]), (&json!("production"), &json!("cancelled")));

    // Approvals count in the same sequence.
    for args in [&["approve", "2"][..], &["deny", "2"], &["approvals", "2"]] {
        let other = world.run(args).stderr;
        assert!(other.contains("2 is a question, not an approval"), "{other}");
    }
    let nobody = world.run(&["questions", "oak-zoe"]);
    assert!(nobody.stderr.contains("there is no agent oak-zoe"), "{}", nobody.stderr);
    let letters = world.run(&["inbox"]).ok();
    assert!(letters.contains("the disk is full") && letters.contains("new"), "{letters}");
    let letters = world.run(&["inbox", "--json"]).json();
    assert_eq!((&letters[0]["letter"], &letters[0]["state"]), (&json!(1), &json!("read")));
    let answered = world.run(&["inbox", "answer", "1", "buy", "one"]);
    assert!(answered.stderr.contains(waits), "{}", answered.stderr);
    let answered = answered.ok();
    assert!(answered.starts_with("letter 1 is answered: oak-ada gets m"), "{answered}");
    let again = world.run(&["inbox", "done", "1"]);
    assert!(again.stderr.contains("letter 1 is answered already"), "{}", again.stderr);
    assert!(world.run(&["inbox"]).ok().starts_with("no letters"));
    let settled = world.run(&["inbox", "--all"]).ok();
    assert!(settled.contains("→ m3 (") && !settled.contains("Answer one"), "{settled}");
    // Both answers wait for the agent.
    let waiting = world.run(&["trace", "m3"]).ok();
    assert!(waiting.contains("buy one") && waiting.contains("accepted"), "{waiting}");
}

/// An agent does not answer for its owner.
#[test]
fn an_agents_shell_answers_nothing_for_the_owner() {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    ask(&world.state(), "oak-ada", &["merge?"], "hello");
    world.set("GANGLINE_RUN", "x/oak-ada/1");
    for args in [&["answer", "1", "yes"][..], &["inbox", "done", "1"]] {
        let refused = world.run(args);
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains("an agent cannot"), "{}", refused.stderr);
    }
    let _ = world.run(&["inbox"]).ok();
    let letters = world.run(&["inbox", "--json"]).json();
    assert_eq!(letters[0]["state"], "new");
}
