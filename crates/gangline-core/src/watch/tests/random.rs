//! Properties that hold whatever an agent does.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::watch::{Act, Noticed, Watch};

use super::*;

/// Returns any step, from small sets, so that steps often belong together.
pub(super) fn any_step() -> impl Strategy<Value = StepKind> {
    let text =
        (0..6_u32).prop_map(|n| Redacted::from_store(format!("what number {n} is, at length")));
    let id = (0..5_u32).prop_map(|n| n.to_string());
    let edit =
        (0..2_u32, prop::option::of(0..3_u64), 0..3_u64).prop_map(|(file, before, after)| Edit {
            file: Redacted::from_store(file.to_string()),
            before,
            after,
        });
    let call = (id.clone(), 0..3_u64, text.clone(), prop::collection::vec(edit, 0..3));
    prop_oneof![
        1 => text.clone().prop_map(|task| StepKind::TurnStarted { task }),
        1 => Just(StepKind::TurnEnded),
        1 => text.clone().prop_map(|text| StepKind::Text { text }),
        1 => Just(StepKind::Thinking),
        8 => call.prop_map(|(id, digest, input, edits)| StepKind::Call {
            id,
            tool: Redacted::constant(if digest == 0 { "Bash" } else { "Edit" }),
            input,
            digest,
            edits: if digest == 0 { Vec::new() } else { edits },
        }),
        8 => (id, 0..2_u64, text, any::<bool>()).prop_map(|(id, digest, text, failed)| {
            StepKind::Result { id, digest, text, failed }
        }),
        1 => Just(StepKind::WaitStarted),
        1 => Just(StepKind::WaitEnded),
        1 => any::<u8>().prop_map(|percent| StepKind::Context { percent }),
        1 => Just(StepKind::LookedAtInbox),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is raised rises by one each time, is cleared only when it holds, and after a new beginning
    /// nothing holds; memory has a bound; a tick too many says nothing.
    #[test]
    fn findings_come_and_go_in_order(
        steps in prop::collection::vec((any_step(), 0..900_u64, any::<bool>()), 0..150),
    ) {
        let mut detectors = Detectors::default();
        let mut open: HashMap<String, u32> = HashMap::new();
        let mut now = 0;
        for (what, wait, waits) in steps {
            now += wait;
            let mut noticed = detectors.observe(&at(now, what));
            noticed.extend(detectors.tick(Now(Duration::from_secs(now)), waits));
            prop_assert!(detectors.tick(Now(Duration::from_secs(now)), waits).is_empty());
            prop_assert!(detectors.remembered() <= REMEMBERED_MOST);
            for it in noticed {
                match it {
                    Noticed::Raised(found) => {
                        let before = open.insert(found.key, found.nth);
                        prop_assert!(found.nth > before.unwrap_or(0));
                    }
                    Noticed::Cleared { key } => prop_assert!(open.remove(&key).is_some()),
                }
            }
        }
        for it in detectors.rearm() {
            let Noticed::Cleared { key } = it else { panic!("{it:?}") };
            prop_assert!(open.remove(&key).is_some());
        }
        prop_assert!(open.is_empty(), "{open:?}");
        prop_assert_eq!(detectors.remembered(), 0);
    }

    /// A step that is told twice is one step.
    #[test]
    fn a_replayed_result_or_call_says_nothing(
        steps in prop::collection::vec((any_step(), 0..100_u64), 0..100),
    ) {
        let (mut once, mut twice) = (Detectors::default(), Detectors::default());
        let mut now = 0;
        for (what, wait) in steps {
            now += wait;
            let again = matches!(what, StepKind::Call { .. } | StepKind::Result { .. });
            let step = at(now, what);
            let expected = once.observe(&step);
            prop_assert_eq!(twice.observe(&step), expected);
            if again {
                prop_assert_eq!(twice.observe(&step), []);
            }
        }
    }

    /// Between two escalations people have had their say, and before one there were whispers enough.
    #[test]
    fn an_escalation_comes_after_the_whispers_and_once(
        threshold in 1..5_u32,
        steps in prop::collection::vec((any_step(), 0..4_usize, any::<bool>()), 0..100),
    ) {
        let threshold = std::num::NonZeroU32::new(threshold).unwrap();
        let limits = Limits {
            eval_interval: std::num::NonZeroU32::MIN,
            escalation_threshold: threshold,
            ..Limits::default()
        };
        let (mut detectors, mut watch) = (Detectors::default(), Watch::new(limits));
        let mut whispers = 0;
        let mut now = 0;
        for (what, verdict, rearm) in steps {
            now += 1;
            let step = at(now, what);
            let due = watch.observe(&step);
            let mut acts = Vec::new();
            for it in detectors.observe(&step) {
                if let Noticed::Raised(found) = it {
                    acts.push((watch.detected(&found), false));
                }
            }
            if let Some(due) = due {
                let verdict = Verdict::ALL[verdict];
                let act = watch.judged(due.number, verdict, &Redacted::constant("because"));
                prop_assert!(verdict != Verdict::Ok || act == Act::None);
                acts.push((act, verdict == Verdict::Escalation));
            }
            for (act, at_once) in acts {
                match act {
                    Act::None => {}
                    Act::Whisper { .. } => whispers += 1,
                    Act::Escalate { .. } => {
                        prop_assert!(at_once || whispers + 1 >= threshold.get());
                        prop_assert!(watch.is_paused());
                        whispers = 0;
                    }
                }
            }
            prop_assert!(watch.prompt().as_str().len() <= prompt::WINDOW_MOST);
            if rearm && watch.is_paused() {
                watch.rearm();
            }
        }
    }

    #[test]
    fn any_reply_is_read_without_a_panic(reply in "(OK|CORRECTION|ESCALATION|[*_` \n:—>|-]|.){0,40}") {
        if let Ok((verdict, message)) = parse_verdict(&reply) {
            prop_assert!(verdict == Verdict::Ok || !message.is_empty());
            prop_assert!(message.len() <= MESSAGE_MOST && !message.contains('\n'));
        }
    }
}
