//! Questions for a decision in mid-turn: asked, decided, withdrawn and taken back.

use super::*;

#[test]
fn a_second_approval_in_one_turn_is_asked_too() {
    let mut story = Story::working();
    story.asks("a");
    story.asks("b");
    let decided =
        |name: &str, decision| Input::Decision { turn: turn(1), request: request(name), decision };
    story.is(decided("b", Decision::Allow), "decide b Allow");
    story.is(decided("a", Decision::Deny), "decide a Deny");
    let late = format!("({:?})", Notice::Late { turn: turn(1) });
    story.is(decided("a", Decision::Allow), &late);
}

#[test]
fn the_watchdog_stands_still_while_an_approval_is_open() {
    let mut story = Story::working();
    assert_eq!(story.deadline(), Some(600));
    story.asks("a");
    assert_eq!(story.deadline(), None);
    story.after(100_000).is(Input::Tick, "");
    let decision = Decision::Allow;
    story.is(Input::Decision { turn: turn(1), request: request("a"), decision }, "decide a Allow");
    assert_eq!(story.deadline(), Some(100_600));
}

#[test]
fn an_interrupt_withdraws_approvals_and_fails_the_message() {
    let mut story = Story::working();
    story.asks("a");
    let word = Input::Operator(Operator::Interrupt(By::Operator));
    story.is(word.clone(), "withdraw a; interrupt t1.1");
    story.is(word, "");
    let asked = RuntimeInput::ApprovalAsked { turn: turn(1), request: request("b") };
    story.runtime(asked, "decide b Deny");
    story.finish(1, Finish::Interrupted, "end t1.1 interrupted:operator m1=failed");
}

/// If the program withdraws its question, nothing waits for an answer, and the clock of the turn, which
/// stood still meanwhile, runs again.
#[test]
fn an_approval_that_is_taken_back_waits_for_nobody() {
    let mut story = Story::working();
    story.asks("a");
    story.after(900).is(Input::Tick, "");
    let back = |name| RuntimeInput::ApprovalWithdrawn { turn: turn(1), request: request(name) };
    story.runtime(back("b"), "");
    story.runtime(back("a"), "taken back a");
    story.runtime(back("a"), "");
    let decided =
        Input::Decision { turn: turn(1), request: request("a"), decision: Decision::Allow };
    story.is(decided, &format!("({:?})", Notice::Late { turn: turn(1) }));
    story.after(599).is(Input::Tick, "");
    story.after(1).is(Input::Tick, "missed TurnOutput; interrupt t1.1");
    let late = RuntimeInput::ApprovalWithdrawn { turn: turn(9), request: request("a") };
    story.runtime(late, &format!("({:?})", Notice::Late { turn: turn(9) }));
}

#[test]
fn an_approval_of_another_turn_is_denied() {
    let mut story = Story::working();
    let asked = RuntimeInput::ApprovalAsked { turn: turn(9), request: request("a") };
    story.runtime(asked, "decide a Deny");
}
