use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{quiet::QuietHours, *};
use crate::{QuestionNumber, question::OnTimeout};

const MINUTE: i64 = 60_000_000;

fn at(minutes: i64) -> WallMicros {
    WallMicros(minutes * MINUTE)
}

fn standing(told: u32, more: u32, waits: Waits) -> Standing {
    Standing { raised_at: at(0), told, more, until: at(5), waits }
}

/// One alert for a storm, and again after 10 and 30 minutes and then each hour (R1-39).
#[test]
fn an_alert_is_told_once_then_its_storm_then_again_while_it_waits() {
    let check = |alert, now, tell, due: Option<i64>| {
        assert_eq!(next(&alert, at(now)), Next { tell, due: due.map(at) }, "{alert:?} {now}");
    };
    let first = Some(Telling::First);
    check(standing(0, 0, Waits::Nobody), 0, first, None);
    check(standing(0, 0, Waits::Closed), 0, first, None);
    check(standing(0, 0, Waits::Open), 0, first, Some(10));
    // A storm before it was told: the rest comes at the window's end.
    check(standing(0, 7, Waits::Nobody), 1, first, Some(5));
    check(standing(1, 7, Waits::Nobody), 4, None, Some(5));
    check(standing(1, 7, Waits::Nobody), 5, Some(Telling::More(7)), None);
    check(standing(1, 7, Waits::Open), 5, Some(Telling::More(7)), Some(10));
    check(standing(1, 0, Waits::Open), 9, None, Some(10));
    check(standing(1, 0, Waits::Open), 10, Some(Telling::Again(10)), Some(30));
    check(standing(2, 0, Waits::Open), 30, Some(Telling::Again(30)), Some(90));
    check(standing(3, 0, Waits::Open), 90, Some(Telling::Again(90)), Some(150));
    check(standing(3, 0, Waits::Open), 100, Some(Telling::Again(100)), Some(150));
    check(standing(3, 0, Waits::Closed), 90, None, None);
    check(standing(1, 0, Waits::Nobody), 90, None, None);
    // Nothing ran for more than a day: only what still waits for somebody is told.
    check(standing(0, 3, Waits::Nobody), 1440, first, Some(1440));
    check(standing(0, 3, Waits::Nobody), 1441, None, None);
    // What was settled meanwhile is told no more.
    check(standing(0, 0, Waits::Closed), 1, first, None);
    check(standing(0, 0, Waits::Closed), 2, None, None);
    check(standing(0, 0, Waits::Open), 1441, first, Some(1470));
}

#[test]
fn a_failed_attempt_is_repeated_only_as_often_as_configured() {
    use AfterFailure::{Again, GiveUp};
    let seconds = Duration::from_secs;
    let check = |attempts, retries, failure, then| {
        assert_eq!(after_failure(attempts, retries, failure), then, "{attempts} {retries}");
    };
    // C17, R1-41: without retries a failure is the end, whatever it was.
    check(1, 0, Failure::Passing, GiveUp);
    check(1, 0, Failure::Slower(Some(seconds(1))), GiveUp);
    check(1, 3, Failure::Passing, Again(seconds(5)));
    check(2, 3, Failure::Passing, Again(seconds(15)));
    check(3, 3, Failure::Passing, Again(seconds(45)));
    check(4, 3, Failure::Passing, GiveUp);
    check(19, 20, Failure::Passing, Again(RETRY_MOST));
    check(1, 3, Failure::Refused, GiveUp);
    check(1, 3, Failure::Slower(None), Again(seconds(5)));
    check(1, 3, Failure::Slower(Some(seconds(1))), Again(seconds(5)));
    check(1, 3, Failure::Slower(Some(seconds(70))), Again(seconds(70)));
    check(1, 3, Failure::Slower(Some(seconds(999_999))), Again(RETRY_AFTER_MOST));
    check(30, 100, Failure::Passing, GiveUp);
}

#[test]
fn a_delivery_whose_sender_died_is_repeated_only_if_a_retry_is_left() {
    assert_eq!(after_death(1, 0), DeliveryState::Unknown);
    assert_eq!(after_death(1, 1), DeliveryState::Waiting);
    assert_eq!(after_death(2, 1), DeliveryState::Unknown);
}

#[test]
fn only_errors_go_through_quiet_hours() {
    let held: Vec<_> = Severity::ALL.iter().filter(|it| is_held_back(**it)).collect();
    assert_eq!(held, [&Severity::Info, &Severity::Warning]);
}

