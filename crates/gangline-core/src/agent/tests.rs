//! The state machine told as stories: turns here; deaths, approvals, pauses and what comes in mid-turn
//! beside it; what holds for every story is in `properties`.

use std::time::Duration;

use super::*;
use crate::{
    answer::{ReplyMode, Rules, Tool},
    approval::Decision,
    id::{Epoch, MessageId},
    message::Origin,
    outcome::By,
    pause::{Held, PauseReason, Until},
    time::WallMicros,
};

mod approvals;
mod attached;
mod busy;
mod deaths;
mod login;
mod pauses;
mod properties;
mod world;

pub(super) fn queued(id: i64) -> Queued {
    Queued {
        cause: MessageId(id),
        id: MessageId(id),
        asker: "ori".to_owned(),
        target: "#lab".to_owned(),
        origin: Origin::Mention,
        attempt: 0,
        in_reply_to: None,
        needs: Needs::Turn,
    }
}

pub(super) fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

/// An operator's pause without an end.
pub(super) fn pause() -> Input {
    Input::Pause { reason: PauseReason::Operator, until: None }
}

fn request(name: &str) -> ApprovalRequestId {
    ApprovalRequestId(name.to_owned())
}

fn ids(messages: &[MessageId]) -> String {
    messages.iter().map(|id| format!(" {id}")).collect()
}

fn short(effect: &Effect) -> String {
    match effect {
        Effect::StartRuntime { generation, with } => format!("start {} {with:?}", generation.0),
        Effect::KillRuntime { generation } => format!("kill {}", generation.0),
        Effect::Take { turn, messages } => format!("take {turn}{}", ids(messages)),
        Effect::AdoptTurn { turn, .. } => format!("adopt {turn}"),
        Effect::Join { turn, messages } => format!("join {turn}{}", ids(messages)),
        Effect::Steer { turn, messages } => format!("steer {turn}{}", ids(messages)),
        Effect::SendSteer { turn, messages } => format!("send steer {turn}{}", ids(messages)),
        Effect::SendPrompt { turn } => format!("prompt {turn}"),
        Effect::AskNotes { turn } => format!("notes {turn}"),
        Effect::EndRuntime { generation } => format!("restart {}", generation.0),
        Effect::Prime { turn } => format!("prime {turn}"),
        Effect::PauseBegun { held } => format!("paused {held:?}"),
        Effect::PauseOver { held } => format!("over {held:?}"),
        Effect::PromptAgain { turn } => format!("prompt again {turn}"),
        Effect::Compact { .. } => "compact".to_owned(),
        Effect::Clear { .. } => "clear".to_owned(),
        Effect::SetModel { .. } => "set model".to_owned(),
        Effect::SetEffort { effort, .. } => format!("{effort:?}").to_lowercase(),
        Effect::SendInterrupt { turn } => format!("interrupt {turn}"),
        Effect::AskHuman { turn, request } => format!("ask {turn} {request}"),
        Effect::Decide { request, decision, .. } => format!("decide {request} {decision:?}"),
        Effect::WithdrawApprovals { requests, .. } => {
            format!("withdraw{}", requests.iter().map(|id| format!(" {id}")).collect::<String>())
        }
        Effect::ApprovalTakenBack { request, .. } => format!("taken back {request}"),
        Effect::EndTurn { turn, outcome, settle } => {
            let settled: String = settle
                .iter()
                .map(|one| {
                    let relay = one.relay.as_ref().map(|text| format!(" `{text}`"));
                    format!(" {}={}{}", one.message, one.state, relay.unwrap_or_default())
                })
                .collect();
            format!("end {turn} {outcome}{settled}")
        }
        Effect::Rescan => "rescan".to_owned(),
        Effect::MissedDeadline { deadline, .. } => format!("missed {deadline:?}"),
        Effect::Parked { deaths, suspects } if suspects.is_empty() => format!("parked {deaths}"),
        Effect::Parked { deaths, suspects } => format!("parked {deaths} by{}", ids(suspects)),
        Effect::Notice(notice) => format!("({notice:?})"),
        Effect::Drained => "drained".to_owned(),
    }
}

pub(super) struct Story {
    pub(super) agent: Agent,
    now: Now,
}

impl Story {
    fn new() -> Self {
        Self::with(AgentOptions::default())
    }

