//! Starts, ends and restarts.

use gangline_testkit::{IrcPeer, ServiceManager, Stage, eventually, eventually_seeing};
use serde_json::{Value, json};

use super::{ADA, BINARY, Ipc, SCRIPT, Scene};

fn epoch(ipc: &mut Ipc) -> i64 {
    ipc.ok(json!({"type": "status"}))["epoch"].as_i64().unwrap()
}

/// R0-35, R0-37, R1-45, C6: the socket stands before the runner starts and is gone after the runner,
/// before IRC is left.
#[test]
fn the_socket_comes_before_the_runner_and_goes_after_it() {
    let mut scene = Scene::open();
    let ipc = scene.dial();
    let steps = scene.stage.query(
        "SELECT json_extract(payload, '$.step') || ' ' || json_extract(payload, '$.state') FROM events \
         WHERE kind = 'start_step' ORDER BY seq",
    );
    let expect = [
        "buffer done",
        "irc done",
        "webhook absent",
        "socket done",
        "supervisor absent",
        "runner done",
    ];
    assert_eq!(steps, expect);
    let link = scene.stage.world.path("run/culture-oak-ada.sock");
    assert!(scene.socket().exists() && link.exists());
    drop(ipc);
    scene.hub.terminate();
    assert!(!scene.socket().exists() && std::fs::symlink_metadata(link).is_err());
    let log = scene.stage.world.state().join("agents/oak-ada/daemon.log");
    let log = std::fs::read_to_string(log).unwrap();
    let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("no `{text}` in {log}"));
    assert!(
        at("agent loop ended") < at("socket closed") && at("socket closed") < at("link ended"),
        "{log}"
    );
}

/// `sd_notify`: a daemon that a service manager keeps says when it is ready and when it ends.
#[test]
fn a_service_manager_hears_of_the_daemons_life() {
    let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: bypass"));
    let mut args = stage.up_args();
    args.push("--no-agents");
    let _hub = stage.world.start_ready(&args);
    let manager = ServiceManager::listen(&stage.world.path("run/notify"));
    let path = manager.socket.display().to_string();
    let args = ["--config", &stage.config, "daemon", ADA];
    let mut daemon = stage.world.start_with(&[("NOTIFY_SOCKET", &path)], &args);
    manager.hears("READY=1");
    let mut ipc = Ipc::dial(&stage.world.path("run/gangline-oak-ada.sock"));
    eventually("the backend", || {
        (ipc.ok(json!({"type": "status"}))["phase"] == "idle").then_some(())
    });
    daemon.signal(nix::sys::signal::Signal::SIGTERM);
    manager.hears("STOPPING=1");
    assert_eq!(daemon.wait(), 0, "{}", daemon.output());
}

/// R0-45: `shutdown` ends the daemon in order, as a signal does; what is asked meanwhile is answered.
#[test]
fn the_owner_shuts_the_daemon_down() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    let before = epoch(&mut ipc);
    assert_eq!(ipc.ok(scene.owner(json!({"type": "shutdown"}))), json!({}));
    assert_eq!(ipc.line(), "", "the daemon hangs up");
    // The hub keeps it running.
    scene.next_life(before);
    alice.say("#general", "@oak-ada say exactly back");
    alice.hears(ADA, "#general", "back");
}

fn said(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| format!("<alice> line {number}")).collect()
}

fn say(alice: &mut IrcPeer, range: std::ops::Range<u32>) {
    for number in range {
        alice.say("#general", &format!("line {number}"));
    }
}

/// C18, C19: how far a channel was read outlives the daemon; what was said before its end and while
/// it was away is read from there on, once and in order.
#[test]
fn reading_goes_on_after_a_restart_where_it_stopped() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    let before = epoch(&mut ipc);
    say(&mut alice, 0..4);
    eventually("four lines", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 4).then_some(())
    });
    assert_eq!(ipc.read("#general", 2), (said(0..2), 2));
    ipc.ok(scene.owner(json!({"type": "shutdown"})));
    assert_eq!(ipc.line(), "");
    say(&mut alice, 4..6);
    let mut ipc = scene.next_life(before);
    say(&mut alice, 6..8);
    eventually("six lines", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 6).then_some(())
    });
    assert_eq!(ipc.read("#general", 3), (said(2..5), 3));
    assert_eq!(ipc.read("#general", 50), (said(5..8), 0));

    // Nothing is read twice by the life after that, either.
    let before = epoch(&mut ipc);
    ipc.ok(scene.owner(json!({"type": "shutdown"})));
    let mut ipc = scene.next_life(before);
    say(&mut alice, 8..9);
    let lines = eventually("the next line", || {
        let (lines, _) = ipc.read("#general", 50);
        (!lines.is_empty()).then_some(lines)
    });
    assert_eq!(lines, said(8..9));
}

