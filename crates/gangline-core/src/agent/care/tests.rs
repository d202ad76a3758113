use super::*;
use crate::agent::tests::{Story, pause, queued, turn};
use crate::agent::{
    Abilities, AgentOptions, ContextChange, Finish, Input, Operator, RuntimeInput, WhenBusy,
};

/// A runtime works on m1; its watermark stands at 750 tokens of 1000.
fn story() -> Story {
    let watermark = Some(Watermark::Part { per_mille: 750 });
    Story::working_with(AgentOptions { watermark, ..AgentOptions::default() })
}

fn holds(tokens: u64) -> RuntimeInput {
    RuntimeInput::Holds { tokens, window: Some(1000) }
}

fn passed(number: i64, tokens: u64) -> String {
    format!("({:?})", Notice::WatermarkPassed { turn: turn(number), tokens })
}

/// Ends turn `number`, whose message is m`number`, with so many tokens.
fn ends(story: &mut Story, number: i64, tokens: u64, then: &str) {
    story.runtime(holds(tokens), "");
    let text = "done".to_owned();
    story.runtime(RuntimeInput::Text { turn: turn(number), text }, "");
    story.finish(number, Finish::Completed, then);
}

#[test]
fn a_watermark_is_a_part_of_the_window_or_a_number() {
    let part = Watermark::Part { per_mille: 750 };
    assert_eq!(part.tokens(Some(200_000)), 150_000);
    assert_eq!(part.tokens(None), 150_000);
    assert_eq!(part.tokens(Some(u64::MAX)), u64::MAX / 4 * 3 + 2);
    assert_eq!(Watermark::Tokens(7).tokens(Some(200_000)), 7);
}

/// R2-09: at the watermark the agent is asked for its notes in a turn of its own, before what
/// waits; then its context is shortened, then the next message is fed.
#[test]
fn at_the_watermark_notes_come_first_then_the_shortening_then_what_waits() {
    let mut story = story();
    story.is(Input::Message(queued(2)), "");
    let expect = format!("end t1.1 completed m1=answered `done`; {}; take t1.2", passed(2, 750));
    ends(&mut story, 1, 750, &expect);
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    story.is(Input::Message(queued(3)), "");
    story.finish(2, Finish::Completed, "end t1.2 completed; compact; take t1.3 m2");
}

/// R2-09: below the watermark nothing is done, and without one neither.
#[test]
fn below_the_watermark_nothing_is_done() {
    let mut story = story();
    ends(&mut story, 1, 749, "end t1.1 completed m1=answered `done`");
    let mut story = Story::working();
    ends(&mut story, 1, 1_000_000, "end t1.1 completed m1=answered `done`");
}

/// R2-09: a turn that failed or was ended early is no occasion.
#[test]
fn only_a_clean_turn_is_followed_by_notes() {
    let mut story = story();
    story.runtime(holds(900), "");
    story.finish(1, Finish::Failed("x".to_owned()), "end t1.1 failed:x m1=failed");
}

/// R2-09: once in a passage; a report below the watermark ends the passage.
#[test]
fn the_notes_are_asked_for_once_in_a_passage() {
    let mut story = story();
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    story.runtime(holds(910), "");
    story.finish(2, Finish::Completed, "end t1.2 completed; compact");
    // It could not be shortened: nothing tells so.
    for number in [3, 4] {
        story.is(Input::Message(queued(number)), &format!("take t1.{number} m{number}"));
        story.is(Input::Taken { turn: turn(number) }, &format!("prompt t1.{number}"));
        let answered = format!("end t1.{number} completed m{number}=answered `done`");
        ends(&mut story, number, 920, &answered);
    }
    story.runtime(holds(100), "");
    story.is(Input::Message(queued(5)), "take t1.5 m5");
    story.is(Input::Taken { turn: turn(5) }, "prompt t1.5");
    let answered = "end t1.5 completed m5=answered `done`";
    ends(&mut story, 5, 800, &format!("{answered}; {}; take t1.6", passed(6, 800)));
}

