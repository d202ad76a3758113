//! Whatever happens to a conversation, what is sent of it is one that the API takes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::history::History;
use crate::session::Record;
use crate::tool::ToolResult;
use crate::wire::{Block, Message, Role, Usage, request};

fn block(value: Value) -> Block {
    serde_json::from_value(value).unwrap()
}

fn add(history: &mut History, record: Record) {
    history.append(record).unwrap();
}

fn says(history: &mut History, text: &str) {
    add(history, Record::User { content: vec![Block::text(text)] });
}

fn answers(history: &mut History, blocks: &[Value]) {
    for value in blocks {
        add(history, Record::Block { block: block(value.clone()) });
    }
    add(history, Record::End { stop_reason: None, usage: Usage::default() });
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "s"})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "n", "input": {}})
}

fn summary(text: &str, instructions: &[&str]) -> Record {
    Record::Summary {
        content: vec![Block::text(text)],
        instructions: instructions.iter().map(|text| (*text).to_owned()).collect(),
        usage: Usage::default(),
    }
}

fn instructions(history: &History) -> Vec<&str> {
    history.instructions().map(|(_, text)| text).collect()
}

/// Returns the messages of a request, as far as they are text.
fn sent(history: &History) -> Vec<String> {
    let config = crate::Config::new(gangline_os::secret::Secret::new("k"));
    let view = history.view();
    let body = request(&config, &[], view.iter().map(AsRef::as_ref));
    let flat = |message: &Value| {
        let texts = message["content"].as_array().unwrap().iter();
        let texts: Vec<&str> =
            texts.map(|it| it["text"].as_str().unwrap_or(it["type"].as_str().unwrap())).collect();
        format!("{}: {}", message["role"].as_str().unwrap(), texts.join(" | "))
    };
    body["messages"].as_array().unwrap().iter().map(flat).collect()
}

/// C13: the summary stands in the place of what came before, which stays in the history (R4-11).
#[test]
fn a_summary_begins_a_new_view_and_the_history_stays_whole() {
    let mut history = History::default();
    says(&mut history, "one");
    answers(&mut history, &[thought(), text("first")]);
    let before = history.messages().to_vec();
    add(&mut history, summary("so far", &["one"]));
    assert_eq!(history.messages(), before);
    assert_eq!(sent(&history), ["user: so far"]);
    assert_eq!(instructions(&history), ["one"]);
    says(&mut history, "two");
    answers(&mut history, &[text("second")]);
    assert_eq!(sent(&history), ["user: so far | two", "assistant: second"]);
    assert_eq!(instructions(&history), ["one", "two"]);
}

#[test]
fn a_cleared_view_is_empty() {
    let mut history = History::default();
    says(&mut history, "one");
    answers(&mut history, &[text("first")]);
    add(&mut history, Record::Clear);
    assert_eq!(sent(&history), [""; 0]);
    assert_eq!(history.instructions().count(), 0);
    assert_eq!(history.messages().len(), 2);
    says(&mut history, "two");
    assert_eq!(sent(&history), ["user: two"]);
}

#[test]
fn what_was_refused_is_left_out_and_is_no_instruction() {
    let mut history = History::default();
    says(&mut history, "one");
    answers(&mut history, &[text("first")]);
    let begin = history.messages().len();
    says(&mut history, "bad");
    answers(&mut history, &[text("I")]);
    add(&mut history, Record::Refused { from: begin });
    says(&mut history, "two");
    assert_eq!(sent(&history), ["user: one", "assistant: first", "user: two"]);
    assert_eq!(instructions(&history), ["one", "two"]);
}

#[test]
fn dropped_thoughts_are_left_out_and_later_ones_are_sent() {
    let mut history = History::default();
    says(&mut history, "one");
    answers(&mut history, &[thought(), text("first")]);
    says(&mut history, "two");
    assert!(history.sends_thoughts());
    add(&mut history, Record::ThoughtsDropped);
    assert!(!history.sends_thoughts());
    answers(&mut history, &[thought(), text("second")]);
    let expected = ["user: one", "assistant: first", "user: two", "assistant: thinking | second"];
    assert_eq!(sent(&history), expected);
}

#[test]
fn the_harnesss_own_words_and_older_ones_are_no_instructions() {
    let mut history = History::default();
    for number in 0..60 {
        says(&mut history, &number.to_string());
        says(&mut history, super::CONTINUE);
    }
    let kept = instructions(&history);
    assert_eq!((kept.len(), kept[0], kept[47]), (super::INSTRUCTIONS, "12", "59"));
}

