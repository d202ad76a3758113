//! The session log: whatever a crash leaves of it is taken up as a valid conversation.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use gangline_harness::{Harness, Message, Role, SessionError};
use serde_json::{Value, json};

use crate::fake::*;

/// A session with thinking, text, parallel calls, a failed row and a second prompt.
async fn record(path: &Path) -> Vec<Message> {
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![json!({"type": "thinking_delta", "thinking": "Hm"})],
    );
    let blocks = [
        thinking,
        text(1, "Grüße \u{1f600}\nand a new line"),
        tool(2, "a", "puppet", &json!({"say": "one"})),
        tool(3, "b", "puppet", &json!({"fail": "two"})),
        tool(4, "c", "puppet", &json!({"say": "three"})),
    ];
    let fake =
        Fake::start(vec![whole(&blocks, "tool_use"), says("seen"), whole(&[], "end_turn")]).await;
    let (harness, _) = fake.harness(puppet());
    let harness = harness.resume(path).unwrap();
    within(harness.prompt("first")).await.unwrap();
    within(harness.prompt("second")).await.unwrap();
    harness.messages().unwrap()
}

/// Takes up the log and asks the strict far side whether it accepts what comes of it.
async fn accepted(path: &Path) -> Value {
    let fake = Fake::start(vec![says("welcome back")]).await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.resume(path).unwrap();
    assert_eq!(told.lines(), [""; 0], "taking up tells no old event");
    let finished = within(harness.prompt("are you there?")).await.unwrap();
    assert_eq!(finished.final_text, "welcome back");
    fake.requests()[0]["messages"].clone()
}

/// R4-11.
#[tokio::test]
async fn a_resumed_session_has_the_same_conversation_and_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/session.jsonl");
    let messages = record(&path).await;
    let fake = Fake::start(vec![]).await;
    let (harness, _) = fake.harness(puppet());
    let first = harness.clone().resume(&path).unwrap();
    let second = harness.resume(&path).unwrap();
    assert_eq!(first.messages().unwrap(), messages);
    assert_eq!(first.session_id().unwrap(), second.session_id().unwrap());
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// R4-11: the program is killed after any byte that it wrote.
#[tokio::test]
async fn a_log_cut_at_any_line_and_any_byte_is_a_valid_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    record(&path).await;
    cut_everywhere(folder.path(), &fs::read(&path).unwrap(), 14).await;
}

/// R4-11, C13: the same for a log with every record that ends a view.
#[tokio::test]
async fn a_log_with_summaries_cut_anywhere_is_a_valid_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    crate::compact::with_every_record(&path).await;
    cut_everywhere(folder.path(), &fs::read(&path).unwrap(), 25).await;
}

async fn cut_everywhere(folder: &Path, whole: &[u8], at_least: usize) {
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    assert!(lines.len() >= at_least, "{} lines", lines.len());
    let fake = Fake::start(vec![]).await;
    let (harness, _) = fake.harness(puppet());
    let cut_path = folder.join("cut.jsonl");
    // The strict far side, without a round trip, for every byte.
    for length in 0..=whole.len() {
        fs::write(&cut_path, &whole[..length]).unwrap();
        let resumed = harness.clone().resume(&cut_path).unwrap();
        check_resumed(&resumed, length, whole, &cut_path);
        let again = harness.clone().resume(&cut_path).unwrap();
        assert_eq!(again.messages(), resumed.messages(), "cut at {length}");
    }
    // With one, for every line and the middle of every line.
    let mut start = 0;
    for end in lines {
        for length in [end, usize::midpoint(start, end)] {
            fs::write(&cut_path, &whole[..length]).unwrap();
            accepted(&cut_path).await;
        }
        start = end;
    }
}

fn check_resumed(resumed: &Harness, length: usize, whole: &[u8], path: &Path) {
    let now = fs::read(path).unwrap();
    let acknowledged = whole[..length].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    assert_eq!(now[..acknowledged], whole[..acknowledged], "what is acknowledged stays");
    let messages = resumed.messages().unwrap();
    for (number, message) in messages.iter().enumerate() {
        let calls: Vec<String> =
            message.content.iter().filter_map(|b| Some(b.as_tool_call()?.id)).collect();
        let answers: Vec<&str> = messages
            .get(number + 1)
            .filter(|_| message.role == Role::Assistant)
            .map(|next| next.content.iter().filter_map(|block| block.answers()).collect())
            .unwrap_or_default();
        assert_eq!(calls, answers, "cut at {length}");
    }
}

/// A call that was open when the program died may have had an effect: the model is told so.
#[tokio::test]
async fn a_call_that_was_open_is_answered_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let fake = Fake::start(vec![calls("a", "puppet", &json!({"hang": "for ever"}))]).await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.resume(&path).unwrap();
    tokio::select! {
        outcome = harness.prompt("go") => panic!("{outcome:?}"),
        () = told.until("status running tool: puppet") => {}
    }
    // What a killed program leaves: the prompt, the call, no result.
    drop(harness);
    let messages = accepted(&path).await;
    let stub = &messages[2]["content"][0];
    assert_eq!((&stub["tool_use_id"], &stub["is_error"]), (&json!("a"), &json!(true)));
    assert!(stub["content"].as_str().unwrap().starts_with("interrupted"), "{stub}");
}

/// What was told to the handler is in the log already.
#[tokio::test]
async fn the_log_is_ahead_of_the_handler() {
    struct Reader(std::path::PathBuf);
    impl gangline_harness::EventHandler for Reader {
        fn on_text(&self, text: &str) {
            assert!(fs::read_to_string(&self.0).unwrap().contains(text));
        }
        fn on_user(&self, content: &str) {
            assert!(fs::read_to_string(&self.0).unwrap().contains(content));
        }
        fn on_tool_result(&self, result: &gangline_harness::ToolResult) {
            let answer = format!("\"tool_use_id\":\"{}\"", result.id);
            assert!(fs::read_to_string(&self.0).unwrap().contains(&answer));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let input = json!({"say": "the result"});
    let fake = Fake::start(vec![calls("a", "puppet", &input), says("the text")]).await;
    let handler = Arc::new(Reader(path.clone()));
    let harness = Harness::new(fake.config(), puppet(), Some(handler)).unwrap();
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("the prompt")).await.unwrap();
}

#[tokio::test]
async fn a_damaged_line_and_a_newer_version_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    record(&path).await;
    let whole = fs::read_to_string(&path).unwrap();
    let fake = Fake::start(vec![]).await;
    let (harness, _) = fake.harness(vec![]);

    fs::write(&path, whole.replacen("\"kind\":\"user\"", "\"kind\":\"user", 1)).unwrap();
    let damaged = harness.clone().resume(&path);
    assert!(matches!(damaged, Err(SessionError::Corrupt { line: 2, .. })));

    fs::write(&path, whole.replacen("\"v\":1", "\"v\":2", 1)).unwrap();
    let newer = harness.clone().resume(&path);
    assert!(matches!(newer, Err(SessionError::Newer { found: 2, .. })));

    let later_kind = format!("{whole}{{\"kind\":\"mood\",\"is\":\"good\"}}\n");
    fs::write(&path, &later_kind).unwrap();
    harness.resume(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), later_kind);
}