    pub(super) fn with(options: AgentOptions) -> Self {
        Self { agent: Agent::new(options), now: Now::default() }
    }

    /// A runtime is up and works on m1 in the first turn.
    pub(super) fn working() -> Self {
        Self::working_with(AgentOptions::default())
    }

    pub(super) fn working_with(options: AgentOptions) -> Self {
        let mut story = Self::with(options);
        story.is(Input::Message(queued(1)), "start 1 Resume");
        story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
        story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
        story.runtime(RuntimeInput::Accepted { turn: turn(1) }, "");
        story
    }

    pub(super) fn after(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now.plus(Duration::from_secs(seconds));
        self
    }

    pub(super) fn is(&mut self, input: Input, expect: &str) {
        let said = format!("{input:?}");
        let effects: Vec<String> = self.agent.handle(self.now, input).iter().map(short).collect();
        assert_eq!(effects.join("; "), expect, "after {said}");
    }

    pub(super) fn runtime(&mut self, input: RuntimeInput, expect: &str) {
        self.is(Input::Runtime(input), expect);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.runtime(RuntimeInput::Text { turn: turn(1), text: text.to_owned() }, "");
    }

    pub(super) fn finish(&mut self, number: i64, how: Finish, expect: &str) {
        self.runtime(RuntimeInput::Finished { turn: turn(number), how }, expect);
    }

    fn asks(&mut self, name: &str) {
        let asked = RuntimeInput::ApprovalAsked { turn: turn(1), request: request(name) };
        self.runtime(asked, &format!("ask t1.1 {name}"));
    }

    pub(super) fn exits(&mut self, generation: i64, expect: &str) {
        let exited =
            RuntimeInput::Exited { generation: Generation(generation), by: EndedBy::Itself };
        self.runtime(exited, expect);
    }

    pub(super) fn ends(&mut self, generation: i64, expect: &str) {
        self.runtime(RuntimeInput::Ended { generation: Generation(generation) }, expect);
    }

    /// The runtime that there is has made its context shorter, or could not.
    pub(super) fn compacts(&mut self, well: bool, expect: &str) {
        let generation = self.agent.generation().unwrap();
        let told = match well {
            true => RuntimeInput::Compacted { generation },
            false => RuntimeInput::NotCompacted { generation },
        };
        self.runtime(told, expect);
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        self.agent.next_deadline().map(|deadline| deadline.0.as_secs())
    }
}

/// R0-14: a row that is handed over at its commit may come before an older one that a look finds.
#[test]
fn messages_that_wait_are_taken_in_the_order_of_their_ids() {
    let mut story = Story::working();
    for id in [4, 2, 3, 2] {
        story.is(Input::Message(queued(id)), "");
    }
    assert_eq!(story.agent.queue.iter().map(|it| it.id.0).collect::<Vec<_>>(), [2, 3, 4]);
}

/// R0-14, R1-28, C4: a message wakes the idle agent, the next one follows in order, and the backend
/// is not started again.
#[test]
fn a_message_is_taken_prompted_and_answered_and_the_next_one_follows() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    story.text("on it");
    story.runtime(RuntimeInput::ToolResult { turn: turn(1), tool: Tool::Other }, "");
    story.text("all pass");
    let expect = "end t1.1 completed m1=answered `all pass`; take t1.2 m2";
    story.finish(1, Finish::Completed, expect);
}

#[test]
fn a_message_that_is_known_already_is_not_taken_twice() {
    let mut story = Story::working();
    story.is(Input::Message(queued(1)), "");
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Message(queued(2)), "");
    assert_eq!(story.agent.view().waiting, 1);
}

#[test]
fn a_cancelled_message_is_not_taken() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Cancelled { message: MessageId(2) }, "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
}

#[test]
fn a_turn_without_a_sign_of_life_is_interrupted_and_then_killed() {
    let mut story = Story::working();
    story.after(599).runtime(RuntimeInput::Output { turn: turn(1) }, "");
    story.after(599).is(Input::Tick, "");
    story.after(1).is(Input::Tick, "missed TurnOutput; interrupt t1.1");
    assert_eq!(story.deadline(), Some(1209));
    let expect = "missed InterruptGrace; kill 1; end t1.1 timed_out m1=failed";
    story.after(10).is(Input::Tick, expect);
    story.is(Input::Message(queued(2)), "start 2 Resume");
    let late = format!("({:?})", Notice::LateGeneration { generation: Generation(1) });
    story.exits(1, &late);
}