/// C19: a daemon that ends before it has caught up may have read further than it had taken in: what
/// its successor takes in again it does not read again.
#[test]
fn what_was_read_before_it_was_taken_in_is_not_read_twice() {
    let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: bypass"));
    let mut args = stage.up_args();
    args.push("--no-agents");
    let _hub = stage.world.start_ready(&args);
    let mut alice = stage.member("alice");
    let daemon = || {
        let daemon = stage.world.start(&["--config", &stage.config, "daemon", ADA]);
        let mut ipc = Ipc::dial(&stage.world.path("run/gangline-oak-ada.sock"));
        eventually("the agent in its room", || {
            let told = ipc.ok(json!({"type": "irc_channels"}));
            (told["channels"] == json!(["#general"])).then_some(())
        });
        (daemon, ipc)
    };
    let unread = |ipc: &mut Ipc, count: u32| {
        eventually_seeing(&format!("{count} unread lines"), || {
            let status = ipc.ok(json!({"type": "status"}));
            if status["unread"]["#general"] == count { Ok(()) } else { Err(status.to_string()) }
        });
    };
    let (mut first, mut ipc) = daemon();
    say(&mut alice, 0..3);
    unread(&mut ipc, 3);
    assert_eq!(ipc.read("#general", 9), (said(0..3), 0));
    assert_eq!(first.terminate(), 0, "{}", first.output());
    // As if it had not caught up.
    let begin = "UPDATE cursors SET cursor = 'timestamp=2020-01-01T00:00:00.000Z' \
                 WHERE target = '#general'";
    let _ = stage.query(begin);
    say(&mut alice, 3..5);
    alice.say("#general", "@oak-ada say exactly taken in");
    alice.hears("alice", "#general", "taken in");
    let (_second, mut ipc) = daemon();
    alice.hears(ADA, "#general", "taken in");
    eventually("history to be taken in", || {
        let taken = "SELECT 1 FROM cursors WHERE target = '#general' AND cursor NOT LIKE \
                     'timestamp=2020-%'";
        (stage.query(taken) == ["1"]).then_some(())
    });
    say(&mut alice, 5..6);
    unread(&mut ipc, 3);
    assert_eq!(ipc.read("#general", 9), (said(3..6), 0));
}

/// What is only read again is not taken in again: a word that was a decision is none any more.
#[test]
fn filling_a_room_again_obeys_no_old_word() {
    let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: ask"));
    let hub = stage.up();
    let scene = Scene { stage, hub };
    let mut boss = scene.stage.owner("boss");
    let mut ipc = scene.dial();
    let before = epoch(&mut ipc);
    boss.say("#general", "@oak-ada shell: touch done");
    boss.hears(ADA, "#general", "wants to run");
    boss.say("#general", "@oak-ada yes 1");
    boss.hears(ADA, "#general", "the shell is done");
    ipc.ok(scene.owner(json!({"type": "shutdown"})));
    let mut ipc = scene.next_life(before);
    eventually("the room to be filled again", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 1).then_some(())
    });
    boss.say("#general", "@oak-ada say exactly and now");
    boss.hears(ADA, "#general", "and now");
    let said = boss.lines();
    assert!(!said.iter().any(|line| line.contains("no open approval")), "{said:#?}");
    assert_eq!(ipc.read("#general", 2), (vec!["<boss> @oak-ada yes 1".to_owned()], 0));
}

/// A daemon that was killed leaves its socket behind: the next one takes its place. Its child's
/// token is refused, and what nobody had read is there.
#[test]
fn a_killed_daemons_socket_is_replaced_and_its_token_is_refused() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    let before = epoch(&mut ipc);
    alice.say("#general", "@oak-ada shell: echo $GANGLINE_TOKEN > token.txt");
    alice.hears(ADA, "#general", "the shell is done");
    let token = std::fs::read_to_string(scene.stage.world.path("work/token.txt")).unwrap();
    let token = token.trim();
    ipc.ok(json!({"type": "status", "token": token}));
    say(&mut alice, 0..3);
    eventually("the lines", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 3).then_some(())
    });
    scene.kill_daemon();
    say(&mut alice, 3..5);
    let mut ipc = scene.next_life(before);
    let wrong = ipc.error(json!({"type": "status", "token": token}));
    assert_eq!(wrong, "wrong or outdated token");
    eventually("all lines again", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 5).then_some(())
    });
    assert_eq!(ipc.read("#general", 50), (said(0..5), 0), "without what it was asked before");
}

/// Reads events until one that `until` picks; returns each one's cursor and kind.
fn events(ipc: &mut Ipc, until: impl Fn(&Value) -> bool) -> Vec<(String, String)> {
    let mut told = Vec::new();
    loop {
        let frame: Value = serde_json::from_str(&ipc.line()).unwrap();
        assert_eq!(frame["type"], "event", "{frame}");
        let event = &frame["event"];
        assert_eq!((&event["v"], &event["agent"]), (&json!(1), &json!(ADA)));
        let text = |field: &str| event[field].as_str().unwrap().to_owned();
        told.push((text("seq"), text("kind")));
        if until(event) {
            return told;
        }
    }
}

/// Each event is told once, in order, across the death of the daemon: the last one's `seq` is the
/// cursor for the next life.
#[test]
fn a_subscriber_hears_each_event_once_across_a_restart() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    let before = epoch(&mut ipc);
    let mut life = scene.dial();
    let start = life.ok(json!({"type": "subscribe"}));
    alice.say("#general", "@oak-ada say exactly one");
    let ended = |event: &Value| event["kind"] == "turn_ended";
    let mut told = events(&mut life, ended);
    scene.kill_daemon();
    let mut next = scene.next_life(before);
    let cursor = told.last().unwrap().0.clone();
    assert_eq!(next.ok(json!({"type": "subscribe", "cursor": cursor}))["cursor"], cursor.as_str());
    alice.say("#general", "@oak-ada say exactly two");
    told.extend(events(&mut next, ended));
    let stored: Vec<(String, String)> = scene
        .stage
        .query("SELECT 'e' || seq || ' ' || kind FROM events WHERE agent = 'oak-ada' ORDER BY seq")
        .iter()
        .map(|row| row.split_once(' ').unwrap())
        .map(|(seq, kind)| (seq.to_owned(), kind.to_owned()))
        .skip_while(|(seq, _)| *seq != start["cursor"].as_str().unwrap())
        .skip(1)
        .take(told.len())
        .collect();
    assert_eq!(told, stored);
    assert!(told.iter().filter(|(_, kind)| kind == "turn_ended").count() == 2, "{told:?}");
}
