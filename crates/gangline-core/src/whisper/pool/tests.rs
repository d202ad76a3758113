use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn whisper(id: i64) -> Whisper {
    let text = Redacted::from_store(format!("look at {id}"));
    let (kind, source) = (WhisperKind::Correction, WhisperSource::Supervisor);
    Whisper { id, kind, source, text, turn: None }
}

fn ids(whispers: &[Whisper]) -> Vec<i64> {
    whispers.iter().map(|whisper| whisper.id).collect()
}

/// R1-17: several go together, oldest first; what is on its way goes no other.
#[test]
fn all_that_wait_go_together_and_one_way_only() {
    let mut pool = Pool::default();
    assert_eq!(pool.take(), None);
    pool.learn(vec![whisper(2), whisper(1)]);
    let (batch, taken) = pool.take().unwrap();
    assert_eq!(ids(&taken), [1, 2]);
    // A look does not know that they are on their way.
    pool.learn(vec![whisper(1), whisper(2), whisper(3)]);
    let (later, taken) = pool.take().unwrap();
    assert_eq!(ids(&taken), [3]);
    assert_eq!(ids(&pool.arrived(batch)), [1, 2]);
    assert_eq!(pool.arrived(batch), []);
    pool.back(later);
    assert_eq!(ids(&pool.take().unwrap().1), [3]);
}

/// A look that began before a delivery was stored does not bring the whisper back.
#[test]
fn a_late_look_brings_nothing_back() {
    let mut pool = Pool::default();
    pool.learn(vec![whisper(1)]);
    let (batch, _) = pool.take().unwrap();
    pool.arrived(batch);
    pool.learn(vec![whisper(1)]);
    assert_eq!(pool.waiting(), 0);
    pool.learn(Vec::new());
    assert!(pool.arrived.is_empty(), "nothing is remembered for ever");
}

/// What the store dropped for a newer one is not given to the agent.
#[test]
fn what_the_store_names_no_more_does_not_wait() {
    let mut pool = Pool::default();
    pool.learn(vec![whisper(1), whisper(2)]);
    pool.learn(vec![whisper(2), whisper(3)]);
    assert_eq!(ids(&pool.take().unwrap().1), [2, 3]);
}

#[derive(Debug, Clone)]
enum Do {
    Say,
    Learn,
    Take,
    Arrive(usize),
    Back(usize),
    Commit,
}

fn deeds() -> impl Strategy<Value = Vec<Do>> {
    let one = prop_oneof![
        Just(Do::Say),
        Just(Do::Learn),
        Just(Do::Take),
        (0..4_usize).prop_map(Do::Arrive),
        (0..4_usize).prop_map(Do::Back),
        Just(Do::Commit),
    ];
    proptest::collection::vec(one, 0..60)
}

proptest! {
    /// C9: whatever ways race, each whisper arrives once, and none is lost.
    #[test]
    fn each_whisper_arrives_exactly_once(deeds in deeds()) {
        let mut pool = Pool::default();
        // The store: what it says is not delivered, and deliveries that are not committed yet.
        let (mut stored, mut uncommitted) = (BTreeSet::new(), BTreeSet::new());
        let (mut said, mut arrived, mut open) = (0, Vec::new(), Vec::new());
        let learn = |pool: &mut Pool, stored: &BTreeSet<i64>| {
            pool.learn(stored.iter().map(|id| whisper(*id)).collect());
        };
        for deed in deeds {
            match deed {
                Do::Say => {
                    said += 1;
                    stored.insert(said);
                }
                Do::Learn => learn(&mut pool, &stored),
                Do::Take => open.extend(pool.take().map(|(batch, _)| batch)),
                Do::Arrive(at) if at < open.len() => {
                    let ids = ids(&pool.arrived(open.swap_remove(at)));
                    uncommitted.extend(ids.iter().copied());
                    arrived.extend(ids);
                }
                Do::Back(at) if at < open.len() => pool.back(open.swap_remove(at)),
                Do::Arrive(_) | Do::Back(_) => {}
                Do::Commit => {
                    for id in std::mem::take(&mut uncommitted) {
                        stored.remove(&id);
                    }
                }
            }
        }
        open.into_iter().for_each(|batch| pool.back(batch));
        learn(&mut pool, &stored);
        while let Some((batch, _)) = pool.take() {
            arrived.extend(ids(&pool.arrived(batch)));
        }
        arrived.sort_unstable();
        prop_assert_eq!(arrived, (1..=said).collect::<Vec<_>>());
    }
}
