//! How often something is told.

use super::*;

#[test]
fn the_first_is_told_and_then_one_a_minute_with_the_count() {
    let mut seldom = Seldom::default();
    let every = Duration::from_millis(50);
    let told: Vec<(u32, u64)> =
        (0..2_500).filter_map(|number| Some((number, seldom.counts(every * number)?))).collect();
    assert_eq!(told, [(0, 1), (1_200, 1_200), (2_400, 1_200)]);
}
