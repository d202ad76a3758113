use super::check_with;
use crate::tidy::{repo_of, said};

fn findings(lines: usize, longer: &[(&str, &str)]) -> Vec<String> {
    said(&check_with(&repo_of(&[("a.rs", &"x\n".repeat(lines))]), longer))
}

#[test]
fn length_is_warned_of_and_then_fails() {
    assert_eq!(findings(500, &[]), [""; 0]);
    assert_eq!(findings(501, &[]), ["a.rs: warn: has 501 lines, more than 500: split it"]);
    assert_eq!(findings(800, &[]), ["a.rs: warn: has 800 lines, more than 500: split it"]);
    assert_eq!(findings(801, &[]), ["a.rs: fail: has 801 lines, the limit is 800"]);
}

#[test]
fn an_excused_file_may_be_long_but_the_excuse_ends_with_its_cause() {
    let excuse = [("a.rs", "one table")];
    assert_eq!(findings(900, &excuse), [""; 0]);
    assert_eq!(
        findings(10, &excuse),
        ["a.rs: fail: is short enough now: take it off the list of longer files"]
    );
    assert_eq!(
        said(&check_with(&repo_of(&[]), &excuse)),
        ["a.rs: fail: is on the list of longer files but is not there"]
    );
}
