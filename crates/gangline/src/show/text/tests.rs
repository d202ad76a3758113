use std::time::Duration;

use gangline_os::clock::UnixMicros;
use jiff::tz::TimeZone;

use super::{age, cut, day, lines, one_line, time};

#[test]
fn ages_are_told_in_their_largest_unit() {
    let check = |seconds, expect| assert_eq!(age(Duration::from_secs(seconds)), expect);
    check(0, "0s");
    check(59, "59s");
    check(60, "1m");
    check(3599, "59m");
    check(3600, "1h");
    check(86_399, "23h");
    check(86_400, "1d");
    check(40 * 86_400, "40d");
}

#[test]
fn no_control_character_of_a_model_reaches_the_terminal() {
    assert_eq!(
        one_line("a\r\nb\x1b[2J\0\u{9b}c\u{202e}"),
        "a<U+000D> ⏎ b<U+001B>[2J<U+0000><U+009B>c<U+202E>"
    );
    assert_eq!(lines("a\tb\nc\x07\u{200b}"), "a\tb\nc<U+0007><U+200B>");
}

#[test]
fn long_text_is_cut_with_a_mark() {
    assert_eq!(cut("häuser", 6), "häuser");
    assert_eq!(cut("häuser", 4), "häu…");
}

#[test]
fn times_are_local() {
    let at = UnixMicros(1_763_760_828_123_456);
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    assert_eq!(format!("{} {}", day(at, &zone), time(at, &zone)), "2025-11-21 23:33:48.123");
}
