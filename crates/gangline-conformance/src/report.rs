//! What the suite found, and how it is shown.

use std::{fmt::Write as _, time::Duration};

use super::Cell;

/// What is true of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Score {
    /// It was seen to hold.
    Yes,
    /// It does not hold; what was seen instead, in one line.
    No(String),
    /// The adapter's capabilities exclude it.
    Unsupported,
    /// The program itself does not show or do it, so no adapter could; in one line.
    Hidden(String),
    /// It was not tried; why, in one line.
    Skipped(String),
    /// What it does, where programs differ and none of it breaks a rule of an adapter.
    Does(Way),
}

/// What becomes of a call that the agent's rules do not allow by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A person is asked, and decides.
    Asked,
    /// It does not run, whatever anybody says.
    Refused,
    /// It runs unasked.
    NotHeld,
}

impl Score {
    /// Returns the word of the table.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No(_) => "no",
            Self::Unsupported => "unsupported",
            Self::Hidden(_) => "hidden",
            Self::Skipped(_) => "skipped",
            Self::Does(Way::Asked) => "asked",
            Self::Does(Way::Refused) => "refused",
            Self::Does(Way::NotHeld) => "not held",
        }
    }

    /// Returns the explanation of what is not simply a yes.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Yes | Self::Unsupported | Self::Does(_) => None,
            Self::No(why) | Self::Hidden(why) | Self::Skipped(why) => Some(why),
        }
    }
}

/// One cell and what was found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The rule.
    pub cell: &'static Cell,
    /// What is true of it.
    pub score: Score,
    /// How long it took to find out.
    pub took: Duration,
}

/// What the suite found about one backend; every cell once, in the order of the table.
#[derive(Debug, Clone)]
pub struct Report {
    /// The backend's name in a table.
    pub backend: &'static str,
    /// The program's version; empty = it has none.
    pub version: String,
    /// The findings.
    pub outcomes: Vec<Outcome>,
    /// How long all of it took.
    pub took: Duration,
}

impl Report {
    /// Returns the cells that had to be a yes and are none.
    pub fn failures(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| matches!(outcome.score, Score::No(_)))
    }

    /// Returns how many cells have a score of this word.
    #[must_use]
    pub fn count(&self, word: &str) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.score.word() == word).count()
    }

    /// Returns what is true of a cell.
    #[must_use]
    pub fn score(&self, id: &str) -> Option<&Score> {
        self.outcomes.iter().find(|outcome| outcome.cell.id == id).map(|outcome| &outcome.score)
    }
}

/// Returns several reports as one Markdown table with a column per backend, and below it an
/// explanation of each cell that is not a yes.
#[must_use]
pub fn markdown(reports: &[&Report]) -> String {
    let mut out = String::from("| rule |");
    for report in reports {
        let _ = write!(out, " {} |", report.backend);
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(reports.len()));
    for cell in super::cells::CELLS {
        let of = match cell.requirements {
            [] => String::new(),
            some => format!(" ({})", some.join(", ")),
        };
        let _ = write!(out, "\n| {}{of} |", cell.title);
        for report in reports {
            let word = report.score(cell.id).map_or("", Score::word);
            let _ = write!(out, " {word} |");
        }
    }
    out.push('\n');
    for report in reports {
        let version = if report.version.is_empty() { "" } else { report.version.as_str() };
        let _ = write!(out, "\n{}\n", [report.backend, version].join(" ").trim_end());
        let mut all = true;
        for Outcome { cell, score, .. } in &report.outcomes {
            if matches!(score, Score::Yes | Score::Does(_)) {
                continue;
            }
            all = false;
            let why = score.why().unwrap_or("declared by its adapter");
            let _ = writeln!(out, "* {} — {}: {why}", cell.title, score.word());
        }
        if all {
            out.push_str("* every rule holds\n");
        }
    }
    out
}
