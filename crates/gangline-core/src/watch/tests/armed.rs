//! What a person's word makes of a watch: it begins anew (R1-35).

use proptest::prelude::*;

use crate::{
    finding::FindingKind,
    watch::{Act, Detection, Detectors, Watch},
    whisper::WhisperKind,
};

use super::{random::any_step, *};

/// What a watch is told.
#[derive(Debug, Clone)]
enum Told {
    Step(StepKind),
    Found(Detection),
    /// Of the evaluation that is due.
    Judged(Verdict),
    ByRules,
    NotJudged,
}

fn any_told() -> impl Strategy<Value = Told> {
    let found = (1..3_u32, any::<bool>(), 0..5_u32).prop_map(|(nth, counts, retries)| Detection {
        kind: FindingKind::RepeatedCall,
        whisper: WhisperKind::Correction,
        text: Redacted::constant("not again"),
        evidence: Redacted::constant("make"),
        key: "rule/repeated_call/1".to_owned(),
        nth,
        counts,
        retries,
    });
    let task = Redacted::constant("build it");
    prop_oneof![
        4 => Just(Told::Step(StepKind::TurnStarted { task })),
        4 => Just(Told::Step(StepKind::TurnEnded)),
        2 => any_step().prop_map(Told::Step),
        3 => found.prop_map(Told::Found),
        3 => (0..Verdict::ALL.len()).prop_map(|index| Told::Judged(Verdict::ALL[index])),
        1 => Just(Told::ByRules),
        1 => Just(Told::NotJudged),
    ]
}

/// A watch, and the evaluation that is due.
struct Driven {
    watch: Watch,
    due: Option<u64>,
}

impl Driven {
    fn new(limits: Limits) -> Self {
        Self { watch: Watch::new(limits), due: None }
    }

    /// Returns what is asked of the supervisor, and what follows.
    fn tell(&mut self, told: &Told) -> (Option<Redacted>, Act) {
        let act = match told {
            Told::Step(what) => {
                let due = self.watch.observe(&at(0, what.clone()));
                let Some(due) = due else { return (None, Act::None) };
                self.due = Some(due.number);
                return (Some(due.prompt), Act::None);
            }
            Told::Found(found) => self.watch.detected(found),
            Told::Judged(verdict) => match self.due.take() {
                Some(number) => self.watch.judged(number, *verdict, &Redacted::constant("because")),
                None => Act::None,
            },
            Told::ByRules => {
                self.due.take().into_iter().for_each(|it| self.watch.judged_by_rules(it));
                Act::None
            }
            Told::NotJudged => {
                self.due.take().into_iter().for_each(|it| self.watch.not_judged(it));
                Act::None
            }
        };
        (None, act)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// R0-31, R0-32, R1-35: a watch that is armed again does what a new one does. Its window is empty, its
    /// counters are at zero, it is not paused, and it is asked after as many turns. A late verdict of an
    /// evaluation before changes nothing.
    #[test]
    fn a_watch_that_is_armed_again_does_what_a_new_one_does(
        (interval, threshold) in (1..4_u32, 1..4_u32),
        before in prop::collection::vec(any_told(), 0..30),
        after in prop::collection::vec(any_told(), 0..30),
        late in 0..Verdict::ALL.len(),
    ) {
        let of = |number| std::num::NonZeroU32::new(number).unwrap();
        let (eval_interval, escalation_threshold) = (of(interval), of(threshold));
        let limits = Limits { eval_interval, escalation_threshold, ..Limits::default() };
        let (mut armed, mut new) = (Driven::new(limits), Driven::new(limits));
        for told in &before {
            let _ = armed.tell(told);
        }
        armed.watch.rearm();
        prop_assert!(!armed.watch.is_paused());
        prop_assert_eq!(armed.watch.prompt(), new.watch.prompt());
        if let Some(number) = armed.due.take() {
            let act = armed.watch.judged(number, Verdict::ALL[late], &Redacted::constant("late"));
            prop_assert_eq!(act, Act::None);
        }
        for told in &after {
            prop_assert_eq!(armed.tell(told), new.tell(told));
            prop_assert_eq!(armed.watch.is_paused(), new.watch.is_paused());
            prop_assert_eq!(armed.watch.prompt(), new.watch.prompt());
        }
    }

    /// R1-35: detectors that are armed again find what new ones find.
    #[test]
    fn detectors_that_are_armed_again_find_what_new_ones_find(
        before in prop::collection::vec(any_step(), 0..60),
        after in prop::collection::vec((any_step(), 0..900_u64, any::<bool>()), 0..60),
    ) {
        let (mut armed, mut new) = (Detectors::default(), Detectors::default());
        for what in before {
            let _ = armed.observe(&at(0, what));
        }
        let _ = armed.rearm();
        let mut now = 0;
        for (what, wait, waits) in after {
            now += wait;
            let step = at(now, what);
            prop_assert_eq!(armed.observe(&step), new.observe(&step));
            let now = Now(Duration::from_secs(now));
            prop_assert_eq!(armed.tick(now, waits), new.tick(now, waits));
        }
    }
}
