use std::time::Duration;

use super::{command, find_program, read, root, run, run_keeping_tail, wait_for};

#[test]
fn the_root_is_the_folder_of_the_workspace() {
    assert!(root().join("crates/xtask/Cargo.toml").is_file());
}

#[test]
fn a_failing_program_is_named_with_its_arguments() {
    let error = run(command("sh").args(["-c", "exit 3"])).unwrap_err();
    assert_eq!(error.to_string(), "sh -c exit 3: exit status: 3");
    assert!(run(&mut command("no-such-program-anywhere")).is_err());
}

#[test]
fn what_a_program_writes_is_read_and_a_failure_is_not_taken_for_output() {
    assert_eq!(read(command("printf").arg("a\nb")).unwrap(), "a\nb");
    assert!(read(command("sh").args(["-c", "echo a; exit 1"])).is_err());
}

#[test]
fn the_tail_holds_the_last_lines_and_the_result() {
    let script = "for i in 1 2 3 4; do echo line $i >&2; done; exit 1";
    let outcome = run_keeping_tail(command("sh").args(["-c", script]), 2).unwrap();
    assert_eq!(outcome, (false, vec!["line 3".to_owned(), "line 4".to_owned()]));
    assert!(run_keeping_tail(command("sh").args(["-c", "exit 0"]), 2).unwrap().0);
}

#[test]
fn programs_of_the_system_folders_are_found_too() {
    assert!(find_program("sh").is_some());
    assert_eq!(find_program("no-such-program-anywhere"), None);
}

#[test]
fn waiting_ends_with_the_fact_or_with_the_limit() {
    let mut asked = 0;
    let found = wait_for(Duration::from_secs(5), || {
        asked += 1;
        Ok((asked == 3).then_some(asked))
    });
    assert_eq!(found.unwrap(), Some(3));
    assert_eq!(wait_for(Duration::ZERO, || Ok(None::<()>)).unwrap(), None);
}
