//! Long lines of a view.

use super::*;

#[test]
fn a_long_line_is_continued_and_nothing_of_it_is_lost() {
    for (line, max, expect) in [
        ("command: ls", 20, &["command: ls"][..]),
        ("", 20, &[""]),
        ("0123456789", 10, &["0123456789"]),
        ("01234567890", 10, &["0123456789", "↪ 0"]),
        // Two blanks stay two, at the cut too.
        ("012345678  90", 10, &["012345678 ", "↪  90"]),
        ("äöüäöü", 9, &["äöüä", "↪ öü"]),
    ] {
        let pieces = wire(&[line.to_owned()], max);
        assert_eq!(pieces, expect, "{line:?}");
        let whole: String =
            pieces.iter().map(|it| it.strip_prefix(CONTINUES).unwrap_or(it)).collect();
        assert_eq!(whole, line);
        assert!(pieces.iter().all(|it| it.len() <= max), "{pieces:?}");
    }
}
