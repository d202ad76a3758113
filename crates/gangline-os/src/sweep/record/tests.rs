use super::*;
use crate::process::{Group, Output, Spawn, Stdin, spawn};

#[test]
fn a_record_counts_within_its_boot_only_and_bad_lines_are_passed_over() {
    let text = "boot-1\n12 340\n13 x\n\n14 350 9\n15 360\n";
    let process = |pid, start_time| Process { pid, start_time };
    assert_eq!(parse(text, Some("boot-1")), [process(12, 340), process(15, 360)]);
    for boot in [Some("boot-2"), None] {
        assert_eq!(parse(text, boot), []);
    }
    assert_eq!(parse("", Some("boot-1")), []);
}

#[test]
fn all_below_is_recorded_however_its_pid_stands_to_its_parents() {
    let rows = [(10, 1), (9, 10), (30, 9), (5, 30), (11, 1), (12, 11), (40, 41), (41, 40)];
    let parents = rows.map(|(pid, parent)| (Process { pid, start_time: 7 }, parent));
    let found = below(10, &BTreeMap::from(parents));
    assert_eq!(found.iter().map(|it| it.pid).collect::<Vec<_>>(), [5, 9, 30]);
}

/// What is written is what runs, and is read again.
#[tokio::test]
async fn a_record_names_the_children_that_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("processes");
    let mut record = Record::new(path.clone());
    record.renew().unwrap();
    assert_eq!(read(&path), []);
    let spec = Spawn {
        program: "/bin/cat".into(),
        args: Vec::new(),
        cwd: "/".into(),
        env: Vec::new(),
        stdin: Stdin::Piped,
        stdout: Output::Null,
        stderr: Output::Null,
        group: Group::New,
    };
    let mut child = spawn(spec).unwrap();
    record.renew().unwrap();
    let start_time = proc::start_time(child.pid()).unwrap();
    assert!(read(&path).contains(&Process { pid: child.pid(), start_time }));
    drop(child.take_stdin());
    assert!(child.wait().await.unwrap().success());
    record.renew().unwrap();
    assert!(read(&path).iter().all(|it| it.pid != child.pid()));
}
