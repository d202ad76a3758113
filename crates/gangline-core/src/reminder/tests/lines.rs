//! A time and a text in one line.

use super::*;

#[test]
fn a_line_begins_with_a_time_and_the_rest_is_the_text() {
    let now = moment("2026-11-24T12:00:00+01:00", BERLIN);
    for (line, at, text) in [
        ("in 20 min look at the build", "Tue 2026-11-24 12:20:00 +01:00", "look at the build"),
        ("in 20 min: look", "Tue 2026-11-24 12:20:00 +01:00", "look"),
        ("  in 2 h 30 min   5 eggs ", "Tue 2026-11-24 14:30:00 +01:00", "5 eggs"),
        ("tomorrow 9:00 call bob", "Wed 2026-11-25 09:00:00 +01:00", "call bob"),
        ("tomorrow call bob", "Wed 2026-11-25 12:00:00 +01:00", "call bob"),
        ("tomorrow 9:00 America/New_York stand up", "Wed 2026-11-25 15:00:00 +01:00", "stand up"),
        ("2026-12-01 09:00 pay", "Tue 2026-12-01 09:00:00 +01:00", "pay"),
        ("0 9 * * 1-5 stand up", "Wed 2026-11-25 09:00:00 +01:00", "stand up"),
        ("every weekday 8:30 stand up", "Wed 2026-11-25 08:30:00 +01:00", "stand up"),
        ("in 20 min", "Tue 2026-11-24 12:20:00 +01:00", ""),
    ] {
        let (due, rest) = due_and_text(line, &now, &zones).unwrap();
        assert_eq!((shown(due.at, now.time_zone()).as_str(), rest), (at, text), "{line}");
    }
}

/// R2-28: what is said is no time is told; a line that has none at all is somebody's talk.
#[test]
fn a_line_without_a_usable_time_says_why() {
    let now = moment("2026-11-24T12:00:00+01:00", BERLIN);
    let why = |line: &str| due_and_text(line, &now, &zones).unwrap_err();
    assert!(matches!(why("2020-01-01 09:00 pay"), DueError::Past { .. }));
    assert!(matches!(why("2027-03-28 02:30 look"), DueError::Gap { .. }));
    assert!(matches!(why("cron 61 9 * * 1 look"), DueError::BadCron(_)));
    assert!(matches!(why("every 10 s look"), DueError::TooOften(_)));
    for line in ["me of the milk", "ori about it", "yourself"] {
        assert!(matches!(why(line), DueError::NotUnderstood(_)), "{line}: {}", why(line));
    }
    assert_eq!(why("  "), DueError::Empty);
}
