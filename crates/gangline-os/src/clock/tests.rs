//! Tests of the clock's arithmetic and writing.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(micros: i64, expect: &str) {
    assert_eq!(rfc3339(UnixMicros(micros)), expect);
}

#[test]
fn known_moments_are_written_as_rfc_3339() {
    check(0, "1970-01-01T00:00:00.000Z");
    check(-1, "1969-12-31T23:59:59.999Z");
    check(951_782_400_000_000, "2000-02-29T00:00:00.000Z");
    check(951_868_799_999_999, "2000-02-29T23:59:59.999Z");
    check(4_107_542_400_000_000, "2100-03-01T00:00:00.000Z");
    check(4_107_542_399_000_000, "2100-02-28T23:59:59.000Z");
    check(1_795_296_828_123_456, "2026-11-21T21:33:48.123Z");
    check(253_402_300_799_999_999, "9999-12-31T23:59:59.999Z");
}

#[test]
fn every_day_follows_the_one_before_for_eight_hundred_years() {
    let days_in = |year: i64, month: i64| match month {
        2 if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let mut at = (1970, 1, 1);
    for day in 0..292_194 {
        assert_eq!(civil(day), at, "day {day}");
        let (year, month, day) = at;
        at = match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            _ if day == days_in(year, month) => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
    }
}

#[test]
fn seconds_are_rounded_down_also_before_1970() {
    assert_eq!(UnixMicros(-1).as_seconds(), -1);
    assert_eq!(UnixMicros(1_999_999).as_seconds(), 1);
    assert_eq!(UnixMicros::from_seconds(i64::MAX), UnixMicros(i64::MAX));
    assert_eq!(UnixMicros(1).plus(Duration::MAX), UnixMicros(i64::MAX));
    assert_eq!(UnixMicros(5).since(UnixMicros(2)), Duration::from_micros(3));
    assert_eq!(UnixMicros(2).since(UnixMicros(5)), Duration::ZERO);
}

#[test]
fn the_machines_clock_is_in_this_century_and_its_monotonic_time_never_goes_back() {
    let clock = system();
    let year = rfc3339(clock.now());
    assert!(year.starts_with("20"), "{year}");
    let mut last = clock.monotonic();
    for _ in 0..1_000 {
        let next = clock.monotonic();
        assert!(next >= last);
        last = next;
    }
}

#[track_caller]
fn reads(text: &str, expect: Option<&str>) {
    assert_eq!(parse_rfc3339(text).map(rfc3339).as_deref(), expect, "{text}");
}

#[test]
fn rfc_3339_is_read_in_any_zone_and_nothing_else_is() {
    reads("2026-11-21T21:33:48.123Z", Some("2026-11-21T21:33:48.123Z"));
    reads("2026-11-21t21:33:48z", Some("2026-11-21T21:33:48.000Z"));
    reads("2026-11-21 21:33:48.9999999Z", Some("2026-11-21T21:33:48.999Z"));
    reads("2026-03-01T00:30:00+01:00", Some("2026-02-28T23:30:00.000Z"));
    reads("2024-02-28T23:30:00-01:30", Some("2024-02-29T01:00:00.000Z"));
    reads("0000-01-01T00:00:00.5Z", Some("0000-01-01T00:00:00.500Z"));
    for none in [
        "",
        "2026-11-21",
        "2026-11-21T21:33:48",
        "2026-11-21T21:33Z",
        "2026-11-21T21:33:48.Z",
        "2026-11-21T21:33:48.1xZ",
        "2026-11-21T21:33:48Zx",
        "2026-11-21T21:33:48+1:00",
        "2026-11-21T21:33:48+01:00:00",
        "2026-11-21T24:00:00Z",
        "2026-11-21T21:33:60Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "26-11-21T21:33:48Z",
        "+026-11-21T21:33:48Z",
        "2026-11-21T21:33:48é",
    ] {
        reads(none, None);
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_back(at in -62_167_219_200_000i64..253_402_300_800_000) {
        let at = UnixMicros(at * 1_000);
        prop_assert_eq!(parse_rfc3339(&rfc3339(at)), Some(at));
    }

    #[test]
    fn reading_never_panics(text in "[0-9TtZz:+. é-]{0,30}") {
        let _ = parse_rfc3339(&text);
    }

    #[test]
    fn later_moments_are_written_as_later_texts(a in 0i64..253_402_300_800_000_000, b in 0i64..253_402_300_800_000_000) {
        let (early, late) = (a.min(b), a.max(b));
        prop_assert!(rfc3339(UnixMicros(early)) <= rfc3339(UnixMicros(late)));
    }
}
