use super::row::{Bound, Row, Run, median};
use super::{GOALS, adapter, chosen, procfs, storage};

fn row(subject: &[f64], anchor: &[f64], bound: Bound) -> Row {
    Row {
        what: "this / that".into(),
        unit: "KiB",
        bound,
        subject: subject.to_vec(),
        anchor: anchor.to_vec(),
        notes: vec!["why".to_owned()],
    }
}

fn run() -> Run {
    Run { id: "P0", build: "dev", load: "1.50".to_owned() }
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
        row(&[9.0, 4.0, 3.0], &[2.0], Bound::AtMost(2.0)).lines(&run()),
        "P0  |       4 KiB |       2 KiB |   2.00 |    ≤ 2 | met     |  1.50 | dev     | this / that\n      why"
    );
    let missed = row(&[5.0], &[2.0], Bound::AtMost(2.0)).lines(&run());
    assert!(missed.contains("MISSED"), "{missed}");
}

#[test]
fn the_json_has_the_figures_of_every_round_and_the_result() {
    let line = row(&[4.0, 6.0], &[2.0, 2.0], Bound::AtMost(2.0)).json(&run()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        value,
        serde_json::json!({
            "id": "P0", "build": "dev", "load": "1.50", "what": "this / that", "unit": "KiB", "subject": [4.0, 6.0],
            "anchor": [2.0, 2.0], "ratio": 2.5, "goal": "≤ 2", "met": false, "notes": ["why"],
        })
    );
}

#[test]
fn goals_are_chosen_by_id_and_an_unknown_one_is_refused() {
    assert_eq!(chosen(&[]).unwrap().len(), GOALS.len());
    assert_eq!(chosen(&["all".to_owned()]).unwrap().len(), GOALS.len());
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
                \"many\":{\"subject\":[1.0],\"anchor\":[10.0]},\"alone\":[1.0],\"asking\":[2.0],\"fdatasync\":[1.0,2.0]}\n";
    let rows = storage::rows(text).unwrap();
    assert_eq!(rows.iter().map(Row::met).collect::<Vec<_>>(), [true, false]);
    assert!(storage::rows("nothing\n").is_err());
}

#[test]
fn memory_is_divided_by_what_stands_behind_it() {
    let text = "55d0-55d1 r-xp 00001000 fe:01 77 /x/gangline\nPss: 40 kB\nAnonymous: 0 kB\n\
                55d2-55d3 rw-p 00002000 fe:01 77 /x/gangline\nPss: 30 kB\nAnonymous: 20 kB\n\
                55d4-55d5 rw-p 00000000 00:00 0 [heap]\nPss: 5 kB\nPss_Dirty: 5 kB\nAnonymous: 5 kB\n\
                7f00-7f01 rw-p 00000000 00:00 0 \nPss: 3 kB\nAnonymous: 3 kB\n\
                7f02-7f03 r-xp 00000000 fe:01 9 /lib/libc.so.6\nPss: 2 kB\nAnonymous: 0 kB\n\
                7f04-7f05 rw-s 00000000 fe:01 8 /x/a.db-shm\nPss: 1 kB\nAnonymous: 0 kB\n";
    let parts =
        procfs::Parts { code: 50.0, relocated: 20.0, heap: 8.0, libraries: 2.0, other: 1.0 };
    assert_eq!(procfs::parts_in(text, "/x/gangline"), parts);
}

#[test]
fn the_processor_time_of_a_process_grows_with_what_it_does() {
    let own = std::process::id();
    let before = procfs::processor_time_of(own).unwrap();
    let ended = procfs::processor_time_of_ended().unwrap();
    let sum = (0..2_000_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
    assert!(procfs::processor_time_of(own).unwrap() > before, "{sum}");
    assert!(procfs::processor_time_of(u32::MAX).is_err());
    assert_eq!(procfs::processor_time_of_ended().unwrap().to_bits(), ended.to_bits());
    crate::shell::run(&mut crate::shell::command("true")).unwrap();
    assert!(procfs::processor_time_of_ended().unwrap() > ended);
}

#[test]
fn the_adapters_figures_are_the_last_line_of_its_example() {
    let text = "noise\n{\"peak_kib\":7,\"messages\":1,\"notices\":[\"a\"]}\n";
    let peak: adapter::Peak = adapter::figures(text).unwrap();
    assert_eq!((peak.peak_kib, peak.messages, peak.notices.len()), (7, 1, 1));
    assert!(adapter::figures::<adapter::Speed>(text).is_err());
}
