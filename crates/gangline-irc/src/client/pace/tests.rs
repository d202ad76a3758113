//! Tests of the token bucket.

use std::time::Duration;

use proptest::prelude::*;

use super::{Bucket, Pace};

#[test]
fn four_lines_go_at_once_and_then_one_a_second() {
    let mut bucket = Bucket::full(Pace::FOREIGN, Duration::ZERO);
    let mut sent = Vec::new();
    let mut now = Duration::ZERO;
    while sent.len() < 7 {
        if bucket.take(now) {
            sent.push(now.as_millis());
        } else {
            now = bucket.ready_at();
        }
    }
    assert_eq!(sent, [0, 0, 0, 0, 1000, 2000, 3000]);
}

#[test]
fn a_rest_fills_the_bucket_to_its_burst_and_no_further() {
    let mut bucket = Bucket::full(Pace::OWN, Duration::ZERO);
    let now = Duration::from_secs(3600);
    assert_eq!((0..100).filter(|_| bucket.take(now)).count(), 50);
}

#[test]
fn a_halved_pace_never_stands_still() {
    let mut pace = Pace::FOREIGN;
    let mut seen = Vec::new();
    for _ in 0..5 {
        pace = pace.halved();
        seen.push((pace.burst, pace.per_second));
    }
    assert_eq!(seen, [(2, 0.5), (1, 0.25), (1, 0.125), (1, 0.125), (1, 0.125)]);
}

#[test]
fn an_overdrawn_bucket_makes_the_next_line_wait_longer() {
    let mut bucket = Bucket::full(Pace { burst: 1, per_second: 1.0 }, Duration::ZERO);
    assert!(bucket.take(Duration::ZERO));
    bucket.overdraw();
    assert_eq!(bucket.ready_at(), Duration::from_secs(2));
    assert!(!bucket.is_ample(Duration::from_secs(9)));
}

proptest! {
    #[test]
    fn no_more_lines_than_promised_ever_go(gaps in prop::collection::vec(0u64..2000, 1..200)) {
        let mut bucket = Bucket::full(Pace::FOREIGN, Duration::ZERO);
        let (mut now, mut sent) = (Duration::ZERO, 0);
        for gap in gaps {
            now += Duration::from_millis(gap);
            while bucket.take(now) { sent += 1; }
            prop_assert!(f64::from(sent) <= 4.0 + now.as_secs_f64() + 1e-3);
            prop_assert!(bucket.ready_at() > now);
        }
    }
}
