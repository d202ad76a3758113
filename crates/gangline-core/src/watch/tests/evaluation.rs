//! Tests of when the supervisor is asked, and what follows from its verdicts.

use crate::{
    finding::FindingKind,
    watch::{Act, Due, Watch},
    whisper::WhisperKind,
};

use super::*;

fn limits(window_size: u32, eval_interval: u32, escalation_threshold: u32) -> Limits {
    let of = |number| std::num::NonZeroU32::new(number).unwrap();
    Limits {
        window_size: of(window_size),
        eval_interval: of(eval_interval),
        escalation_threshold: of(escalation_threshold),
    }
}

/// Lets the agent have a turn.
fn turn(watch: &mut Watch, task: &'static str) -> Option<Due> {
    let task = Redacted::constant(task);
    assert_eq!(watch.observe(&at(0, StepKind::TurnStarted { task })), None);
    assert_eq!(watch.observe(&at(0, StepKind::Thinking)), None);
    watch.observe(&at(0, StepKind::TurnEnded))
}

/// Lets the agent have turns until an evaluation is due, and judges it.
fn judge(watch: &mut Watch, verdict: Verdict, message: &'static str) -> Act {
    let due = (0..100).find_map(|_| turn(watch, "benchmark nemotron")).unwrap();
    watch.judged(due.number, verdict, &Redacted::constant(message))
}

fn whispered(act: &Act) -> (WhisperKind, bool) {
    let Act::Whisper { kind, firmer, .. } = act else { panic!("{act:?}") };
    (*kind, *firmer)
}

fn detection(nth: u32, counts: bool) -> crate::watch::Detection {
    crate::watch::Detection {
        kind: FindingKind::RepeatedCall,
        whisper: WhisperKind::Correction,
        text: Redacted::constant("not again"),
        evidence: Redacted::constant("make × 5"),
        key: "rule/repeated_call/1".to_owned(),
        nth,
        counts,
        retries: 4,
    }
}

/// R0-30, R0-31, R0-32: the seed's numbers.
#[test]
fn the_limits_are_the_seeds() {
    assert_eq!(Limits::default(), limits(20, 5, 3));
}

/// R0-24, R0-31.
#[test]
fn an_evaluation_is_due_after_every_fifth_completed_turn() {
    let mut watch = Watch::new(Limits::default());
    let mut due = Vec::new();
    for number in 1..=15 {
        if let Some(it) = turn(&mut watch, "t") {
            due.push(number);
            assert_eq!(watch.judged(it.number, Verdict::Ok, &Redacted::default()), Act::None);
        }
    }
    assert_eq!(due, [5, 10, 15]);
    // An end without a beginning is no turn.
    assert!((0..10).all(|_| watch.observe(&at(0, StepKind::TurnEnded)).is_none()));
}

/// R0-24: a slow supervisor is asked again when it has answered.
#[test]
fn no_evaluation_is_due_while_one_is_open() {
    let mut watch = Watch::new(limits(20, 1, 3));
    let first = turn(&mut watch, "t").unwrap();
    assert!((0..10).all(|_| turn(&mut watch, "t").is_none()));
    watch.not_judged(first.number + 7);
    assert_eq!(turn(&mut watch, "t"), None);
    watch.not_judged(first.number);
    assert!(turn(&mut watch, "t").is_some());
    // Its time is over.
    assert_eq!(
        watch.judged(first.number, Verdict::Escalation, &Redacted::constant("x")),
        Act::None
    );
}