/// The words of the seed, letter by letter (R1-42).
#[test]
fn the_texts_are_those_of_the_seed() {
    let agent = |name: &str| name.parse().unwrap();
    let culture = agent("spark-culture");
    let check = |text: String, expect: &str| assert_eq!(text, expect);
    check(
        text::spiraling(&culture, "benchmark nemotron", "Retried cmake 4 times"),
        "[SPIRALING] spark-culture stuck on task \"benchmark nemotron\". Retried cmake 4 times. \
         Awaiting guidance.",
    );
    check(
        text::question(&culture, "Delete 47 files. Proceed?"),
        "[QUESTION] spark-culture needs input: \"Delete 47 files. Proceed?\"",
    );
    check(
        text::crashed(&agent("spark-assimilai"), "process exited with code 1"),
        "[ERROR] spark-assimilai crashed: process exited with code 1",
    );
    check(
        text::complete(&culture, ("benchmark nemotron", "ori"), "#benchmarks"),
        "[COMPLETE] spark-culture finished task \"benchmark nemotron\". Results in #benchmarks.",
    );
    check(
        text::complete(&culture, ("build", "ori"), "ori"),
        "[COMPLETE] spark-culture finished a task of ori, who was answered in private.",
    );
    check(
        text::complete(&culture, ("build", "matrix"), ""),
        "[COMPLETE] spark-culture finished a task of matrix.",
    );
    let timeout = |then| text::timeout(&culture, QuestionNumber(12), "go?", then);
    let late = "[TIMEOUT] spark-culture got no answer in time to question 12: \"go?\"";
    check(timeout(OnTimeout::None), late);
    check(timeout(OnTimeout::Deny), &format!("{late} That counts as no."));
    check(
        timeout(OnTimeout::Pause),
        &format!("{late} It is paused: `@spark-culture resume` lets it continue."),
    );
    check(
        text::spiraling(&culture, "build", ""),
        "[SPIRALING] spark-culture stuck on task \"build\". Awaiting guidance.",
    );
    check(
        text::told("x", Telling::More(7)),
        "x (7 alerts like this in the last minutes; this is the newest)",
    );
    check(text::told("x", Telling::More(1)), "x");
    check(text::one_line(" a\r\nb\nc\rd\t\u{3}4\u{1b}[0m\u{202e}e "), "a ⏎ b ⏎ c ⏎ d4[0m<U+202E>e");
    check(text::told("x", Telling::Again(30)), "x (still waits, for 30 minutes)");
    check(text::told("x", Telling::Again(90)), "x (still waits, for 1 h 30 min)");
    check(text::told("x", Telling::Again(120)), "x (still waits, for 2 hours)");
}

fn berlin() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

fn wall(text: &str) -> WallMicros {
    WallMicros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

#[test]
fn quiet_hours_are_by_the_clock_on_the_wall_over_midnight_and_over_a_change_of_the_clock() {
    let check = |hours: &str, now: &str, end: Option<&str>| {
        let hours: QuietHours = hours.parse().unwrap();
        assert_eq!(hours.end(wall(now), &berlin()), end.map(wall), "{hours} at {now}");
    };
    // In winter Berlin is an hour ahead.
    check("22:00-7:00", "2026-01-10T20:59:59Z", None);
    check("22:00-7:00", "2026-01-10T21:00:00Z", Some("2026-01-11T06:00:00Z"));
    check("22:00-7:00", "2026-01-11T05:59:59Z", Some("2026-01-11T06:00:00Z"));
    check("22:00-7:00", "2026-01-11T06:00:00Z", None);
    check("12:00-13:30", "2026-01-11T11:15:00Z", Some("2026-01-11T12:30:00Z"));
    check("12:00-13:30", "2026-01-11T12:30:00Z", None);
    // The night of 2026-03-29 is an hour shorter, that of 2026-10-25 an hour longer.
    check("22:00-7:00", "2026-03-28T22:00:00Z", Some("2026-03-29T05:00:00Z"));
    check("22:00-7:00", "2026-10-24T21:00:00Z", Some("2026-10-25T06:00:00Z"));
    // 02:30 does not come on 2026-03-29: they end where the clock goes on, at 03:00.
    check("22:00-2:30", "2026-03-29T00:30:00Z", Some("2026-03-29T01:00:00Z"));
    // 02:30 comes twice on 2026-10-25.
    check("22:00-2:30", "2026-10-25T00:15:00Z", Some("2026-10-25T00:30:00Z"));
    check("22:00-2:30", "2026-10-25T01:15:00Z", Some("2026-10-25T01:30:00Z"));
}

#[test]
fn what_is_no_quiet_hours_is_refused() {
    for text in ["", "22:00", "22-7", "22:00-22:00", "25:00-7:00", "22:0-7:00", "a-b", "-1:00-7:00"]
    {
        assert!(text.parse::<QuietHours>().is_err(), "{text}");
    }
    assert_eq!("22:00 - 07:00".parse::<QuietHours>().unwrap().to_string(), "22:00-7:00");
}

proptest! {
    /// Quiet hours end later than now, within a day and an hour, and really end there.
    #[test]
    fn quiet_hours_end(minutes in 0_i64..20_000_000, from in 0_u32..1440, to in 0_u32..1440) {
        prop_assume!(from != to);
        let text = format!("{}:{:02}-{}:{:02}", from / 60, from % 60, to / 60, to % 60);
        let hours: QuietHours = text.parse().unwrap();
        let now = at(29_000_000 + minutes);
        if let Some(end) = hours.end(now, &berlin()) {
            prop_assert!(end > now && end.0 - now.0 <= 25 * 60 * MINUTE, "{text} {now:?} {end:?}");
            prop_assert_eq!(hours.end(end, &berlin()), None, "{} {:?}", text, now);
        }
    }

    /// The next time to tell is always later, and never more than an hour away; but what gathered
    /// behind a first telling that came late is told at once.
    #[test]
    fn an_alert_is_looked_at_again_later(since in 0_i64..100_000, told in 0_u32..4, more in 0_u32..4) {
        let found = next(&standing(told, more, Waits::Open), at(since));
        let due = found.due.unwrap();
        let is_late = told == 0 && more > 0 && since >= 5;
        prop_assert_eq!(due == at(since), is_late);
        prop_assert!(due >= at(since));
        prop_assert!(due.0 - at(since).0 <= 60 * MINUTE);
    }
}
