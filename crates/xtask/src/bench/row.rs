//! One comparison: what was measured, beside its anchor and its goal, as text and as JSON.

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;

/// Which side of its anchor a figure has to be on.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(limit) => ratio <= limit,
            Self::AtLeast(limit) => ratio >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// The table's first line.
pub(super) const HEADER: &str =
    "id  |     subject |      anchor |  ratio |   goal | result  | load  | build   | what";

/// The circumstances of a comparison.
pub(super) struct Run {
    pub(super) id: &'static str,
    /// `dev` or `release`.
    pub(super) build: &'static str,
    /// The machine's, of the minute before the end.
    pub(super) load: String,
}

/// One comparison, a figure a round for each side.
pub(super) struct Row {
    /// Subject / anchor, in words.
    pub(super) what: Cow<'static, str>,
    pub(super) unit: &'static str,
    pub(super) bound: Bound,
    pub(super) subject: Vec<f64>,
    pub(super) anchor: Vec<f64>,
    /// What explains the figures; one line each.
    pub(super) notes: Vec<String>,
}

/// A line of the JSON form.
#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    build: &'a str,
    load: &'a str,
    what: &'a str,
    unit: &'a str,
    subject: &'a [f64],
    anchor: &'a [f64],
    ratio: f64,
    goal: String,
    met: bool,
    notes: &'a [String],
}

impl Row {
    fn ratio(&self) -> f64 {
        median(&self.subject) / median(&self.anchor)
    }

    /// Returns whether the goal is reached. An anchor of nothing reaches nothing.
    pub(super) fn met(&self) -> bool {
        median(&self.anchor) > 0.0 && self.bound.holds(self.ratio())
    }

    /// Returns the table's line, and a line for each note below it.
    pub(super) fn lines(&self, run: &Run) -> String {
        let Run { id, build, load } = run;
        let (subject, anchor) = (median(&self.subject), median(&self.anchor));
        let result = if self.met() { "met   " } else { "MISSED" };
        let unit = self.unit;
        let mut text = format!(
            "{id:<3} | {:>11} | {:>11} | {:>6.2} | {:>6} | {result}  | {load:>5} | {build:<7} | {}",
            format!("{subject:.0} {unit}"),
            format!("{anchor:.0} {unit}"),
            self.ratio(),
            self.bound.text(),
            self.what
        );
        for note in &self.notes {
            text.push_str("\n      ");
            text.push_str(note);
        }
        text
    }

    /// Returns one line of JSON.
    pub(super) fn json(&self, run: &Run) -> Result<String> {
        let Run { id, build, load } = run;
        let Self { what, unit, bound, subject, anchor, notes } = self;
        let (ratio, met, goal) = (self.ratio(), self.met(), bound.text());
        Ok(serde_json::to_string(&Record {
            id,
            build,
            load,
            what,
            unit,
            subject,
            anchor,
            ratio,
            goal,
            met,
            notes,
        })?)
    }
}

/// Returns the middle, or what is between the two middles; nothing has 0.
pub(super) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => 0.0,
        many if many.len() % 2 == 1 => many[many.len() / 2],
        many => f64::midpoint(many[many.len() / 2 - 1], many[many.len() / 2]),
    }
}
