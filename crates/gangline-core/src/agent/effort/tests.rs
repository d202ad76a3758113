//! Which turns are thought about harder.

use super::{
    super::tests::{Story, queued, turn},
    *,
};
use crate::agent::{Abilities, Finish, Generation, Input, Limit, Operator, Queued, RuntimeInput};
use crate::{outcome::By, time::WallMicros};
use std::time::Duration;

const FIRST: Generation = Generation(1);

/// The backend works on m1 in the first turn.
fn working(effort: EffortChange) -> Story {
    let mut story = Story::working();
    let abilities = Abilities { effort, ..Abilities::default() };
    story.runtime(RuntimeInput::Can { generation: FIRST, abilities }, "");
    story
}

/// A message that came of m1.
fn follows(id: i64) -> Input {
    Input::Message(Queued { cause: MessageId(1), ..queued(id) })
}

fn deeper(story: &mut Story, number: i64, road: WhisperRoad, expect: &str) {
    story.is(Input::ThinkDeeper { turn: turn(number), road }, expect);
}

/// The turn's message is answered.
fn answered(story: &mut Story, number: i64, then: &str) {
    story.runtime(RuntimeInput::Text { turn: turn(number), text: "done".to_owned() }, "");
    let end = format!("end t1.{number} completed m{number}=answered `done`{then}");
    story.finish(number, Finish::Completed, &end);
}

/// R1-11: a whisper in a running turn raises the effort at once where that can be, and its end lowers
/// it; a second one in the same turn changes nothing.
#[test]
fn the_effort_is_raised_in_the_turn_and_lowered_at_its_end() {
    for road in WhisperRoad::ALL {
        let mut story = working(EffortChange::AtOnce);
        deeper(&mut story, 1, *road, "raised");
        deeper(&mut story, 1, *road, "");
        answered(&mut story, 1, "; ground");
        story.is(Input::Message(queued(2)), "take t1.2 m2");
    }
}

/// R1-11: a backend that takes it with a prompt only is told before that, and in a turn that has its
/// prompt not at all: the task ends with the turn.
#[test]
fn with_the_next_prompt_only_the_whisper_before_a_prompt_raises_it() {
    let mut story = working(EffortChange::NextTurn);
    deeper(&mut story, 1, WhisperRoad::Prompt, "raised");
    answered(&mut story, 1, "; ground");
    let mut story = working(EffortChange::NextTurn);
    deeper(&mut story, 1, WhisperRoad::Hook, "");
    answered(&mut story, 1, "");
    story.is(Input::Message(queued(2)), "take t1.2 m2");
}

/// R1-11: the task goes on while a message of the same cause waits, and other tasks in between are
/// thought about as usual.
#[test]
fn the_task_lasts_while_something_of_its_cause_waits() {
    for (effort, first) in [(EffortChange::AtOnce, "raised"), (EffortChange::NextTurn, "")] {
        let mut story = working(effort);
        deeper(&mut story, 1, WhisperRoad::Tool, first);
        story.is(Input::Message(queued(2)), "");
        story.is(follows(3), "");
        let then = if first.is_empty() { "" } else { "; ground" };
        answered(&mut story, 1, &format!("{then}; take t1.2 m2"));
        story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
        answered(&mut story, 2, "; raised; take t1.3 m3");
        story.is(Input::Taken { turn: turn(3) }, "prompt t1.3");
        answered(&mut story, 3, "; ground");
        story.is(follows(4), "take t1.4 m4");
    }
}

/// R1-11: a message that goes back to the queue is still the task.
#[test]
fn a_message_that_comes_back_is_thought_about_as_hard() {
    let mut story = working(EffortChange::AtOnce);
    deeper(&mut story, 1, WhisperRoad::Hook, "raised");
    let (until, wait) = (WallMicros(1), Duration::from_secs(9));
    let limited = Finish::RateLimited { until, wait, limit: Limit::Throttle };
    story.finish(1, limited, "end t1.1 rate_limited m1=accepted");
    story.after(10).is(Input::Message(queued(1)), "take t1.2 m1");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    story.runtime(RuntimeInput::Text { turn: turn(2), text: "done".to_owned() }, "");
    story.finish(2, Finish::Completed, "end t1.2 completed m1=answered `done`; ground");
}

/// R1-11: also if another message is answered before it comes back.
#[test]
fn a_message_that_comes_back_later_is_thought_about_as_hard() {
    let mut story = working(EffortChange::AtOnce);
    deeper(&mut story, 1, WhisperRoad::Hook, "raised");
    let (until, wait) = (WallMicros(1), Duration::from_secs(9));
    let limited = Finish::RateLimited { until, wait, limit: Limit::Throttle };
    story.finish(1, limited, "end t1.1 rate_limited m1=accepted");
    story.after(10).is(Input::Message(queued(2)), "ground; take t1.2 m2");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    answered(&mut story, 2, "");
    story.is(Input::Message(queued(1)), "raised; take t1.3 m1");
}

/// R1-11: a turn that could not be recorded leaves its message's cause as it was.
#[test]
fn a_message_that_was_not_taken_keeps_its_cause() {
    let mut story = working(EffortChange::AtOnce);
    story.is(follows(3), "");
    deeper(&mut story, 1, WhisperRoad::Hook, "raised");
    answered(&mut story, 1, "; take t1.2 m3");
    story.is(Input::TakeFailed { turn: turn(2), gone: Vec::new() }, "");
    story.is(Input::StoreOk, "take t1.3 m3");
    story.is(Input::Taken { turn: turn(3) }, "prompt t1.3");
    story.runtime(RuntimeInput::Text { turn: turn(3), text: "done".to_owned() }, "");
    story.finish(3, Finish::Completed, "end t1.3 completed m3=answered `done`; ground");
}

/// R1-11: an interrupted task is over.
#[test]
fn an_interrupt_lowers_it() {
    let mut story = working(EffortChange::AtOnce);
    deeper(&mut story, 1, WhisperRoad::Hook, "raised");
    story.is(Input::Operator(Operator::Interrupt(By::Operator)), "interrupt t1.1");
    deeper(
        &mut story,
        1,
        WhisperRoad::Hook,
        "(Late { turn: TurnId { epoch: Epoch(1), number: 1 } })",
    );
    story.finish(1, Finish::Interrupted, "end t1.1 interrupted:operator m1=failed; ground");
}

/// R1-11: a generation begins at its ground level, whatever the one before was told.
#[test]
fn a_new_generation_begins_at_its_ground_level() {
    let mut story = working(EffortChange::AtOnce);
    deeper(&mut story, 1, WhisperRoad::Hook, "raised");
    story.exits(1, "end t1.1 lost m1=accepted; rescan");
    story.after(10).is(Input::Message(Queued { attempt: 1, ..queued(1) }), "start 2 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m1");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
}

/// R1-11: a backend that cannot be told is not.
#[test]
fn a_backend_that_cannot_is_told_nothing() {
    let mut story = working(EffortChange::Never);
    for road in WhisperRoad::ALL {
        deeper(&mut story, 1, *road, "");
    }
    answered(&mut story, 1, "");
}
