//! Messages that come in a turn: read, steered, buffered, or kept for the next one.

use super::*;

/// C3: reading is taking part in the turn.
#[test]
fn messages_that_are_read_join_the_turn() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Message(queued(3)), "");
    let read = Input::Read { messages: vec![MessageId(2), MessageId(9)] };
    story.is(read, "rescan; join t1.1 m2");
    story.text("both done");
    let expect = "end t1.1 completed m1=answered `both done` m2=answered; take t1.2 m3";
    story.finish(1, Finish::Completed, expect);
}

fn busy(when_busy: WhenBusy) -> Story {
    let mut story = Story::with(AgentOptions { when_busy, ..AgentOptions::default() });
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
    story.runtime(RuntimeInput::Accepted { turn: turn(1) }, "");
    story
}

/// C3: one that the runtime has taken up is answered by what comes after that.
#[test]
fn a_steered_message_takes_part_in_the_turn_from_where_the_runtime_has_it() {
    let mut story = busy(WhenBusy::Steer);
    story.is(Input::Message(queued(2)), "steer t1.1 m2");
    story.is(Input::Message(queued(2)), "");
    let messages = vec![MessageId(2)];
    let joined = Input::Joined { turn: turn(1), messages: messages.clone() };
    story.is(joined, "send steer t1.1 m2");
    story.text("for the first alone");
    story.runtime(RuntimeInput::Steered { turn: turn(1), messages }, "");
    story.runtime(RuntimeInput::ToolResult { turn: turn(1), tool: Tool::Other }, "");
    story.text("for both");
    let expect = "end t1.1 completed m1=answered `for both` m2=answered";
    story.finish(1, Finish::Completed, expect);
}

/// C3: what did not reach the runtime is not lost and not answered by what was meant for another.
#[test]
fn a_message_that_could_not_be_steered_in_time_waits_again() {
    let mut story = busy(WhenBusy::Steer);
    story.is(Input::Message(queued(2)), "steer t1.1 m2");
    story.text("done");
    let expect = "end t1.1 completed m1=answered `done` m2=accepted; rescan";
    story.finish(1, Finish::Completed, expect);
    let late = Input::Joined { turn: turn(1), messages: vec![MessageId(2)] };
    story.is(late, "");
    // Neither does a failed turn take it along.
    let mut story = busy(WhenBusy::Steer);
    story.is(Input::Message(queued(2)), "steer t1.1 m2");
    let expect = "end t1.1 failed:x m1=failed m2=accepted; rescan";
    story.finish(1, Finish::Failed("x".to_owned()), expect);
}

/// C3: order is kept: nothing overtakes what waits already, and a paused agent is not steered.
#[test]
fn what_cannot_be_steered_is_queued() {
    let mut story = busy(WhenBusy::Steer);
    story.is(pause(), "(Paused(Operator))");
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Operator(Operator::Resume), "(Resumed)");
    story.is(Input::Message(queued(3)), "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`; take t1.2 m2");
    let failed = Input::JoinFailed { turn: turn(2), messages: vec![MessageId(3)] };
    story.is(failed, "");
    assert_eq!(story.agent.view().waiting, 1);
}

/// R1-29, C3: what came in a turn wakes nobody for a minute, unless something else does.
#[test]
fn a_buffered_message_may_be_read_and_is_fed_when_nobody_read_it() {
    let mut story = busy(WhenBusy::Buffer);
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Message(queued(3)), "");
    story.is(Input::Read { messages: vec![MessageId(3)] }, "join t1.1 m3");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done` m3=answered");
    assert_eq!(story.deadline(), Some(60));
    story.after(59).is(Input::Tick, "");
    story.after(1).is(Input::Tick, "take t1.2 m2");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    story.is(Input::Message(queued(4)), "");
    let text = RuntimeInput::Text { turn: turn(2), text: "two".to_owned() };
    story.runtime(text, "");
    story.finish(2, Finish::Completed, "end t1.2 completed m2=answered `two`");
    // Somebody else asks the idle agent: all that waits is fed in order.
    story.is(Input::Message(queued(5)), "take t1.3 m4");
}

/// C3: the agent may read a line before its message is told of here.
#[test]
fn a_message_that_was_read_before_it_was_queued_joins_when_it_comes() {
    let mut story = Story::working();
    story.is(Input::Read { messages: vec![MessageId(2)] }, "rescan");
    story.is(Input::Message(queued(3)), "");
    story.is(Input::Message(queued(2)), "join t1.1 m2");
    story.is(Input::Message(queued(2)), "");
    story.text("both done");
    let expect = "end t1.1 completed m1=answered `both done` m2=answered; take t1.2 m3";
    story.finish(1, Finish::Completed, expect);
    // Another turn does not expect it.
    story.is(Input::Message(queued(2)), "");
}
