//! A prompt that no longer fits is given again when the conversation is shorter: one turn to all
//! who look on.

use std::time::Duration;

use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig, SETTLE, said};

const STATES: &str = "SELECT state || ' ' || attempt FROM messages WHERE origin <> 'system'";
const OUTCOMES: &str = "SELECT outcome FROM turns ORDER BY epoch, number";
const GIVEN_AGAIN: &str = "you get this prompt again";

/// What the program was told, and under which id.
fn told(rig: &Rig) -> Vec<(String, String)> {
    let read = |line: String| {
        let line: Value = line.parse().unwrap();
        let text = line["message"]["content"].as_str().unwrap().to_owned();
        (text, line["uuid"].as_str().unwrap().to_owned())
    };
    rig.lines("told").into_iter().map(read).collect()
}

/// Plays the story up to its end, with the loop held up between the shortening and what follows.
fn shortened_and_answered(before: &str) -> (Rig, Vec<(String, String)>) {
    let body = format!(
        "ready; prompt; {before}too_long; prompt; gate short; shortened; prompt; words plum; serve"
    );
    let rig = Rig::program(&body, "");
    let short = rig.gate("short");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada which fruit");
    rig.was_told(2);
    assert_eq!(rig.query(OUTCOMES), [""], "the turn is open");
    let held = daemon.hold();
    short.open();
    drop(held);
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), ["plum"], "nothing is said of it");
    let told = told(&rig);
    (rig, told)
}

#[test]
fn a_prompt_that_is_given_again_stays_in_its_turn() {
    let (rig, told) = shortened_and_answered("");
    assert_eq!(rig.query(OUTCOMES), ["completed"]);
    let texts: Vec<&str> = told.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[1], "/compact");
    // The same prompt, and what must not be lost behind it.
    let more = texts[2].strip_prefix(texts[0]).unwrap();
    assert!(more.starts_with("\n\n[gangline] your conversation was shortened"), "{more}");
    // A backend may remember the ids of prompts that it had.
    assert_ne!(told[0].1, told[2].1);
    let failed = "SELECT count(*) FROM events WHERE payload LIKE '%context_overflow%'";
    assert_eq!(rig.query(failed), ["0"], "no failure is told");
    let ends = "SELECT count(*) FROM events WHERE kind = 'turn_ended'";
    assert_eq!(rig.query(ends), ["1"]);
}

/// What the agent did for it has happened, and it is told so.
#[test]
fn a_prompt_that_is_given_again_says_what_was_done_for_it() {
    let (_rig, told) = shortened_and_answered("call Bash; ");
    assert!(!told[0].0.contains(GIVEN_AGAIN), "{}", told[0].0);
    assert!(told[2].0.starts_with(&told[0].0) && told[2].0.contains(GIVEN_AGAIN), "{}", told[2].0);
}

/// The time of a turn passes while its conversation is shortened.
#[test]
fn a_shortening_that_never_ends_is_stopped_with_its_turn() {
    let rig = Rig::program(
        "ready; prompt; too_long; prompt; shortens; interrupted; serve",
        "turn_timeout_seconds: 100",
    );
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada which fruit");
    // Its last sign of life is known.
    let shortens = "SELECT count(*) FROM events WHERE kind = 'notice' AND \
                    json_extract(payload, '$.code') = 'compacting'";
    rig.sees(shortens, &["1"]);
    rig.clock.forward(Duration::from_secs(101));
    ori.hears(ADA, ROOM, "no answer: the turn showed no activity");
    rig.sees(OUTCOMES, &["timed_out"]);
    ori.say(ROOM, "@lab-ada and now");
    ori.hears(ADA, ROOM, "answer of life 1");
    assert_eq!(rig.query(OUTCOMES), ["timed_out", "completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A daemon that ends does not wait for a shortening longer than for any turn; the message is given
/// to its successor.
#[test]
fn a_daemon_ends_in_the_middle_of_a_shortening() {
    let rig = Rig::program(
        "[ $life = 1 ] && { ready; prompt; too_long; prompt; interrupted; cat > /dev/null; exit; }; ready; serve",
        "",
    );
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada which fruit");
    rig.was_told(2);
    daemon.owner("shutdown");
    rig.clock.is_waited_for(SETTLE);
    rig.clock.forward(SETTLE);
    assert_eq!(daemon.ended().code, 0);
    assert_eq!(rig.query(STATES), ["accepted 0"]);
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "answer of life 2");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A person wants the context shortened while that is under way for a prompt: one compaction serves
/// both, and the turn stays one.
#[test]
fn a_persons_compact_is_met_by_the_shortening_that_is_under_way() {
    let rig = Rig::program(
        "ready; prompt; too_long; prompt; gate short; shortened; prompt; words plum; serve",
        "",
    );
    let short = rig.gate("short");
    let daemon = rig.start();
    let (mut ori, mut owner) = (rig.member("ori"), rig.owner("dana"));
    rig.at_work(&mut ori, "@lab-ada which fruit");
    rig.was_told(2);
    owner.say(ROOM, "@lab-ada compact");
    owner.hears(ADA, ROOM, "I shorten my context");
    daemon.owner("compact");
    short.open();
    ori.hears(ADA, ROOM, "plum");
    ori.say(ROOM, "@lab-ada and now");
    ori.hears(ADA, ROOM, "answer of life 1");
    assert_eq!(daemon.stop().code, 0);
    let told = told(&rig);
    let texts: Vec<&str> = told.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert_eq!(texts[1], "/compact");
    assert!(texts[2].starts_with(texts[0]), "{texts:?}");
    assert!(texts[3].contains("and now"), "{texts:?}");
    assert_eq!(rig.query(OUTCOMES), ["completed", "completed"]);
    assert_eq!(rig.query(STATES), ["answered 1", "answered 1"]);
}

/// The same once the prompt is given again: the turn may fill the context anew, so it is shortened
/// when the turn is over.
#[test]
fn a_persons_compact_after_a_shortening_is_met_when_the_turn_is_over() {
    let rig = Rig::program(
        "ready; prompt; too_long; prompt; shortened; prompt; gate again; words plum; prompt; shortened; serve",
        "",
    );
    let again = rig.gate("again");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada which fruit");
    rig.was_told(3);
    daemon.owner("compact");
    again.open();
    ori.hears(ADA, ROOM, "plum");
    rig.was_told(4);
    assert_eq!(daemon.stop().code, 0);
    let told = told(&rig);
    let commands: Vec<bool> = told.iter().map(|it| it.0 == "/compact").collect();
    assert_eq!(commands, [false, true, false, true]);
    assert_eq!(rig.query(OUTCOMES), ["completed"]);
}
