use anstream::adapter::strip_str;

use super::{Cell, table, wrapped};
use crate::show::text::Paint;

#[test]
fn columns_are_as_wide_as_their_widest_cell_whatever_the_colours() {
    let rows = [
        [Cell::painted(Paint::Green, "idle"), Cell::from("größer"), Cell::from("x")],
        [Cell::painted(Paint::Red, "down"), Cell::from("a"), Cell::from("yy")],
    ];
    let text = table(["S", "NAME", "REST"], &rows);
    assert_eq!(
        strip_str(&text).to_string(),
        "S     NAME    REST\n\
         idle  größer  x\n\
         down  a       yy\n"
    );
    assert!(text.contains("\u{1b}[32midle\u{1b}[0m"), "{text:?}");
}

#[test]
fn the_last_column_is_broken_between_words_below_its_beginning() {
    let long = "one two three four five six `seven eight nine ten` eleven";
    let rows = [[Cell::from("1"), Cell::painted(Paint::Red, long)]];
    let text = wrapped(["NO", "WHAT"], &rows, Some(34));
    assert_eq!(
        strip_str(&text).to_string(),
        "NO  WHAT\n1   one two three four five six\n    `seven eight nine ten` eleven\n"
    );
    assert!(text.contains("\u{1b}[31m`seven"), "each line has its colour: {text:?}");
    assert_eq!(strip_str(&wrapped(["NO", "WHAT"], &rows, None)).to_string().lines().count(), 2);
    let narrow = wrapped(["NO", "WHAT"], &rows, Some(4));
    assert_eq!(
        strip_str(&narrow).to_string().lines().count(),
        3,
        "never narrower than 30: {narrow}"
    );
}
