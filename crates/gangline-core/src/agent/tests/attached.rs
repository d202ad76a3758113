//! Messages that are taken with the next one.

use super::*;

fn own(id: i64, needs: Needs) -> Input {
    Input::Message(Queued { origin: Origin::System, needs, ..queued(id) })
}

fn ready() -> RuntimeInput {
    RuntimeInput::Ready { generation: Generation(1) }
}

/// R2-14: fifty agents that start cost no model call; what waits comes with the next message, behind
/// it.
#[test]
fn a_message_that_needs_another_one_waits_for_it() {
    let mut story = Story::new();
    story.is(own(1, Needs::OtherMessage), "");
    story.after(100_000).is(Input::Tick, "");
    assert_eq!((story.agent.next_deadline(), story.agent.view().waiting), (None, 0));
    story.is(Input::Message(queued(2)), "start 1 Resume");
    story.is(Input::Message(queued(3)), "");
    story.runtime(ready(), "take t1.1 m2 m1");
    // It could not be written: both wait as they did.
    let gone = vec![MessageId(2)];
    story.is(Input::TakeFailed { turn: turn(1), gone }, "take t1.2 m3 m1");
    story.is(Input::TakeFailed { turn: turn(2), gone: vec![MessageId(3)] }, "");
    assert_eq!(story.agent.view().waiting, 0);
    story.is(Input::Message(queued(4)), "take t1.3 m4 m1");
}

/// R2-14: in a container, or after a turn was cut off, it starts a turn; together with another one if
/// one waits.
#[test]
fn a_message_that_needs_any_turn_starts_one_or_shares_it() {
    let mut story = Story::new();
    story.is(own(1, Needs::AnyTurn), "start 1 Resume");
    story.runtime(ready(), "take t1.1 m1");
    let mut story = Story::new();
    story.is(own(1, Needs::AnyTurn), "start 1 Resume");
    story.is(Input::Message(queued(2)), "");
    story.runtime(ready(), "take t1.1 m2 m1");
}

/// It takes nobody's place in a queue that is full, and is not given in mid-turn.
#[test]
fn an_attached_message_is_outside_of_the_queue() {
    let small = || AgentOptions { queue_max: 1, ..AgentOptions::default() };
    let mut story = Story::working_with(small());
    story.is(own(2, Needs::OtherMessage), "");
    story.is(Input::Message(queued(3)), "");
    story.is(Input::Message(queued(4)), "");
    assert!(story.agent.passes_over());
    story.text("done");
    let expect = "end t1.1 completed m1=answered `done`; take t1.2 m3 m2; rescan";
    story.finish(1, Finish::Completed, expect);
    let steer = AgentOptions { when_busy: WhenBusy::Steer, ..AgentOptions::default() };
    let mut story = Story::working_with(steer);
    story.is(own(2, Needs::AnyTurn), "");
    story.is(Input::Message(queued(3)), "steer t1.1 m3");
}
