use super::{IGNORED, check_with};
use crate::tidy::{repo_of, said};

fn findings(path: &str, text: &str) -> Vec<String> {
    said(&check_with(&repo_of(&[(path, text)]), &[]))
}

/// The call under test, put together here so that this file has none.
fn nap() -> String {
    ["tokio::time::sle", "ep(x).await;\n"].concat()
}

#[test]
fn a_sleep_is_found_in_tests_only() {
    let what = "fail: a test waits for a fact, not for time; or says why: `// sleep: …`";
    assert_eq!(
        findings("crates/a/tests/it/x.rs", &nap()),
        [format!("crates/a/tests/it/x.rs:1: {what}")]
    );
    assert_eq!(
        findings("crates/a/src/x/tests.rs", &nap()),
        [format!("crates/a/src/x/tests.rs:1: {what}")]
    );
    assert_eq!(findings("crates/a/src/x.rs", &nap()), [""; 0]);
}

#[test]
fn every_way_to_let_time_pass_is_found() {
    let path = "crates/a/tests/it/x.rs";
    for (line, found) in [
        ("thread::park_time~out(x);", 1),
        ("    std::thread::sle~ep(x);", 1),
        ("let _ = answers.recv_time~out(x);", 1),
        ("let _ = changed.wait_time~out(guard, x);", 1),
        ("let answer = answers.recv_time~out(x).unwrap();", 0),
        ("assert!(answers.recv_time~out(x).is_err());", 0),
        ("let (log, _) = changed.wait_time~out_while(log, x, full).unwrap();", 0),
    ] {
        // Put together here so that this file has none of them.
        assert_eq!(findings(path, &line.replace('~', "")).len(), found, "{line}");
    }
}

#[test]
fn a_reason_excuses_a_sleep_near_it() {
    let path = "crates/a/src/x/tests.rs";
    let reason = "// sleep: the pause is what is tested\n";
    assert_eq!(findings(path, &format!("{reason}{}", nap())), [""; 0]);
    assert_eq!(findings(path, &format!("{reason}\n\n{}", nap())), [""; 0]);
    assert_eq!(findings(path, &format!("{reason}\n\n\n{}", nap())).len(), 1);
}

#[test]
fn comments_strings_and_other_names_are_no_sleeps() {
    let path = "crates/a/src/x/tests.rs";
    assert_eq!(findings(path, &format!("// no {}", nap())), [""; 0]);
    assert_eq!(findings(path, &format!("let x = \"{}\";", nap().trim())), [""; 0]);
    assert_eq!(findings(path, &["over", &nap().replace("tokio::time::", "")].concat()), [""; 0]);
}

#[test]
fn a_test_that_is_switched_off_is_found_everywhere() {
    for end in ["]", " = \"slow\"]"] {
        assert_eq!(
            findings("crates/a/src/x.rs", &format!("{IGNORED}{end}\nfn f() {{}}\n")),
            ["crates/a/src/x.rs:1: fail: a test that is switched off proves nothing: mend it or \
              delete it"]
        );
    }
}

#[test]
fn an_example_that_is_not_compiled_is_found() {
    let fence = ["/// ``", "`ignore\n"].concat();
    assert_eq!(findings("a.rs", &fence).len(), 1);
}

#[test]
fn the_list_of_sleeping_files_names_only_files_that_exist() {
    let list = [("crates/a/src/x/tests.rs", "polls")];
    let repo = repo_of(&[("crates/a/src/x/tests.rs", &nap())]);
    assert_eq!(said(&check_with(&repo, &list)), [""; 0]);
    assert_eq!(
        said(&check_with(&repo_of(&[]), &list)),
        ["crates/a/src/x/tests.rs: fail: may sleep, but is not there: take it off the list"]
    );
}
