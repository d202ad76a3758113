//! What the suite found, for people and for programs. Pure.

use std::fmt::Write as _;

use gangline_conformance::{Outcome, Report, Score, cells};
use serde::Serialize;

use super::target::Target;

/// The width of a backend's column.
const COLUMN: usize = 13;

/// One backend on the wire.
#[derive(Serialize)]
pub(super) struct Tried<'a> {
    name: &'a str,
    adapter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    took_ms: u128,
    cells: Vec<Cell<'a>>,
}

/// One rule on the wire.
#[derive(Serialize)]
struct Cell<'a> {
    id: &'a str,
    title: &'a str,
    requirements: &'a [&'a str],
    #[serde(rename = "verdict")]
    score: &'a str,
    why: Option<&'a str>,
    took_ms: u128,
}

/// Returns what was found of one backend, for programs.
pub(super) fn wire<'a>(target: &'a Target, report: &'a Report) -> Tried<'a> {
    let cell = |Outcome { cell, score, took }: &'a Outcome| Cell {
        id: cell.id,
        title: cell.title,
        requirements: cell.requirements,
        score: score.word(),
        why: score.why(),
        took_ms: took.as_millis(),
    };
    Tried {
        name: &target.name,
        adapter: target.found.entry.name,
        program: target.words.first().map(String::as_str),
        version: Some(target.version.as_str()).filter(|version| !version.is_empty()),
        took_ms: report.took.as_millis(),
        cells: report.outcomes.iter().map(cell).collect(),
    }
}

/// Returns what was found of one backend, on one line.
pub(super) fn line(target: &Target, report: &Report) -> String {
    let count = |word: &str| report.outcomes.iter().filter(|it| it.score.word() == word).count();
    let told = format!("{} {}", target.name, target.version);
    let others = ["unsupported", "hidden", "skipped", "not held"].map(|word| (count(word), word));
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
    let held = count("yes") + count("asked") + count("refused");
    let broken = report.failures().count();
    let took = report.took.as_secs_f64();
    format!("{}: {held} rules hold{others}, {broken} broken, {took:.1} s", told.trim_end())
}

/// Returns what is broken, and where the rest is to be seen; empty without a report.
pub(super) fn broken(targets: &[Target], reports: &[Report]) -> String {
    let mut out = String::new();
    for (target, report) in targets.iter().zip(reports) {
        for Outcome { cell, score, .. } in report.failures() {
            let why = score.why().unwrap_or_default();
            let _ = writeln!(out, "{}: NO: {}: {why}", target.name, cell.title);
        }
    }
    if !reports.is_empty() {
        out.push_str("`gangline doctor --deep --details` shows each rule\n");
    }
    out
}

/// Returns the rules down and the backends across, and what is broken. As many backends stand
/// beside each other as `columns` have room for; none = all.
pub(super) fn text(targets: &[Target], reports: &[Report], columns: Option<usize>) -> String {
    let both: Vec<(&Target, &Report)> = targets.iter().zip(reports).collect();
    let width = cells::CELLS.iter().map(|cell| cell.title.len()).max().unwrap_or_default();
    let room = columns.map_or(both.len(), |columns| columns.saturating_sub(width) / COLUMN);
    let mut out = String::new();
    for some in both.chunks(room.max(1)) {
        table(&mut out, some, width);
        out.push('\n');
    }
    for (target, report) in both {
        let broken: Vec<&Outcome> = report.failures().collect();
        let (name, version) = (&target.name, &target.version);
        let told = format!("{name} {version}");
        let took = report.took.as_secs_f64();
        let _ = writeln!(out, "{}: {} rules broken, {took:.1} s", told.trim_end(), broken.len());
        for Outcome { cell, score, .. } in broken {
            let _ = writeln!(out, "  NO: {}: {}", cell.title, score.why().unwrap_or_default());
        }
    }
    out
}

fn table(out: &mut String, some: &[(&Target, &Report)], width: usize) {
    let _ = write!(out, "{:width$}", "");
    for (target, _) in some {
        let _ = write!(out, "  {:11}", target.name);
    }
    out.truncate(out.trim_end().len());
    for cell in cells::CELLS {
        let _ = write!(out, "\n{:width$}", cell.title);
        for (_, report) in some {
            let _ = write!(out, "  {:11}", report.score(cell.id).map_or("", Score::word));
        }
        out.truncate(out.trim_end().len());
    }
    out.push('\n');
}
