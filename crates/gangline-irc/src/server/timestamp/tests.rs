//! Times read and written.

use gangline_os::clock::rfc3339;
use proptest::prelude::*;

use super::*;

#[test]
fn what_is_no_utc_time_is_refused() {
    for text in ["", "2026-11-21", "2026-11-21T21:33:48", "2026-13-01T00:00:00Z", "x", "-1-1-1T:Z"]
    {
        assert_eq!(parse(text), None, "{text}");
    }
    assert_eq!(parse("1970-01-01T00:00:01Z"), Some(UnixMicros(1_000_000)));
    assert_eq!(parse("2026-11-21T21:33:48.1Z"), parse("2026-11-21T21:33:48.100000Z"));
}

proptest! {
    #[test]
    fn a_written_time_is_read_back(ms in 0_i64..=253_402_300_799_999) {
        let at = UnixMicros(ms * 1000);
        prop_assert_eq!(parse(&rfc3339(at)), Some(at));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}") {
        parse(&text);
    }
}
