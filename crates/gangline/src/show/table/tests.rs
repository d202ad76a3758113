use anstream::adapter::strip_str;

use super::{Cell, table};
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
