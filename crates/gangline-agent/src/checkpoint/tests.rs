use gangline_api::event::Assistant;
use gangline_core::{
    MessageState, Principal, Redacted, TurnId,
    block::Block,
    question::{AnswerRule, Asked, Choose, OnTimeout},
};
use gangline_store::{
    AskedBy, How, NewEvent, NewMessage, NewQuestion, NewReminder, OpenOptions, Take, Whose,
};
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

/// A store in which ada's daemon lives, and turn 1 of it.
async fn store() -> (tempfile::TempDir, CheckpointDeps, TurnId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    let agent: AgentName = "oak-ada".parse().unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    let epoch = store.begin_epoch(&agent, (1, "test"), whose).await.unwrap().epoch;
    (folder, CheckpointDeps { agent, store }, TurnId { epoch, number: 1 })
}

fn said(
    deps: &CheckpointDeps,
    origin: Origin,
    (who, tier): (&str, Tier),
    body: &str,
) -> NewMessage {
    NewMessage {
        agent: deps.agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(body.to_owned()),
        origin,
        principal: Principal { account: who.to_owned(), tier },
        sender: who.to_owned(),
        target: if origin == Origin::Direct { who.to_owned() } else { "#lab".to_owned() },
        body: Redacted::from_store(body.to_owned()),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// C13: the last words are those of people that the agent was given: not an agent's, a program's or
/// a stranger's, not what still waits, and not what the prompt holds anyway.
#[tokio::test]
async fn the_last_words_are_those_of_people_that_the_agent_was_given() {
    let (_folder, deps, turn) = store().await;
    let (ori, boss) = (("ori", Tier::Member), ("boss", Tier::Owner));
    let (bob, eve) = (("oak-bob", Tier::Agent), ("eve", Tier::Stranger));
    let mut given = Vec::new();
    for (origin, who, body) in [
        (Origin::Mention, ori, "zero, too old"),
        (Origin::Mention, ori, "one"),
        (Origin::Agent, bob, "an agent's"),
        (Origin::Mention, bob, "an agent's mention"),
        (Origin::Mention, eve, "a stranger's"),
        (Origin::Wake, boss, "a program's"),
        (Origin::Reminder, boss, "a reminder"),
        (Origin::Answer, boss, "an answer"),
        (Origin::Direct, ori, "two"),
        (Origin::Cli, boss, "three"),
        (Origin::Mention, boss, "four"),
        (Origin::Mention, ori, "five"),
        (Origin::Mention, ori, "six, which the prompt holds"),
    ] {
        let new = said(&deps, origin, who, body);
        given.push(deps.store.accept(new).await.unwrap().id);
    }
    let (agent, messages) = (deps.agent.clone(), given.clone());
    let (prompt_uuid, how) = ("u".to_owned(), How::Woke);
    let take = Take { agent, turn, messages, prompt_uuid, how, turns_per_cause: 30 };
    deps.store.take(take).await.unwrap();
    deps.store.accept(said(&deps, Origin::Mention, ori, "it waits")).await.unwrap();
    let found = read(deps, given.split_off(given.len() - 1)).await.unwrap();
    let words = found.record.words.iter().map(|it| (it.from.as_str(), it.text.as_str()));
    assert_eq!(
        words.collect::<Vec<_>>(),
        [
            ("ori in #lab", "one"),
            ("ori in private", "two"),
            ("boss in #lab", "three"),
            ("boss in #lab", "four"),
            ("ori in #lab", "five")
        ]
    );
}

/// C13: what is open is named: what the agent asked, what it was asked, and its reminders; of others'
/// nothing.
#[tokio::test]
async fn open_questions_and_reminders_are_named() {
    let (_folder, deps, _) = store().await;
    let (me, bob) = (deps.agent.clone(), "oak-bob".parse::<AgentName>().unwrap());
    let text = |text: &str| Redacted::from_store(text.to_owned());
    for (at, (asker, asked, body)) in [
        (&me, Asked::Operator, "mine?"),
        (&bob, Asked::Agents(vec![me.clone()]), "bob's?"),
        (&bob, Asked::Operator, "not for me?"),
    ]
    .into_iter()
    .enumerate()
    {
        let new = NewQuestion {
            agent: asker.clone(),
            turn: None,
            request: at.to_string(),
            asked,
            rule: AnswerRule::Humans,
            body: text(body),
            options: Vec::new(),
            choose: Choose::One,
            on_timeout: OnTimeout::None,
            expires_at: None,
            in_reply_to: None,
            reply_target: String::new(),
            waits: None,
        };
        deps.store.ask(new, |_| AskedBy::default()).await.unwrap();
    }
    for (agent, body) in [(&me, "tea"), (&bob, "coffee")] {
        let new = NewReminder {
            agent: agent.clone(),
            by: Principal { account: agent.to_string(), tier: Tier::Agent },
            turn: None,
            request: body.to_owned(),
            target: "#lab".to_owned(),
            body: text(body),
            due_at: UnixMicros(7_000_000),
            repeats: None,
            open_max: 3,
        };
        deps.store.remind(new).await.unwrap();
    }
    let found = read(deps, Vec::new()).await.unwrap();
    assert_eq!(
        found.record.open,
        [
            "question 1 that you asked operator: mine?",
            "question 2 that oak-bob asked you: bob's?",
            "reminder 1 at 1970-01-01T00:00:07.000Z: tea"
        ]
    );
}

/// C13: the record of events is read back over several pages, to the last checkpoint and no further.
#[tokio::test]
async fn the_record_of_events_is_read_back_to_the_last_checkpoint() {
    let (_folder, deps, _) = store().await;
    let new = |event: Event| NewEvent {
        agent: deps.agent.clone(),
        epoch: None,
        turn: None,
        kind: event.kind,
        payload: event.payload,
    };
    let filler = (0..PAGE + 10).map(|_| notice("filler"));
    let begin = [write("/old"), notice(GIVEN), notice(RENEWED), write("/a")];
    let events = begin.into_iter().chain(filler).chain([write("/b")]);
    deps.store.append(events.map(new).collect()).await.unwrap();
    let found = read(deps.clone(), Vec::new()).await.unwrap();
    assert_eq!(
        (found.owed, found.record.files),
        (Some(Why::Renewed), vec!["/a".into(), "/b".into()])
    );
}
