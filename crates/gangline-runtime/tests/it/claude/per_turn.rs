//! The real program as one process for each turn (C4).

use gangline_os::kill::Signal;
use gangline_runtime::{
    Answer, ApprovalReply, Command, Mode, Permissions, Prompt, Refusal, RuntimeEvent,
    SessionFilter, SessionId, StopReason, Thinking, TurnResult, adapters,
};
use serde_json::Value;

use super::rig::{Done, Rig, turn};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {tool_result: '(?s).*'}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'toil'}
    reply: [tool_use: {name: Bash, input: {command: "exec tail -f notes.txt", description: "x"}}]
  - when: {user: 'bash (.+)'}
    reply: [tool_use: {name: Bash, input: {command: "$1", description: "x"}}]
  - when: {user: 'read (\S+)'}
    reply: [tool_use: {name: Read, input: {file_path: "$1"}}]
  - when: {user: 'post (.+)'}
    reply: [tool_use: {name: mcp__gangline__send, input: {text: "$1"}}]
  - when: {user: 'too long'}
    times: 2
    reply: [overflow]
  - when: {user: 'slow'}
    reply: [delay_ms: 1500, text: "at last"]
  - reply: [text: "turn ${turn}: ${user}"]
"#;

const SHELL: &str = "tail -f notes.txt";

async fn rig(permissions: Permissions) -> Rig {
    let mut rig = Rig::claude(SCRIPT).await;
    rig.options.permissions = permissions;
    rig.options.mode = Mode::PerTurn;
    rig
}

fn last_request(rig: &Rig) -> Value {
    let text = rig.requests().pop().unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    json.get("body").cloned().unwrap_or(json)
}

fn pid(rig: &Rig) -> Option<u32> {
    rig.runtime.session().unwrap().pid
}

/// R2-02, R2-05, C4: it is ready without a process, each turn has one, none is left between
/// turns, and the second turn knows the first. R0-16: so does a session that is resumed.
#[tokio::test]
async fn each_turn_has_a_process_and_the_session_lasts() {
    let mut rig = rig(Permissions::Bypass).await;
    let session = rig.start().await;
    assert_eq!((pid(&rig), rig.processes()), (None, vec![]));
    let handle = rig.runtime.session().unwrap();
    assert!(handle.ready_at.is_some() && rig.runtime.runs());
    assert_eq!(rig.ask(1, "remember plum").await.text(), "turn 1: remember plum");
    assert_eq!((pid(&rig), rig.processes()), (None, vec![]));
    let done = rig.ask(2, "and now").await;
    assert_eq!(done.result(), &TurnResult::Completed);
    assert!(rig.requests().pop().unwrap().contains("remember plum"));
    let accepted = RuntimeEvent::Accepted { turn: turn(2) };
    assert_eq!(done.0.iter().filter(|event| **event == accepted).count(), 1, "{done:?}");
    assert!(done.0.iter().any(|event| matches!(event, RuntimeEvent::Usage { .. })), "{done:?}");
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await, [RuntimeEvent::Exited { code: 0 }]);

    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    rig.ask(3, "again").await;
    assert!(rig.requests().pop().unwrap().contains("remember plum"));
}

