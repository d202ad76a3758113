//! What becomes of the session between turns, and of a turn whose prompt no longer fits.

use super::{
    super::tests::{Story, queued, turn},
    *,
};
use crate::{
    agent::{AgentOptions, Drain, Finish, Input, Operator, RuntimeInput, StartMode, WhenBusy},
    effort::EffortChange,
    outcome::By,
};

const ALL: Abilities =
    Abilities { compact: true, clear: true, model: ModelChange::Any, effort: EffortChange::Never };
const FIRST: Generation = Generation(1);

/// A runtime with these abilities works on m1 in the first turn.
fn working(abilities: Abilities, options: AgentOptions) -> Story {
    let mut story = Story::working_with(options);
    story.runtime(RuntimeInput::Can { generation: FIRST, abilities }, "");
    story
}

fn able() -> Story {
    working(ALL, AgentOptions::default())
}

/// A turn of `m{number}` begins, and its prompt is taken.
fn prompted(story: &mut Story, number: i64) {
    story.is(Input::Message(queued(number)), &format!("take t1.{number} m{number}"));
    story.is(Input::Taken { turn: turn(number) }, &format!("prompt t1.{number}"));
    story.runtime(RuntimeInput::Accepted { turn: turn(number) }, "");
}

/// R2-08: the turn stays open, and its asker hears nothing of it.
#[test]
fn a_prompt_that_does_not_fit_is_given_once_more_in_a_shorter_context() {
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.is(Input::Message(queued(2)), "");
    story.compacts(true, "prompt again t1.1");
    story.runtime(RuntimeInput::Accepted { turn: turn(1) }, "");
    story.text("done");
    let then = "end t1.1 completed m1=answered `done`; take t1.2 m2";
    story.finish(1, Finish::Completed, then);
}

#[test]
fn a_prompt_that_still_does_not_fit_fails_and_the_context_is_compacted_between_turns() {
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.compacts(true, "prompt again t1.1");
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow m1=failed; compact");
    story.compacts(true, "");
    prompted(&mut story, 2);
    story.finish(2, Finish::Overflow, "compact");
}

/// Nothing but an empty session helps.
#[test]
fn a_session_that_cannot_be_compacted_is_given_up() {
    let fails = "end t1.1 failed:context_overflow m1=failed; restart 1";
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.compacts(false, fails);
    story.is(Input::Message(queued(2)), "start 2 Renewed");
    let mut story = working(Abilities::default(), AgentOptions::default());
    story.finish(1, Finish::Overflow, fails);
    story.is(Input::Message(queued(2)), "start 2 Renewed");
    // Nor when the compaction after the turn fails.
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.compacts(true, "prompt again t1.1");
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow m1=failed; compact");
    story.compacts(false, "restart 1");
}

/// Its first turn failed although its context was compacted, and another compaction is under way.
fn too_long() -> Story {
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.compacts(true, "prompt again t1.1");
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow m1=failed; compact");
    story
}

/// What is said of the compaction after the turn decides, unless a turn shows it first.
#[test]
fn a_context_that_is_too_long_is_not_compacted_for_each_prompt() {
    let mut story = too_long();
    prompted(&mut story, 2);
    let then = "end t1.2 failed:context_overflow m2=failed; restart 1";
    story.finish(2, Finish::Overflow, then);
    let mut story = too_long();
    prompted(&mut story, 2);
    let words = RuntimeInput::Text { turn: turn(2), text: "done".to_owned() };
    story.runtime(words, "");
    story.finish(2, Finish::Completed, "end t1.2 completed m2=answered `done`");
    story.compacts(false, "");
    // Emptied, it is short.
    let mut story = too_long();
    story.is(Input::Change(ContextChange::Clear), "clear");
    prompted(&mut story, 2);
    story.finish(2, Finish::Overflow, "compact");
}

/// Only what has a prompt of ours can be given again, and only its own generation's word counts.
#[test]
fn what_is_given_again_is_a_prompt_of_ours_in_its_generation() {
    let mut story = Story::with(AgentOptions { start: StartMode::Eager, ..Default::default() });
    story.is(Input::Tick, "start 1 Resume");
    story.runtime(RuntimeInput::Can { generation: FIRST, abilities: ALL }, "");
    story.runtime(RuntimeInput::Ready { generation: FIRST }, "");
    story.runtime(RuntimeInput::Began { generation: FIRST }, "take t1.1; adopt t1.1");
    story.is(Input::Taken { turn: turn(1) }, "");
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow; compact");
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    let generation = Generation(2);
    let late = "(LateGeneration { generation: Generation(2) })";
    story.runtime(RuntimeInput::Compacted { generation }, late);
    story.runtime(RuntimeInput::NotCompacted { generation }, late);
    story.compacts(true, "prompt again t1.1");
}

