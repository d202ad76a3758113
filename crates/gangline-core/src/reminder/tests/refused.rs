use super::*;

#[test]
fn what_is_no_time_is_refused_with_the_reason() {
    let not = |text: &str| DueError::NotUnderstood(text.to_owned()).to_string();
    check(
        "2026-11-25T09:30:15+01:00",
        BERLIN,
        &[
            ("", &DueError::Empty.to_string()),
            (" \t", &DueError::Empty.to_string()),
            ("@Europe/Berlin", &DueError::Empty.to_string()),
            (&"9".repeat(201), &DueError::TooLong(201).to_string()),
            ("soon", &not("soon")),
            ("9", &not("9")),
            ("25:00", &not("25:00")),
            ("9:60", &not("9:60")),
            ("9:5", &not("9:5")),
            ("9:00:00", &not("9:00:00")),
            ("13pm", &not("13pm")),
            ("0am", &not("0am")),
            ("at at 9:00", &not("at at 9:00")),
            ("today", &not("today")),
            ("in", &not("in")),
            ("in 20", &not("in 20")),
            ("2026-11-31 09:00", &not("2026-11-31 09:00")),
            ("2026-12-24", &not("2026-12-24")),
            ("every", &not("every")),
            ("every 20 min Europe/Berlin", &not("every 20 min Europe/Berlin")),
            ("every 20 min @Europe/Berlin", &not("every 20 min @Europe/Berlin")),
            ("soon\u{202e} Europe/Berlin", &not("soon<U+202E> Europe/Berlin")),
            (&"é".repeat(100), &not(&format!("{}…", "é".repeat(30)))),
            ("every 3 days", &DueError::DaysApart("every 3 days".to_owned()).to_string()),
        ],
    );
}

#[test]
fn a_zone_that_is_not_known_or_contradicts_is_refused() {
    let no_zone = |name: &str| DueError::UnknownZone(name.to_owned()).to_string();
    let other =
        "the offset +05 is not that of Europe/Berlin, which is +01 then; leave one of them out";
    check(
        "2026-11-25T09:30:15+01:00",
        BERLIN,
        &[
            ("tomorrow 9:00 Berlin", &no_zone("Berlin")),
            ("9:00 [../etc]", &no_zone("../etc")),
            ("9:00 +25:00", &no_zone("+25:00")),
            ("9:00 +24", &no_zone("+24")),
            ("9:00 +01:60", &no_zone("+01:60")),
            ("9:00 +01:3", &no_zone("+01:3")),
            ("9:00 +1", &no_zone("+1")),
            ("every day 9:00 CEST", &no_zone("CEST")),
            ("2026-11-25T12:00+05:00[Europe/Berlin]", other),
            ("2026-11-25T12:00+05:00 Europe/Berlin", other),
        ],
    );
}

