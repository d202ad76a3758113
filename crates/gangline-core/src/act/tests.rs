use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{ActKey, ActKind, Earlier, Taken, first_free};

/// Rows of older programs have these texts.
#[test]
fn the_stored_texts_of_keys_stay_as_they_are() {
    let key = ActKey::new(ActKind::Send, &["#general", "hi"]);
    assert_eq!(key.as_str(), "0613e8c34e1ee1f8eb34b2dec82f0cc8");
}

#[test]
fn other_arguments_make_another_key() {
    let keys = [
        ActKey::new(ActKind::Send, &["#general", "hi"]),
        ActKey::new(ActKind::Letter, &["#general", "hi"]),
        ActKey::new(ActKind::Send, &["hi", "#general"]),
        ActKey::new(ActKind::Send, &["#generalhi"]),
        ActKey::new(ActKind::Send, &["#general", "hi", ""]),
        ActKey::new(ActKind::Send, &["#general\n2:hi"]),
        ActKey::new(ActKind::Send, &["#general", "Hi"]),
    ];
    for (n, key) in keys.iter().enumerate() {
        assert!(!keys[..n].contains(key), "{n}");
    }
}

fn act(id: i64, arrives: bool, taken: &[Taken]) -> Earlier {
    Earlier { id, arrives, taken: taken.to_vec() }
}

#[test]
fn an_act_is_free_until_this_turn_or_a_completed_one_has_taken_it() {
    use Taken::{Finished, Now, Unfinished};
    for (earlier, free) in [
        (vec![], None),
        (vec![act(4, true, &[])], Some(4)),
        (vec![act(4, true, &[Unfinished, Unfinished])], Some(4)),
        (vec![act(4, true, &[Unfinished, Now])], None),
        (vec![act(4, true, &[Finished])], None),
        (vec![act(4, false, &[])], None),
        (vec![act(4, true, &[Now]), act(7, true, &[])], Some(7)),
        (vec![act(9, true, &[]), act(7, true, &[])], Some(7)),
        (vec![act(4, false, &[]), act(7, true, &[Unfinished])], Some(7)),
    ] {
        assert_eq!(first_free(&earlier), free, "{earlier:?}");
    }
}

/// The acts of one message as a store has them: of each its call and the attempts that took it.
#[derive(Default)]
struct Acts(Vec<(u8, Vec<usize>)>);

impl Acts {
    /// A call in an attempt; all attempts before it did not complete.
    fn call(&mut self, attempt: usize, call: u8) {
        let of_call = self.0.iter().enumerate().filter(|(_, (done, _))| *done == call);
        let earlier: Vec<Earlier> = of_call
            .map(|(id, (_, taken))| {
                let taken = taken.iter().map(|by| match *by == attempt {
                    true => Taken::Now,
                    false => Taken::Unfinished,
                });
                Earlier { id: i64::try_from(id).unwrap(), arrives: true, taken: taken.collect() }
            })
            .collect();
        match first_free(&earlier) {
            Some(id) => self.0[usize::try_from(id).unwrap()].1.push(attempt),
            // The attempt that acts has its own act.
            None => self.0.push((call, vec![attempt])),
        }
    }
}

proptest! {
    /// Whatever an agent calls, and wherever its attempts are cut off: in the end each call was made
    /// once, and in the order of the calls.
    #[test]
    fn attempts_that_are_cut_off_do_each_call_once_and_in_order(
        calls in prop::collection::vec(0..4_u8, 0..12),
        cuts in prop::collection::vec(0..13_usize, 0..6),
    ) {
        let mut acts = Acts::default();
        let whole = calls.len();
        for (attempt, cut) in cuts.into_iter().chain([whole]).enumerate() {
            for call in calls.iter().take(cut) {
                acts.call(attempt, *call);
            }
        }
        let done: Vec<u8> = acts.0.iter().map(|(call, _)| *call).collect();
        prop_assert_eq!(done, calls);
    }

    /// Attempts that do not repeat each other: of each call, as many acts as the attempt with most of it
    /// wanted.
    #[test]
    fn attempts_that_differ_do_each_call_as_often_as_one_attempt_wanted_it(
        attempts in prop::collection::vec(prop::collection::vec(0..3_u8, 0..8), 1..6),
    ) {
        let mut acts = Acts::default();
        let mut most: BTreeMap<u8, usize> = BTreeMap::new();
        for (attempt, calls) in attempts.iter().enumerate() {
            let mut wanted: BTreeMap<u8, usize> = BTreeMap::new();
            for call in calls {
                acts.call(attempt, *call);
                *wanted.entry(*call).or_default() += 1;
            }
            for (call, count) in wanted {
                let before = most.entry(call).or_default();
                *before = count.max(*before);
            }
        }
        let mut done: BTreeMap<u8, usize> = BTreeMap::new();
        for (call, _) in &acts.0 {
            *done.entry(*call).or_default() += 1;
        }
        prop_assert_eq!(done, most);
    }
}
