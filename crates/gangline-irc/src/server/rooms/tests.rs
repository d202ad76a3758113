//! Bans as they are written and as they are stored.

use super::*;

#[test]
fn a_mask_gets_its_missing_parts_and_what_is_no_mask_is_refused() {
    for (written, stored) in [
        ("mallory", Some("mallory!*@*")),
        ("mal*!~x", Some("mal*!~x@*")),
        ("~x@localhost", None),
        ("x@localhost", Some("*!x@localhost")),
        ("*!*@*", Some("*!*@*")),
        ("~a:owner", Some("~a:owner")),
        ("~account:spark-ada", Some("~a:spark-ada")),
        ("~a:", None),
        ("~q:x", None),
        ("$a:x", None),
        ("a b", None),
        ("a,b", None),
        ("", None),
    ] {
        assert_eq!(ban_mask(written).as_deref(), stored, "{written}");
    }
    assert_eq!(ban_mask(&"x".repeat(129)), None);
}
