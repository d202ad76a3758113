//! The session, over a backend whose far end the tests hold.

use std::sync::Arc;

use gangline_core::Epoch;
use gangline_os::task::TaskGroup;
use gangline_runtime::{AssistantMessage, session::COMMAND_QUEUE};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{Semaphore, mpsc};

use super::{
    port::tests::{Far, Rig, options},
    *,
};

/// A session whose first prompt, if it is empty, is "you are Ada".
struct Fixture {
    session: Generations,
    token: watch::Receiver<Option<Secret>>,
    starts: Arc<Semaphore>,
    opened: mpsc::Receiver<Far>,
    _root: TaskGroup,
    _folder: TempDir,
}

/// How a generation began.
#[derive(Debug, PartialEq, Eq)]
enum Begun {
    Empty,
    Resumed,
}

impl Fixture {
    fn new() -> Self {
        let Rig { port, starts, opened, root, halt: _ } = Rig::new();
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(None);
        options.session_dir = folder.path().join("sessions");
        options.tmp_dir = folder.path().join("tmp");
        let sender = watch::Sender::new(None);
        let token = sender.subscribe();
        let set_up = SessionOptions {
            options,
            known_as: None,
            first: Some("you are Ada".to_owned()),
            configured: None,
            thinking: None,
            token: sender,
        };
        let session = Generations::new(port, set_up);
        Self { session, token, starts, opened, _root: root, _folder: folder }
    }