/// R2-10: notes that fail are told, and the context is shortened all the same.
#[test]
fn notes_that_fail_are_told_and_the_context_is_shortened_all_the_same() {
    for (how, word) in [
        (Finish::Failed("x".to_owned()), "failed:x"),
        (Finish::Interrupted, "interrupted:operator"),
    ] {
        let mut story = story();
        let answered = "end t1.1 completed m1=answered `done`";
        ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
        story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
        let outcome = match how {
            Finish::Interrupted => Outcome::Interrupted(By::Operator),
            _ => Outcome::Failed("x".to_owned()),
        };
        let told = format!("({:?})", Notice::NotesFailed { turn: turn(2), outcome });
        story.finish(2, how, &format!("end t1.2 {word}; {told}; compact"));
    }
}

/// R2-08, R2-10: notes whose prompt no longer fits are no reason to compact twice: that is seen to in
/// the turn, and after it if it does not help.
#[test]
fn notes_that_do_not_fit_compact_nothing_a_second_time() {
    for helps in [true, false] {
        let mut story = story();
        let abilities = Abilities { compact: true, ..Abilities::default() };
        story.runtime(RuntimeInput::Can { generation: Generation(1), abilities }, "");
        let answered = "end t1.1 completed m1=answered `done`";
        ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
        story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
        story.finish(2, Finish::Overflow, "compact");
        story.compacts(true, "prompt again t1.2");
        if helps {
            story.finish(2, Finish::Completed, "end t1.2 completed");
        } else {
            let outcome = Outcome::Failed(OVERFLOW.to_owned());
            let told = format!("({:?})", Notice::NotesFailed { turn: turn(2), outcome });
            let then = format!("end t1.2 failed:{OVERFLOW}; {told}; compact");
            story.finish(2, Finish::Overflow, &then);
            story.compacts(true, "");
        }
        story.is(Input::Message(queued(3)), "take t1.3 m3");
        story.is(Input::Taken { turn: turn(3) }, "prompt t1.3");
        let answered = "end t1.3 completed m3=answered `done`";
        ends(&mut story, 3, 900, &format!("{answered}; {}; take t1.4", passed(4, 900)));
    }
}

/// R2-09, R2-10: when the backend dies over the notes, they are not asked for again, and the
/// context is shortened after the next turn that completes.
#[test]
fn notes_that_were_lost_are_not_asked_for_again() {
    let mut story = story();
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    let outcome = Outcome::Lost(crate::outcome::EndedBy::Itself);
    let told = format!("({:?})", Notice::NotesFailed { turn: turn(2), outcome });
    story.exits(1, &format!("end t1.2 lost; {told}"));
    story.is(Input::Message(queued(3)), "");
    story.after(5).is(Input::Tick, "start 2 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.3 m3");
    story.is(Input::Taken { turn: turn(3) }, "prompt t1.3");
    ends(&mut story, 3, 950, "end t1.3 completed m3=answered `done`; compact");
}

/// A story whose context stands above its watermark and is about to be shortened; t1.2 was the
/// turn for the notes.
fn being_shortened() -> Story {
    let mut story = story();
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    story.finish(2, Finish::Completed, "end t1.2 completed; compact");
    story
}

/// Begins turn `number`, whose message is m`number`.
fn begins(story: &mut Story, number: i64) {
    story.is(Input::Message(queued(number)), &format!("take t1.{number} m{number}"));
    story.is(Input::Taken { turn: turn(number) }, &format!("prompt t1.{number}"));
}

fn answered(number: i64) -> String {
    format!("end t1.{number} completed m{number}=answered `done`")
}

/// R2-09, R2-10: a shortening that fails is tried once more, after the next turn that completes: a
/// rate limit, or a network that was away, is over then. The notes are not asked for again.
#[test]
fn a_shortening_that_failed_is_tried_once_more() {
    let mut story = being_shortened();
    story.compacts(false, "");
    begins(&mut story, 3);
    story.finish(3, Finish::Failed("x".to_owned()), "end t1.3 failed:x m3=failed");
    begins(&mut story, 4);
    ends(&mut story, 4, 910, &format!("{}; compact", answered(4)));
    story.compacts(false, "");
    for number in [5, 6] {
        begins(&mut story, number);
        ends(&mut story, number, 920, &answered(number));
        story.compacts(false, "");
    }
    // The next passage has its own two.
    begins(&mut story, 7);
    ends(&mut story, 7, 100, &answered(7));
    begins(&mut story, 8);
    ends(&mut story, 8, 900, &format!("{}; {}; take t1.9", answered(8), passed(9, 900)));
    story.is(Input::Taken { turn: turn(9) }, "notes t1.9");
    story.finish(9, Finish::Completed, "end t1.9 completed; compact");
    story.compacts(false, "");
    begins(&mut story, 10);
    ends(&mut story, 10, 900, &format!("{}; compact", answered(10)));
    story.compacts(true, "");
}

