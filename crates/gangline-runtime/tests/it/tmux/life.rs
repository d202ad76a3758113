//! Starts, ends and what is left of both.

use std::fs;

use gangline_os::{kill::Signal, proc};
use gangline_runtime::{Mode, RuntimeError, RuntimeEvent, SessionId, StopReason, TurnResult};
use serde_json::json;

use super::rig::Rig;

fn bash() -> Rig {
    Rig::new(&["bash", "--norc", "--noprofile"], json!({}))
}

fn notices(events: &[RuntimeEvent]) -> String {
    let text = |event: &RuntimeEvent| match event {
        RuntimeEvent::Notice { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// R3-05: what cannot start says why, and leaves nothing.
#[tokio::test]
async fn what_cannot_start_says_why() {
    let cases = [
        (json!(null), None, "`command` names no program"),
        (json!({}), Some("no-such-program"), "no-such-program is not on PATH"),
        (json!({}), Some("/no/such/program"), "there is no file /no/such/program"),
        (
            json!({"like": "emacs"}),
            Some("bash"),
            "one of claude, codex, lines, plain, shell, not `emacs`",
        ),
        (json!({"redy": ["$ "]}), Some("bash"), "unknown field `redy`"),
        (json!({"ready": [" "]}), Some("bash"), "a text to look for is empty"),
        (json!([]), Some("bash"), "`screen` must be a map"),
    ];
    for (screen, command, expect) in cases {
        let mut rig = bash();
        rig.options.extra.insert("screen".to_owned(), screen);
        rig.options.command = Some(command.into_iter().map(ToOwned::to_owned).collect());
        let error = rig.runtime.start(rig.options.clone()).await.unwrap_err();
        let RuntimeError::Start { why, .. } = &error else { panic!("{error}") };
        assert!(why.contains(expect), "{expect} in {why}");
        assert_eq!(rig.run_processes(), []);
    }
    let mut rig = bash();
    rig.options.mode = Mode::PerTurn;
    assert!(rig.runtime.start(rig.options.clone()).await.is_err());
}

/// R3-04, R3-06: the handle names the program in the terminal, not tmux.
#[tokio::test]
async fn the_handle_is_that_of_the_program() {
    let mut rig = bash();
    rig.start().await;
    let pid = rig.pid.unwrap();
    let program = rig.run_processes().into_iter().find(|(found, _)| *found == pid).unwrap();
    assert!(program.1.starts_with("bash"), "{program:?}");
    let open = rig.runtime.session().unwrap();
    assert!(open.ready_at.is_some() && open.workdir == rig.path("work"));
    assert_eq!(open.runs(), Some(true));
    assert_eq!(rig.ask(1, "pwd").await.text(), rig.path("work").display().to_string());
    rig.put_away().await;
    assert!(!proc::alive(pid, open.pid_start.unwrap()));
}

/// R0-20: a program that exits is told with its code, also in a turn.
#[tokio::test]
async fn an_exit_is_told_with_its_code() {
    for (says, code, how) in [
        ("echo oops; exec sh -c 'exit 7'", 7, "with code 7; the last line of its screen: oops"),
        ("exit 0", 0, ""),
        ("kill -9 $$", -1, "by signal 9"),
    ] {
        let mut rig = bash();
        rig.start().await;
        rig.say(1, says).await;
        let rest = rig.rest().await;
        assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code }), "{rest:?}");
        assert!(notices(&rest).contains(how), "{rest:?}");
        assert!(!rig.runtime.runs());
        assert_eq!(rig.run_processes(), []);
    }
}

/// R0-20: what a program has written before it took a prompt is what its end is told with.
#[tokio::test]
async fn a_program_that_ends_at_its_start_is_quoted() {
    for command in ["echo cannot open display; sleep 1; exit 4", "echo cannot open display; exit 4"]
    {
        let mut rig = Rig::new(&["bash", "-c", command], json!({}));
        rig.begin().await;
        let rest = rig.rest().await;
        assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 4 }), "{rest:?}");
        let told = notices(&rest);
        assert!(told.contains("the last line of its screen: cannot open display"), "{told}");
    }
}

/// R0-20: of some children tmux never learns that they ended (3.3a, one in fifty): the system is asked
/// as well. A server that stands still is the far end of that.
#[tokio::test]
async fn an_end_that_tmux_overlooks_is_told_with_its_code() {
    let mut rig = Rig::new(
        &["bash", "-c", "printf '$ '; until [ -e end ]; do sleep 0.02; done; exit 7"],
        json!({"ready": ["$ "], "settle_ms": 100}),
    );
    rig.start().await;
    let server = rig.server();
    proc::signal_exact(server.pid, server.start_time, Signal::Stop).unwrap();
    fs::write(rig.path("work/end"), "").unwrap();
    let rest = rig.rest().await;
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 7 }), "{rest:?}");
    assert!(notices(&rest).contains("with code 7"), "{rest:?}");
    assert_eq!(rig.run_processes(), []);
}