/// R2-08: the runtime's part is over while its context is compacted: it has no turn to add to.
#[test]
fn a_message_waits_while_the_context_is_compacted() {
    let mut story =
        working(ALL, AgentOptions { when_busy: WhenBusy::Steer, ..AgentOptions::default() });
    story.is(Input::Message(queued(2)), "steer t1.1 m2");
    story.finish(1, Finish::Overflow, "compact");
    story.is(Input::Message(queued(3)), "");
    assert_eq!(story.agent.view().waiting, 1);
}

/// A backend may compact by itself later in the turn. That gives the prompt to nobody, and the turn can
/// be added to again.
#[test]
fn a_prompt_that_was_given_again_is_not_given_for_every_compaction() {
    let mut story =
        working(ALL, AgentOptions { when_busy: WhenBusy::Steer, ..AgentOptions::default() });
    story.finish(1, Finish::Overflow, "compact");
    story.compacts(true, "prompt again t1.1");
    story.compacts(true, "");
    story.compacts(false, "");
    story.is(Input::Message(queued(2)), "steer t1.1 m2");
}

/// C13: `compaction: off`.
#[test]
fn without_compaction_a_prompt_that_does_not_fit_fails() {
    let mut story = working(ALL, AgentOptions { compacts: false, ..AgentOptions::default() });
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow m1=failed");
    prompted(&mut story, 2);
}

/// A window too small for the first words of a session would begin one after the other.
#[test]
fn first_words_that_do_not_fit_are_not_told_in_a_hot_loop() {
    let options =
        AgentOptions { start: StartMode::Eager, first_words: true, ..AgentOptions::default() };
    let mut story = Story::with(options);
    story.is(Input::Tick, "start 1 Resume");
    story.runtime(RuntimeInput::Primes { generation: FIRST }, "");
    story.runtime(RuntimeInput::Ready { generation: FIRST }, "take t1.1");
    story.is(Input::Taken { turn: turn(1) }, "prime t1.1");
    story.finish(1, Finish::Overflow, "end t1.1 failed:context_overflow; restart 1");
    story.after(5).is(Input::Tick, "start 2 Renewed");
}

#[test]
fn a_turn_that_is_ended_while_its_context_is_compacted_is_not_given_again() {
    for (word, end) in [
        (Input::Operator(Operator::Interrupt(By::Operator)), "interrupted:operator"),
        (Input::Drain(Drain::Now), "interrupted:drain"),
    ] {
        let mut story = able();
        story.finish(1, Finish::Overflow, "compact");
        story.is(word, "interrupt t1.1");
        let state = if end.ends_with("drain") { "accepted" } else { "failed" };
        let then = if end.ends_with("drain") { "; kill 1; drained" } else { "" };
        story.compacts(true, &format!("end t1.1 {end} m1={state}{then}"));
    }
}

/// When a person asks for a change, in a turn whose prompt does not fit.
#[derive(Debug, Clone, Copy)]
enum Requested {
    /// Before that is known.
    Before,
    /// While the context is made shorter for it.
    Meanwhile,
    /// While the prompt is given again.
    After,
}

/// A compaction has one owner: while one is under way for the turn, a person's request for one is met by
/// it, and no second one follows. The turn stays one.
#[test]
fn a_persons_request_is_met_by_the_compaction_that_is_under_way() {
    use ContextChange::{Clear, Compact};
    use Requested::{After, Before, Meanwhile};
    for (change, requested, then) in [
        (Compact, Before, ""),
        (Compact, Meanwhile, ""),
        // The turn may have filled it again.
        (Compact, After, "; compact"),
        (Clear, Before, "; clear"),
        (Clear, Meanwhile, "; clear"),
        (Clear, After, "; clear"),
    ] {
        let mut story = able();
        let request = |story: &mut Story| story.is(Input::Change(change), "");
        if matches!(requested, Before) {
            request(&mut story);
        }
        story.finish(1, Finish::Overflow, "compact");
        if matches!(requested, Meanwhile) {
            request(&mut story);
            request(&mut story);
        }
        story.compacts(true, "prompt again t1.1");
        if matches!(requested, After) {
            request(&mut story);
        }
        story.runtime(RuntimeInput::Accepted { turn: turn(1) }, "");
        story.text("done");
        let end = format!("end t1.1 completed m1=answered `done`{then}");
        story.finish(1, Finish::Completed, &end);
        assert_eq!(story.agent.view().turn, None, "{change:?} {requested:?}");
    }
}

