use super::check;
use crate::tidy::{repo_of, said};

#[test]
fn declared_modules_pass() {
    let repo = repo_of(&[
        ("crates/a/src/lib.rs", "pub mod turn;\n"),
        ("crates/a/src/turn.rs", "#[cfg(test)]\nmod tests;\npub(crate) mod step;\n"),
        ("crates/a/src/turn/tests.rs", ""),
        ("crates/a/src/turn/step.rs", ""),
        ("crates/a/src/bin/fake.rs", ""),
        ("crates/a/examples/bench.rs", ""),
        ("crates/a/tests/it/main.rs", "mod link;\n"),
        ("crates/a/tests/it/link.rs", "mod deep;\n"),
        ("crates/a/tests/it/link/deep.rs", ""),
    ]);
    assert_eq!(said(&check(&repo)), [""; 0]);
}

#[test]
fn a_forgotten_test_file_is_named() {
    let repo = repo_of(&[
        ("crates/a/tests/it/main.rs", "mod link;\n// mod other;\n"),
        ("crates/a/tests/it/link.rs", ""),
        ("crates/a/tests/it/other.rs", ""),
    ]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/a/tests/it/other.rs: fail: is never compiled: no `mod other;` in \
          crates/a/tests/it/main.rs"]
    );
}

#[test]
fn forgotten_unit_tests_are_named() {
    let repo = repo_of(&[
        ("crates/a/src/main.rs", "mod turn;\n"),
        ("crates/a/src/turn.rs", "fn f() {}\n"),
        ("crates/a/src/turn/tests.rs", ""),
    ]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/a/src/turn/tests.rs: fail: is never compiled: no `mod tests;` in \
          crates/a/src/turn.rs"]
    );
}

#[test]
fn mod_rs_and_a_second_integration_binary_are_named() {
    let repo = repo_of(&[("crates/a/src/turn/mod.rs", ""), ("crates/a/tests/more.rs", "")]);
    assert_eq!(
        said(&check(&repo)),
        [
            "crates/a/src/turn/mod.rs: fail: the module's file is crates/a/src/turn.rs",
            "crates/a/tests/more.rs: fail: is an integration binary of its own: make it a module \
             of tests/it/main.rs"
        ]
    );
}
