//! When a budget is spent, what of it is left, and where a day begins.

use jiff::{civil::date, tz::TimeZone};
use proptest::prelude::*;

use super::*;

fn budget(tokens: Option<u64>, micros: Option<u64>) -> Budget {
    Budget { tokens, micros, action: BudgetAction::Hold }
}

fn spent(tokens: u64, micros: u64) -> Spent {
    Spent { tokens, micros, unknown: 0 }
}

#[test]
fn a_budget_is_spent_when_one_of_its_limits_is_reached() {
    let both = budget(Some(1000), Some(5_000_000));
    for (tokens, micros, standing) in [
        (0, 0, Standing::Fine),
        (799, 3_999_999, Standing::Fine),
        (800, 0, Standing::Nearly),
        (0, 4_000_000, Standing::Nearly),
        (999, 4_999_999, Standing::Nearly),
        (1000, 0, Standing::Spent),
        (0, 5_000_000, Standing::Spent),
        (u64::MAX, u64::MAX, Standing::Spent),
    ] {
        assert_eq!(both.standing(&spent(tokens, micros)), standing, "{tokens} {micros}");
    }
    assert_eq!(budget(None, Some(1)).standing(&spent(u64::MAX, 0)), Standing::Fine);
    assert_eq!(budget(None, None).standing(&spent(1, 1)), Standing::Fine);
}

proptest! {
    /// A relay that lets the rest through and no more stops exactly when the budget is spent.
    #[test]
    fn what_is_left_and_how_it_stands_agree(
        tokens in proptest::option::of(1..10_000_u64),
        micros in proptest::option::of(1..10_000_u64),
        used in (0..12_000_u64, 0..12_000_u64),
        more in 0..5_000_u64,
    ) {
        let limit = budget(tokens, micros).raised(&Raise { tokens: more, micros: more });
        let spent = spent(used.0, used.1);
        let (left_tokens, left_micros) = limit.left(&spent);
        let none_left = left_tokens == Some(0) || left_micros == Some(0);
        prop_assert_eq!(none_left, limit.standing(&spent) == Standing::Spent);
    }

    #[test]
    fn no_text_breaks_an_amount_or_a_scope(text in ".{0,20}") {
        if let Ok(raise) = text.parse::<Raise>() {
            prop_assert!(raise.tokens > 0 || raise.micros > 0);
        }
        if let Ok(scope) = text.parse::<BudgetScope>() {
            prop_assert_eq!(scope.to_string().parse::<BudgetScope>(), Ok(scope));
        }
    }
}

#[test]
fn amounts_are_read_as_people_write_them() {
    let tokens = |tokens| Some(Raise { tokens, micros: 0 });
    let micros = |micros| Some(Raise { tokens: 0, micros });
    for (text, read) in [
        ("50000", tokens(50_000)),
        ("500k", tokens(500_000)),
        ("2M", tokens(2_000_000)),
        ("500 tokens", tokens(500)),
        ("$2.50", micros(2_500_000)),
        ("2.50usd", micros(2_500_000)),
        ("2 USD", micros(2_000_000)),
        ("0", None),
        ("$0", None),
        ("-5", None),
        ("2.5k", None),
        ("", None),
        ("99999999999999999999k", None),
    ] {
        assert_eq!(text.parse::<Raise>().ok(), read, "{text}");
    }
    assert_eq!("$2.50".parse::<Raise>().unwrap().to_string(), "$2.50");
    assert_eq!("2k".parse::<Raise>().unwrap().to_string(), "2000 tokens");
}

#[test]
fn money_that_is_not_known_is_said() {
    let of = budget(Some(50), Some(5_000_000));
    assert_eq!(of.shown(&spent(12, 4_100_000)), "$4.10 of $5.00, 12 of 50 tokens");
    let unknown = Spent { unknown: 2, ..spent(0, 0) };
    let shown = budget(None, Some(5_000_000)).shown(&unknown);
    assert_eq!(shown, "$0.00 of $5.00 (and what has no known price)");
}

#[test]
fn a_scope_is_an_agent_a_room_or_the_day() {
    for text in ["lab-ada", "#general", "day"] {
        let scope: BudgetScope = text.parse().unwrap();
        assert_eq!(scope.to_string(), text);
    }
    assert_eq!("day".parse(), Ok(BudgetScope::Day));
    assert!("two words".parse::<BudgetScope>().is_err());
}

/// A day is the one of the clock on the wall: it has 23 hours where clocks go forward, and 25 where they
/// go back.
#[test]
fn a_day_ends_at_midnight_by_the_clock_on_the_wall() {
    let hour = 3_600_000_000_i64;
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    for (day_of, hours) in
        [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 26), 24)]
    {
        let noon = day_of.at(12, 0, 0, 0).to_zoned(zone.clone()).unwrap();
        let found = day(&noon).unwrap();
        assert_eq!(found.name, day_of.to_string());
        assert_eq!(found.ends - found.begins, hours * hour, "{day_of}");
        let inside = |at: i64| (found.begins..found.ends).contains(&at);
        assert!(inside(noon.timestamp().as_microsecond()));
    }
}

#[test]
fn half_of_a_fleet_that_parks_within_ten_minutes_breaks_it() {
    let now = 10 * FLEET_WINDOW_MICROS;
    let (new, old) = (now - FLEET_WINDOW_MICROS, now - FLEET_WINDOW_MICROS - 1);
    assert!(fleet_breaks(4, &[new, new], now));
    assert!(!fleet_breaks(4, &[new, old], now));
    assert!(!fleet_breaks(5, &[new, new], now));
    assert!(fleet_breaks(3, &[now, now], now));
    assert!(!fleet_breaks(2, &[now, now], now), "two are no fleet");
    assert!(!fleet_breaks(0, &[], now));
}
