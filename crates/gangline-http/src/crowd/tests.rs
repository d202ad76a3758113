//! Who gives way, by rules alone.

use super::*;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many of a user, each a second after the one before; returns what ends each.
fn fill(crowd: &mut Crowd, of: Origin, many: usize) -> Vec<(u64, CancellationToken)> {
    (0..many).map(|second| crowd.comes(of, at(second as u64)).unwrap()).collect()
}

fn ended(of: &[(u64, CancellationToken)]) -> Vec<usize> {
    let ended = of.iter().enumerate().filter(|(_, (_, end))| end.is_cancelled());
    ended.map(|(number, _)| number).collect()
}

#[test]
fn of_too_many_the_longest_idle_one_gives_way_and_no_busy_one() {
    let mut crowd = Crowd::default();
    let all = fill(&mut crowd, Origin::Own, CONNECTIONS_MAX);
    crowd.is_at(all[0].0, Stage::Busy);
    crowd.is_at(all[1].0, Stage::Waits(at(500)));
    assert!(crowd.comes(Origin::Own, at(100)).is_some());
    assert_eq!(ended(&all), [2]);
    assert_eq!(crowd.places.len(), CONNECTIONS_MAX);
    for (number, _) in &all {
        crowd.is_at(*number, Stage::Busy);
    }
    assert!(crowd.comes(Origin::Own, at(101)).is_some(), "the one that came last gives way");
    let last = *crowd.places.keys().last().unwrap();
    crowd.is_at(last, Stage::Busy);
    assert!(!crowd.has_room() && crowd.comes(Origin::Own, at(102)).is_none());
}

#[test]
fn another_user_has_a_share_and_ends_nobody_elses() {
    let mut crowd = Crowd::default();
    let own = fill(&mut crowd, Origin::Own, KEPT_FOR_OWN);
    let theirs = fill(&mut crowd, Origin::Other(7), OTHER_EACH);
    assert!(crowd.comes(Origin::Other(7), at(100)).is_some());
    assert_eq!((ended(&own), ended(&theirs)), (vec![], vec![0]), "their own longest idle one");
    for (number, _) in &theirs {
        crowd.is_at(*number, Stage::Busy);
    }
    crowd.is_at(*crowd.places.keys().last().unwrap(), Stage::Busy);
    assert!(crowd.comes(Origin::Other(7), at(101)).is_none(), "each is being served");
    let more: Vec<_> =
        (8..).take(2).map(|user| fill(&mut crowd, Origin::Other(user), OTHER_EACH)).collect();
    assert_eq!(crowd.places.len(), CONNECTIONS_MAX);
    assert!(crowd.comes(Origin::Other(10), at(102)).is_some());
    assert_eq!(ended(&own), [0; 0], "no other user takes what is kept for the owner");
    assert_eq!(more.iter().map(|of| ended(of).len()).sum::<usize>(), 1);
    assert!(crowd.comes(Origin::Own, at(103)).is_some());
    assert_eq!(ended(&own), [0; 0], "who has the most gives way");
}

#[test]
fn where_the_kernel_does_not_tell_nobody_has_a_share() {
    let mut crowd = Crowd::default();
    let all = fill(&mut crowd, Origin::Unknown, CONNECTIONS_MAX);
    assert_eq!(ended(&all), [0; 0]);
    assert!(crowd.comes(Origin::Unknown, at(100)).is_some());
    assert_eq!(ended(&all), [0]);
}
