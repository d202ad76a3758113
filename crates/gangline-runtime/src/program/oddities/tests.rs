//! Of many odd lines few are told, and their number is.

use super::*;

#[test]
fn the_first_of_a_kind_is_told_and_then_only_powers_of_ten() {
    let mut oddities = Oddities::default();
    let told: Vec<u64> = (0..1_234).filter_map(|_| oddities.count("a")).collect();
    assert_eq!(told, [1, 10, 100, 1_000]);
    assert_eq!(oddities.count("b"), Some(1));
    assert_eq!(oddities.rest(), [("a".to_owned(), 1_234)]);
    assert_eq!(oddities.rest(), []);
}

#[test]
fn kinds_without_end_are_counted_as_one() {
    let mut oddities = Oddities::default();
    let told = (0..1_000).filter(|kind| oddities.count(&kind.to_string()).is_some()).count();
    assert_eq!(told, KINDS_MAX + 3);
    assert_eq!(oddities.rest(), [(OTHERS.to_owned(), 1_000 - KINDS_MAX as u64)]);
}