/// What stands in the way of a prompt for so long, such as an order that is never answered, would
/// stand in the way of every other: the runtime is started anew. One that took it and ends when it
/// is asked to goes on (R3-07, C45: the time-out of a message that is not taken).
#[test]
fn a_runtime_that_took_no_prompt_in_all_the_time_is_ended() {
    for taken in [false, true] {
        let mut story = Story::new();
        story.is(Input::Message(queued(1)), "start 1 Resume");
        story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
        story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
        if taken {
            story.runtime(RuntimeInput::Accepted { turn: turn(1) }, "");
        }
        story.is(Input::Message(queued(2)), "");
        story.after(600).is(Input::Tick, "missed TurnOutput; interrupt t1.1");
        let expect = match taken {
            false => "kill 1; end t1.1 timed_out m1=failed; start 2 Resume",
            true => "end t1.1 timed_out m1=failed; take t1.2 m2",
        };
        story.finish(1, Finish::Interrupted, expect);
    }
}

#[test]
fn a_turn_that_is_quicker_than_its_interrupt_counts_as_completed() {
    let mut story = Story::working();
    story.text("done");
    story.is(Input::Operator(Operator::Interrupt(By::Operator)), "interrupt t1.1");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
}

/// Before its prompt was given, too.
#[test]
fn the_first_reason_to_end_a_turn_stays() {
    let mut story = Story::new();
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    story.is(Input::Operator(Operator::Interrupt(By::Operator)), "");
    story.is(Input::Drain(Drain::Now), "");
    let expect = "end t1.1 interrupted:operator m1=failed; kill 1; drained";
    story.is(Input::Taken { turn: turn(1) }, expect);
}