/// R2-09: what another turn has made room for needs no second shortening.
#[test]
fn a_shortening_that_failed_is_forgotten_with_its_passage() {
    let mut story = being_shortened();
    story.compacts(false, "");
    begins(&mut story, 3);
    ends(&mut story, 3, 700, &answered(3));
}

/// R2-09: a shortening that the backend's death cut off is tried once more by the next generation.
#[test]
fn a_shortening_that_was_cut_off_is_tried_once_more() {
    let mut story = being_shortened();
    for (generation, number, then) in [(1, 3, "; compact"), (2, 4, "")] {
        story.exits(generation, "");
        story.is(Input::Message(queued(number)), "");
        story.after(5).is(Input::Tick, &format!("start {} Resume", generation + 1));
        let take = format!("take t1.{number} m{number}");
        story.runtime(RuntimeInput::Ready { generation: Generation(generation + 1) }, &take);
        story.is(Input::Taken { turn: turn(number) }, &format!("prompt t1.{number}"));
        ends(&mut story, number, 950, &format!("{}{then}", answered(number)));
    }
}

/// R2-09: while the agent is paused, and while the store cannot write, notes wait.
#[test]
fn notes_wait_for_the_end_of_a_pause_and_for_the_store() {
    let mut story = story();
    story.is(pause(), "(Paused(Operator))");
    ends(&mut story, 1, 900, "end t1.1 completed m1=answered `done`");
    let take = format!("(Resumed); {}; take t1.2", passed(2, 900));
    story.is(Input::Operator(Operator::Resume), &take);
    story.is(Input::TakeFailed { turn: turn(2), gone: Vec::new() }, "");
    story.is(Input::StoreOk, &format!("{}; take t1.3", passed(3, 900)));
}

/// R2-09: a passage that was over before the notes were begun needs none, also where the store
/// did not take their turn.
#[test]
fn notes_that_were_not_begun_are_forgotten_with_their_passage() {
    let mut story = story();
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
    story.runtime(holds(700), "");
    story.is(Input::TakeFailed { turn: turn(2), gone: Vec::new() }, "");
    story.is(Input::StoreOk, "");
}

/// R2-10: a shortening that is owed is not begun by an agent that is about to end.
#[test]
fn what_is_about_to_end_is_not_shortened() {
    let mut story = story();
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 900, &format!("{answered}; {}; take t1.2", passed(2, 900)));
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    let outcome = Outcome::Lost(crate::outcome::EndedBy::Itself);
    let told = format!("({:?})", Notice::NotesFailed { turn: turn(2), outcome });
    story.exits(1, &format!("end t1.2 lost; {told}"));
    story.is(Input::Message(queued(3)), "");
    story.after(5).is(Input::Tick, "start 2 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.3 m3");
    story.is(Input::Taken { turn: turn(3) }, "prompt t1.3");
    story.is(Input::Drain(crate::agent::Drain::Soft), "");
    ends(&mut story, 3, 950, "end t1.3 completed m3=answered `done`; kill 2; drained");
}

/// R2-09, C3: a message is not added to the turn for the notes.
#[test]
fn a_message_is_not_steered_into_the_notes() {
    let watermark = Some(Watermark::Tokens(10));
    let when_busy = WhenBusy::Steer;
    let options = AgentOptions { watermark, when_busy, ..AgentOptions::default() };
    let mut story = Story::working_with(options);
    let answered = "end t1.1 completed m1=answered `done`";
    ends(&mut story, 1, 10, &format!("{answered}; {}; take t1.2", passed(2, 10)));
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    story.is(Input::Message(queued(2)), "");
    story.finish(2, Finish::Completed, "end t1.2 completed; compact; take t1.3 m2");
}

