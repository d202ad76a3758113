use super::*;

#[test]
fn a_length_of_time_counts_from_now() {
    check(
        "2026-11-25T08:30:15Z",
        "UTC",
        &[
            ("in 20 min", "Wed 2026-11-25 08:50:15 +00:00"),
            ("20 min", "Wed 2026-11-25 08:50:15 +00:00"),
            ("  IN   20   Minutes ", "Wed 2026-11-25 08:50:15 +00:00"),
            ("in 2h 30m", "Wed 2026-11-25 11:00:15 +00:00"),
            ("in 2h30m", "Wed 2026-11-25 11:00:15 +00:00"),
            ("1 h 20 min 5 s", "Wed 2026-11-25 09:50:20 +00:00"),
            ("in 1.5 hours", "Wed 2026-11-25 10:00:15 +00:00"),
            ("in an hour", "Wed 2026-11-25 09:30:15 +00:00"),
            ("in a week", "Wed 2026-12-02 08:30:15 +00:00"),
            ("in 3 days", "Sat 2026-11-28 08:30:15 +00:00"),
            ("in 1 month", "Fri 2026-12-25 08:30:15 +00:00"),
            ("in 5 years", "Tue 2031-11-25 08:30:15 +00:00"),
            ("PT20M", "Wed 2026-11-25 08:50:15 +00:00"),
            ("30 sec", "Wed 2026-11-25 08:30:45 +00:00"),
        ],
    );
}

