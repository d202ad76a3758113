//! Tests of the mark's form. Sweeps of real processes are in `tests/it`.

use super::*;
use proptest::prelude::*;

fn mark(installation: &str, agent: &str, epoch: i64) -> RunMark {
    RunMark { installation: installation.to_owned(), agent: agent.to_owned(), epoch }
}

#[test]
fn a_mark_is_found_among_other_variables() {
    let environ = b"A=1\0XGANGLINE_RUN=x/y/1\0GANGLINE_RUN=i/ada/3\0GANGLINE_RUN=i/bob/4\0";
    assert_eq!(find_mark(environ), Some(mark("i", "ada", 3)));
    for without in [&b""[..], b"A=GANGLINE_RUN=i/ada/3\0", b"GANGLINE_RUN=\xff/a/1\0"] {
        assert_eq!(find_mark(without), None);
    }
}

#[test]
fn what_is_no_mark_is_refused() {
    for text in ["", "i/ada", "i/ada/x", "i/ada/1/2", "/ada/1", "i//1", "i/ada/"] {
        assert_eq!(text.parse::<RunMark>(), Err(NotAMark(text.to_owned())));
    }
    assert_eq!(mark("i", "ada", 3).variable(), (RUN_MARK.into(), "i/ada/3".into()));
}

proptest! {
    #[test]
    fn a_mark_is_read_as_it_was_written(i in "[^/\0]{1,9}", a in "[^/\0]{1,9}", epoch: i64) {
        let mark = mark(&i, &a, epoch);
        prop_assert_eq!(mark.to_string().parse(), Ok(mark));
    }
}
