use gangline_api::event::Assistant;
use gangline_core::{Redacted, block::Block};
use serde_json::json;

use super::*;

fn event(payload: impl Into<Payload>) -> Event {
    let payload = payload.into();
    let text = String::from_utf8(payload.encode().unwrap()).unwrap();
    Event {
        v: 1,
        seq: 1,
        agent: "lab-ada".parse().unwrap(),
        epoch: None,
        turn: None,
        kind: payload.kind().to_owned(),
        at: UnixMicros(0),
        payload: Redacted::from_store(text),
    }
}

fn notice(code: &str) -> Event {
    let text = if code == COMPACTED { texts::COMPACTED } else { "words" };
    event(Notice { code: code.to_owned(), text: text.to_owned() })
}

fn failed() -> Event {
    event(Notice { code: COMPACTED.to_owned(), text: "not today".to_owned() })
}

fn tool(name: &str, input: serde_json::Value) -> Event {
    let block = Block::ToolUse { id: "t".to_owned(), name: name.to_owned(), input };
    event(Assistant { model: String::new(), content: vec![block] })
}

fn write(path: &str) -> Event {
    tool("Write", json!({"file_path": path, "content": "x"}))
}

/// Reads the events, the newest last, and returns what they say.
fn since(events: &[Event]) -> (Option<Why>, Vec<String>) {
    let mut since = Since::default();
    events.iter().rev().any(|event| since.back(event));
    (since.owed.flatten(), since.files())
}

/// C13: the record of events says what the agent was not told: also to the daemon after one that died.
#[test]
fn a_shortening_is_owed_until_the_checkpoint_was_given() {
    let check = |events: &[Event], expect: Option<Why>| {
        let codes: Vec<_> = events.iter().map(|event| event.payload.as_str()).collect();
        assert_eq!(since(events).0, expect, "{codes:?}");
    };
    let (shortened, renewed) = (Some(Why::Shortened), Some(Why::Renewed));
    check(&[], None);
    check(&[notice("watermark")], None);
    check(&[notice(COMPACTING), notice(COMPACTED)], shortened);
    check(&[notice(COMPACTING), notice(COMPACTED), notice(GIVEN)], None);
    check(&[notice(GIVEN), notice(COMPACTING), notice(COMPACTED), write("/a")], shortened);
    check(&[notice(COMPACTING)], shortened);
    check(&[notice(COMPACTING), failed()], None);
    check(&[notice(COMPACTING), notice(COMPACTED), notice(COMPACTING), failed()], shortened);
    check(&[notice(RENEWED)], renewed);
    check(&[notice(COMPACTED), notice(EMPTIED)], None);
}

/// C13: the files that tools wrote since the last checkpoint, each once, in the order of the last
/// time; what was only read is none.
#[test]
fn the_files_since_the_last_checkpoint_are_named() {
    let patch = json!({"file_path": "/c", "changes": [{"path": "/c", "kind": {"type": "add"}, "diff": "+x"}]});
    let events = [
        write("/old"),
        notice(GIVEN),
        write("/a"),
        write("/b"),
        tool("Read", json!({"file_path": "/r"})),
        tool("Bash", json!({"command": "rm /z"})),
        write("/a"),
        tool("Edit", patch),
    ];
    assert_eq!(since(&events).1, ["/b", "/a", "/c"]);
}

/// C13: the form is a file of the agent's own; what a link leads to is not read.
#[test]
fn the_form_is_read_from_the_notes_and_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let text = "## Task\nx\n## Constraints\nnone\n";
    assert_eq!(form(folder.path()), (Form::default(), None));
    fs::write(folder.path().join(FORM), text).unwrap();
    let (read, at) = form(folder.path());
    assert_eq!(read, Form::read(text));
    assert!(at.is_some());
    fs::rename(folder.path().join(FORM), folder.path().join("other")).unwrap();
    std::os::unix::fs::symlink("other", folder.path().join(FORM)).unwrap();
    assert_eq!(form(folder.path()), (Form::default(), None));
}

/// C13: a form that is old says so.
#[test]
fn an_old_form_tells_its_age() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FORM), "## Task\nfix it\n").unwrap();
    let (_, at) = form(folder.path());
    let check = |seconds: u64, expect: &str| {
        let now = at.unwrap().plus(Duration::from_secs(seconds));
        let record = Record::default();
        let text = super::text(&record, (folder.path(), now), (&[], Why::Shortened));
        assert!(text.contains(expect), "{text}");
    };
    check(59, "Task (written by you):\n> fix it");
    check(7200, "Task (written by you, 2 h ago):\n> fix it");
}