/// A server that somebody kills is an exit as well.
#[tokio::test]
async fn a_killed_server_is_an_exit() {
    let mut rig = bash();
    rig.start().await;
    rig.say(1, "sleep 600").await;
    rig.until_accepted().await;
    rig.tmux(&["kill-server"]);
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.run_processes(), []);
}

/// R0-11: a stop in mid-turn interrupts it, and ends everything that the program has started, also
/// what ignores every signal but one and what left its session.
#[tokio::test]
async fn a_stop_leaves_nothing() {
    let mut rig = bash();
    rig.start().await;
    let stubborn = "setsid sh -c 'trap \"\" INT TERM HUP; touch away; while :; do sleep 1; done' & \
                    trap '' INT; sleep 600";
    rig.say(1, stubborn).await;
    rig.until_accepted().await;
    rig.until_there("work/away").await;
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    assert_eq!(rig.run_processes(), []);
}

/// An interrupt that the program ignores does not end the turn; the daemon's stop does.
#[tokio::test]
async fn an_interrupt_that_is_ignored_ends_nothing() {
    let mut rig = bash();
    rig.start().await;
    rig.say(1, "python3 -c 'import signal,time; signal.signal(2, signal.SIG_IGN); open(\"on\",\"w\"); time.sleep(600)'").await;
    rig.until_accepted().await;
    rig.until_there("work/on").await;
    rig.runtime.interrupt().await.unwrap();
    rig.until_shown("^C").await;
    rig.runtime.stop(StopReason::Stuck).await;
    let rest = rig.rest().await;
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{rest:?}");
    assert_eq!(rig.run_processes(), []);
}

/// R3-08: a program that never shows its prompt is given up, and its screen is told.
#[tokio::test]
async fn a_program_without_its_prompt_is_given_up() {
    let screen = json!({"like": "shell", "start_within_ms": 5000});
    let mut rig = Rig::new(&["sh", "-c", "echo please log in; sleep 600"], screen);
    rig.begin().await;
    let rest = rig.rest().await;
    assert!(notices(&rest).contains("please log in"), "{rest:?}");
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.run_processes(), []);
}

/// R0-21: what a dead daemon left of its own is ended; a program that cannot go on says so.
#[tokio::test]
async fn a_terminal_of_a_dead_daemon_is_ended() {
    let mut rig = bash();
    rig.start().await;
    let old = rig.runtime.session().unwrap();
    // The daemon dies: nothing of the adapter's runs any more.
    let server = rig.run_processes().into_iter().find(|(_, line)| line.contains(" -D ")).unwrap().0;
    let mut second = bash();
    second.options.session_dir = rig.options.session_dir.clone();
    second.options.resume = Some(SessionId("of another daemon".to_owned()));
    second.begin().await;
    let seen = second.until(|event| matches!(event, RuntimeEvent::Ready { .. })).await;
    assert!(notices(&seen).contains("it begins anew"), "{seen:?}");
    assert_eq!(old.runs(), Some(false));
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(proc::start_time(server), None);
    assert_eq!(second.ask(1, "echo mine").await.text(), "mine");
    second.put_away().await;
}

/// A flood costs neither memory nor time without end, and ends by an interrupt.
#[tokio::test]
async fn a_flood_is_bounded() {
    let mut rig = bash();
    rig.start().await;
    rig.say(1, "touch on; yes this is a long line of a flood").await;
    rig.until_accepted().await;
    rig.until_there("work/on").await;
    let alive = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Alive { .. });
    let before = proc::cpu_ticks(std::process::id()).unwrap();
    for _ in 0..3 {
        rig.until(alive).await;
    }
    let spent = proc::cpu_ticks(std::process::id()).unwrap() - before;
    assert!(spent < 100, "{spent} ticks for three looks of a second");
    let server = rig.run_processes().into_iter().find(|(_, line)| line.contains(" -D ")).unwrap().0;
    assert!(proc::pss_kib(server).unwrap() < 64 * 1024);
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(rig.done().await.result(), &TurnResult::Interrupted);
    let done = rig.ask(2, "seq 1 200000").await;
    assert!(done.text().starts_with("[the beginning is left out]\n"), "{}", &done.text()[..80]);
    assert!(done.text().ends_with("\n200000") && done.text().len() <= 256 * 1024);
    assert_eq!(rig.ask(3, "echo after").await.text(), "after");
    rig.put_away().await;
}

/// A stopped server is no reason to wait for ever.
#[tokio::test]
async fn a_hanging_server_is_ended() {
    let mut rig = bash();
    rig.start().await;
    let server = rig.server();
    proc::signal_exact(server.pid, server.start_time, Signal::Stop).unwrap();
    rig.say(1, "echo x").await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.run_processes(), []);
}