/// What could not be made shorter is given up, and an empty session needs no shortening.
#[test]
fn a_persons_request_is_met_by_an_empty_session_when_the_compaction_fails() {
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.is(Input::Change(ContextChange::Compact), "");
    story.compacts(false, "end t1.1 failed:context_overflow m1=failed; restart 1");
    story.is(Input::Message(queued(2)), "start 2 Renewed");
    story.runtime(RuntimeInput::Can { generation: Generation(2), abilities: ALL }, "");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m2");
}

/// The watchdog runs while the context is made shorter, and anew once the prompt was given again.
#[test]
fn a_compaction_that_hangs_is_ended_like_a_turn_that_does() {
    let mut story = able();
    story.after(500).finish(1, Finish::Overflow, "compact");
    assert_eq!(story.deadline(), Some(1100));
    story.after(500).compacts(true, "prompt again t1.1");
    assert_eq!(story.deadline(), Some(1600));
    let mut story = able();
    story.finish(1, Finish::Overflow, "compact");
    story.after(600).is(Input::Tick, "missed TurnOutput; interrupt t1.1");
    story.after(10).is(Input::Tick, "missed InterruptGrace; kill 1; end t1.1 timed_out m1=failed");
}

/// R0-07: what an empty session is told first is a turn of its own, whoever waits; so it is after a
/// session was emptied.
#[test]
fn the_first_words_of_a_session_go_before_all_that_waits() {
    let options = AgentOptions { first_words: true, ..AgentOptions::default() };
    let mut story = Story::with(options);
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Primes { generation: FIRST }, "");
    story.runtime(RuntimeInput::Can { generation: FIRST, abilities: ALL }, "");
    story.runtime(RuntimeInput::Ready { generation: FIRST }, "take t1.1");
    story.is(Input::Taken { turn: turn(1) }, "prime t1.1");
    story.text("primed");
    story.is(Input::Message(queued(2)), "");
    story.finish(1, Finish::Completed, "end t1.1 completed; take t1.2 m1");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    story.runtime(RuntimeInput::Text { turn: turn(2), text: "one".to_owned() }, "");
    story.is(Input::Change(ContextChange::Clear), "");
    let then = "end t1.2 completed m1=answered `one`; clear; take t1.3";
    story.finish(2, Finish::Completed, then);
    story.is(Input::Taken { turn: turn(3) }, "prime t1.3");
    story.finish(3, Finish::Completed, "end t1.3 completed; take t1.4 m2");
    let late = Generation(2);
    let told = "(LateGeneration { generation: Generation(2) })";
    story.runtime(RuntimeInput::Primes { generation: late }, told);
    story.runtime(RuntimeInput::Can { generation: late, abilities: ALL }, told);
}

/// The session is as it was.
#[test]
fn a_session_that_cannot_be_emptied_is_not_told_its_first_words_again() {
    let options = AgentOptions { first_words: true, ..AgentOptions::default() };
    let mut story = working(Abilities { clear: false, ..ALL }, options);
    story.is(Input::Change(ContextChange::Clear), "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`; clear");
}

/// A store that cannot write is not asked again and again.
#[test]
fn first_words_that_were_not_recorded_are_told_later() {
    let mut story = Story::with(AgentOptions { first_words: true, ..AgentOptions::default() });
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Primes { generation: FIRST }, "");
    story.runtime(RuntimeInput::Ready { generation: FIRST }, "take t1.1");
    story.is(Input::TakeFailed { turn: turn(1), gone: Vec::new() }, "");
    story.is(Input::StoreOk, "take t1.2");
    story.is(Input::Taken { turn: turn(2) }, "prime t1.2");
}

