use std::collections::BTreeMap;

use jiff::{Timestamp, Zoned, tz::TimeZone};
use proptest::{collection::vec, prelude::*};

use super::*;
use crate::agent::Limit;

/// Central Europe by today's rule: the clocks change on the last Sundays of March and October.
fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

fn at(text: &str) -> Zoned {
    text.parse::<Timestamp>().unwrap().to_zoned(berlin())
}

fn wall(at: WallMicros) -> String {
    let at = Timestamp::from_microsecond(at.0).unwrap().to_zoned(berlin());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

fn no_zones(_: &str) -> Option<TimeZone> {
    None
}

fn schedule(start: &str, end: &str) -> Schedule {
    Schedule::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
}

/// R0-52: the hours hold over midnight, at their edges, and on the days when clocks change.
#[test]
fn an_agent_sleeps_in_its_hours() {
    let night = schedule("23:00", "08:00");
    let noon = schedule("12:00", "13:30");
    for (hours, now, until) in [
        (night, "2026-11-25T22:59:59+01:00", None),
        (night, "2026-11-25T23:00:00+01:00", Some("2026-11-26 08:00")),
        (night, "2026-11-26T00:00:00+01:00", Some("2026-11-26 08:00")),
        (night, "2026-11-26T07:59:59+01:00", Some("2026-11-26 08:00")),
        (night, "2026-11-26T08:00:00+01:00", None),
        (noon, "2026-11-26T11:59:00+01:00", None),
        (noon, "2026-11-26T12:00:00+01:00", Some("2026-11-26 13:30")),
        (noon, "2026-11-26T13:30:00+01:00", None),
        // The night in which clocks go forward, and the one in which they go back.
        (night, "2026-03-29T07:59:00+02:00", Some("2026-03-29 08:00")),
        (night, "2026-03-29T08:00:00+02:00", None),
        (night, "2026-10-25T02:30:00+02:00", Some("2026-10-25 08:00")),
        (night, "2026-10-25T02:30:00+01:00", Some("2026-10-25 08:00")),
        // An end that clocks skip is an hour later; one that they show twice is the first.
        (schedule("23:00", "02:30"), "2026-03-29T03:29:00+02:00", Some("2026-03-29 03:30")),
        (schedule("23:00", "02:30"), "2026-03-29T03:30:00+02:00", None),
        (schedule("23:00", "02:30"), "2026-10-25T02:29:00+02:00", Some("2026-10-25 02:30")),
        (schedule("23:00", "02:30"), "2026-10-25T02:29:00+01:00", None),
    ] {
        let found = hours.asleep(&at(now)).map(|asleep| wall(asleep.until));
        assert_eq!(found.as_deref(), until, "{hours} at {now}");
    }
}

#[test]
fn bad_hours_of_sleep_are_refused_with_what_to_write() {
    for text in ["", "9", "24:00", "9:5", "nine", "23:00:00", "-1:00", "23:60", "+9:00"] {
        let error = text.parse::<TimeOfDay>().unwrap_err().to_string();
        assert!(error.contains("as in `23:00`"), "{text}: {error}");
    }
    assert_eq!("9:05".parse::<TimeOfDay>().unwrap().to_string(), "09:05");
    let nine: TimeOfDay = "09:00".parse().unwrap();
    let same = Schedule::new(nine, nine).unwrap_err().to_string();
    assert!(same.contains("starts and ends at 09:00"), "{same}");
}

/// A pause ends after a length of time or at a time; the wall clock counts, over a change too.
#[test]
fn a_pause_ends_when_people_say() {
    let evening = at("2026-11-25T20:15:00+01:00");
    let change = at("2026-10-24T20:00:00+02:00");
    for (now, text, end) in [
        (&evening, "for 2h", "2026-11-25 22:15"),
        (&evening, "2h", "2026-11-25 22:15"),
        (&evening, "for 90 min", "2026-11-25 21:45"),
        (&evening, "until 9:00", "2026-11-26 09:00"),
        (&evening, "Until tomorrow 7:30", "2026-11-26 07:30"),
        (&evening, "9pm", "2026-11-25 21:00"),
        (&evening, "until 2026-12-01T09:00:00Z", "2026-12-01 10:00"),
        (&change, "for 1 day", "2026-10-25 20:00"),
        (&change, "for 24h", "2026-10-25 19:00"),
        (&change, "until 9:00", "2026-10-25 09:00"),
    ] {
        let found = pause_ends(text, now, &no_zones).map(wall);
        assert_eq!(found.as_deref(), Ok(end), "{text}");
    }
}

#[test]
fn a_bad_end_of_a_pause_says_what_to_write() {
    let now = at("2026-03-28T20:15:00+01:00");
    for (text, part) in [
        ("for", "`` is not a length of time"),
        ("for ever", "`ever` is not a length of time"),
        ("for 9:00", "`9:00` is not a length of time"),
        ("for -2h", "has passed"),
        ("until", "`` does not say when the pause ends"),
        ("until lunch", "`lunch` does not say when the pause ends"),
        ("until every 20 min", "comes again and again"),
        ("until 2020-01-01 09:00", "has passed"),
        ("until 2:30", "does not exist"),
        ("for 9999 days", "more than five years"),
    ] {
        let error = pause_ends(text, &now, &no_zones).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// After a spent quota no two agents need go on at the same moment, and all do soon.
#[test]
fn agents_go_on_one_after_the_other() {
    let names: Vec<String> = (0..40).map(|number| format!("oak-agent{number}")).collect();
    let mut after: Vec<_> = names.iter().map(|name| ramp(name)).collect();
    assert!(after.iter().all(|wait| *wait < RAMP));
    assert_eq!(ramp("oak-ada"), ramp("oak-ada"));
    after.sort();
    after.dedup();
    assert_eq!(after.len(), names.len());
    let early = after.iter().filter(|wait| **wait < RAMP / 4).count();
    assert!((4..=18).contains(&early), "{early} of 40 in the first quarter");
}

/// A short wait is a throttle; a long one is a spent quota.
#[test]
fn the_length_of_a_wait_tells_throttle_from_quota() {
    let limit = |seconds| Limit::of(Duration::from_secs(seconds));
    assert_eq!([limit(0), limit(30), limit(299)], [Limit::Throttle; 3]);
    assert_eq!([limit(300), limit(18_000)], [Limit::Quota; 2]);
}

#[test]
fn a_pause_that_is_over_waits_for_nothing() {
    let (at, late) = (WallMicros(5_000_000), WallMicros(9_000_000));
    assert_eq!(Until::from(at, WallMicros(2_000_000)).wait, Duration::from_secs(3));
    assert_eq!(Until::from(at, late).wait, Duration::ZERO);
}

proptest! {
    /// A reason holds from its begin until it is ended or its time is over, whatever the others do.
    #[test]
    fn each_reason_holds_for_itself(
        steps in vec((0usize..PauseReason::ALL.len(), 0u8..4, 0u64..100), 1..60)
    ) {
        let (mut pauses, mut now) = (Pauses::default(), Now::default());
        let mut model: BTreeMap<PauseReason, Option<Now>> = BTreeMap::new();
        for (reason, what, seconds) in steps {
            let reason = PauseReason::ALL[reason];
            let wait = Duration::from_secs(seconds);
            match what {
                0 => {
                    let until = Until { at: WallMicros(0), wait };
                    let new = model.insert(reason, Some(now.plus(wait))).is_none();
                    prop_assert_eq!(pauses.begin(now, reason, Some(until)), new);
                }
                1 => {
                    let new = model.insert(reason, None).is_none();
                    prop_assert_eq!(pauses.begin(now, reason, None), new);
                }
                2 => {
                    prop_assert_eq!(pauses.end(reason), model.remove(&reason).is_some());
                }
                _ => now = now.plus(wait),
            }
            let over = |end: &Option<Now>| end.is_some_and(|end| end <= now);
            let gone: Vec<_> =
                model.iter().filter(|(_, end)| over(end)).map(|(reason, _)| *reason).collect();
            model.retain(|_, end| !over(end));
            let ended = pauses.expire(now);
            let ended: Vec<_> = ended.into_iter().map(|held| held.reason).collect();
            prop_assert_eq!(ended, gone);
            prop_assert_eq!(pauses.hold(), !model.is_empty());
            prop_assert_eq!(pauses.next_deadline(), model.values().copied().flatten().min());
            let held: Vec<_> = pauses.shown().into_iter().map(|held| held.reason).collect();
            prop_assert_eq!(held, model.keys().copied().collect::<Vec<_>>());
        }
    }
}

/// A limit without a time is a throttle until nothing has passed for five minutes, then a spent quota; the
/// first request that passes makes the next limit a throttle again.
#[test]
fn limits_without_a_time_become_a_spent_quota() {
    let at = |seconds| Now::from(Duration::from_secs(seconds));
    let mut unnamed = Unnamed::default();
    for seconds in [100, 130, 160, 399] {
        assert_eq!(unnamed.met(at(seconds)), UNNAMED_WAIT, "{seconds}");
    }
    assert_eq!((unnamed.met(at(400)), unnamed.met(at(2300))), (QUOTA_WAIT, QUOTA_WAIT));
    unnamed.passed();
    assert_eq!(unnamed.met(at(5000)), UNNAMED_WAIT);
    assert_eq!((Limit::of(UNNAMED_WAIT), Limit::of(QUOTA_WAIT)), (Limit::Throttle, Limit::Quota));
}
