//! Pauses grow, end, and are one's own.

use super::*;

const EVE: Origin = Origin::User(1001);
const BOB: Origin = Origin::User(1002);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The pauses after each of so many wrong passwords, each given when the one before has ended.
fn pauses(origin: Origin, count: usize) -> Vec<u64> {
    let (mut throttle, mut now) = (Throttle::default(), Duration::ZERO);
    let mut pauses = Vec::new();
    for _ in 0..count {
        throttle.wrong(origin, now);
        let pause = throttle.pause(origin, now).unwrap_or_default();
        pauses.push(pause.as_secs());
        now += pause;
        assert_eq!(throttle.pause(origin, now), None, "a pause ends");
    }
    pauses
}

#[test]
fn a_few_wrong_passwords_are_free_and_then_the_pauses_double() {
    let address = Origin::Unknown([127, 0, 0, 1].into());
    for (origin, expected) in [
        (EVE, vec![0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]),
        (address, vec![0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]),
        (Origin::Own, vec![0, 0, 0, 1, 2, 4, 5, 5]),
    ] {
        assert_eq!(pauses(origin, expected.len()), expected, "{origin:?}");
    }
}

#[test]
fn nobody_waits_for_anothers_mistakes() {
    let mut throttle = Throttle::default();
    (0..20).for_each(|_| throttle.wrong(EVE, seconds(1)));
    assert!(throttle.pause(EVE, seconds(1)).is_some());
    assert_eq!(throttle.pause(BOB, seconds(1)), None);
    assert_eq!(throttle.pause(Origin::Own, seconds(1)), None);
    (0..20).for_each(|_| throttle.wrong(Origin::Socket, seconds(1)));
    assert_eq!(throttle.pause(Origin::Socket, seconds(1)), None, "daemons share it");
}

#[test]
fn a_right_password_and_time_make_it_forget() {
    let mut throttle = Throttle::default();
    (0..5).for_each(|_| throttle.wrong(EVE, seconds(1)));
    throttle.right(EVE);
    assert_eq!(throttle.pause(EVE, seconds(1)), None);
    (0..12).for_each(|_| throttle.wrong(EVE, seconds(1)));
    throttle.wrong(BOB, seconds(1) + FORGOTTEN);
    throttle.wrong(EVE, seconds(1) + FORGOTTEN);
    assert_eq!(throttle.pause(EVE, seconds(1) + FORGOTTEN), None, "the first one again");
}

#[test]
fn the_table_is_bounded_and_the_oldest_goes_first() {
    let mut throttle = Throttle::default();
    for uid in 0..=u32::try_from(ORIGINS).unwrap() {
        (0..=FREE)
            .for_each(|_| throttle.wrong(Origin::User(uid), Duration::from_millis(u64::from(uid))));
    }
    assert_eq!(throttle.tries.len(), ORIGINS);
    assert!(!throttle.tries.contains_key(&Origin::User(0)));
    assert!(throttle.tries.contains_key(&Origin::User(1)));
}