/// R1-34, R0-32, C10: two whispers, the second one firmer, then people.
#[test]
fn the_third_verdict_in_a_row_that_is_not_ok_escalates() {
    let mut watch = Watch::new(Limits::default());
    let first = judge(&mut watch, Verdict::Correction, "Ask #llama-cpp for help.");
    assert_eq!(
        first,
        Act::Whisper {
            kind: WhisperKind::Correction,
            text: Redacted::constant("Ask #llama-cpp for help."),
            firmer: false
        }
    );
    let second = judge(&mut watch, Verdict::ThinkDeeper, "Think about the cause.");
    assert_eq!(whispered(&second), (WhisperKind::ThinkDeeper, true));
    let Act::Whisper { text, .. } = second else { unreachable!() };
    assert!(text.as_str().contains("Think about the cause."), "{text}");
    assert!(text.as_str().contains("people are alerted"), "{text}");
    let third = judge(&mut watch, Verdict::Correction, "SPIRALING: cmake again");
    let Act::Escalate { kind, task, cause, retries, .. } = third else { panic!("{third:?}") };
    assert_eq!((kind, retries), (FindingKind::Spiraling, 0), "no rule has counted");
    assert_eq!(task.as_str(), "benchmark nemotron");
    assert_eq!(cause.as_str(), "SPIRALING: cmake again");
    assert!(watch.is_paused());
}

/// R0-25, R0-26, R0-27.
#[test]
fn ok_does_nothing_and_forgets_the_corrections() {
    let mut watch = Watch::new(Limits::default());
    for _ in 0..4 {
        for firmer in [false, true] {
            let act = judge(&mut watch, Verdict::Correction, "no");
            assert_eq!(whispered(&act), (WhisperKind::Correction, firmer));
        }
        assert_eq!(judge(&mut watch, Verdict::Ok, ""), Act::None);
    }
}

/// R1-36: what cannot be read is no reason to do anything, nor to forget what was.
#[test]
fn an_unreadable_reply_forgets_no_correction() {
    let mut watch = Watch::new(limits(20, 1, 2));
    let _ = judge(&mut watch, Verdict::Correction, "no");
    for _ in 0..5 {
        let due = turn(&mut watch, "t").unwrap();
        watch.not_judged(due.number);
    }
    let act = judge(&mut watch, Verdict::Correction, "no");
    assert!(matches!(act, Act::Escalate { .. }), "{act:?}");
}

/// R0-28, C10.
#[test]
fn an_explicit_escalation_escalates_at_once() {
    let mut watch = Watch::new(Limits::default());
    let act = judge(&mut watch, Verdict::Escalation, "DRIFT: it deletes the tests");
    let Act::Escalate { kind, text, retries, .. } = act else { panic!("{act:?}") };
    assert_eq!((kind, retries), (FindingKind::Drift, 0));
    assert!(text.as_str().starts_with("Still no progress"), "{text}");
}

/// R0-28, R1-35.
#[test]
fn nothing_is_evaluated_after_an_escalation_until_it_is_armed_again() {
    let mut watch = Watch::new(limits(20, 1, 1));
    let before = turn(&mut watch, "t").unwrap();
    let act = watch.judged(before.number, Verdict::Correction, &Redacted::constant("stop"));
    assert!(matches!(act, Act::Escalate { .. }), "the first of one");
    assert!((0..9).all(|_| turn(&mut watch, "t").is_none()));
    assert_eq!(watch.detected(&detection(1, true)), Act::None);
    watch.rearm();
    assert!(!watch.is_paused());
    // What was asked before the word of a person is over, whatever the answer.
    let late = watch.judged(before.number, Verdict::Escalation, &Redacted::constant("stop"));
    assert_eq!(late, Act::None);
    let due = turn(&mut watch, "t").unwrap();
    assert!(due.number > before.number);
    assert!(!due.prompt.as_str().contains("Turn 2"), "the old turns are forgotten");
}

