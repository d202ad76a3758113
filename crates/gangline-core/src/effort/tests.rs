//! Which level thinking is raised to.

use super::{EffortLevel::*, *};

/// R1-11: it is raised to `high`, above that by one level, and never beyond what the model has.
#[test]
fn the_effort_is_raised_to_high_or_by_one_level() {
    let all = [Low, Medium, High, XHigh, Max];
    let three = [Off, Low, Medium, High];
    for (ground, levels, to) in [
        (Low, &all[..], Some(High)),
        (Medium, &all, Some(High)),
        (High, &all, Some(XHigh)),
        (XHigh, &all, Some(Max)),
        (Max, &all, None),
        (Off, &three, Some(High)),
        (Medium, &three, Some(High)),
        (High, &three, None),
        (Max, &three, None),
        // In whatever order a backend has them.
        (Low, &[Max, High, Low], Some(High)),
        (Low, &[Low, Max], Some(Max)),
        (Minimal, &[Minimal, Low, Medium], Some(Medium)),
        (Medium, &[Low, Medium], None),
        (Low, &[], None),
    ] {
        assert_eq!(raised(ground, levels), to, "{ground} of {levels:?}");
    }
}
