use super::{in_lines, named, unset};

#[test]
fn the_last_error_is_told_with_its_causes() {
    let check = |text: &str, expect: Option<&str>| {
        assert_eq!(in_lines(text).as_deref(), expect, "{text}");
    };
    check("error: one\nINFO begins\nerror: two\nhint: three\n", Some("two"));
    check("error: cannot\ncaused by: no\ncaused by: never\nhint: x\n", Some("cannot: no: never"));
    check("INFO all is well\n", None);
    check("", None);
}

#[test]
fn a_missing_variable_is_known_by_its_sentence() {
    assert_eq!(named(&unset("SOME_KEY")), Some("SOME_KEY"));
    assert_eq!(named(&format!("cannot offer x: {}", unset("A"))), Some("A"));
    assert_eq!(named("cannot run oak-ada: its directory is not there"), None);
}
