use super::row::{Bound, Row, median};
use super::{GOALS, chosen, procfs, storage};

fn row(subject: &[f64], anchor: &[f64], bound: Bound) -> Row {
    Row {
        what: "this / that",
        unit: "KiB",
        bound,
        subject: subject.to_vec(),
        anchor: anchor.to_vec(),
        notes: vec!["why".to_owned()],
    }
}

#[test]
fn the_median_is_the_middle_or_between_the_two_middles() {
    assert_eq!([median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0]), median(&[])], [2.0, 2.5, 0.0]);
}

#[test]
fn a_ratio_on_the_right_side_is_met_and_on_the_wrong_side_missed() {
    assert!(row(&[9.0, 4.0, 3.0], &[2.0, 2.0, 2.0], Bound::AtMost(2.0)).met());
    assert!(!row(&[5.0], &[2.0], Bound::AtMost(2.0)).met());
    assert!(row(&[5.0], &[2.0], Bound::AtLeast(0.7)).met());
    assert!(!row(&[1.0], &[2.0], Bound::AtLeast(0.7)).met());
}

#[test]
fn an_anchor_of_nothing_meets_nothing() {
    assert!(!row(&[0.0], &[0.0], Bound::AtMost(2.0)).met());
    assert!(!row(&[1.0], &[0.0], Bound::AtLeast(0.7)).met());
    assert!(!row(&[], &[], Bound::AtMost(2.0)).met());
}

#[test]
fn a_row_is_one_line_and_one_for_each_note() {
    assert_eq!(
        row(&[9.0, 4.0, 3.0], &[2.0], Bound::AtMost(2.0)).lines("P0"),
        "P0  |       4 KiB |       2 KiB |   2.00 |    ≤ 2 | met     | this / that\n      why"
    );
    let missed = row(&[5.0], &[2.0], Bound::AtMost(2.0)).lines("P0");
    assert!(missed.contains("MISSED"), "{missed}");
}

#[test]
fn the_json_has_the_figures_of_every_round_and_the_verdict() {
    let line = row(&[4.0, 6.0], &[2.0, 2.0], Bound::AtMost(2.0)).json("P0").unwrap();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        value,
        serde_json::json!({
            "id": "P0", "what": "this / that", "unit": "KiB", "subject": [4.0, 6.0],
            "anchor": [2.0, 2.0], "ratio": 2.5, "goal": "≤ 2", "met": false, "notes": ["why"],
        })
    );
}

#[test]
fn goals_are_chosen_by_id_and_an_unknown_one_is_refused() {
    assert_eq!(chosen(&[]).unwrap().len(), GOALS.len());
    assert_eq!(chosen(&["p9".to_owned()]).unwrap()[0].id, "P9");
    assert!(chosen(&["P99".to_owned()]).is_err());
}

#[test]
fn memory_is_read_from_the_kernels_summary() {
    let text = "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:   9000 kB\nPss:    1234 kB\n\
                Pss_Dirty: 5 kB\nPss_Anon:  77 kB\n";
    assert_eq!(procfs::memory_in(text), Some(procfs::Memory { pss: 1234.0, anonymous: 77.0 }));
    assert_eq!(procfs::memory_in("Rss: 1 kB\n"), None);
    assert!(procfs::memory_of(std::process::id()).unwrap().pss > 0.0);
}

#[test]
fn work_is_read_from_what_the_scheduler_counts() {
    let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t99\n";
    assert_eq!(procfs::work_in("2500000 77 3\n", status), procfs::Work { cpu: 2.5, sleeps: 12.0 });
    assert!(procfs::work_of(std::process::id()).unwrap().cpu > 0.0);
}

#[test]
fn the_storage_examples_figures_are_its_last_line() {
    let text = "noise\n{\"one\":{\"subject\":[8.0],\"anchor\":[10.0]},\
                \"many\":{\"subject\":[1.0],\"anchor\":[10.0]},\"alone\":[1.0],\"fdatasync\":[1.0,2.0]}\n";
    let rows = storage::rows(text).unwrap();
    assert_eq!(rows.iter().map(Row::met).collect::<Vec<_>>(), [true, false]);
    assert!(storage::rows("nothing\n").is_err());
}
