use super::*;

fn repeat(text: &str) -> Repeat {
    text.parse().unwrap()
}

/// Returns the next times after a moment, by the clocks of a zone.
fn next(text: &str, after: &str, zone: &str, count: usize) -> Vec<String> {
    let zone = zones(zone).unwrap();
    let mut at = WallMicros(after.parse::<Timestamp>().unwrap().as_microsecond());
    let mut times = Vec::new();
    for _ in 0..count {
        at = repeat(text).next_after(at, &zones).unwrap();
        times.push(shown(at, &zone)[4..].to_owned());
    }
    times
}

#[test]
fn an_interval_counts_from_the_time_before() {
    assert_eq!(
        next("every PT20M", "2026-10-25T02:50:07+02:00", BERLIN, 4),
        [
            "2026-10-25 02:10:07 +01:00",
            "2026-10-25 02:30:07 +01:00",
            "2026-10-25 02:50:07 +01:00",
            "2026-10-25 03:10:07 +01:00",
        ]
    );
    assert_eq!(repeat("every PT1H").next_after(WallMicros(i64::MAX), &zones), None);
}

#[test]
fn a_repeat_of_one_time_a_day_that_clocks_skip_fires_after_the_gap() {
    assert_eq!(
        next("cron 30 2 * * * @Europe/Berlin", "2027-03-27T00:00:00Z", BERLIN, 3),
        ["2027-03-27 02:30:00 +01:00", "2027-03-28 03:00:00 +02:00", "2027-03-29 02:30:00 +02:00",]
    );
    let lord_howe = next("cron 15 2 * * * @Australia/Lord_Howe", "2026-10-03T00:00Z", LORD_HOWE, 2);
    assert_eq!(lord_howe, ["2026-10-04 02:30:00 +11:00", "2026-10-05 02:15:00 +11:00"]);
    let cairo = next("cron 0 0 * * 5 @Africa/Cairo", "2027-04-25T00:00Z", CAIRO, 2);
    assert_eq!(cairo, ["2027-04-30 01:00:00 +03:00", "2027-05-07 00:00:00 +03:00"]);
}

#[test]
fn a_repeat_of_several_times_a_day_leaves_out_those_that_clocks_skip() {
    assert_eq!(
        next("cron 30 2,14 * * * @America/New_York", "2027-03-13T20:00Z", NEW_YORK, 2),
        ["2027-03-14 14:30:00 -04:00", "2027-03-15 02:30:00 -04:00",]
    );
    assert_eq!(
        next("cron */30 * * * * @America/New_York", "2027-03-14T01:00-05:00", NEW_YORK, 3),
        ["2027-03-14 01:30:00 -05:00", "2027-03-14 03:00:00 -04:00", "2027-03-14 03:30:00 -04:00",]
    );
}

#[test]
fn a_time_that_clocks_show_twice_fires_once() {
    assert_eq!(
        next("cron 30 2 * * * @Europe/Berlin", "2026-10-24T12:00Z", BERLIN, 2),
        ["2026-10-25 02:30:00 +02:00", "2026-10-26 02:30:00 +01:00",]
    );
    // Asked between the two, and after the second.
    for after in ["2026-10-25T02:30+02:00", "2026-10-25T02:10+01:00", "2026-10-25T02:30+01:00"] {
        let next = next("cron 30 2 * * * @Europe/Berlin", after, BERLIN, 1);
        assert_eq!(next, ["2026-10-26 02:30:00 +01:00"], "{after}");
    }
    assert_eq!(
        next("cron 0,30 1,2 * * * @America/New_York", "2026-10-31T12:00Z", NEW_YORK, 5),
        [
            "2026-11-01 01:00:00 -04:00",
            "2026-11-01 01:30:00 -04:00",
            "2026-11-01 02:00:00 -05:00",
            "2026-11-01 02:30:00 -05:00",
            "2026-11-02 01:00:00 -05:00",
        ]
    );
    let lord_howe = next("cron 45 1 * * * @Australia/Lord_Howe", "2027-04-03T00:00Z", LORD_HOWE, 2);
    assert_eq!(lord_howe, ["2027-04-04 01:45:00 +11:00", "2027-04-05 01:45:00 +10:30"]);
}

#[test]
fn a_repeat_of_every_hour_goes_on_through_both_hours() {
    assert_eq!(
        next("cron */30 * * * * @Europe/Berlin", "2026-10-25T02:00+02:00", BERLIN, 4),
        [
            "2026-10-25 02:30:00 +02:00",
            "2026-10-25 02:00:00 +01:00",
            "2026-10-25 02:30:00 +01:00",
            "2026-10-25 03:00:00 +01:00",
        ]
    );
}

#[test]
fn a_zone_that_is_not_known_any_more_has_no_next_time() {
    let daily = repeat("cron 0 9 * * * @Europe/Berlin");
    assert_eq!(daily.next_after(WallMicros(0), &|_| None), None);
    assert_eq!(repeat("cron 0 0 31 2 * @UTC").next_after(WallMicros(0), &zones), None);
    let utc = repeat("cron 0 9 * * * @UTC").next_after(WallMicros(0), &|_| None);
    assert_eq!(utc, Some(WallMicros(9 * 3_600_000_000)));
    let fixed = repeat("cron 0 9 * * * @+03").next_after(WallMicros(0), &|_| None);
    assert_eq!(fixed, Some(WallMicros(6 * 3_600_000_000)));
}