/// R2-09: shortening that does not help is given up after the second time, and told, until the
/// context was below the watermark.
#[test]
fn what_cannot_be_made_shorter_is_given_up() {
    let mut story = story();
    let mut number = 1;
    for _ in 0..2 {
        let answered = format!("end t1.{number} completed m{number}=answered `done`");
        let notes = number + 1;
        ends(
            &mut story,
            number,
            900,
            &format!("{answered}; {}; take t1.{notes}", passed(notes, 900)),
        );
        story.is(Input::Taken { turn: turn(notes) }, &format!("notes t1.{notes}"));
        story.finish(notes, Finish::Completed, &format!("end t1.{notes} completed; compact"));
        story.compacts(true, "");
        number += 2;
        story.is(Input::Message(queued(number)), &format!("take t1.{number} m{number}"));
        story.is(Input::Taken { turn: turn(number) }, &format!("prompt t1.{number}"));
    }
    let told = format!("({:?})", Notice::ShortenedInVain { tokens: 900 });
    ends(&mut story, 5, 900, &format!("end t1.5 completed m5=answered `done`; {told}"));
    story.is(Input::Message(queued(6)), "take t1.6 m6");
    story.is(Input::Taken { turn: turn(6) }, "prompt t1.6");
    ends(&mut story, 6, 900, "end t1.6 completed m6=answered `done`");
    // Somebody else has made it shorter: the next passage is a new one.
    story.is(Input::Message(queued(7)), "take t1.7 m7");
    story.is(Input::Taken { turn: turn(7) }, "prompt t1.7");
    ends(&mut story, 7, 1, "end t1.7 completed m7=answered `done`");
    story.is(Input::Message(queued(8)), "take t1.8 m8");
    story.is(Input::Taken { turn: turn(8) }, "prompt t1.8");
    let answered = "end t1.8 completed m8=answered `done`";
    ends(&mut story, 8, 900, &format!("{answered}; {}; take t1.9", passed(9, 900)));
}

/// R2-06, R2-09: a context that is about to be emptied needs no notes.
#[test]
fn an_emptied_context_needs_no_notes() {
    let mut story = story();
    story.is(Input::Change(ContextChange::Clear), "");
    ends(&mut story, 1, 900, "end t1.1 completed m1=answered `done`; clear");
}

/// C13: a backend that cannot shorten its context gets a new session after the notes, which carries the
/// checkpoint; what waits is fed to it.
#[test]
fn where_nothing_can_shorten_the_context_a_new_session_begins_after_the_notes() {
    let mut story = story();
    let abilities = Abilities::default();
    story.runtime(RuntimeInput::Can { generation: Generation(1), abilities }, "");
    story.is(Input::Message(queued(2)), "");
    let expect = format!("end t1.1 completed m1=answered `done`; {}; take t1.2", passed(2, 750));
    ends(&mut story, 1, 750, &expect);
    story.is(Input::Taken { turn: turn(2) }, "notes t1.2");
    story.finish(2, Finish::Completed, "end t1.2 completed; restart 1; start 2 Renewed");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.3 m2");
}

/// A story whose context is left behind from 500 tokens on, 300 s after it was used last.
fn cold(tokens: u64) -> Story {
    let cold_reset = Some(ColdReset { tokens: 500, idle: Duration::from_secs(300) });
    let mut story = Story::working_with(AgentOptions { cold_reset, ..AgentOptions::default() });
    ends(&mut story, 1, tokens, "end t1.1 completed m1=answered `done`");
    story
}

/// C13: a large context that was not used for a while is left behind when a message comes, and a small
/// one or a warm one is not.
#[test]
fn a_large_and_cold_context_is_left_behind_for_the_next_message() {
    let mut story = cold(500);
    let mut warm = cold(500);
    let mut small = cold(499);
    let reset = format!("({:?})", Notice::ColdReset { tokens: 500 });
    let expect = format!("{reset}; restart 1; start 2 Renewed");
    story.after(300).is(Input::Tick, "");
    story.is(Input::Message(queued(2)), &expect);
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m2");
    warm.after(299).is(Input::Message(queued(2)), "take t1.2 m2");
    small.after(300).is(Input::Message(queued(2)), "take t1.2 m2");
    // Off by default.
    let mut off = Story::working();
    ends(&mut off, 1, 1_000_000, "end t1.1 completed m1=answered `done`");
    off.after(10_000).is(Input::Message(queued(2)), "take t1.2 m2");
}
