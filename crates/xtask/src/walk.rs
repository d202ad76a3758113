//! `cargo xtask walk`: counts the queues that a mention crosses inside a daemon, from the table in
//! `docs/design/0019-agent-loop.md`. Each row names a file and a text in it, so that a row that the
//! code has left behind is found. Start at [`run`].

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;

/// The document with the table.
pub(crate) const DOCUMENT: &str = "docs/design/0019-agent-loop.md";
/// The files that start the daemon's tasks.
const STARTS: [&str; 2] =
    ["crates/gangline-agent/src/root.rs", "crates/gangline-agent/src/root/parts.rs"];
/// The rows that have the sums.
const BEFORE: &str = "| crossings before the model is asked |";
const IN_ALL: &str = "| crossings to the confirmed answer |";
/// How a row of the table begins.
const ROW: &str = "| leg ";

/// One leg of the way.
#[derive(Debug, PartialEq, Eq)]
struct Leg {
    way: String,
    crossings: u32,
    before_model: bool,
    file: String,
    text: String,
}

/// Prints the legs, their sums and the daemon's tasks.
///
/// # Errors
/// A row cannot be read, or its file no longer has its text.
pub(crate) fn run() -> Result<ExitCode> {
    let root = Metadata::load()?.workspace_root;
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))
    };
    let document = read(DOCUMENT)?;
    if let Some(wrong) = left_behind(&document, |file| read(file).ok())?.first() {
        bail!("{DOCUMENT}: {wrong}");
    }
    let legs = legs(&document)?;
    for leg in &legs {
        println!("{:>2}  {}", leg.crossings, leg.way);
    }
    println!("{} before the model is asked", sum(&legs, |leg| leg.before_model));
    println!("{} to the confirmed answer", sum(&legs, |_| true));
    let mut tasks = Vec::new();
    for file in STARTS {
        tasks.extend(tasks_started(&read(file)?));
    }
    println!("{} tasks: {}", tasks.len(), tasks.join(", "));
    Ok(ExitCode::SUCCESS)
}

/// Returns what the document says that is no longer so; `code` reads a file of the repository.
///
/// # Errors
/// A row cannot be read.
pub(crate) fn left_behind(
    document: &str,
    code: impl Fn(&str) -> Option<String>,
) -> Result<Vec<String>> {
    let legs = legs(document)?;
    let gone = legs.iter().filter(|leg| !code(&leg.file).is_some_and(|it| it.contains(&leg.text)));
    let mut wrong: Vec<String> = gone
        .map(|leg| format!("`{}` is not in {} any more: correct the row", leg.text, leg.file))
        .collect();
    for (what, counted) in
        [(BEFORE, sum(&legs, |leg| leg.before_model)), (IN_ALL, sum(&legs, |_| true))]
    {
        let row = document.lines().find(|line| line.starts_with(what));
        if !row.is_some_and(|row| row.ends_with(&format!("| {counted} |"))) {
            wrong.push(format!("the row `{what}` must end with {counted}, the sum of the legs"));
        }
    }
    Ok(wrong)
}

fn sum(legs: &[Leg], of: fn(&Leg) -> bool) -> u32 {
    legs.iter().filter(|leg| of(leg)).map(|leg| leg.crossings).sum()
}

/// Reads the table: `| leg <before|after> | from → to | crossings | file | text |`.
fn legs(document: &str) -> Result<Vec<Leg>> {
    let rows = document.lines().filter(|line| line.starts_with(ROW));
    let legs: Vec<Leg> = rows.map(leg).collect::<Result<_>>()?;
    if legs.is_empty() {
        bail!("{DOCUMENT} has no row that begins with `{ROW}`");
    }
    Ok(legs)
}

fn leg(row: &str) -> Result<Leg> {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [when, way, crossings, file, text] = cells[..] else { bail!("not five cells: {row}") };
    let plain = |cell: &str| cell.trim_matches('`').to_owned();
    Ok(Leg {
        way: way.to_owned(),
        crossings: crossings.parse().with_context(|| format!("no number: {row}"))?,
        before_model: when == "leg before",
        file: plain(file),
        text: plain(text),
    })
}

/// Returns the names of the tasks that this file starts.
fn tasks_started(code: &str) -> Vec<String> {
    let starts = code.split("tasks.spawn(").skip(1);
    let names = starts.filter_map(|rest| rest.split([',', ')']).next());
    names.map(|name| name.trim().trim_matches('"').to_lowercase()).collect()
}

#[cfg(test)]
mod tests;
