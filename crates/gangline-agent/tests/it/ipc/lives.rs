//! Ends and restarts.

use gangline_testkit::{IrcPeer, eventually};
use serde_json::{Value, json};

use super::Scene;
use crate::rig::{ADA, Ipc};

/// R0-45: `shutdown` ends the daemon in order, as a signal does; what is asked meanwhile is answered.
#[test]
fn the_owner_shuts_the_daemon_down() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    let Scene { rig, daemon } = scene;
    assert_eq!(ipc.ok(daemon.signed(json!({"type": "shutdown"}))), json!({}));
    assert_eq!(ipc.line(), "", "the daemon hangs up");
    assert_eq!(daemon.ended().code, 0);
    let _daemon = rig.start();
    alice.say("#general", "@lab-ada say exactly back");
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
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    say(&mut alice, 0..4);
    ipc.has_unread("#general", 4);
    assert_eq!(ipc.read("#general", 2), (said(0..2), 2));
    let scene = scene.begins_anew(|| say(&mut alice, 4..6));
    let mut ipc = scene.dial();
    say(&mut alice, 6..8);
    ipc.has_unread("#general", 6);
    assert_eq!(ipc.read("#general", 3), (said(2..5), 3));
    assert_eq!(ipc.read("#general", 50), (said(5..8), 0));

    // Nothing is read twice by the life after that, either.
    let scene = scene.begins_anew(|| {});
    let mut ipc = scene.dial();
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
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    say(&mut alice, 0..3);
    ipc.has_unread("#general", 3);
    assert_eq!(ipc.read("#general", 9), (said(0..3), 0));
    let Scene { rig, daemon } = scene;
    assert_eq!(daemon.stop().code, 0);
    // As if it had not caught up.
    let begin = "UPDATE cursors SET cursor = 'timestamp=2020-01-01T00:00:00.000Z' \
                 WHERE target = '#general'";
    let _ = rig.query(begin);
    say(&mut alice, 3..5);
    alice.say("#general", "@lab-ada say exactly taken in");
    alice.hears("alice", "#general", "taken in");
    let daemon = rig.start();
    let mut ipc = daemon.dial();
    alice.hears(ADA, "#general", "taken in");
    let taken =
        "SELECT 1 FROM cursors WHERE target = '#general' AND cursor NOT LIKE 'timestamp=2020-%'";
    rig.sees(taken, &["1"]);
    say(&mut alice, 5..6);
    ipc.has_unread("#general", 3);
    assert_eq!(ipc.read("#general", 9), (said(3..6), 0));
}

/// What is only read again is not taken in again: a word that was a decision is none any more.
#[test]
fn filling_a_room_again_obeys_no_old_word() {
    let scene = Scene::with("", "permissions: ask");
    let mut boss = scene.rig.owner("boss");
    boss.say("#general", "@lab-ada shell: touch done");
    boss.hears(ADA, "#general", "wants to run");
    boss.say("#general", "@lab-ada yes 1");
    boss.hears(ADA, "#general", "the shell is done");
    let scene = scene.begins_anew(|| {});
    let mut ipc = scene.dial();
    ipc.has_unread("#general", 1);
    boss.say("#general", "@lab-ada say exactly and now");
    boss.hears(ADA, "#general", "and now");
    let said = boss.lines();
    assert!(!said.iter().any(|line| line.contains("no open approval")), "{said:#?}");
    assert_eq!(ipc.read("#general", 2), (vec!["<boss> @lab-ada yes 1".to_owned()], 0));
}

/// A daemon that was killed leaves its socket behind: the next one takes its place. Its child's
/// token is refused, and what nobody had read is there.
#[test]
fn a_killed_daemons_socket_is_replaced_and_its_token_is_refused() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    alice.say("#general", "@lab-ada shell: echo $GANGLINE_TOKEN > token.txt");
    alice.hears(ADA, "#general", "the shell is done");
    let token = scene.rig.first_line("token.txt");
    ipc.ok(json!({"type": "status", "token": token}));
    say(&mut alice, 0..3);
    ipc.has_unread("#general", 3);
    let socket = scene.rig.run("gangline-lab-ada.sock");
    let scene = scene.dies(|| {
        assert!(socket.exists());
        say(&mut alice, 3..5);
    });
    let mut ipc = scene.dial();
    let wrong = ipc.error(json!({"type": "status", "token": token}));
    assert_eq!(wrong, "wrong or outdated token");
    ipc.has_unread("#general", 5);
    assert_eq!(ipc.read("#general", 50), (said(0..5), 0), "without what it was asked before");
}

/// Reads events until one that `until` picks; returns each one's cursor and kind.
fn events(ipc: &mut Ipc, until: impl Fn(&Value) -> bool) -> Vec<(String, String)> {
    let mut told = Vec::new();
    loop {
        let frame: Value = ipc.frame().unwrap();
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
    let mut alice = scene.rig.member("alice");
    let mut life = scene.dial();
    let start = life.ok(json!({"type": "subscribe"}));
    alice.say("#general", "@lab-ada say exactly one");
    let ended = |event: &Value| event["kind"] == "turn_ended";
    let mut told = events(&mut life, ended);
    let scene = scene.dies(|| {});
    let mut next = scene.dial();
    let cursor = told.last().unwrap().0.clone();
    assert_eq!(next.ok(json!({"type": "subscribe", "cursor": cursor}))["cursor"], cursor.as_str());
    alice.say("#general", "@lab-ada say exactly two");
    told.extend(events(&mut next, ended));
    let stored: Vec<(String, String)> = scene
        .rig
        .query("SELECT 'e' || seq || ' ' || kind FROM events WHERE agent = 'lab-ada' ORDER BY seq")
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
