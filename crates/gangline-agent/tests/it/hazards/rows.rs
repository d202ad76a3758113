//! Rows that are committed while the loop is busy: each is taken once, in the order of their
//! numbers.

use gangline_testkit::eventually_seeing;

use crate::rig::{ADA, ROOM, Rig, said};

const SCRIPT: &str = "rules:\n  - when: {user: 'say exactly (.*)'}\n    reply: [text: '$1']";
const TAKEN: &str = "SELECT message FROM turn_messages ORDER BY epoch, number, message";

/// R1-08: parts of a daemon talk by queues; what two people say while the loop does not look waits there.
#[test]
fn what_came_while_the_loop_was_held_up_is_taken_in_order() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut ori, mut eve) = (rig.member("ori"), rig.member("eve"));
    let held = daemon.hold();
    for number in 0..4 {
        ori.say(ROOM, &format!("@lab-ada say exactly {number}"));
        eve.hears("ori", ROOM, "say exactly");
        eve.say(ROOM, &format!("@lab-ada say exactly {number}{number}"));
        ori.hears("eve", ROOM, "say exactly");
    }
    drop(held);
    let answers = ["0", "00", "1", "11", "2", "22", "3", "33"];
    for text in answers {
        ori.hears(ADA, ROOM, text);
    }
    rig.sees(TAKEN, &["1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), answers);
}

/// The same intake key again, as a line has that is read live and once more from history.
#[test]
fn a_duplicate_begins_no_second_turn() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "plum");
    let model = rig.hold_model();
    ori.say(ROOM, "@lab-ada say exactly quince");
    rig.sees("SELECT count(*) FROM turns", &["2"]);
    // One is settled, the other in its turn.
    rig.taken_in_again();
    drop(model);
    ori.hears(ADA, ROOM, "quince");
    ori.say(ROOM, "@lab-ada say exactly medlar");
    ori.hears(ADA, ROOM, "medlar");
    rig.sees("SELECT state, count(*) FROM messages GROUP BY state", &["answered"]);
    assert_eq!(rig.query("SELECT count(*) FROM turn_messages"), ["3"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), ["plum", "quince", "medlar"]);
}

/// A row that says that somebody was refused is no message that waits.
#[test]
fn a_refused_line_begins_no_turn() {
    let rig = Rig::native(SCRIPT, "prompt: owners");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    let held = daemon.hold();
    ori.say(ROOM, "@lab-ada say exactly plum");
    owner.hears("ori", ROOM, "plum");
    owner.say(ROOM, "@lab-ada say exactly quince");
    drop(held);
    owner.hears(ADA, ROOM, "quince");
    rig.sees("SELECT state FROM messages ORDER BY id", &["refused", "answered"]);
    assert_eq!(rig.query(TAKEN), ["2"]);
    assert_eq!(daemon.stop().code, 0);
    assert!(said(&mut ori).iter().all(|text| !text.contains("plum")));
}

/// More wait than the agent holds at once: those beyond are answered too, and what comes live after
/// them does not overtake them.
#[test]
fn what_is_beyond_the_queue_is_answered_in_order() {
    /// How many messages the agent holds at once.
    const HELD: i64 = 256;
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    daemon.owner("pause");
    let texts: Vec<String> = (1..=HELD + 2).map(|number| format!("say exactly {number}")).collect();
    rig.asked_at_the_command_line(&texts);
    ori.say(ROOM, "@lab-ada say exactly 259");
    rig.sees("SELECT count(*) FROM messages", &["259"]);
    // Those that the agent holds are taken back, and it learns of that when it takes them.
    rig.cancel(1..=HELD);
    daemon.owner("resume");
    eventually_seeing("the answers to those beyond", || {
        let rows =
            rig.query("SELECT id FROM messages WHERE state = 'answered' ORDER BY settled_at");
        if rows == ["257", "258", "259"] { Ok(()) } else { Err(format!("{rows:?}")) }
    });
    assert_eq!(rig.query(TAKEN), ["257", "258", "259"]);
    assert_eq!(daemon.stop().code, 0);
}

/// P4: what is committed for a mention is synced with what follows from it at once. So many syncs
/// are for the row with its turn, what the turn is seen to do, its end with the answer, the line's
/// way out, and its echo.
#[test]
fn a_mention_costs_no_more_syncs_than_it_did() {
    const EACH: u64 = 7;
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let syncs = daemon.syncs();
    let mut ori = rig.member("ori");
    let mut ask = |word: &str| {
        ori.say(ROOM, &format!("@lab-ada say exactly {word}"));
        ori.hears(ADA, ROOM, word);
        rig.sees("SELECT DISTINCT state FROM outbox", &["confirmed"]);
        rig.sees_phase("idle");
    };
    ask("plum");
    let before = syncs.count();
    ["quince", "medlar", "sloe", "damson"].into_iter().for_each(&mut ask);
    let spent = syncs.count() - before;
    assert!(spent <= 4 * EACH, "{spent} syncs for four mentions");
    println!("{spent} syncs for four mentions");
    assert_eq!(daemon.stop().code, 0);
}