/// A thing that may happen to a conversation.
#[derive(Clone, Debug)]
enum Happens {
    Prompt,
    Steer,
    Answer(Vec<Value>),
    Results(usize),
    Close,
    Summary,
    Clear,
    Refused,
    ThoughtsDropped,
}

fn happens() -> impl Strategy<Value = Happens> {
    let piece = prop_oneof![Just(text("t")), Just(text(" ")), Just(thought()), Just(call("?"))];
    prop_oneof![
        4 => Just(Happens::Prompt),
        1 => Just(Happens::Steer),
        5 => prop::collection::vec(piece, 0..4).prop_map(Happens::Answer),
        3 => (0usize..4).prop_map(Happens::Results),
        2 => Just(Happens::Close),
        1 => Just(Happens::Summary),
        1 => Just(Happens::Clear),
        1 => Just(Happens::Refused),
        1 => Just(Happens::ThoughtsDropped),
    ]
}

/// Plays it as the loop would, which closes open calls before it does anything else.
struct Play {
    history: History,
    begin: usize,
    calls: usize,
}

impl Play {
    fn play(&mut self, what: &Happens) {
        let open = crate::wire::open_calls(self.history.messages());
        let history = &mut self.history;
        // The loop asks only with something to ask.
        let last_is_user = history.view().last().is_some_and(|it| it.role == Role::User);
        match what {
            Happens::Prompt => {
                history.close("given up").unwrap();
                self.begin = history.messages().len();
                says(history, "prompt");
            }
            Happens::Steer if last_is_user && open.is_empty() => says(history, "steer"),
            Happens::Answer(pieces) if last_is_user && open.is_empty() => {
                let mut pieces = pieces.clone();
                for piece in pieces.iter_mut().filter(|piece| piece["type"] == "tool_use") {
                    self.calls += 1;
                    piece["id"] = json!(format!("c{}", self.calls));
                }
                answers(history, &pieces);
            }
            Happens::Results(count) => {
                for id in open.iter().take(*count) {
                    let block = Block::tool_result(&ToolResult::error(id, "r"));
                    add(history, Record::Result { block });
                }
            }
            Happens::Steer | Happens::Answer(_) => {}
            Happens::Close => history.close("closed").unwrap(),
            Happens::Summary | Happens::Clear | Happens::Refused | Happens::ThoughtsDropped => {
                history.close("closed").unwrap();
                add(
                    history,
                    match what {
                        Happens::Summary => summary("so far", &["x"]),
                        Happens::Refused => Record::Refused { from: self.begin },
                        Happens::ThoughtsDropped => Record::ThoughtsDropped,
                        _ => Record::Clear,
                    },
                );
            }
        }
    }
}

/// Panics if the API would refuse this request.
fn check(body: &Value) {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (number, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        let role = ["user", "assistant"][number % 2];
        assert_eq!(message["role"], role, "{body:#}");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let answered: BTreeSet<String> = blocks
            .iter()
            .filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(answered, std::mem::take(&mut open), "{body:#}");
        let results = blocks.iter().rposition(|block| block["type"] == "tool_result");
        assert!(results.is_none_or(|last| last + 1 == answered.len()), "results first: {body:#}");
        for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
            open.insert(block["id"].as_str().unwrap().to_owned());
        }
        assert_ne!(blocks.last().unwrap()["type"], "thinking");
    }
    assert!(open.is_empty(), "{body:#}");
}

proptest! {
    /// R4-11, C13: the history only grows, and each request is one that the API takes.
    #[test]
    fn whatever_happens_the_next_prompt_makes_a_valid_request(
        story in prop::collection::vec(happens(), 0..40),
    ) {
        let mut play = Play { history: History::default(), begin: 0, calls: 0 };
        let mut before: Vec<Message> = Vec::new();
        for what in &story {
            play.play(what);
            let now = play.history.messages();
            prop_assert!(now.len() >= before.len());
            for (old, new) in before.iter().zip(now) {
                prop_assert_eq!(old.role, new.role);
                prop_assert_eq!(&old.content[..], &new.content[..old.content.len()]);
            }
            before = now.to_vec();
        }
        play.play(&Happens::Prompt);
        let config = crate::Config::new(gangline_os::secret::Secret::new("k"));
        let view = play.history.view();
        check(&request(&config, &[], view.iter().map(AsRef::as_ref)));
    }
}
