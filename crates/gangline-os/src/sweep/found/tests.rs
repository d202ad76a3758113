use proptest::prelude::*;

use super::*;

const DAEMON: u32 = 100;

fn row(parent: u32, run_id: &str) -> Row {
    let run_id = (!run_id.is_empty()).then(|| run_id.parse().unwrap());
    Row { parent, start_time: 7, foreign: false, run_id, outlives: false }
}

/// A daemon and all that may be below it and beside it.
fn machine() -> Table {
    let hub = Row { outlives: true, ..row(DAEMON, "") };
    Table(BTreeMap::from([
        (1, row(0, "")),
        (90, row(1, "")),
        (DAEMON, row(90, "")),
        // The program that runs, and what is below it.
        (101, row(DAEMON, "i/ada/3")),
        (102, row(101, "")),
        // Orphans of it without an environment and with one; the first has a child.
        (110, row(DAEMON, "")),
        (111, row(110, "")),
        (112, row(DAEMON, "i/ada/3")),
        // Another user's orphan, and what of this user is below it.
        (115, Row { foreign: true, ..row(DAEMON, "") }),
        (116, row(115, "")),
        // A hook's orphan, and what is below it.
        (120, row(DAEMON, "i/ada:hook/3")),
        (121, row(120, "")),
        // A hub that a shell started, its daemon, and an agent's processes of another installation.
        (130, hub),
        (131, row(130, "")),
        (140, row(DAEMON, "other/bob/1")),
        (141, row(140, "")),
        // What an earlier daemon left: with a mark, below it, and recorded.
        (200, row(1, "i/ada/2")),
        (201, row(200, "")),
        (210, row(1, "")),
        (211, row(210, "")),
        // A person's.
        (300, row(1, "")),
    ]))
}

fn us() -> Us {
    Us { pid: DAEMON, line: vec![DAEMON, 90, 1], own: Some(BTreeSet::from([101])) }
}

fn pids(ours: &(dyn Fn(&RunId) -> bool + Sync), roots: &[Root<'_>], us: &Us) -> Vec<u32> {
    find(Sweep { ours, roots }, us, &machine()).into_iter().map(|it| it.pid).collect()
}

#[test]
fn a_backends_end_takes_its_orphans_and_nobody_elses() {
    let ours = |id: &RunId| id.to_string() == "i/ada/3";
    let roots = [Root::Marked, Root::Adopted];
    let program = [101, 102];
    let orphans = [110, 111, 112, 116];
    assert_eq!(pids(&ours, &roots, &us()), [&program[..], &orphans].concat());
    assert_eq!(pids(&ours, &[Root::Adopted], &us()), orphans);
    let adopts_nobody = Us { own: None, ..us() };
    assert_eq!(pids(&ours, &roots, &adopts_nobody), [101, 102, 112]);
}

#[test]
fn a_start_takes_what_an_earlier_daemon_left_by_its_mark_and_by_its_record() {
    let older = |id: &RunId| id.installation == "i" && id.nick() == "ada" && id.epoch < 3;
    let recorded = [Process { pid: 210, start_time: 7 }, Process { pid: 300, start_time: 6 }];
    let roots = [Root::Marked, Root::Recorded(&recorded)];
    assert_eq!(pids(&older, &roots, &us()), [200, 201, 210, 211]);
    // Nobody's mark counts as one that is swept.
    assert_eq!(pids(&|_| false, &roots, &us()), [210, 211]);
}

#[test]
fn an_end_takes_hooks_too_and_leaves_what_outlives_the_agent() {
    let ours = |id: &RunId| id.installation == "i" && id.nick() == "ada";
    let found = pids(&ours, &[Root::Adopted], &us());
    assert_eq!(found, [110, 111, 112, 116, 120, 121]);
}

proptest! {
    /// Whatever the table: nothing of what is left alone is found, nor anything that is reached through
    /// it alone; what is found is a root or below one that is found.
    #[test]
    fn what_is_left_alone_protects_what_is_below_it(
        rows in proptest::collection::vec((0_u32..30, 0_usize..4, proptest::bool::weighted(0.1)), 30),
        own in proptest::collection::btree_set(0_u32..30, 0..5),
    ) {
        let marks = ["", "", "i/ada/3", "i/bob/3"];
        let rows = rows.into_iter().zip(0_u32..).map(|((parent, mark, outlives), pid)| {
            (pid, Row { outlives, ..row(parent, marks[mark]) })
        });
        let table = Table(rows.collect());
        let ours = |id: &RunId| id.nick() == "ada";
        let us = Us { pid: 0, line: vec![0], own: Some(own.clone()) };
        let roots = [Root::Marked, Root::Adopted];
        let found = find(Sweep { ours: &ours, roots: &roots }, &us, &table);
        let found: BTreeSet<u32> = found.into_iter().map(|it| it.pid).collect();
        for (pid, row) in &table.0 {
            let bobs = row.run_id.as_ref().is_some_and(|id| !ours(id));
            let left = *pid == 0 || row.outlives || bobs;
            let root = row.run_id.is_some() || (row.parent == 0 && !own.contains(pid));
            let expect = !left && (root || found.contains(&row.parent));
            prop_assert_eq!(found.contains(pid), expect, "{} in {:?}", pid, table);
        }
    }
}