    async fn next(&mut self) -> SessionEvent {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), self.session.next());
        next.await.expect("news")
    }

    /// Lets a generation begin where none runs.
    async fn begins(&mut self, number: i64, resume: bool) -> (Far, Begun) {
        self.session.start(Next { generation: Generation(number), resume });
        self.starts.add_permits(1);
        let mut begun = Begun::Resumed;
        loop {
            match self.next().await {
                SessionEvent::KnownAs { .. } => {}
                SessionEvent::Empty { .. } => begun = Begun::Empty,
                SessionEvent::Started { .. } => return (self.opened.recv().await.unwrap(), begun),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Has the backend tell something, and returns what the loop hears.
    async fn hears(&mut self, far: &Far, event: RuntimeEvent) -> SessionEvent {
        far.port.tell(event).await;
        self.next().await
    }

    /// Lets the backend take its commands until the loop hears of one.
    async fn after_commands(&mut self, far: &mut Far) -> SessionEvent {
        tokio::select! {
            command = far.port.next() => panic!("{command:?}"),
            event = self.next() => event,
        }
    }
}

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn prompt(number: i64) -> Prompt {
    Prompt { turn: turn(number), text: "do it".to_owned(), uuid: "u".to_owned() }
}

fn id(text: &str) -> SessionId {
    SessionId(text.to_owned())
}

fn used_a_tool(turn: TurnId) -> RuntimeEvent {
    let (id, name) = ("1".to_owned(), "Bash".to_owned());
    let content = vec![Block::ToolUse { id, name, input: json!({}) }];
    RuntimeEvent::Message { turn, message: AssistantMessage { model: String::new(), content } }
}

/// It reaches the loop and no more: the next generation goes on with what was there before.
#[tokio::test]
async fn what_a_backend_says_while_it_is_ended_changes_nothing() {
    let mut fixture = Fixture::new();
    let (far, _) = fixture.begins(1, true).await;
    fixture.hears(&far, RuntimeEvent::Ready { session: id("a") }).await;
    fixture.session.start(Next { generation: Generation(2), resume: true });
    let heard = fixture.hears(&far, RuntimeEvent::Session { session: id("b") }).await;
    let told = matches!(
        &heard,
        SessionEvent::Runtime { generation: Generation(1), event: RuntimeEvent::Session { .. } }
    );
    assert!(told, "{heard:?}");
    assert_eq!(fixture.session.options.resume, Some(id("a")));
}

#[tokio::test]
async fn a_generation_goes_on_with_its_session_unless_it_is_to_be_fresh() {
    let mut fixture = Fixture::new();
    for (number, resume, expect) in
        [(1, true, Begun::Empty), (2, true, Begun::Resumed), (3, false, Begun::Empty)]
    {
        let (far, begun) = fixture.begins(number, resume).await;
        assert_eq!(begun, expect, "{number}");
        fixture.hears(&far, RuntimeEvent::Ready { session: id("a") }).await;
        fixture.hears(&far, RuntimeEvent::Exited { code: 1 }).await;
    }
}

/// C21: what is left of an earlier generation is not believed.
#[tokio::test]
async fn a_token_is_one_generations_and_ends_with_it() {
    let mut fixture = Fixture::new();
    let mut tokens = Vec::new();
    for number in 1..=2 {
        let (far, _) = fixture.begins(number, true).await;
        let token = fixture.token.borrow().as_ref().map(|it| it.expose().to_owned());
        tokens.push(token.expect("a token"));
        fixture.hears(&far, RuntimeEvent::Exited { code: 1 }).await;
        assert!(fixture.token.borrow().is_none());
    }
    assert_ne!(tokens[0], tokens[1]);
}

#[tokio::test]
async fn an_exit_is_ours_or_theirs_or_no_fault() {
    let mut fixture = Fixture::new();
    let (far, _) = fixture.begins(1, true).await;
    let heard = fixture.hears(&far, RuntimeEvent::Exited { code: 0 }).await;
    assert!(matches!(heard, SessionEvent::Ended { generation: Generation(1) }), "{heard:?}");
    let (far, _) = fixture.begins(2, true).await;
    let heard = fixture.hears(&far, RuntimeEvent::Exited { code: 7 }).await;
    assert!(matches!(heard, SessionEvent::Exited { by: EndedBy::Itself, .. }), "{heard:?}");
    let (far, _) = fixture.begins(3, true).await;
    fixture.session.end(StopReason::Stuck);
    let heard = fixture.hears(&far, RuntimeEvent::Exited { code: 0 }).await;
    assert!(matches!(heard, SessionEvent::Exited { by: EndedBy::Us, .. }), "{heard:?}");
}

/// R2-08: under another id; and what was done for it is said, if something was.
#[tokio::test]
async fn a_prompt_that_is_given_again_tells_what_was_done_for_it() {
    let mut fixture = Fixture::new();
    let (mut far, _) = fixture.begins(1, true).await;
    fixture.session.prompt(prompt(1), None);
    assert_eq!(far.port.next().await, Some(Command::Prompt(prompt(1))));
    let again = format!("do it{}", texts::GIVEN_AGAIN);
    for (acted_in, text) in [(turn(2), "do it"), (turn(1), again.as_str())] {
        fixture.hears(&far, used_a_tool(acted_in)).await;
        far.port.free();
        fixture.session.prompt_again(None);
        let Some(Command::Prompt(given)) = far.port.next().await else { panic!("no prompt") };
        assert_eq!((given.turn, given.text.as_str()), (turn(1), text));
        assert_ne!(given.uuid, "u");
    }
}

/// This backend can nothing but work on prompts.
#[tokio::test]
async fn what_is_refused_has_an_end() {
    let mut fixture = Fixture::new();
    let (mut far, _) = fixture.begins(1, true).await;
    fixture.session.adopt(turn(1));
    match fixture.after_commands(&mut far).await {
        SessionEvent::Runtime { event: RuntimeEvent::Finished { turn: of, result }, .. } => {
            assert_eq!((of, result), (turn(1), TurnResult::Interrupted));
        }
        other => panic!("{other:?}"),
    }
    fixture.session.clear();
    match fixture.after_commands(&mut far).await {
        SessionEvent::Runtime { event: RuntimeEvent::Compacted { failed: Some(_) }, .. } => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_backend_whose_queue_is_full_is_of_no_use_for_a_prompt() {
    let mut fixture = Fixture::new();
    let (_far, _) = fixture.begins(1, true).await;
    for _ in 0..COMMAND_QUEUE {
        fixture.session.steer(prompt(1));
    }
    fixture.session.compact();
    let heard = fixture.next().await;
    let failed =
        RuntimeEvent::Compacted { failed: Some("the backend does not take commands".to_owned()) };
    assert!(matches!(&heard, SessionEvent::Runtime { event, .. } if *event == failed), "{heard:?}");
    fixture.session.prompt(prompt(2), None);
    let heard = fixture.next().await;
    assert!(matches!(heard, SessionEvent::Unusable { generation: Generation(1) }), "{heard:?}");
}
