use super::{Bound, GOALS, Goal, Measured, chosen, line, median, procfs};

const GOAL: Goal = Goal {
    id: "P0",
    what: "this / that",
    unit: "KiB",
    bound: Bound::AtMost(2.0),
    measure: |_| Ok(Measured::NotYet("it is a test")),
};

fn shown(subject: &[f64], anchor: &[f64], bound: Bound) -> (String, bool) {
    let measured = Measured::Figures { subject: subject.to_vec(), anchor: anchor.to_vec() };
    line(&Goal { bound, ..GOAL }, &measured)
}

#[test]
fn the_median_is_the_middle_or_between_the_two_middles() {
    assert_eq!([median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0]), median(&[])], [2.0, 2.5, 0.0]);
}

#[test]
fn a_ratio_on_the_right_side_is_met_and_on_the_wrong_side_missed() {
    assert_eq!(
        shown(&[9.0, 4.0, 3.0], &[2.0, 2.0, 2.0], Bound::AtMost(2.0)),
        ("P0  | 4 KiB | 2 KiB | 2.00 | ≤ 2 | met (this / that)".to_owned(), true)
    );
    assert!(!shown(&[5.0], &[2.0], Bound::AtMost(2.0)).1);
    assert!(shown(&[5.0], &[2.0], Bound::AtLeast(0.7)).1);
    assert!(!shown(&[1.0], &[2.0], Bound::AtLeast(0.7)).1);
}

#[test]
fn an_anchor_of_nothing_meets_nothing() {
    assert!(!shown(&[0.0], &[0.0], Bound::AtMost(2.0)).1);
    assert!(!shown(&[1.0], &[0.0], Bound::AtLeast(0.7)).1);
}

#[test]
fn what_cannot_be_measured_says_why_and_fails_nothing() {
    assert_eq!(
        line(&GOAL, &Measured::NotYet("it is a test")),
        ("P0  | – | – | – | ≤ 2 | not yet measurable: it is a test".to_owned(), true)
    );
}

#[test]
fn goals_are_chosen_by_id_and_an_unknown_one_is_refused() {
    assert_eq!(chosen(&[]).unwrap().len(), GOALS.len());
    assert_eq!(chosen(&["p9".to_owned()]).unwrap()[0].id, "P9");
    assert!(chosen(&["P99".to_owned()]).is_err());
}

#[test]
fn pss_is_read_from_the_kernels_summary() {
    let text = "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:   9000 kB\nPss:    1234 kB\nPss_Dirty: 5 kB\n";
    assert_eq!(procfs::pss_in(text), Some(1234.0));
    assert_eq!(procfs::pss_in("Rss: 1 kB\n"), None);
    assert!(procfs::pss_of(std::process::id()).unwrap() > 0.0);
}