#[test]
fn people_read_a_repeat_in_words() {
    for (text, words) in [
        ("every PT20M", "every 20 min"),
        ("every PT2H", "every 2 h"),
        ("every PT1H30M", "every 1 h 30 min"),
        ("every PT48H", "every 2 days"),
        ("every PT1M30S", "every 1 min 30 s"),
        ("cron 0 9 * * 1-5 @Europe/Berlin", "at 09:00 on weekdays (Europe/Berlin)"),
        ("cron 30 8 * * * @UTC", "at 08:30 (UTC)"),
        ("cron 0 9 * * 1 @UTC", "at 09:00 on Monday (UTC)"),
        ("cron 0 9 * * SAT,SUN @UTC", "at 09:00 on Sunday and Saturday (UTC)"),
        ("cron */15 * * * * @UTC", "every 15 minutes (UTC)"),
        ("cron 0 9-17 * * 1-5 @+03", "at minute 0 of hour 9-17 on weekdays (+03)"),
        ("cron 0 9 1 1 * @UTC", "at 09:00 on day 1 in January (UTC)"),
        ("cron 0 9 * * FRI#1 @UTC", "at 09:00 on the 1st Friday of the month (UTC)"),
        (
            "cron 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39 1,3,5,7,9,11,13,15,17 * * * @UTC",
            "cron 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39 1,3,5,7,9,11,13,15,17 * * * (UTC)",
        ),
    ] {
        assert_eq!(repeat(text).describe(), words);
    }
}

#[test]
fn only_what_was_stored_is_read_back() {
    for text in [
        "",
        "every",
        "every 20 min",
        "every PT20m",
        "every PT20S",
        "every -PT20M",
        "every P3D",
        "every PT20M ",
        "cron 0 9 * * 1-5",
        "cron 0 9 * * 1-5 @",
        "cron 0 9 * * 1-5 @a b",
        "cron 0  9 * * 1-5 @UTC",
        "cron 0 9 * * mon @UTC",
        "cron 0 0 9 * * 1 @UTC",
        "cron @DAILY @UTC",
        "cron 60 9 * * * @UTC",
        "cron 0 9 * * * @../etc",
        "Cron 0 9 * * * @UTC",
        "20 min",
    ] {
        assert!(text.parse::<Repeat>().is_err(), "{text}");
    }
    let error = "later\n".parse::<Repeat>().unwrap_err().to_string();
    assert!(error.starts_with("`later<U+000A>` is not a repeat"), "{error}");
}

/// Stored repeats with times around the changes of clocks.
fn stored() -> impl Strategy<Value = String> {
    let zone = prop::sample::select(vec![BERLIN, NEW_YORK, LORD_HOWE, CAIRO, "UTC", "-03:30"]);
    let minute = prop::sample::select(vec!["0", "30", "*/7", "*", "10,50", "0-20/5"]);
    let hour = prop::sample::select(vec!["0", "1", "2", "3", "*", "*/2", "0-3", "1,2,14"]);
    let day = prop::sample::select(vec![
        "* * *",
        "* * 1-5",
        "* * 0",
        "1 * *",
        "L * *",
        "15W * *",
        "* 3,4,10 5L",
    ]);
    prop_oneof![
        (60u64..1_000_000).prop_map(|seconds| {
            format!("every {}", jiff::SignedDuration::from_secs(seconds as i64))
        }),
        (minute, hour, day, zone)
            .prop_map(|(minute, hour, day, zone)| format!("cron {minute} {hour} {day} @{zone}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_repeat_is_read_back_as_it_was_stored(text in stored()) {
        prop_assert_eq!(repeat(&text).to_string(), text);
    }

    #[test]
    fn each_time_is_later_than_the_one_before(
        text in stored(),
        change in prop::sample::select(vec![
            "2026-10-04T02:00+10:30", "2026-10-25T03:00+02:00", "2026-11-01T02:00-04:00",
            "2027-03-14T02:00-05:00", "2027-03-28T02:00+01:00", "2027-04-04T02:00+11:00",
            "2027-04-30T00:00+02:00",
        ]),
        micros in -8_000_000_000i64..8_000_000_000,
    ) {
        let change = change.parse::<Timestamp>().unwrap().as_microsecond();
        let mut at = WallMicros(change + micros);
        for _ in 0..6 {
            let next = repeat(&text).next_after(at, &zones).unwrap();
            prop_assert!(next > at, "{text}: {next:?} after {at:?}");
            // Nothing lies between: whoever asks just before it is told the same.
            if text.starts_with("cron") {
                prop_assert_eq!(repeat(&text).next_after(WallMicros(next.0 - 1), &zones), Some(next));
            }
            at = next;
        }
    }
}