#[test]
fn a_store_that_cannot_write_gets_no_new_turns() {
    let mut story = Story::working();
    story.is(Input::StoreDegraded, "");
    story.is(Input::Message(queued(2)), "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
    story.is(Input::StoreOk, "take t1.2 m2");
    story.is(Input::TakeFailed { turn: turn(2), gone: vec![] }, "");
    assert!(story.agent.view().degraded);
    story.is(Input::StoreOk, "take t1.3 m2");
    story.is(Input::TakeFailed { turn: turn(3), gone: vec![MessageId(2)] }, "");
    assert!(!story.agent.view().degraded);
    assert_eq!(story.agent.view().waiting, 0);
}

#[test]
fn a_text_that_is_too_long_says_where_it_was_cut() {
    let mut story = Story::working();
    story.text(&"a".repeat(turn::TEXT_MAX - 1));
    story.text("é and more");
    story.text("not kept");
    let how = RuntimeInput::Finished { turn: turn(1), how: Finish::Completed };
    let effects = story.agent.handle(story.now, Input::Runtime(how));
    let Some(Effect::EndTurn { settle, .. }) = effects.first() else { panic!("{effects:?}") };
    let relayed = settle[0].relay.clone().unwrap();
    assert_eq!(relayed, format!("{}{}", "a".repeat(turn::TEXT_MAX - 1), turn::CUT));
    // A new run of text has the whole room again.
    let mut story = Story::working();
    story.text(&"a".repeat(turn::TEXT_MAX + 5));
    story.runtime(RuntimeInput::ToolResult { turn: turn(1), tool: Tool::Other }, "");
    story.text("done");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `done`");
}

#[test]
fn a_turn_that_the_runtime_starts_by_itself_is_recorded_with_no_message() {
    let mut story = Story::with(AgentOptions { start: StartMode::Eager, ..Default::default() });
    story.is(Input::Tick, "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "");
    story.runtime(RuntimeInput::Began { generation: Generation(1) }, "take t1.1; adopt t1.1");
    story.text("by myself");
    story.asks("a");
    story.is(Input::Taken { turn: turn(1) }, "");
    assert_eq!(story.agent.view().phase, PhaseName::Working);
    story.finish(1, Finish::Completed, "withdraw a; end t1.1 completed");
}

#[test]
fn a_self_started_turn_that_ends_before_it_is_recorded_ends_after_it() {
    let mut story = Story::with(AgentOptions { start: StartMode::Eager, ..Default::default() });
    story.is(Input::Tick, "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "");
    story.runtime(RuntimeInput::Began { generation: Generation(1) }, "take t1.1; adopt t1.1");
    story.asks("a");
    story.finish(1, Finish::Completed, "withdraw a");
    story.is(Input::Taken { turn: turn(1) }, "end t1.1 completed");
    assert_eq!(story.agent.view().phase, PhaseName::Idle);
}

#[test]
fn an_exit_while_a_turn_is_recorded_ends_it_without_using_up_an_attempt() {
    let mut story = Story::new();
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    story.exits(1, "");
    let effects = story.agent.handle(story.now, Input::Taken { turn: turn(1) });
    let Some(Effect::EndTurn { settle, .. }) = effects.first() else { panic!("{effects:?}") };
    assert!(settle.iter().all(|one| !one.counts_attempt), "{settle:?}");
    assert_eq!(story.agent.view().phase, PhaseName::Down);
}

#[test]
fn a_soft_drain_waits_for_the_turn_and_a_hard_one_ends_it() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Drain(Drain::Soft), "");
    story.is(Input::Drain(Drain::Now), "interrupt t1.1");
    let expect = "end t1.1 interrupted:drain m1=accepted; kill 1; drained";
    story.finish(1, Finish::Interrupted, expect);
    story.is(Input::Message(queued(3)), "");
    story.is(Input::Tick, "");
    assert_eq!(story.deadline(), None);
}

/// A turn that the daemon's end has cut off goes back to the queue, but not one that a person ended.
#[test]
fn a_person_ends_a_turn_that_a_drain_is_about_to_give_back() {
    let mut story = Story::working();
    story.is(Input::Drain(Drain::Now), "interrupt t1.1");
    story.is(Input::Operator(Operator::Interrupt(By::Operator)), "");
    let expect = "end t1.1 interrupted:operator m1=failed; kill 1; drained";
    story.finish(1, Finish::Interrupted, expect);
    let mut story = Story::new();
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    story.is(Input::Drain(Drain::Now), "");
    story.is(Input::Operator(Operator::Interrupt(By::Operator)), "");
    story.is(Input::Taken { turn: turn(1) }, expect);
}

#[test]
fn a_drain_outside_a_turn_is_done_at_once() {
    Story::new().is(Input::Drain(Drain::Soft), "drained");
    let mut story = Story::new();
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.is(Input::Drain(Drain::Soft), "kill 1; drained");
}

#[test]
fn a_full_queue_leaves_the_rest_in_the_store_and_asks_for_it_later() {
    let mut story = Story::with(AgentOptions { queue_max: 2, ..Default::default() });
    story.is(Input::Message(queued(1)), "start 1 Resume");
    for id in 2..5 {
        story.is(Input::Message(queued(id)), "");
    }
    assert_eq!(story.agent.view().waiting, 2);
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    // m3 came after one that was passed over: it must not overtake it.
    story.is(Input::Message(queued(5)), "");
    story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
    let failed = || Finish::Failed("x".to_owned());
    // All that waits is asked for before anything else comes: m6 must not overtake them either.
    story.finish(1, failed(), "end t1.1 failed:x m1=failed; take t1.2 m2; rescan");
    for id in [3, 5, 6] {
        story.is(Input::Message(queued(id)), "");
    }
    assert_eq!(story.agent.queue.iter().map(|it| it.id.0).collect::<Vec<_>>(), [3, 5]);
    story.is(Input::Taken { turn: turn(2) }, "prompt t1.2");
}

#[test]
fn a_long_turn_keeps_only_its_last_words() {
    let rules = Rules { reply: ReplyMode::Relay, ..Rules::default() };
    let mut story = Story::with(AgentOptions::new(Epoch(1), rules));
    story.is(Input::Message(queued(1)), "start 1 Resume");
    story.runtime(RuntimeInput::Ready { generation: Generation(1) }, "take t1.1 m1");
    story.is(Input::Taken { turn: turn(1) }, "prompt t1.1");
    for _ in 0..3 {
        story.text(&"x".repeat(200 * 1024));
        story.text(" ");
        story.runtime(RuntimeInput::ToolResult { turn: turn(1), tool: Tool::Other }, "");
    }
    story.text("the end");
    story.finish(1, Finish::Completed, "end t1.1 completed m1=answered `the end`");
}
