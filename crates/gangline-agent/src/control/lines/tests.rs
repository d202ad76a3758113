use proptest::prelude::*;

use super::*;

/// R0-38, R1-13: one object and a line end, however the bytes come.
#[test]
fn lines_are_taken_whole() {
    let mut lines = Lines::default();
    assert_eq!((lines.take(), lines.has_begun()), (Ok(None), false));
    lines.push(b"{\"a\":");
    assert_eq!((lines.take(), lines.has_begun()), (Ok(None), true));
    lines.push(b"1}\n\n{\"b\"");
    assert_eq!(lines.take(), Ok(Some(b"{\"a\":1}".to_vec())));
    assert_eq!(lines.take(), Ok(Some(b"".to_vec())));
    assert_eq!((lines.take(), lines.has_begun()), (Ok(None), true));
    assert_eq!(lines.take_rest(), Some(b"{\"b\"".to_vec()));
    assert_eq!((lines.take_rest(), lines.has_begun()), (None, false));
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let mut lines = Lines::default();
    lines.push(&[b'x'; LINE_MAX]);
    assert_eq!(lines.take(), Ok(None));
    lines.push(b"\n");
    assert_eq!(lines.take().unwrap().unwrap().len(), LINE_MAX);
    lines.push(&[b'x'; LINE_MAX + 1]);
    assert_eq!(lines.take(), Err(TooLong), "without waiting for its end");
    let mut ended = Lines::default();
    ended.push(&[b'x'; LINE_MAX + 1]);
    ended.push(b"\n");
    assert_eq!(ended.take(), Err(TooLong));
}

proptest! {
    #[test]
    fn no_byte_is_lost_or_added(parts in prop::collection::vec("[ab\n]{0,9}", 0..20)) {
        let whole = parts.concat();
        let mut lines = Lines::default();
        let mut read = Vec::new();
        for part in &parts {
            lines.push(part.as_bytes());
            while let Some(line) = lines.take().unwrap() {
                read.extend(line);
                read.push(b'\n');
            }
        }
        read.extend(lines.take_rest().unwrap_or_default());
        prop_assert_eq!(read, whole.into_bytes());
    }
}