/// R2-06: what a person asked for waits for the turn's end, outlives a generation, and an emptied
/// context is not made shorter.
#[test]
fn the_context_is_changed_between_turns() {
    let mut story = able();
    story.is(Input::Change(ContextChange::Compact), "");
    story.is(Input::Message(queued(2)), "");
    story.text("done");
    let then = "end t1.1 completed m1=answered `done`; compact; take t1.2 m2";
    story.finish(1, Finish::Completed, then);
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    story.is(Input::Change(ContextChange::Clear), "");
    story.is(Input::Change(ContextChange::Compact), "");
    let lost = "end t1.2 lost m2=accepted; rescan";
    story.exits(1, lost);
    story.after(5).is(Input::Message(queued(3)), "start 2 Cleared");
    story.is(Input::Change(ContextChange::Compact), "");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "compact; take t1.3 m3");
}

#[test]
fn a_backend_is_told_its_model_or_started_anew() {
    let named = Abilities { model: ModelChange::Named, ..ALL };
    let restart = Abilities { model: ModelChange::Restart, ..ALL };
    for (can, model, then) in [
        (ALL, ChosenModel::Named, "set model"),
        (ALL, ChosenModel::Default, "set model"),
        (named, ChosenModel::Named, "set model"),
        (named, ChosenModel::Default, "restart 1"),
        (restart, ChosenModel::Named, "restart 1"),
    ] {
        let mut story = working(can, AgentOptions::default());
        story.is(Input::ModelChosen(model), "");
        story.text("done");
        let end = format!("end t1.1 completed m1=answered `done`; (ModelChanges); {then}");
        story.finish(1, Finish::Completed, &end);
        let next = if then == "restart 1" { "start 2 Resume" } else { "take t1.2 m2" };
        story.is(Input::Message(queued(2)), next);
    }
}

/// R0-65: whatever the backend is, it has another effort from the start of its next process, once no turn is
/// open; its session continues.
#[test]
fn a_backend_is_started_anew_with_the_effort_that_was_chosen() {
    for (chosen, then) in [
        (None, "(EffortChanges); restart 1"),
        (Some(ChosenModel::Named), "(ModelChanges); set model; (EffortChanges); restart 1"),
    ] {
        let mut story = working(ALL, AgentOptions::default());
        chosen.into_iter().for_each(|model| story.is(Input::ModelChosen(model), ""));
        story.is(Input::EffortChosen, "");
        story.text("done");
        let end = format!("end t1.1 completed m1=answered `done`; {then}");
        story.finish(1, Finish::Completed, &end);
        story.is(Input::Message(queued(2)), "start 2 Resume");
        story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m2");
    }
}

/// A context that is to be shortened or emptied is so after it.
#[test]
fn a_backend_that_is_started_anew_for_its_effort_keeps_what_was_asked_of_its_context() {
    let mut story = working(ALL, AgentOptions::default());
    story.is(Input::Change(ContextChange::Compact), "");
    story.is(Input::EffortChosen, "");
    story.text("done");
    let end = "end t1.1 completed m1=answered `done`; (EffortChanges); restart 1";
    story.finish(1, Finish::Completed, end);
    story.is(Input::Message(queued(2)), "start 2 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "compact; take t1.2 m2");
}

/// A generation that begins later has the model from its start.
#[test]
fn a_model_that_was_chosen_while_nothing_ran_is_not_told() {
    let mut story = Story::with(AgentOptions::default());
    story.is(Input::ModelChosen(ChosenModel::Named), "");
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: FIRST }, "take t1.1 m1");
}

/// Nobody is to blame: no message loses an attempt, and no breaker counts it.
#[test]
fn a_backend_that_does_not_take_its_commands_is_ended() {
    let mut story = able();
    let then = "kill 1; end t1.1 lost m1=accepted; rescan";
    story.runtime(RuntimeInput::Unusable { generation: FIRST }, then);
    let late = "(LateGeneration { generation: Generation(1) })";
    story.runtime(RuntimeInput::Unusable { generation: FIRST }, late);
    story.is(Input::Message(queued(1)), "start 2 Resume");
    // While its turn is being recorded, too; then its exit changes nothing.
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m1");
    story.runtime(RuntimeInput::Unusable { generation: Generation(2) }, "kill 2");
    story.runtime(
        RuntimeInput::Unusable { generation: Generation(2) },
        "(LateGeneration { generation: Generation(2) })",
    );
    let lost = "end t1.2 lost m1=accepted; rescan";
    story.is(Input::Taken { turn: turn(2) }, lost);
}