#[test]
fn a_time_of_day_is_the_next_one() {
    check(
        "2026-11-25T08:30:15Z",
        "UTC",
        &[
            ("9:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("at 9:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("09:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("9am", "Wed 2026-11-25 09:00:00 +00:00"),
            ("9 AM", "Wed 2026-11-25 09:00:00 +00:00"),
            ("9:30 pm", "Wed 2026-11-25 21:30:00 +00:00"),
            ("at 9:30pm", "Wed 2026-11-25 21:30:00 +00:00"),
            ("12pm", "Wed 2026-11-25 12:00:00 +00:00"),
            ("12am", "Thu 2026-11-26 00:00:00 +00:00"),
            ("12:30 am", "Thu 2026-11-26 00:30:00 +00:00"),
            ("0:00", "Thu 2026-11-26 00:00:00 +00:00"),
            ("8:30", "Thu 2026-11-26 08:30:00 +00:00"),
            ("8:31", "Wed 2026-11-25 08:31:00 +00:00"),
        ],
    );
    check("2026-11-25T08:30:00Z", "UTC", &[("8:30", "Thu 2026-11-26 08:30:00 +00:00")]);
}

#[test]
fn a_day_and_a_time_of_day() {
    check(
        "2026-11-25T08:30:15Z",
        "UTC",
        &[
            ("today 17:30", "Wed 2026-11-25 17:30:00 +00:00"),
            ("tomorrow 9:00", "Thu 2026-11-26 09:00:00 +00:00"),
            ("Tomorrow at 9am", "Thu 2026-11-26 09:00:00 +00:00"),
            ("tomorrow", "Thu 2026-11-26 08:30:15 +00:00"),
            ("monday 9:00", "Mon 2026-11-30 09:00:00 +00:00"),
            ("on Monday at 9:00", "Mon 2026-11-30 09:00:00 +00:00"),
            ("wednesday 9:00", "Wed 2026-12-02 09:00:00 +00:00"),
            ("wed 7:00", "Wed 2026-12-02 07:00:00 +00:00"),
            ("thu 7:00", "Thu 2026-11-26 07:00:00 +00:00"),
            ("tuesday", "Tue 2026-12-01 08:30:15 +00:00"),
            ("2026-11-25 09:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-12-24 9:00", "Thu 2026-12-24 09:00:00 +00:00"),
            ("2026-12-24 at 6 pm", "Thu 2026-12-24 18:00:00 +00:00"),
            ("on 2026-12-24 18:00", "Thu 2026-12-24 18:00:00 +00:00"),
            ("2026-11-25T09:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25t09:00:30", "Wed 2026-11-25 09:00:30 +00:00"),
            ("2028-02-29 12:00", "Tue 2028-02-29 12:00:00 +00:00"),
        ],
    );
}

#[test]
fn an_offset_or_a_zone_that_is_named_counts_instead_of_the_one_here() {
    check(
        "2026-11-25T08:30:15Z",
        "UTC",
        &[
            ("2026-11-25T09:00Z", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25T10:00:00+01:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25 10:00+0100", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25 10:00 +01:00", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25T10:00[Europe/Berlin]", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25T10:00+01:00[Europe/Berlin]", "Wed 2026-11-25 09:00:00 +00:00"),
            ("2026-11-25T09:00Z[Europe/Berlin]", "Wed 2026-11-25 09:00:00 +00:00"),
            ("tomorrow 9:00 Europe/Berlin", "Thu 2026-11-26 08:00:00 +00:00"),
            ("tomorrow 9:00 europe/berlin", "Thu 2026-11-26 08:00:00 +00:00"),
            ("tomorrow 9:00 @Europe/Berlin", "Thu 2026-11-26 08:00:00 +00:00"),
            ("tomorrow 9:00 -05:30", "Thu 2026-11-26 14:30:00 +00:00"),
            ("9:00 America/New_York", "Wed 2026-11-25 14:00:00 +00:00"),
            ("9:00 Europe/Berlin", "Thu 2026-11-26 08:00:00 +00:00"),
            ("9 pm utc", "Wed 2026-11-25 21:00:00 +00:00"),
        ],
    );
    // Another day there: it is Thursday.
    check(
        "2026-11-25T20:00:00Z",
        "UTC",
        &[
            ("today 9:00 Australia/Lord_Howe", "Wed 2026-11-25 22:00:00 +00:00"),
            ("thursday 9:00 Australia/Lord_Howe", "Wed 2026-12-02 22:00:00 +00:00"),
            ("tomorrow Australia/Lord_Howe", "Thu 2026-11-26 20:00:00 +00:00"),
        ],
    );
}

#[test]
fn what_repeats_is_stored_with_its_zone() {
    check(
        "2026-11-25T08:30:15Z",
        BERLIN,
        &[
            ("every 20 min", "Wed 2026-11-25 09:50:15 +01:00 | every PT20M"),
            ("every 2 hours", "Wed 2026-11-25 11:30:15 +01:00 | every PT2H"),
            ("Every Hour", "Wed 2026-11-25 10:30:15 +01:00 | every PT1H"),
            ("every minute", "Wed 2026-11-25 09:31:15 +01:00 | every PT1M"),
            ("every 1h 30m", "Wed 2026-11-25 11:00:15 +01:00 | every PT1H30M"),
            ("every PT20M", "Wed 2026-11-25 09:50:15 +01:00 | every PT20M"),
            ("every day 9:00", "Thu 2026-11-26 09:00:00 +01:00 | cron 0 9 * * * @Europe/Berlin"),
            (
                "every day at 10:00",
                "Wed 2026-11-25 10:00:00 +01:00 | cron 0 10 * * * @Europe/Berlin",
            ),
            ("every day", "Thu 2026-11-26 09:30:00 +01:00 | cron 30 9 * * * @Europe/Berlin"),
            ("every monday 9:00", "Mon 2026-11-30 09:00:00 +01:00 | cron 0 9 * * 1 @Europe/Berlin"),
            ("every Sun 9pm", "Sun 2026-11-29 21:00:00 +01:00 | cron 0 21 * * 0 @Europe/Berlin"),
            (
                "every weekday 8:30",
                "Thu 2026-11-26 08:30:00 +01:00 | cron 30 8 * * 1-5 @Europe/Berlin",
            ),
            ("0 9 * * 1-5", "Thu 2026-11-26 09:00:00 +01:00 | cron 0 9 * * 1-5 @Europe/Berlin"),
            (
                "cron  0 9 * * mon-fri",
                "Thu 2026-11-26 09:00:00 +01:00 | cron 0 9 * * MON-FRI @Europe/Berlin",
            ),
            ("*/15 * * * *", "Wed 2026-11-25 09:45:00 +01:00 | cron */15 * * * * @Europe/Berlin"),
            ("0 9 * * 1-5 UTC", "Wed 2026-11-25 10:00:00 +01:00 | cron 0 9 * * 1-5 @UTC"),
            (
                "cron 0 9 * * 1-5 @america/new_york",
                "Wed 2026-11-25 15:00:00 +01:00 | cron 0 9 * * 1-5 @America/New_York",
            ),
            (
                "every weekday 8:30 America/New_York",
                "Wed 2026-11-25 14:30:00 +01:00 | cron 30 8 * * 1-5 @America/New_York",
            ),
            ("every day 9:00 +03:00", "Thu 2026-11-26 07:00:00 +01:00 | cron 0 9 * * * @+03"),
            ("every day 9:00 -05:30", "Wed 2026-11-25 15:30:00 +01:00 | cron 0 9 * * * @-05:30"),
        ],
    );
}

#[test]
fn days_keep_the_time_of_day_when_clocks_go_forward() {
    check(
        "2027-03-27T12:00:00+01:00",
        BERLIN,
        &[
            ("in 24 hours", "Sun 2027-03-28 13:00:00 +02:00"),
            ("in 1 day", "Sun 2027-03-28 12:00:00 +02:00"),
            ("tomorrow", "Sun 2027-03-28 12:00:00 +02:00"),
            ("tomorrow 9:00", "Sun 2027-03-28 09:00:00 +02:00"),
            ("9:00", "Sun 2027-03-28 09:00:00 +02:00"),
            ("tomorrow 3:00", "Sun 2027-03-28 03:00:00 +02:00"),
            ("tomorrow 1:59", "Sun 2027-03-28 01:59:00 +01:00"),
            ("2027-03-28T02:30+02:00", "Sun 2027-03-28 01:30:00 +01:00"),
        ],
    );
    // From a time that is skipped then, days go on by as much as is skipped.
    check(
        "2027-03-27T02:30:00+01:00",
        BERLIN,
        &[
            ("in 1 day", "Sun 2027-03-28 03:30:00 +02:00"),
            ("tomorrow", "Sun 2027-03-28 03:30:00 +02:00"),
            ("in 2 days", "Mon 2027-03-29 02:30:00 +02:00"),
        ],
    );
    check(
        "2027-03-13T12:00:00-05:00",
        NEW_YORK,
        &[
            ("in 1 day", "Sun 2027-03-14 12:00:00 -04:00"),
            ("in 24 h", "Sun 2027-03-14 13:00:00 -04:00"),
            ("sunday 3:00", "Sun 2027-03-14 03:00:00 -04:00"),
        ],
    );
}

#[test]
fn a_time_that_clocks_skip_is_an_error_with_the_times_around_it() {
    let gap = "2027-03-28 02:30 does not exist in Europe/Berlin, where clocks go forward then; say \
               2027-03-28 01:59 or 2027-03-28 03:00";
    check(
        "2027-03-27T12:00:00+01:00",
        BERLIN,
        &[
            ("2:30", gap),
            ("tomorrow 2:30", gap),
            ("sunday 2:30 am", gap),
            ("2027-03-28 02:30", gap),
            ("2027-03-28T02:30[Europe/Berlin]", gap),
        ],
    );
    check("2027-03-28T01:30:00+01:00", BERLIN, &[("2:30", gap), ("today 2:30", gap)]);
    // After the gap it is so again tomorrow.
    check("2027-03-28T09:00:00+02:00", BERLIN, &[("2:30", "Mon 2027-03-29 02:30:00 +02:00")]);
    check(
        "2027-03-13T12:00:00-05:00",
        NEW_YORK,
        &[(
            "tomorrow 2:00",
            "2027-03-14 02:00 does not exist in America/New_York, where clocks go forward then; say \
         2027-03-14 01:59 or 2027-03-14 03:00",
        )],
    );
    check(
        "2026-10-03T12:00:00+10:30",
        LORD_HOWE,
        &[
            (
                "tomorrow 2:15",
                "2026-10-04 02:15 does not exist in Australia/Lord_Howe, where clocks go forward then; \
             say 2026-10-04 01:59 or 2026-10-04 02:30",
            ),
            ("tomorrow 2:30", "Sun 2026-10-04 02:30:00 +11:00"),
        ],
    );
    check(
        "2027-04-29T12:00:00+02:00",
        CAIRO,
        &[(
            "tomorrow 0:00",
            "2027-04-30 00:00 does not exist in Africa/Cairo, where clocks go forward then; say \
         2027-04-29 23:59 or 2027-04-30 01:00",
        )],
    );
}

#[test]
fn a_time_that_clocks_show_twice_is_the_first_one_that_is_still_to_come() {
    check(
        "2026-10-24T12:00:00+02:00",
        BERLIN,
        &[
            ("tomorrow 2:30", "Sun 2026-10-25 02:30:00 +02:00"),
            ("2026-10-25 02:30", "Sun 2026-10-25 02:30:00 +02:00"),
            ("2026-10-25T02:30+01:00", "Sun 2026-10-25 02:30:00 +01:00"),
            ("2026-10-25T02:30+01:00[Europe/Berlin]", "Sun 2026-10-25 02:30:00 +01:00"),
            ("in 1 day", "Sun 2026-10-25 12:00:00 +01:00"),
            ("in 24 h", "Sun 2026-10-25 11:00:00 +01:00"),
            ("tomorrow 3:00", "Sun 2026-10-25 03:00:00 +01:00"),
        ],
    );
    check(
        "2026-10-25T02:45:00+02:00",
        BERLIN,
        &[
            ("2:30", "Sun 2026-10-25 02:30:00 +01:00"),
            ("today 2:30", "Sun 2026-10-25 02:30:00 +01:00"),
            ("2:50", "Sun 2026-10-25 02:50:00 +02:00"),
        ],
    );
    check(
        "2026-10-25T02:45:00+01:00",
        BERLIN,
        &[("2:30", "Mon 2026-10-26 02:30:00 +01:00"), ("2:50", "Sun 2026-10-25 02:50:00 +01:00")],
    );
    check(
        "2026-10-31T12:00:00-04:00",
        NEW_YORK,
        &[
            ("1:30", "Sun 2026-11-01 01:30:00 -04:00"),
            ("sunday 2:00", "Sun 2026-11-01 02:00:00 -05:00"),
        ],
    );
    check("2027-04-03T12:00:00+11:00", LORD_HOWE, &[("1:45", "Sun 2027-04-04 01:45:00 +11:00")]);
}

#[test]
fn a_zone_without_a_name_does_for_one_time_only() {
    let posix = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let now = moment("2027-03-27T12:00:00+01:00", "UTC").with_time_zone(posix);
    assert_eq!(said("tomorrow 9:00", &now), "Sun 2027-03-28 09:00:00 +02:00");
    assert_eq!(said("every 2 h", &now), "Sat 2027-03-27 14:00:00 +01:00 | every PT2H");
    assert_eq!(due("every day 9:00", &now, &zones), Err(DueError::NamelessZone));
    assert_eq!(
        said("every day 9:00 Europe/Berlin", &now),
        "Sun 2027-03-28 09:00:00 +02:00 | cron 0 9 * * * @Europe/Berlin"
    );
    let nowhere = now.with_time_zone(TimeZone::unknown());
    assert_eq!(
        said("every day 9:00", &nowhere),
        "Sun 2027-03-28 09:00:00 +00:00 | cron 0 9 * * * @UTC"
    );
    // A zone that cannot be found again would never fire.
    let berlin = moment("2027-03-27T12:00:00+01:00", BERLIN);
    let error = due("every day 9:00", &berlin, &|_| None);
    assert_eq!(error, Err(DueError::UnknownZone(BERLIN.to_owned())));
}

/// Texts near the forms, so that they get past the first word.
fn near() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(vec![
            "in",
            "at",
            "on",
            "every",
            "day",
            "weekday",
            "cron",
            "today",
            "tomorrow",
            "monday",
            "sun",
            "9:00",
            "2:30",
            "9am",
            "12",
            "pm",
            "20",
            "min",
            "2h",
            "-1",
            "days",
            "years",
            "ago",
            "*",
            "*/5",
            "0",
            "1-5",
            "L",
            "15W",
            "5#3",
            "+1",
            "31",
            "2",
            "a",
            "2027-03-28",
            "T02:30",
            "Z",
            "2027-03-28T02:30",
            "+01:00",
            "[Europe/Berlin]",
            "@UTC",
            "Europe/Berlin",
            "UTC",
            "PT1H",
            "9999-12-31T23:59",
            "0.5",
            "99999999999",
        ])
        .prop_map(str::to_owned),
        "[0-9*/,LW#?-]{1,6}",
        ".{0,3}",
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_text_panics_and_what_is_due_is_to_come(
        text in prop_oneof![near(), ".{0,40}"],
        seconds in 1_700_000_000i64..1_900_000_000,
        nanos in 0i32..1_000_000_000,
        zone in prop::sample::select(vec![BERLIN, NEW_YORK, LORD_HOWE, CAIRO]),
    ) {
        let now = Timestamp::new(seconds, nanos).unwrap().to_zoned(zones(zone).unwrap());
        if let Ok(due) = due(&text, &now, &zones) {
            let at = Timestamp::from_microsecond(due.at.0).unwrap();
            prop_assert!(at > now.timestamp(), "{text}: {at} at {now}");
            prop_assert!(at.duration_since(now.timestamp()).unsigned_abs() <= FURTHEST);
            if let Some(again) = due.repeats {
                prop_assert_eq!(again.to_string().parse::<Repeat>(), Ok(again.clone()));
                prop_assert!(!again.describe().is_empty());
            }
        }
    }
}