/// R2-03, R2-07, R2-15, R2-42, C38: the program's settings, servers, tools and system prompt are ours;
/// the prompt is on its input, not among its arguments.
#[tokio::test]
async fn the_process_is_started_with_our_files_and_tools_only() {
    let mut rig = rig(Permissions::Allowlist).await;
    rig.options.allowed_tools = ["Bash", "Edit", "Read", "Write"].map(str::to_owned).into();
    rig.options.model = Some("haiku".to_owned());
    rig.options.thinking = Some(Thinking::Said("low".to_owned()));
    let session = rig.start().await;
    rig.say(1, "toil secretly").await;
    rig.until_runs(SHELL).await;
    let pid = pid(&rig).unwrap();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let files = rig.path("sessions").display().to_string();
    for part in [
        "--print --verbose",
        "--output-format stream-json",
        "--model haiku",
        &format!("--session-id {session}"),
        &format!("--settings {files}/claude-settings.json"),
        &format!("--append-system-prompt-file {files}/claude-system-prompt.md"),
        &format!("--mcp-config {files}/claude-mcp.json"),
        "--strict-mcp-config",
        "--tools Bash,Edit,Read,Write",
        "--allowedTools Bash,Edit,Read,Write,mcp__gangline__send",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(!line.contains("secretly"), "{line}");
    let settings = std::fs::read_to_string(rig.path("sessions/claude-settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let expect = serde_json::json!({
        "autoCompactEnabled": false, "autoMemoryEnabled": false, "effortLevel": "low",
    });
    assert_eq!(settings, expect);
    let request = last_request(&rig);
    assert!(request["model"].as_str().unwrap().contains("haiku"), "{}", request["model"]);
    assert!(request["system"].to_string().contains("You are oak-ada."));
    let mut tools: Vec<&str> =
        request["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["Bash", "Edit", "Read", "Write", "mcp__gangline__send"]);
    rig.runtime.interrupt().await.unwrap();
    rig.until_finished().await;
}

/// C5, R2-41: under `ask` a command waits for its reply, and what only looks does not; the
/// daemon's tools reach the model.
#[tokio::test]
async fn approvals_and_the_daemon_s_tools_work_in_each_turn() {
    let mut rig = rig(Permissions::Ask).await;
    rig.start().await;
    for number in [1, 2] {
        rig.say(number, &format!("bash touch made-{number}")).await;
        let seen = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
        let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = seen.last() else { panic!() };
        assert!(!rig.path("work").join(format!("made-{number}")).exists());
        let answer = match number {
            1 => Answer::Allow,
            _ => Answer::Deny { reason: "not on a Sunday".to_owned() },
        };
        rig.runtime.decide(ApprovalReply { request: ask.request.clone(), answer }).await.unwrap();
        let done = Done(rig.until_finished().await);
        assert_eq!(done.result(), &TurnResult::Completed);
        assert_eq!(rig.path("work").join(format!("made-{number}")).exists(), number == 1);
        assert_eq!(done.text().contains("not on a Sunday"), number == 2, "{done:?}");
    }
    let notes = rig.path("work").join("notes.txt").display().to_string();
    let done = rig.ask(3, &format!("read {notes}")).await;
    assert!(!done.asked() && done.text().contains("hello"), "{done:?}");
    let done = rig.ask(4, "post good morning").await;
    assert!(done.text().contains("sent"), "{done:?}");
    let call = rig.calls.recv().await.unwrap();
    assert_eq!((call.turn, &call.input["text"]), (turn(4), &"good morning".into()));
}

/// R2-04: a model that was changed is the next turn's, whatever is under way.
#[tokio::test]
async fn the_next_turn_has_the_model_that_was_set() {
    let mut rig = rig(Permissions::Bypass).await;
    rig.options.model = Some("haiku".to_owned());
    rig.start().await;
    rig.ask(1, "one").await;
    let model = |rig: &Rig| last_request(rig)["model"].as_str().unwrap().to_owned();
    assert!(model(&rig).contains("haiku"));
    rig.say(2, "slow").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    rig.runtime.set_model("sonnet").await.unwrap();
    rig.until_finished().await;
    assert!(model(&rig).contains("haiku"));
    rig.ask(3, "three").await;
    assert!(model(&rig).contains("sonnet"), "{}", model(&rig));
}

/// R2-06: a new session, once; the one after it goes on with that.
#[tokio::test]
async fn a_cleared_context_begins_a_new_session_once() {
    let mut rig = rig(Permissions::Bypass).await;
    let first = rig.start().await;
    rig.ask(1, "remember plum").await;
    rig.runtime.clear().await.unwrap();
    let event = rig.next().await;
    let RuntimeEvent::Session { session: second } = event else { panic!("{event:?}") };
    assert_ne!(first, second);
    assert_eq!(rig.ask(2, "fresh").await.text(), "turn 1: fresh");
    assert!(!rig.requests().pop().unwrap().contains("plum"));
    assert_eq!(rig.ask(3, "more").await.text(), "turn 2: more");
    assert_eq!(rig.runtime.session().unwrap().session, Some(second));
}

/// R2-07, R2-08: what no longer fits is told as that, `/compact` shortens it in a process of its
/// own, a prompt that comes meanwhile waits, and the session is the same.
#[tokio::test]
async fn what_no_longer_fits_is_shortened_between_turns() {
    let mut rig = rig(Permissions::Bypass).await;
    let session = rig.start().await;
    rig.ask(1, "one").await;
    rig.ask(2, "two").await;
    let done = rig.ask(3, "too long").await;
    let overflow = matches!(
        done.result(),
        TurnResult::Failed { kind: gangline_runtime::FailureKind::ContextOverflow, .. }
    );
    assert!(overflow, "{done:?}");
    rig.runtime.compact().await.unwrap();
    let done = rig.ask(4, "meanwhile").await;
    let place = |wanted: &RuntimeEvent| done.0.iter().position(|event| event == wanted).unwrap();
    let compacted = place(&RuntimeEvent::Compacted { failed: None });
    assert!(place(&RuntimeEvent::Compacting) < compacted, "{done:?}");
    assert!(compacted < place(&RuntimeEvent::Accepted { turn: turn(4) }), "{done:?}");
    assert!(done.text().ends_with("meanwhile"), "{done:?}");
    assert!(rig.requests().pop().unwrap().contains("we talked"));
    assert_eq!(rig.runtime.session().unwrap().session, Some(session));
}

/// R0-08: an interrupt ends the turn and its tool, in each of its moments; the session goes on.
#[tokio::test]
async fn an_interrupt_ends_the_turn_and_its_process() {
    let mut rig = rig(Permissions::Bypass).await;
    rig.start().await;
    rig.runtime.interrupt().await.unwrap();
    // Before the program has begun.
    rig.say(1, "remember plum").await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
    // In the middle of a tool.
    rig.say(2, "toil").await;
    rig.until_runs(SHELL).await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
    assert_eq!(rig.processes(), [""; 0]);
    assert!(rig.ask(3, "after").await.text().ends_with(": after"));
}

/// R0-20, R0-21, C7: a process that dies in its turn ends the session as a resident one does;
/// nothing is left of it, and the next start goes on.
#[tokio::test]
async fn a_process_killed_in_its_turn_is_told_as_an_exit() {
    let mut rig = rig(Permissions::Bypass).await;
    let session = rig.start().await;
    rig.ask(1, "remember plum").await;
    rig.say(2, "toil").await;
    rig.until_runs(SHELL).await;
    let pid = pid(&rig).unwrap();
    let start_time = gangline_os::proc::start_time(pid).unwrap();
    gangline_os::proc::signal_exact(pid, start_time, Signal::Kill).unwrap();
    let rest = rig.rest().await;
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert!(!rest.iter().any(|event| matches!(event, RuntimeEvent::Finished { .. })), "{rest:?}");
    assert_eq!(rig.processes(), [""; 0]);

    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    assert!(rig.ask(3, "and now").await.text().ends_with("and now"));
    assert!(rig.requests().pop().unwrap().contains("remember plum"));
}

/// R0-08 … R0-11: stop ends the turn and everything that it started.
#[tokio::test]
async fn a_stop_in_a_turn_leaves_nothing() {
    let mut rig = rig(Permissions::Bypass).await;
    rig.start().await;
    // What a command leaves behind lives on between turns, as with a resident process.
    rig.ask(1, "bash setsid tail -f /dev/null > /dev/null 2>&1 &").await;
    assert!(rig.processes().iter().any(|line| line.contains("/dev/null")), "{:?}", rig.processes());
    rig.say(2, "toil").await;
    rig.until_runs(SHELL).await;
    rig.runtime.stop(StopReason::Shutdown).await;
    let rest = rig.rest().await;
    assert_eq!(rig.processes(), [""; 0]);
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    let end = RuntimeEvent::Finished { turn: turn(2), result: TurnResult::Interrupted };
    assert_eq!(rest.iter().filter(|event| **event == end).count(), 1, "{rest:?}");
}

/// R3-14: a new session takes the id that it is called by, the program's own name for it goes to
/// what it starts, and nothing of a parent session or of Node does.
#[tokio::test]
async fn the_session_has_the_id_of_the_environment() {
    for mode in [Mode::PerTurn, Mode::Resident] {
        let mut rig = rig(Permissions::Bypass).await;
        rig.options.mode = mode;
        let id = uuid::Uuid::new_v4().to_string();
        for (name, value) in [
            ("GT_SESSION_ID", id.as_str()),
            ("CLAUDE_SESSION_ID", "the-caller-s"),
            ("NODE_OPTIONS", "--bad-option-that-would-break-it"),
        ] {
            rig.options.env.push((name.to_owned(), value.to_owned()));
        }
        assert_eq!(rig.start().await, SessionId(id.clone()));
        let environment = "env | grep -E 'SESSION_ID|NODE_OPT' | sort";
        let done = rig.ask(1, &format!("bash {environment}")).await;
        assert!(done.text().contains(&format!("\nCLAUDE_SESSION_ID={id}")), "{done:?}");
        assert!(done.text().contains(&format!("GT_SESSION_ID={id}")), "{done:?}");
        assert!(!done.text().contains("NODE_OPTIONS"), "{done:?}");
        rig.runtime.stop(StopReason::Shutdown).await;
        // A new one beside it has an id of its own.
        let other = rig.start().await;
        assert_ne!(other, SessionId(id));
        rig.runtime.stop(StopReason::Shutdown).await;
    }
}

/// R3-04: the sessions that the program keeps are found where it keeps them.
#[tokio::test]
async fn its_sessions_are_listed_newest_first() {
    let mut rig = rig(Permissions::Bypass).await;
    let odd = rig.path("wörk.in_progress (1)");
    std::fs::create_dir(&odd).unwrap();
    rig.options.workdir = odd.clone();
    let filter = |limit| SessionFilter { workdir: Some(odd.clone()), limit };
    let fresh = adapters::make("claude").unwrap();
    assert_eq!(fresh.list_sessions(&rig.options, &filter(9)).await, Ok(vec![]));
    let first = rig.start().await;
    rig.ask(1, "one").await;
    rig.runtime.clear().await.unwrap();
    rig.ask(2, "two").await;
    let second = rig.runtime.session().unwrap().session.unwrap();
    let ids = |handles: Vec<gangline_runtime::SessionHandle>| {
        assert!(
            handles.iter().all(|it| it.runtime == "claude" && it.workdir == odd),
            "{handles:?}"
        );
        handles.into_iter().filter_map(|it| it.session).collect::<Vec<_>>()
    };
    let listed = fresh.list_sessions(&rig.options, &filter(9)).await.unwrap();
    assert_eq!(ids(listed), [second.clone(), first]);
    let listed = fresh.list_sessions(&rig.options, &filter(1)).await.unwrap();
    assert_eq!(ids(listed), [second]);
    let elsewhere = SessionFilter { workdir: Some(rig.path("work")), limit: 9 };
    assert_eq!(fresh.list_sessions(&rig.options, &elsewhere).await, Ok(vec![]));
}

/// R0-12: one turn at a time; a prompt in mid-turn is refused, a steered one reaches the model.
#[tokio::test]
async fn a_second_prompt_is_refused_and_what_is_added_is_taken_up() {
    let mut rig = rig(Permissions::Ask).await;
    rig.start().await;
    rig.say(1, "bash true").await;
    let seen = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = seen.last() else { panic!() };
    let second = Prompt { turn: turn(2), text: "too early".to_owned(), uuid: "x".to_owned() };
    let why = rig.runtime.refused(Command::Prompt(second)).await;
    assert!(matches!(why, Refusal::Busy { .. }));
    let added = Prompt { turn: turn(1), text: "and quince".to_owned(), uuid: "y".to_owned() };
    rig.runtime.steer(added).await.unwrap();
    let reply = ApprovalReply { request: ask.request.clone(), answer: Answer::Allow };
    rig.runtime.decide(reply).await.unwrap();
    let done = Done(rig.until_finished().await);
    let steered = RuntimeEvent::Steered { turn: turn(1), uuid: "y".to_owned() };
    assert!(done.0.contains(&steered), "{done:?}");
    assert!(rig.requests().pop().unwrap().contains("and quince"));
    assert_eq!(rig.processes(), [""; 0]);
}

/// R2-02: a process that does not end after its turn is ended; the turn is what it was.
#[tokio::test]
async fn a_process_that_stays_after_its_turn_is_ended() {
    let stays = "trap '' TERM; while :; do sleep 0.1; done";
    let mut rig = Rig::fake(&format!("ready; prompt; words hi; done_turn; {stays}"));
    rig.options.mode = Mode::PerTurn;
    rig.start().await;
    for number in [1, 2] {
        let done = rig.ask(number, "hello").await;
        assert_eq!((done.text().as_str(), done.result()), ("hi", &TurnResult::Completed));
        assert_eq!(rig.processes(), [""; 0]);
    }
}

/// R2-43: without a login the turn says so, nothing else is tried, and a login is noticed.
#[tokio::test]
async fn a_missing_login_is_told_and_its_coming_is_noticed() {
    let mut rig = rig(Permissions::Bypass).await;
    rig.options.api_key = None;
    rig.start().await;
    let done = rig.ask(1, "hello").await;
    assert!(matches!(done.result(), TurnResult::NeedsLogin { .. }), "{done:?}");
    assert_eq!(rig.processes(), [""; 0]);
    std::fs::write(rig.path("home").join(".claude/.credentials.json"), "{}").unwrap();
    assert_eq!(rig.next().await, RuntimeEvent::LoggedIn);
}

/// R2-02: a program that is not there any more is told with what is wrong.
#[tokio::test]
async fn a_program_that_went_away_is_named() {
    let mut rig = Rig::fake("exit 9");
    rig.options.mode = Mode::PerTurn;
    rig.start().await;
    rig.say(1, "hello").await;
    let rest = rig.rest().await;
    assert!(matches!(rest.last(), Some(RuntimeEvent::Exited { code: 9 })), "{rest:?}");

    let mut rig = Rig::fake("exit 9");
    rig.options.mode = Mode::PerTurn;
    rig.start().await;
    std::fs::remove_file(rig.path("claude")).unwrap();
    rig.say(1, "hello").await;
    let rest = rig.rest().await;
    let [RuntimeEvent::Notice { text }, RuntimeEvent::Exited { code: -1 }] = &rest[..] else {
        panic!("{rest:?}")
    };
    assert!(text.contains("cannot be started"), "{text}");
}
