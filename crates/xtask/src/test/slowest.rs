//! The slowest tests of a run, read from the report that nextest writes, so that everybody sees what
//! the suite spends its time on. Start at [`slowest`].

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::time::Duration;

/// How many tests are listed.
pub(super) const LISTED: usize = 50;

/// One test that ran, and how long it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    /// The test's binary and name, as nextest prints them.
    pub(super) name: String,
    pub(super) took: Duration,
}

/// Returns the `count` slowest tests of a JUnit report, slowest first. A test without a time, such
/// as one that was skipped, is left out.
pub(super) fn slowest(report: &str, count: usize) -> Vec<Timed> {
    let mut tests: Vec<Timed> = report.split("<testcase ").skip(1).filter_map(timed).collect();
    tests.sort_by_key(|test| Reverse(test.took));
    tests.truncate(count);
    tests
}

/// Reads the attributes of a `<testcase …>`; `rest` is what follows the tag's name.
fn timed(rest: &str) -> Option<Timed> {
    let tag = rest.split('>').next()?;
    let took = attribute(tag, "time")?.parse().ok()?;
    Some(Timed {
        name: format!("{} {}", attribute(tag, "classname")?, attribute(tag, "name")?),
        took: Duration::try_from_secs_f64(took).ok()?,
    })
}

/// Returns the value of an attribute. Names of crates and tests hold nothing that XML escapes.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("{name}=\"");
    let begins = |(at, _): &(usize, &str)| *at == 0 || tag[..*at].ends_with(' ');
    let (at, _) = tag.match_indices(&start).find(begins)?;
    tag[at + start.len()..].split('"').next()
}
