//! Tests of cursors.

use super::{Cursor, CursorError};

#[test]
fn a_cursor_is_one_word_that_a_request_can_hold() {
    let check = |text: &str, legal: bool| {
        let read = text.parse::<Cursor>().map(|cursor| cursor.to_string());
        assert_eq!(read, if legal { Ok(text.to_owned()) } else { Err(CursorError) }, "{text:?}");
    };
    check("msgid=abc", true);
    check("timestamp=2026-11-21T21:33:48.123Z", true);
    check("msgid=", false);
    check("abc", false);
    check("msgid=a b", false);
    check("msgid=a\r\nQUIT", false);
    check(&format!("msgid={}", "x".repeat(201)), false);
    assert_eq!(Cursor::msgid("m1").unwrap().as_str(), "msgid=m1");
    assert_eq!(Cursor::timestamp("t 1"), Err(CursorError));
}
