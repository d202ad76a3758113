use super::*;

const MINUTE: i64 = 60_000_000;

#[test]
fn lateness_is_told_above_a_minute() {
    for (seconds, note) in [
        (-5, None),
        (0, None),
        (60, None),
        (61, Some("late by 1 min")),
        (125, Some("late by 2 min")),
        (3_600, Some("late by 1 h")),
        (7_800, Some("late by 2 h 10 min")),
        (86_400 + 59, Some("late by 1 day")),
        (3 * 86_400 + 4 * 3_600 + 300, Some("late by 3 days 4 h")),
    ] {
        let note = note.map(str::to_owned);
        assert_eq!(
            late_note(WallMicros(7), WallMicros(7 + seconds * 1_000_000)),
            note,
            "{seconds}"
        );
    }
    assert_eq!(late_note(WallMicros(0), WallMicros(60_000_001)).as_deref(), Some("late by 1 min"));
    assert_eq!(late_note(WallMicros(i64::MAX), WallMicros(i64::MIN)), None);
}

#[test]
fn the_thirty_first_within_an_hour_waits_until_the_first_is_an_hour_old() {
    let each_minute = |count: i64| (0..count).map(|n| WallMicros(n * MINUTE)).collect::<Vec<_>>();
    for (fired, now, may) in [
        (0, 0, Ok(())),
        (29, 29, Ok(())),
        (30, 30, Err(60)),
        (30, 59, Err(60)),
        (30, 60, Ok(())),
        // The last thirty count.
        (31, 60, Err(61)),
        (100, 100, Err(130)),
        // The clock was set back.
        (30, 10, Ok(())),
    ] {
        let may = may.map_err(|at: i64| WallMicros(at * MINUTE));
        assert_eq!(
            may_fire_at(&each_minute(fired), WallMicros(now * MINUTE)),
            may,
            "{fired} {now}"
        );
    }
    let set_back = [vec![WallMicros(40 * MINUTE); 15], vec![WallMicros(20 * MINUTE); 15]].concat();
    assert_eq!(may_fire_at(&set_back, WallMicros(50 * MINUTE)), Err(WallMicros(80 * MINUTE)));
}

proptest! {
    #[test]
    fn whoever_waits_until_told_may_fire(
        mut fired in prop::collection::vec(0i64..200, 0..80),
        now in 0i64..200,
    ) {
        fired.sort_unstable();
        let fired: Vec<_> = fired.into_iter().map(|n| WallMicros(n * MINUTE)).collect();
        let now = WallMicros(now * MINUTE);
        if let Err(at) = may_fire_at(&fired, now) {
            prop_assert!(at > now);
            prop_assert!(may_fire_at(&fired, WallMicros(at.0 - 1)).is_err());
            prop_assert_eq!(may_fire_at(&fired, at), Ok(()));
        }
    }
}
