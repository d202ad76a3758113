//! Turns that wait for their time: pauses and their reasons, rate limits and spent quotas.

use super::*;

/// C3: pause keeps what waits and feeds nothing.
#[test]
fn a_pause_keeps_messages_and_the_open_turn() {
    let mut story = Story::working();
    let paused = format!("({:?})", Notice::Paused(PauseReason::Operator));
    story.is(pause(), &paused);
    story.is(pause(), "");
    story.is(Input::Message(queued(2)), "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
    assert_eq!(story.agent.view().waiting, 1);
    let resumed = format!("({:?}); take t1.2 m2", Notice::Resumed);
    story.is(Input::Operator(Operator::Resume), &resumed);
}

#[test]
fn a_rate_limit_gives_the_message_back_for_later() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    let how = Finish::RateLimited {
        until: WallMicros(7),
        wait: Duration::from_secs(12),
        limit: Limit::Throttle,
    };
    story.finish(1, how, "end t1.1 rate_limited m1=accepted");
    assert_eq!(story.deadline(), Some(12));
    assert!(story.agent.view().rate_limited);
    story.after(12).is(Input::Tick, "take t1.2 m2");
    assert!(!story.agent.view().rate_limited);
}

/// A spent quota pauses the agent until the named time; what passes at once is waited for only.
#[test]
fn a_spent_quota_pauses_until_its_time() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    let (until, wait) = (WallMicros(7), Duration::from_secs(3600));
    let how = Finish::RateLimited { until, wait, limit: Limit::Quota };
    let held = Held { reason: PauseReason::RateLimit, until: Some(until) };
    let told = format!("end t1.1 rate_limited m1=accepted; (Paused(RateLimit)); paused {held:?}");
    story.finish(1, how, &told);
    assert_eq!(story.agent.view().pauses, [held]);
    assert_eq!(story.deadline(), Some(3600));
    story.after(3599).is(Input::Tick, "");
    story.after(1).is(Input::Tick, &format!("over {held:?}; (Resumed); take t1.2 m2"));
    assert!(story.agent.view().pauses.is_empty());
}

/// A person who says `resume` has it tried at once.
#[test]
fn resume_tries_a_spent_quota_again() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    let (until, wait) = (WallMicros(7), Duration::from_secs(3600));
    let how = Finish::RateLimited { until, wait, limit: Limit::Quota };
    let told = "end t1.1 rate_limited m1=accepted; (Paused(RateLimit)); paused Held { reason: \
                RateLimit, until: Some(WallMicros(7)) }";
    story.finish(1, how, told);
    story.is(Input::Operator(Operator::Resume), "(Resumed); take t1.2 m2");
}

/// R0-52, C1: the agent continues when no reason for a pause is left; an operator's `resume` ends those that are a
/// person's to end.
#[test]
fn an_agent_goes_on_when_no_reason_holds() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    let begin = |reason, until| Input::Pause { reason, until };
    let hour = Until { at: WallMicros(9), wait: Duration::from_secs(3600) };
    story.is(begin(PauseReason::Escalation, None), "(Paused(Escalation))");
    story.is(begin(PauseReason::Schedule, Some(hour)), "(Paused(Schedule))");
    story.is(begin(PauseReason::Budget, None), "(Paused(Budget))");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
    story.is(Input::Operator(Operator::Resume), "");
    let held = Held { reason: PauseReason::Budget, until: None };
    assert_eq!(story.agent.view().pauses, [held]);
    story.is(Input::Unpause { reason: PauseReason::Escalation }, "");
    story.is(Input::Unpause { reason: PauseReason::Budget }, "(Resumed); take t1.2 m2");
}

#[test]
fn a_rate_limit_that_is_over_at_once_pauses_all_the_same() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    let how =
        Finish::RateLimited { until: WallMicros(7), wait: Duration::ZERO, limit: Limit::Throttle };
    story.finish(1, how, "end t1.1 rate_limited m1=accepted");
    assert_eq!(story.deadline(), Some(1));
    story.after(1).is(Input::Tick, "take t1.2 m2");
}
