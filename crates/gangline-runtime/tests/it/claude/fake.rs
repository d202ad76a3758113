//! A script in the program's place: what a program of this kind may do wrong.

use gangline_runtime::{Mode, RuntimeError, RuntimeEvent, SessionId, StopReason, TurnResult};

use super::rig::{Done, Rig, turn};

async fn start_error(rig: &mut Rig) -> String {
    match rig.runtime.start(rig.options.clone()).await {
        Err(RuntimeError::Start { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

/// What cannot be started says what to do: no program, one that is too old, one that is something
/// else, a way of running that is not there.
#[tokio::test]
async fn a_program_that_cannot_be_used_is_told_with_the_way_out() {
    let mut rig = Rig::fake("");
    let path = rig.path("claude");
    for (script, words) in [
        ("#!/bin/sh\necho '2.1.197 (Claude Code)'\n", "version 2.1.197, and at least 2.1.270"),
        ("#!/bin/sh\necho hello\n", "it is not Claude Code"),
        ("#!/bin/sh\nexit 1\n", "it is not Claude Code"),
    ] {
        rig.set_program(&path, script);
        let why = start_error(&mut rig).await;
        assert!(why.contains(words) && why.contains("npm install"), "{why}");
    }
    for missing in ["/nowhere/claude", "claude-that-nobody-has"] {
        rig.options.command = Some(vec![missing.to_owned()]);
        let why = start_error(&mut rig).await;
        assert!(why.contains(missing) && why.contains("npm install"), "{why}");
    }
    rig.options.command = Some(Vec::new());
    assert!(start_error(&mut rig).await.contains("`command`"));
    rig.options.mode = Mode::Tmux;
    assert!(start_error(&mut rig).await.contains("not in a terminal"));
    assert!(!rig.runtime.runs());
}

/// Words that stand before the program's own arguments are kept.
#[tokio::test]
async fn a_command_may_have_words_of_its_own() {
    let mut rig = Rig::fake("ready; prompt; words \"$EXTRA\"; done_turn; cat >/dev/null");
    let path = rig.path("claude").display().to_string();
    rig.options.command = Some(vec!["env".to_owned(), "EXTRA=given".to_owned(), path]);
    rig.start().await;
    assert_eq!(rig.ask(1, "x").await.text(), "given");
}

/// An enormous line, bytes that are no text, words that are no message, kinds that are unknown or
/// broken: each is passed over, what matters is told, and the session goes on. Memory is bounded.
#[tokio::test]
async fn garbage_is_passed_over() {
    let mut rig = Rig::fake(
        r#"ready; prompt
        head -c 104857600 /dev/zero | tr '\0' 'x'; echo
        printf '\377\376 no text\n'
        say 'hello'; say 'hello again'; say ''
        say '{"type":"unheard_of"}'
        say '{"type":"assistant"}'; say '{"type":"assistant","message":7}'
        say '{"type":"control_request","request_id":"q","request":{"subtype":"read_file"}}'
        read -r answer; case "$answer" in *'not supported'*) words heard;; esac
        done_turn; cat >/dev/null"#,
    );
    rig.start().await;
    let before = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
    let done = rig.ask(1, "x").await;
    let after = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
    assert!(after.saturating_sub(before) < 60 * 1024, "{before} KiB, then {after} KiB");
    assert_eq!((done.text().as_str(), done.result()), ("heard", &TurnResult::Completed));
    let notices: Vec<&str> = done
        .0
        .iter()
        .filter_map(|event| match event {
            RuntimeEvent::Notice { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert!(notices[0].contains("104857600 bytes"));
    assert!(notices[1].contains("not a message"));
    assert!(notices[2].contains("malformed `assistant`"));
}

/// A result that is lost does not leave its turn open: the program says when it has nothing left
/// to do.
#[tokio::test]
async fn a_turn_without_its_result_ends_when_the_program_is_idle() {
    let mut rig = Rig::fake(
        r#"ready; prompt; words hi
        say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"completed\"}"
        say '{"type":"system","subtype":"session_state_changed","state":"idle"}'
        prompt
        say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"cancelled\"}"
        say '{"type":"system","subtype":"session_state_changed","state":"idle"}'
        cat >/dev/null"#,
    );
    rig.start().await;
    assert_eq!(rig.ask(1, "x").await.result(), &TurnResult::Completed);
    assert!(matches!(rig.ask(2, "x").await.result(), TurnResult::Failed { .. }));
}

/// R0-20: it may die at any step, and its exit is told once, last, with its code and what it said.
#[tokio::test]
async fn a_death_at_any_step_is_told_with_its_last_words() {
    for (body, code, ready, finished) in [
        ("echo 'No conversation found with session ID: x' >&2; exit 1", 1, 0, 0),
        ("exit 0", 0, 0, 0),
        ("ready; echo dying >&2; exit 3", 3, 1, 0),
        ("ready; prompt; kill -9 $$", -1, 1, 0),
        ("ready; prompt; words hi; exit 7", 7, 1, 0),
        ("ready; prompt; words hi; done_turn; exit 0", 0, 1, 1),
        // What is slow to be gone has ended by itself all the same.
        ("ready; prompt; exec >&- 2>&-; sleep 1; exit 0", 0, 1, 0),
        ("ready; prompt; exec >&- 2>&-; sleep 600", -1, 1, 0),
        ("ready; prompt; exec >&-; sleep 600", -1, 1, 0),
    ] {
        let mut rig = Rig::fake(body);
        rig.begin().await;
        rig.say(1, "x").await;
        let rest = rig.rest().await;
        let count = |wanted: fn(&RuntimeEvent) -> bool| rest.iter().filter(|it| wanted(it)).count();
        assert_eq!(count(|it| matches!(it, RuntimeEvent::Ready { .. })), ready, "{body}: {rest:?}");
        let ends = count(|it| matches!(it, RuntimeEvent::Finished { .. }));
        assert_eq!(ends, finished, "{body}: {rest:?}");
        assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code }), "{body}: {rest:?}");
        for words in ["No conversation found", "dying"] {
            let told = rest
                .iter()
                .any(|it| matches!(it, RuntimeEvent::Notice { text } if text.contains(words)));
            assert_eq!(told, body.contains(words), "{body}: {rest:?}");
        }
        assert!(!rig.runtime.runs());
        assert!(rig.runtime.interrupt().await.is_err());
        rig.runtime.stop(StopReason::Restart).await;
    }
}

/// R0-09, R0-11: a program that ignores everything is killed, and so are those it leaves behind,
/// whatever session they fled to; the exit of a stop is 0.
#[tokio::test]
async fn what_does_not_end_is_killed_with_all_it_left() {
    let mut rig = Rig::fake(
        "trap '' TERM INT; ready; (setsid sh -c 'trap \"\" TERM; while :; do sleep 97; done' &)
        (sleep 98 &) ; prompt; while :; do sleep 99; done",
    );
    rig.start().await;
    rig.say(1, "x").await;
    for sleeper in ["sleep 97", "sleep 98", "sleep 99"] {
        rig.until_runs(sleeper).await;
    }
    rig.runtime.stop(StopReason::Stuck).await;
    let rest = rig.rest().await;
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{rest:?}");
    assert_eq!(rig.processes(), [""; 0]);
}

/// R0-09: a program that ends by itself when its input closes has the time to do so, and one that
/// ends at TERM is not killed.
#[tokio::test]
async fn a_stop_lets_the_program_end_by_itself() {
    for body in [
        "ready; cat >/dev/null; touch ended",
        "trap 'touch ended; exit 0' TERM; ready; cat >/dev/null; while :; do sleep 0.1; done",
    ] {
        let mut rig = Rig::fake(body);
        rig.start().await;
        rig.runtime.stop(StopReason::Shutdown).await;
        assert!(rig.path("work").join("ended").exists(), "{body}");
        assert_eq!(rig.rest().await, [RuntimeEvent::Exited { code: 0 }]);
    }
}

/// A flood of lines keeps no interrupt waiting.
#[tokio::test]
async fn an_interrupt_gets_through_a_flood() {
    let mut rig = Rig::fake(
        r#"ready; prompt; yes '{"type":"stream_event"}' & flood=$!
        read -r interrupt; kill $flood; wait $flood; echo
        case "$interrupt" in *interrupt*) ;; *) exit 9;; esac
        say "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"terminal_reason\":\"aborted_streaming\",\"user_message_uuids\":[\"$uuid\"]}"
        cat >/dev/null"#,
    );
    rig.start().await;
    rig.say(1, "x").await;
    rig.until(|event| matches!(event, RuntimeEvent::Alive { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
}

/// A grandchild that keeps the output open does not hide the program's death.
#[tokio::test]
async fn an_output_that_stays_open_hides_no_death() {
    let mut rig = Rig::fake("ready; (setsid sleep 600 &); exit 4");
    rig.start().await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 4 }));
    assert_eq!(rig.processes(), [""; 0]);
}

/// A program that cannot be driven is ended, and says why.
#[tokio::test]
async fn a_refused_beginning_is_told() {
    let mut rig = Rig::fake(
        r#"read -r init
        say '{"type":"control_response","response":{"subtype":"error","request_id":"gangline-1","error":"no such request"}}'
        sleep 600"#,
    );
    rig.begin().await;
    let rest = rig.rest().await;
    let told = rest.iter().any(
        |event| matches!(event, RuntimeEvent::Notice { text } if text.contains("no such request")),
    );
    assert!(told, "{rest:?}");
    assert!(matches!(rest.last(), Some(RuntimeEvent::Exited { .. })), "{rest:?}");
}

/// A program that does not read its input is given up, instead of filling memory.
#[tokio::test]
async fn a_program_that_does_not_read_is_given_up() {
    let mut rig = Rig::fake(
        r#"ready
        i=0; while [ $i -lt 5000 ]; do i=$((i+1))
        say "{\"type\":\"control_request\",\"request_id\":\"q$i\",\"request\":{\"subtype\":\"mcp_message\",\"server_name\":\"gangline\",\"message\":{\"method\":\"tools/list\",\"id\":$i}}}"
        done; sleep 600"#,
    );
    rig.start().await;
    let rest = rig.rest().await;
    assert!(matches!(rest.last(), Some(RuntimeEvent::Exited { code: -1 })), "{rest:?}");
}

/// R0-16: the id of a session is taken from the program, whenever it changes.
#[tokio::test]
async fn a_new_id_of_the_session_is_told() {
    let mut rig = Rig::fake(
        r#"ready; prompt; say '{"type":"system","subtype":"init","session_id":"other","model":"m"}'
        words hi; done_turn; cat >/dev/null"#,
    );
    rig.options.resume = Some(SessionId("0191f2c4-0000-7000-8000-000000000001".to_owned()));
    rig.start().await;
    let done = rig.ask(1, "x").await;
    let session = RuntimeEvent::Session { session: SessionId("other".to_owned()) };
    assert_eq!(done.0[..2], [RuntimeEvent::Accepted { turn: turn(1) }, session]);
}

/// Lines without end are signs of life, and at most one a second is told.
#[tokio::test]
async fn noise_is_told_as_life_but_not_often() {
    let mut rig = Rig::fake(
        r#"ready; prompt
        i=0; while [ $i -lt 2000 ]; do i=$((i+1)); say '{"type":"stream_event","event":{}}'; done
        done_turn; cat >/dev/null"#,
    );
    rig.start().await;
    let start = gangline_os::clock::system().monotonic();
    let done = rig.ask(1, "x").await;
    let took = gangline_os::clock::system().monotonic().saturating_sub(start);
    let alive = done.0.iter().filter(|it| matches!(it, RuntimeEvent::Alive { .. })).count();
    let most = usize::try_from(took.as_secs() + 1).unwrap();
    assert!(alive <= most, "{alive} in {took:?}");
}

/// R0-10: a stop before it is ready ends it as well; a second stop does nothing.
#[tokio::test]
async fn it_can_be_stopped_before_it_is_ready() {
    let mut rig = Rig::fake("cat >/dev/null");
    rig.begin().await;
    rig.runtime.stop(StopReason::Restart).await;
    rig.runtime.stop(StopReason::Restart).await;
    let rest = Done(rig.rest().await);
    assert_eq!(rest.0, [RuntimeEvent::Exited { code: 0 }]);
    assert_eq!(rig.processes(), [""; 0]);
}

/// R2-08: a process that ends without a word while it was to shorten the context has failed at it:
/// whoever waits for the end of that does not wait for ever.
#[tokio::test]
async fn a_process_that_only_ends_has_not_shortened_the_context() {
    let mut rig = Rig::fake("ready; prompt; exit 0");
    rig.options.mode = Mode::PerTurn;
    rig.start().await;
    rig.runtime.compact().await.unwrap();
    let seen = rig
        .until(|event| {
            matches!(event, RuntimeEvent::Compacted { .. } | RuntimeEvent::Exited { .. })
        })
        .await;
    let failed = matches!(seen.last(), Some(RuntimeEvent::Compacted { failed: Some(_) }));
    assert!(failed, "{seen:?}");
}
