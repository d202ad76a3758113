//! The same error, again and again.

use std::collections::VecDeque;

use crate::{redact::Redacted, watch::digest};

/// The beginning of these findings' keys.
const KEY: &str = "rule/repeated_error/";
/// The same call has failed with the same error so often while nothing has changed: once, and three times
/// again (R1-36).
pub(crate) const TRIES: u32 = 4;
/// It has failed so although something has changed in between, as when somebody looks for a cause.
pub(crate) const TRIES_WITH_CHANGES: u32 = 8;
/// Different calls of a tool have failed so often with the same error, and none without.
pub(crate) const VARIED: u32 = 10;
/// A shorter error, in bytes, says too little to compare different calls by.
pub(crate) const VARIED_LEAST: usize = 24;
/// The most errors that are remembered.
pub(crate) const REMEMBERED: usize = 32;

/// One failed call.
#[derive(Debug)]
pub(super) struct Failure<'a> {
    pub(super) tool: &'a Redacted,
    pub(super) call: u64,
    pub(super) error: u64,
}

/// An error that has come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failing {
    pub(super) key: String,
    pub(super) nth: u32,
    pub(super) times: u32,
    /// Whether all of them are the same call, not different calls of one tool.
    pub(super) same_call: bool,
}

#[derive(Debug)]
struct Row {
    tool: u64,
    /// The call; `None` in the row of different calls of the tool.
    call: Option<u64>,
    error: u64,
    last_call: u64,
    times: u32,
    /// How often since something has changed, and since this was last told.
    unchanged: u32,
    untold: u32,
    nth: u32,
}

impl Row {
    fn key(&self) -> String {
        let call = self.call.map_or_else(|| "any".to_owned(), |it| format!("{it:016x}"));
        format!("{KEY}{:016x}", digest(&format!("{} {call} {}", self.tool, self.error)))
    }

    fn told(&mut self) -> Failing {
        (self.unchanged, self.untold) = (0, 0);
        self.nth = self.nth.saturating_add(1);
        Failing {
            key: self.key(),
            nth: self.nth,
            times: self.times,
            same_call: self.call.is_some(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Failures {
    rows: VecDeque<Row>,
}

impl Failures {
    /// Counts a failed call, whose error has so many bytes, and returns what is to be told.
    pub(super) fn failed(&mut self, failure: &Failure<'_>, bytes: usize) -> Option<Failing> {
        let tool = digest(failure.tool.as_str());
        let row = self.row((tool, Some(failure.call), failure.error));
        row.times = row.times.saturating_add(1);
        row.unchanged = row.unchanged.saturating_add(1);
        row.untold = row.untold.saturating_add(1);
        let same = (row.unchanged >= TRIES || row.untold >= TRIES_WITH_CHANGES).then(|| row.told());
        if bytes < VARIED_LEAST {
            return same;
        }
        let row = self.row((tool, None, failure.error));
        if row.times > 0 && row.last_call == failure.call {
            return same;
        }
        row.last_call = failure.call;
        row.times = row.times.saturating_add(1);
        row.untold = row.untold.saturating_add(1);
        same.or_else(|| (row.untold >= VARIED).then(|| row.told()))
    }

    /// A call went well: its errors are over, and so is what different calls of the tool had in common.
    /// Returns the keys of both.
    pub(super) fn succeeded(&mut self, tool: &Redacted, call: u64) -> Vec<String> {
        let tool = digest(tool.as_str());
        let over = |row: &Row| row.tool == tool && row.call.is_none_or(|it| it == call);
        let keys = self.rows.iter().filter(|row| over(row)).map(Row::key).collect();
        self.rows.retain(|row| !over(row));
        keys
    }

    /// Something has changed, so a failed call may be tried again.
    pub(super) fn changed(&mut self) {
        for row in &mut self.rows {
            row.unchanged = 0;
        }
    }

    fn row(&mut self, (tool, call, error): (u64, Option<u64>, u64)) -> &mut Row {
        let same = |row: &Row| (row.tool, row.call, row.error) == (tool, call, error);
        let at = self.rows.iter().position(same).unwrap_or_else(|| {
            if self.rows.len() >= REMEMBERED {
                self.rows.pop_front();
            }
            let (times, unchanged, untold, nth) = (0, 0, 0, 0);
            self.rows.push_back(Row {
                tool,
                call,
                error,
                last_call: 0,
                times,
                unchanged,
                untold,
                nth,
            });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.rows.len()
    }
}