#[test]
fn what_a_verdict_has_found_is_in_its_message() {
    for (verdict, message, expected) in [
        (Verdict::Correction, "DRIFT: back to the task", FindingKind::Drift),
        (Verdict::Correction, "You are stalling.", FindingKind::Stalling),
        (Verdict::Correction, "You do it again.", FindingKind::Spiraling),
        (Verdict::ThinkDeeper, "Why two?", FindingKind::Shallow),
        (Verdict::ThinkDeeper, "Spiraling, not drift", FindingKind::Spiraling),
    ] {
        let act = judge(&mut Watch::new(limits(20, 1, 1)), verdict, message);
        let Act::Escalate { kind, .. } = act else { panic!("{act:?}") };
        assert_eq!(kind, expected, "{message}");
    }
}

/// R0-32: a finding and the verdict about it are one correction; advice is none.
#[test]
fn a_finding_counts_once_in_a_turn_and_advice_never() {
    let mut watch = Watch::new(limits(20, 1, 3));
    let task = Redacted::constant("t");
    for _ in 0..5 {
        assert!(!whispered(&watch.detected(&detection(1, false))).1);
    }
    let _ = watch.observe(&at(0, StepKind::TurnStarted { task: task.clone() }));
    for _ in 0..5 {
        assert!(!whispered(&watch.detected(&detection(1, true))).1);
    }
    let due = watch.observe(&at(0, StepKind::TurnEnded)).unwrap();
    assert!(due.prompt.as_str().contains("make × 5"), "{}", due.prompt);
    let act = watch.judged(due.number, Verdict::Correction, &Redacted::constant("stop it"));
    assert!(!whispered(&act).1, "it is the same trouble");
    let _ = watch.observe(&at(0, StepKind::TurnStarted { task }));
    assert!(whispered(&watch.detected(&detection(1, true))).1);
    let act = watch.detected(&detection(2, true));
    assert!(matches!(act, Act::Escalate { retries: 4, .. }), "the count continues: {act:?}");
}

/// R1-35, R1-42: an escalation says how often a call was repeated, also if the model asked for it; an `OK`
/// resets the count.
#[test]
fn an_escalation_says_how_often_the_same_was_done_again() {
    let mut watch = Watch::new(limits(20, 1, 3));
    for retries in [4, 2] {
        let found = crate::watch::Detection { retries, ..detection(1, false) };
        let _ = watch.detected(&found);
    }
    let act = judge(&mut watch, Verdict::Escalation, "SPIRALING: make again");
    assert!(matches!(act, Act::Escalate { retries: 4, .. }), "{act:?}");
    watch.rearm();
    let _ = watch.detected(&detection(1, false));
    assert_eq!(judge(&mut watch, Verdict::Ok, ""), Act::None);
    let act = judge(&mut watch, Verdict::Escalation, "DRIFT: a logo");
    assert!(matches!(act, Act::Escalate { retries: 0, .. }), "{act:?}");
}

/// R0-32, without a model.
#[test]
fn the_rules_say_ok_after_an_interval_without_a_finding() {
    let mut watch = Watch::new(limits(20, 2, 3));
    let quiet = |watch: &mut Watch| {
        let due = (0..2).find_map(|_| turn(watch, "t")).unwrap();
        watch.judged_by_rules(due.number);
    };
    for _ in 0..4 {
        assert!(!whispered(&watch.detected(&detection(1, true))).1);
        quiet(&mut watch);
        // There was one since the evaluation before.
        let _ = turn(&mut watch, "t");
        assert!(whispered(&watch.detected(&detection(1, true))).1);
        let due = turn(&mut watch, "t").unwrap();
        watch.judged_by_rules(due.number);
        quiet(&mut watch);
    }
}

/// R0-32: a verdict answers for the findings before it, whoever judges next.
#[test]
fn a_finding_that_a_verdict_has_answered_does_not_keep_the_rules_from_saying_ok() {
    let mut watch = Watch::new(limits(20, 1, 3));
    let _ = watch.detected(&detection(1, true));
    let _ = judge(&mut watch, Verdict::Correction, "no");
    let due = turn(&mut watch, "t").unwrap();
    watch.judged_by_rules(due.number);
    assert!(!whispered(&watch.detected(&detection(1, true))).1);
}
