//! The runtime dies: the message comes back, the session goes on, and too many deaths park.

use super::*;

/// R0-20, R0-21, R1-46, C7: a death gives the message back, and the session goes on after 5 s.
#[test]
fn an_exit_in_a_turn_gives_the_message_back_and_the_runtime_comes_back_after_its_delay() {
    let mut story = Story::working();
    story.asks("a");
    story.exits(1, "withdraw a; end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(Queued { attempt: 1, ..queued(1) }), "");
    assert_eq!(story.deadline(), Some(5));
    story.after(4).is(Input::Tick, "");
    story.after(1).is(Input::Tick, "start 2 Resume");
}

/// R0-22, R0-53, R1-46: three deaths within 300 s open the breaker; the queue is released.
#[test]
fn three_deaths_in_300_seconds_park_the_agent_and_a_resume_half_opens() {
    let mut story = Story::working();
    story.exits(1, "end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(queued(2)), "");
    story.after(5).is(Input::Tick, "start 2 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(2) }, "take t1.2 m2");
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
    story.exits(2, "end t1.2 lost m2=accepted; rescan");
    story.is(Input::Message(queued(2)), "");
    story.after(5).is(Input::Tick, "start 3 Resume");
    story.exits(3, "parked 3");
    story.is(Input::Message(queued(3)), "");
    assert_eq!(story.agent.view().waiting, 0);
    assert_eq!(story.deadline(), None);
    let unparked = format!("({:?}); rescan", Notice::Unparked);
    story.is(Input::Operator(Operator::Resume), &unparked);
    story.after(5).is(Input::Message(queued(3)), "start 4 Resume");
    story.exits(4, "");
    story.after(5).is(Input::Tick, "start 5 Fresh");
    story.exits(5, "parked 3");
}

/// R0-22: a message that ends the backend each time parks the agent once; after the resume it is
/// given up when its attempts are used up, and the next message is taken.
#[test]
fn a_message_that_ends_the_backend_each_time_parks_the_agent_once() {
    let mut story = Story::new();
    let dies = |story: &mut Story, generation: i64, expect: &str| {
        story.runtime(
            RuntimeInput::Ready { generation: Generation(generation) },
            &format!("take t1.{generation} m1"),
        );
        story.is(Input::Taken { turn: turn(generation) }, &format!("prompt t1.{generation}"));
        story.exits(generation, &format!("end t1.{generation} lost {expect}"));
    };
    let again = |attempt| Input::Message(Queued { attempt, ..queued(1) });
    story.is(again(0), "start 1 Resume");
    dies(&mut story, 1, "m1=accepted; rescan");
    story.is(again(1), "");
    story.after(5).is(Input::Tick, "start 2 Resume");
    dies(&mut story, 2, "m1=accepted; rescan");
    story.is(again(2), "");
    story.after(5).is(Input::Tick, "start 3 Resume");
    dies(&mut story, 3, "m1=accepted; parked 3 by m1");
    let unparked = format!("({:?}); rescan", Notice::Unparked);
    story.is(Input::Operator(Operator::Resume), &unparked);
    story.after(400).is(again(3), "start 4 Resume");
    dies(&mut story, 4, "m1=accepted; rescan");
    story.is(again(4), "");
    story.is(Input::Message(queued(2)), "");
    story.after(5).is(Input::Tick, "start 5 Resume");
    dies(&mut story, 5, "m1=dead_letter");
    story.after(5).is(Input::Tick, "start 6 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(6) }, "take t1.6 m2");
}

/// R0-22: a suspected message excuses no other death: one more parks again.
#[test]
fn deaths_of_other_messages_still_park_after_a_resume() {
    let mut story = Story::working();
    for generation in 1..3 {
        story.exits(generation, &format!("end t1.{generation} lost m1=accepted; rescan"));
        story.is(Input::Message(queued(1)), "");
        story.after(5).is(Input::Tick, &format!("start {} Resume", generation + 1));
        story.runtime(
            RuntimeInput::Ready { generation: Generation(generation + 1) },
            &format!("take t1.{} m1", generation + 1),
        );
        story.is(
            Input::Taken { turn: turn(generation + 1) },
            &format!("prompt t1.{}", generation + 1),
        );
    }
    story.exits(3, "end t1.3 lost m1=accepted; parked 3 by m1");
    let unparked = format!("({:?}); rescan", Notice::Unparked);
    story.is(Input::Operator(Operator::Resume), &unparked);
    story.after(5).is(Input::Message(queued(2)), "start 4 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(4) }, "take t1.4 m2");
    story.is(Input::Taken { turn: turn(4) }, "prompt t1.4");
    story.exits(4, "end t1.4 lost m2=accepted; parked 3");
}

/// C7, R0-22: a crash and two refused resumes are three deaths, but a new session is tried before
/// the agent is parked, once.
#[test]
fn refused_resumes_do_not_park_before_a_new_session_was_tried() {
    let mut story = Story::working();
    story.exits(1, "end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(queued(1)), "");
    for generation in [2, 3] {
        story.after(5).is(Input::Tick, &format!("start {generation} Resume"));
        story.exits(generation, "");
    }
    story.after(5).is(Input::Tick, "start 4 Fresh");
    story.exits(4, "parked 3");
}

/// R0-22.
#[test]
fn deaths_that_are_far_apart_do_not_park() {
    let mut story = Story::working();
    story.exits(1, "end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(queued(2)), "");
    for generation in 2..6 {
        story.after(150).is(Input::Tick, &format!("start {generation} Resume"));
        story.runtime(
            RuntimeInput::Ready { generation: Generation(generation) },
            &format!("take t1.{generation} m2"),
        );
        story.is(Input::Taken { turn: turn(generation) }, &format!("prompt t1.{generation}"));
        story.exits(generation, &format!("end t1.{generation} lost m2=accepted; rescan"));
        story.is(Input::Message(queued(2)), "");
    }
}

/// R0-20, R0-22.
#[test]
fn deaths_that_we_caused_do_not_count() {
    let mut story = Story::with(AgentOptions { start: StartMode::Eager, ..Default::default() });
    story.is(Input::Tick, "start 1 Resume");
    for generation in 1..8 {
        story.runtime(RuntimeInput::Ready { generation: Generation(generation) }, "");
        let exited = RuntimeInput::Exited { generation: Generation(generation), by: EndedBy::Us };
        story.runtime(exited, &format!("start {} Resume", generation + 1));
    }
}

/// R0-20, R0-22: a clean end while nothing is under way is no crash, however often it comes; and it
/// is no reason for a hot loop.
#[test]
fn a_clean_end_after_work_does_not_count() {
    let options = AgentOptions { on_crash: OnCrash::Fresh, ..AgentOptions::default() };
    let mut story = Story::with(options);
    story.is(Input::Message(queued(1)), "start 1 Resume");
    for generation in 1..9 {
        story.runtime(
            RuntimeInput::Ready { generation: Generation(generation) },
            &format!("take t1.{generation} m1"),
        );
        story.is(Input::Taken { turn: turn(generation) }, &format!("prompt t1.{generation}"));
        story.finish(
            generation,
            Finish::Failed("x".to_owned()),
            &format!("end t1.{generation} failed:x m1=failed"),
        );
        story.ends(generation, "");
        story.is(Input::Message(queued(1)), "");
        assert_eq!(story.deadline(), Some(5 * u64::try_from(generation).unwrap()));
        story.after(5).is(Input::Tick, &format!("start {} Resume", generation + 1));
    }
}

/// R0-20, R0-22: who ends at once ends for ever, whatever the code; who lived for a while does not.
#[test]
fn a_clean_end_right_after_a_start_counts() {
    let eager = AgentOptions { start: StartMode::Eager, ..AgentOptions::default() };
    let lives = |seconds: u64| {
        let mut story = Story::with(eager.clone());
        story.is(Input::Tick, "start 1 Resume");
        for generation in 1..3 {
            story.runtime(RuntimeInput::Ready { generation: Generation(generation) }, "");
            story.after(seconds).ends(generation, "");
            story.after(5).is(Input::Tick, &format!("start {} Resume", generation + 1));
        }
        story.runtime(RuntimeInput::Ready { generation: Generation(3) }, "");
        story.after(seconds);
        story
    };
    lives(59).ends(3, "parked 3");
    lives(60).ends(3, "");
    // Before it takes prompts, and in a turn, it is as any other end.
    let mut story = Story::with(eager);
    story.is(Input::Tick, "start 1 Resume");
    story.after(60).ends(1, "");
    let mut story = Story::working();
    story.after(100).ends(1, "end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(queued(1)), "");
    story.after(5).is(Input::Tick, "start 2 Resume");
    story.ends(2, "");
    story.after(5).is(Input::Tick, "start 3 Resume");
    story.ends(3, "");
    story.after(5).is(Input::Tick, "start 4 Fresh");
    story.ends(4, "parked 3");
}

/// R0-22: what it does by itself is no work: a first prompt in each generation would be a loop.
#[test]
fn a_turn_that_nobody_asked_for_does_not_make_an_end_a_good_one() {
    let options = AgentOptions { start: StartMode::Eager, ..AgentOptions::default() };
    let mut story = Story::with(options);
    story.is(Input::Tick, "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "");
    story.runtime(RuntimeInput::Began { generation: Generation(1) }, "take t1.1; adopt t1.1");
    story.is(Input::Taken { turn: turn(1) }, "");
    story.finish(1, Finish::Completed, "end t1.1 completed");
    assert!(!story.agent.ends_well(story.now, Generation(1)));
    assert!(story.agent.ends_well(story.now.plus(Duration::from_secs(60)), Generation(1)));
    assert!(!story.agent.ends_well(story.now.plus(Duration::from_secs(60)), Generation(2)));
}

/// C7: two failed resumes in a row fall back to a new session.
#[test]
fn two_failed_resumes_fall_back_to_a_new_session() {
    let options = AgentOptions { breaker_deaths: 9, ..Default::default() };
    let mut story = Story::with(options);
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.after(60).is(Input::Tick, "missed Start; kill 1");
    story.after(5).is(Input::Tick, "start 2 Resume");
    story.exits(2, "");
    story.after(5).is(Input::Tick, "start 3 Fresh");
    story.runtime(RuntimeInput::Ready { generation: Generation(3) }, "take t1.1 m1");
    story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
    story.exits(3, "end t1.1 lost m1=accepted; rescan");
    story.is(Input::Message(queued(1)), "");
    story.after(5).is(Input::Tick, "start 4 Resume");
}

/// R2-43: a backend that says at its start that it has no login is not fed.
#[test]
fn a_backend_without_a_login_at_its_start_is_not_fed() {
    let mut story = Story::new();
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(
        RuntimeInput::NeedsLogin { generation: Generation(7) },
        "(LateGeneration { generation: Generation(7) })",
    );
    story.runtime(RuntimeInput::NeedsLogin { generation: Generation(1) }, "");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "");
    assert!(story.agent.view().needs_login);
    story.runtime(RuntimeInput::LoggedIn { generation: Generation(1) }, "take t1.1 m1");
    assert!(!story.agent.view().needs_login);
}
