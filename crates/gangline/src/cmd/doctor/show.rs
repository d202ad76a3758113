//! What the doctor found, for people and for programs. Pure.

use std::fmt::Write as _;

use serde::Serialize;

use super::report::{About, Check, Counts, Group, Level};
use crate::show::text::{Paint, lines, one_line, paint, wrap};

#[cfg(test)]
mod tests;

/// Text is never narrower than this, whatever the terminal.
const NARROWEST: usize = 30;

/// One line on the wire.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    about: About,
    /// The agent's nick or the backend's name; none for the installation.
    name: Option<&'a str>,
    #[serde(flatten)]
    check: &'a Check,
}

/// Returns the lines for programs.
pub(super) fn wire(groups: &[Group]) -> Vec<Line<'_>> {
    let checks = groups.iter().flat_map(|group| group.checks.iter().map(move |it| (group, it)));
    checks
        .map(|(group, check)| Line { about: group.about, name: group.name.as_deref(), check })
        .collect()
}

/// Returns the groups for people, for a terminal of `columns`; none = lines are not broken.
pub(super) fn text(groups: &[Group], columns: Option<usize>) -> String {
    let widest = groups.iter().flat_map(|group| &group.checks).map(|it| it.check.chars().count());
    let width = widest.max().unwrap_or(0);
    let mut out = String::new();
    for group in groups.iter().filter(|group| !group.checks.is_empty()) {
        let _ = writeln!(out, "{}", paint(Paint::Bold, &one_line(&group.title)));
        for check in &group.checks {
            line(&mut out, check, width, columns);
        }
        out.push('\n');
    }
    out
}

fn line(out: &mut String, check: &Check, width: usize, columns: Option<usize>) {
    let color = match check.result {
        Level::Ok => Paint::Green,
        Level::Note => Paint::Dim,
        Level::Warn => Paint::Yellow,
        Level::Fail => Paint::Red,
    };
    let word = check.result.word();
    let name = one_line(&check.check);
    let gap = " ".repeat(width.saturating_sub(name.chars().count()));
    let _ = write!(out, "  {}{}  {name}{gap}  ", paint(color, word), " ".repeat(4 - word.len()));
    let indent = 2 + 4 + 2 + width + 2;
    wrapped(out, &one_line(&check.found), indent, columns);
    for line in lines(&check.detail).lines() {
        let _ = writeln!(out, "        {line}");
    }
    for remedy in &check.remedies {
        let _ = write!(out, "{}-> ", " ".repeat(indent));
        wrapped(out, &one_line(remedy), indent + 3, columns);
    }
}

/// Writes a text whose first line begins at `indent`.
fn wrapped(out: &mut String, text: &str, indent: usize, columns: Option<usize>) {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent).max(NARROWEST));
    let lines = wrap(text, room).join(&format!("\n{}", " ".repeat(indent)));
    let _ = writeln!(out, "{lines}");
}

/// Returns the last line: how much of what was found.
pub(super) fn sum(counts: Counts) -> String {
    let Counts { ok, note, warn, fail } = counts;
    let many = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        many => Some(format!("{many} {more}")),
    };
    let parts = [
        many(fail, "failure", "failures"),
        many(warn, "warning", "warnings"),
        many(note, "note", "notes"),
        Some(format!("{ok} ok")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
