//! What the program says of itself.

use super::*;

#[test]
fn a_version_is_read_from_the_first_word() {
    for (line, expected) in [
        ("2.1.330 (Claude Code)", Some(Version(2, 1, 330))),
        ("2.2.0-beta.1 (Claude Code)", Some(Version(2, 2, 0))),
        ("3.0.1", Some(Version(3, 0, 1))),
        ("2.1", None),
        ("Claude Code 2.1.330", None),
        ("", None),
    ] {
        assert_eq!(parse(line), expected, "{line}");
    }
    assert!(Version(2, 1, 197) < OLDEST && OLDEST < Version(2, 1, 330));
    assert!(OLDEST < Version(2, 2, 0) && OLDEST < Version(3, 0, 0));
}
