use std::time::Duration;

use super::{Timed, slowest};

/// A report as nextest writes it, shortened.
const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" uuid="u" time="6.500">
    <testsuite name="gangline::it" tests="2" disabled="0" errors="0" failures="1">
        <testcase name="fire::one" classname="gangline::it" timestamp="t" time="2.250">
        </testcase>
        <testcase name="fire::two" classname="gangline::it" timestamp="t" time="4.000">
            <failure type="test failure">panicked &lt;testcase&gt;</failure>
        </testcase>
    </testsuite>
    <testsuite name="xtask" tests="1" disabled="0" errors="0" failures="0">
        <testcase name="tidy::short" classname="xtask" timestamp="t" time="0.004">
        </testcase>
    </testsuite>
</testsuites>
"#;

fn timed(name: &str, millis: u64) -> Timed {
    Timed { name: name.to_owned(), took: Duration::from_millis(millis) }
}

#[test]
fn the_slowest_tests_come_first_and_no_more_than_asked_for() {
    assert_eq!(
        slowest(REPORT, 2),
        [timed("gangline::it fire::two", 4000), timed("gangline::it fire::one", 2250)]
    );
    assert_eq!(slowest(REPORT, 9)[2], timed("xtask tidy::short", 4));
}

#[test]
fn a_test_without_a_time_is_left_out() {
    assert_eq!(slowest(r#"<testcase name="a" classname="b"/>"#, 9), []);
    assert_eq!(slowest(r#"<testcase name="a" classname="b" time="never"/>"#, 9), []);
    assert_eq!(slowest("no report", 9), []);
}
