//! A feed that never waits.

use gangline_core::{Epoch, TurnId, time::Now};

use super::*;

const NOW: Now = Now(std::time::Duration::ZERO);

/// R0-24: what there is no room for is skipped, and the next step says how many were.
#[test]
fn what_there_is_no_room_for_is_counted_and_nobody_waits() {
    let (mut feed, mut steps) = Feed::new();
    for _ in 0..FEED_QUEUE + 3 {
        feed.tell(NOW, || Seen::Thinking);
    }
    for _ in 0..FEED_QUEUE {
        assert_eq!(steps.try_recv().unwrap().skipped, 0);
    }
    assert!(steps.try_recv().is_err());
    feed.tell(NOW, || Seen::LookedAtInbox);
    let fed = steps.try_recv().unwrap();
    assert_eq!((fed.skipped, fed.seen), (3, Seen::LookedAtInbox));
    feed.tell(NOW, || Seen::TurnEnded);
    assert_eq!(steps.try_recv().unwrap().skipped, 0);
}

/// Nobody watches, or does any more: nothing is made ready for it.
#[test]
fn without_a_watcher_nothing_is_told() {
    let mut feed = Feed::default();
    assert!(!feed.is_on());
    feed.tell(NOW, || unreachable!());
    let (mut feed, steps) = Feed::new();
    drop(steps);
    feed.tell(NOW, || unreachable!());
}

/// R1-06: calls, results and texts are told as the backend has them; masked when they are read.
#[test]
fn the_steps_of_a_message_are_told_in_order() {
    let (mut feed, mut steps) = Feed::new();
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    let input = serde_json::json!({"command": "cat open-sesame"});
    let message = AssistantMessage {
        model: "m".to_owned(),
        content: vec![
            Block::Thinking { thinking: "hm".to_owned() },
            Block::Text { text: "the key is open-sesame".to_owned() },
            Block::ToolUse { id: "c".to_owned(), name: "Bash".to_owned(), input },
        ],
    };
    feed.hear(NOW, &RuntimeEvent::Message { turn, message });
    let (name, content) = ("Bash".to_owned(), "no open-sesame".to_owned());
    let id = "c".to_owned();
    feed.hear(NOW, &RuntimeEvent::ToolResult { turn, id, name, is_error: true, content });
    feed.context(NOW, (Some(5), Some(10)));
    feed.context(NOW, (Some(5), None));
    feed.waits_for(NOW, 2);
    feed.waits_for(NOW, 1);
    let redactor = Redactor::new(["open-sesame".to_owned()]);
    let mut seen = Vec::new();
    while let Ok(fed) = steps.try_recv() {
        seen.push(fed.step(&redactor).what);
    }
    let text = format!("{seen:?}");
    assert!(!text.contains("open-sesame"), "{text}");
    let is = |step: &StepKind| match step {
        StepKind::Thinking => "thinking",
        StepKind::Text { .. } => "text",
        StepKind::Call { .. } => "call",
        StepKind::Result { failed: true, .. } => "failed",
        StepKind::Context { percent: 50 } => "half full",
        StepKind::WaitStarted => "waits",
        StepKind::WaitEnded => "goes on",
        other => panic!("{other:?}"),
    };
    let seen: Vec<&str> = seen.iter().map(is).collect();
    let expected = ["thinking", "text", "call", "failed", "half full", "waits", "waits", "goes on"];
    assert_eq!(seen, expected);
}

/// A queue of long results stays small, and two of them that differ anywhere are two.
#[test]
fn of_a_long_result_both_ends_wait() {
    let result = |content: &str| {
        let (mut feed, mut steps) = Feed::new();
        let (id, content) = ("1".to_owned(), content.to_owned());
        let turn = TurnId { epoch: Epoch(1), number: 1 };
        let name = "Bash".to_owned();
        feed.hear(NOW, &RuntimeEvent::ToolResult { turn, id, name, is_error: false, content });
        match steps.try_recv().unwrap().seen {
            Seen::Result { content, .. } => content,
            other => panic!("{other:?}"),
        }
    };
    let whole = "é".repeat(RESULT_MOST / 2);
    assert_eq!(result(&whole), whole);
    let [one, other] = ["a", "b"].map(|it| format!("{whole}{it}{whole}end"));
    assert!(result(&one).len() <= RESULT_MOST, "{}", result(&one).len());
    assert!(result(&one).starts_with("éé") && result(&one).ends_with("éend"));
    assert_ne!(result(&one), result(&other));
    assert_eq!(result(&one), result(&one));
}