#[test]
fn what_has_passed_or_is_too_far_or_too_often_is_refused() {
    let far = "that is more than five years from now, 2026-11-25 09:30 (Europe/Berlin); say an \
               earlier time";
    let past = |at: &str| {
        format!("{at} has passed, it is 2026-11-25 09:30 (Europe/Berlin) now; say a later time")
    };
    let often = |text: &str| DueError::TooOften(text.to_owned()).to_string();
    let never = |text: &str| DueError::Never(text.to_owned()).to_string();
    check(
        "2026-11-25T09:30:15+01:00",
        BERLIN,
        &[
            ("today 9:00", &past("2026-11-25 09:00")),
            ("2020-01-01 12:00", &past("2020-01-01 12:00")),
            ("2026-11-25T08:00Z", &past("2026-11-25 09:00")),
            ("5 min ago", &past("2026-11-25 09:25")),
            ("in 0 min", &past("2026-11-25 09:30")),
            ("2032-01-01 12:00", far),
            ("in 6 years", far),
            ("in 19000 years", far),
            ("every 50000 hours", far),
            ("every 40000000 hours", far),
            ("every 10 s", &often("every 10 s")),
            ("every 59.999 s", &often("every 59.999 s")),
            ("every -2 h", &often("every -2 h")),
            ("every 60 s", "Wed 2026-11-25 09:31:15 +01:00 | every PT1M"),
            ("0 0 31 2 *", &never("0 0 31 2 *")),
            ("cron 0 0 30,31 2 *", &never("cron 0 0 30,31 2 *")),
            // A day of the month or one of the week.
            ("0 0 29 2 2", "Tue 2027-02-02 00:00:00 +01:00 | cron 0 0 29 2 2 @Europe/Berlin"),
            ("0 0 29 2 *", "Tue 2028-02-29 00:00:00 +01:00 | cron 0 0 29 2 * @Europe/Berlin"),
        ],
    );
    // What is stored is cut to microseconds, and is not earlier than now for that.
    let now = "2026-11-25T08:30:15.0000005Z";
    let cut = "2026-11-25 08:30 has passed, it is 2026-11-25 08:30 (UTC) now; say a later time";
    check(now, "UTC", &[("in 300 ns", cut), ("in 600 ns", "Wed 2026-11-25 08:30:15 +00:00")]);
    // 2100 has no 29 February.
    check("2096-03-01T12:00Z", "UTC", &[("0 0 29 2 *", &never("0 0 29 2 *"))]);
}

#[test]
fn an_error_says_what_to_say_instead() {
    for (error, text) in [
        (
            DueError::Empty,
            "no time is given; say for example `in 20 min`, `tomorrow 9:00` or `every weekday 8:30`",
        ),
        (
            DueError::TooLong(201),
            "a time of 201 bytes is too long, at most 200 are read; say for example `in 20 min`, \
             `tomorrow 9:00` or `every weekday 8:30`",
        ),
        (
            DueError::NotUnderstood("soon".to_owned()),
            "`soon` is not a time that Gangline understands; say for example `in 20 min`, `tomorrow 9:00` or \
             `every weekday 8:30`",
        ),
        (
            DueError::UnknownZone("Berlin".to_owned()),
            "`Berlin` is not a time zone; say a name such as `Europe/Berlin`, or `UTC`",
        ),
        (
            DueError::NamelessZone,
            "the time zone here has no name to repeat by; add one, as in `every day 9:00 \
             Europe/Berlin`",
        ),
        (
            DueError::BadCron("it has 4 fields, not 5".to_owned()),
            "a bad cron form: it has 4 fields, not 5; say for example `cron 0 9 * * 1-5`",
        ),
        (
            DueError::DaysApart("every 3 days".to_owned()),
            "`every 3 days` does not tell the time of day; say `every day 9:00`, or hours as in \
             `every 48 h`",
        ),
        (
            DueError::TooOften("every 10 s".to_owned()),
            "`every 10 s` is too often; the least is `every 1 min`",
        ),
        (
            DueError::Never("0 0 31 2 *".to_owned()),
            "no day of the next five years fits `0 0 31 2 *`; say days that exist, unlike 31 \
             February",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_bad_cron_form_is_refused_with_the_reason() {
    let bad = |reason: &str| DueError::BadCron(reason.to_owned()).to_string();
    check(
        "2026-11-25T09:30:15+01:00",
        BERLIN,
        &[
            ("cron", &bad("it has 0 fields, not 5")),
            ("cron 0 9 * *", &bad("it has 4 fields, not 5")),
            ("0 0 9 * * 1-5", &bad("it has 6 fields, not 5")),
            ("0 0 9 * * MON", &bad("it has 6 fields, not 5")),
            (
                "0 9 * * 1-5 Nowhere/Here",
                &DueError::UnknownZone("Nowhere/Here".to_owned()).to_string(),
            ),
            ("cron @daily", &DueError::UnknownZone("daily".to_owned()).to_string()),
            ("60 9 * * *", &bad("number out of bounds")),
            ("0 9 * * x", &bad("it contains illegal character 'X' in part 'X'")),
        ],
    );
}
