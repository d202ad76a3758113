use super::{ALLOWED, RETIRED, check};
use crate::tidy::{repo_of, said};

fn findings(path: &str, text: &str) -> Vec<String> {
    said(&check(&repo_of(&[(path, text)])))
}

#[test]
fn a_retired_word_is_found_in_names_and_in_prose() {
    for line in
        ["the kill ladder", "struct Ladder {", "SHORT_LADDER", "let ladders = 1;", "(Ladder)"]
    {
        let [finding] = &findings("crates/a/src/lib.rs", &format!("fine\n{line}\n"))[..] else {
            panic!("{line}")
        };
        assert!(finding.starts_with("crates/a/src/lib.rs:2: fail: `ladder"), "{finding}");
        assert!(finding.ends_with("use `kill policy`"), "{finding}");
    }
    assert_eq!(
        findings("crates/a/src/kill_ladder.rs", ""),
        ["crates/a/src/kill_ladder.rs: fail: the name has the retired word `ladder`: \
             use `kill policy`"]
    );
}

#[test]
fn a_word_inside_another_word_is_not_found() {
    for line in ["heartbeat", "a desktop", "bladder", "outdoors", "clear", "impatient", "trunged"] {
        assert_eq!(findings("docs/a.md", line), [""; 0], "{line}");
    }
}

#[test]
fn history_published_forms_and_recorded_data_keep_their_words() {
    let line = "the ladder of the broker";
    for path in ["CHANGELOG.md", "docs/design/0001-x.md", "crates/a/recorded.json", "fuzz/a.rs"] {
        assert_eq!(findings(path, line), [""; 0], "{path}");
    }
}

#[test]
fn each_exception_has_a_reason_and_a_word_of_the_list() {
    for (place, word, reason) in ALLOWED {
        assert!(!reason.is_empty(), "{place}");
        assert!(*word == "*" || RETIRED.iter().any(|(name, _)| name == word), "{place}: {word}");
    }
}
