//! Tables of distances.

use super::*;

#[test]
fn an_edit_inserts_drops_replaces_or_swaps() {
    for (one, other, expect) in [
        ("", "", 0),
        ("stop", "stop", 0),
        ("stop", "", 4),
        ("stpo", "stop", 1),
        ("tsop", "stop", 1),
        ("stp", "stop", 1),
        ("stoop", "stop", 1),
        ("step", "stop", 1),
        ("statsu", "status", 1),
        ("sattsu", "status", 2),
        ("hello", "help", 2),
        ("é", "e", 1),
        ("abort", "report", 3),
    ] {
        assert_eq!(distance(one, other), Some(expect), "{one} {other}");
        assert_eq!(distance(other, one), Some(expect), "{other} {one}");
    }
    assert_eq!(distance(&"a".repeat(COMPARED_MAX + 1), "a"), None);
    assert_eq!(distance("a", &"a".repeat(COMPARED_MAX)), Some(COMPARED_MAX - 1));
}

#[test]
fn a_short_word_is_near_by_one_edit_and_a_longer_one_by_two() {
    for (said, word, near) in [
        ("stpo", "stop", true),
        ("shop", "stop", true),
        ("sotp", "stop", true),
        ("top!", "stop", false),
        ("hello", "help", false),
        ("stop", "stop", false),
        ("sttaus", "status", true),
        ("statistics", "status", false),
        ("qeue", "queue", true),
        ("que", "queue", false),
        ("push", "pause", false),
    ] {
        assert_eq!(is_near(said, word), near, "{said} {word}");
    }
}
