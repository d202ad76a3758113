//! `docs/conformance.md`: one row for each requirement, with its state and the tests that prove it.
//! A row is `| id | what | state | proof |`; a proof is `` `crate::path::test` ``. Start at
//! [`check`]; `cargo xtask conformance` is [`run`].

mod ids;
mod proofs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};

use self::proofs::Proofs;
use super::{Finding, Repo, Tree};
use crate::shell;

const PATH: &str = "docs/conformance.md";
const STATES: [&str; 4] = ["done", "part", "open", "informative"];

/// What `cargo xtask conformance` does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Prints which tests name which requirement.
    Show,
    /// Rewrites the proof column.
    Write,
}

/// One line of the table.
struct Row<'a> {
    line: usize,
    id: &'a str,
    what: &'a str,
    state: &'a str,
    proof: &'a str,
}

impl<'a> Row<'a> {
    /// Nothing for a line that is not a row about a requirement.
    fn parse(line: usize, text: &'a str) -> Option<Self> {
        let inner = text.trim().strip_prefix('|')?.strip_suffix('|')?;
        let mut cells = inner.split('|').map(str::trim);
        let id = cells.next()?;
        if !ids::looks_like_one(id) {
            return None;
        }
        let row =
            Self { line, id, what: cells.next()?, state: cells.next()?, proof: cells.next()? };
        cells.next().is_none().then_some(row)
    }

    fn tests(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.proof.split('`').skip(1).step_by(2)
    }
}

fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines().enumerate().filter_map(|(index, line)| Row::parse(index + 1, line))
}

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.files.text(PATH) else {
        return vec![Finding::fail(PATH, 0, "is missing")];
    };
    let proofs = Proofs::find(&repo.files);
    let mut findings = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let begins_like_a_row =
            line.trim_start_matches(['|', ' ']).split(['|', ' ']).next().unwrap_or_default();
        let row = Row::parse(index + 1, line);
        if row.is_none() && line.starts_with('|') && ids::looks_like_one(begins_like_a_row) {
            findings.push(Finding::fail(PATH, index + 1, "is no row of four cells"));
        }
    }
    for row in rows(text) {
        *seen.entry(row.id).or_default() += 1;
        check_row(&row, &proofs, &mut findings);
    }
    for id in ids::all() {
        match seen.remove(id.as_str()) {
            Some(1) => {}
            Some(count) => {
                findings.push(Finding::fail(PATH, 0, format!("{id} has {count} rows")));
            }
            None => findings.push(Finding::fail(PATH, 0, format!("{id} has no row"))),
        }
    }
    for id in seen.keys() {
        findings.push(Finding::fail(PATH, 0, format!("{id} is no requirement")));
    }
    if with_proofs(text, &proofs) != text {
        let text = "the proof column is behind: run `cargo xtask conformance --write`";
        findings.push(Finding::warn(PATH, 0, text));
    }
    findings
}

fn check_row(row: &Row<'_>, proofs: &Proofs, findings: &mut Vec<Finding>) {
    let mut fail = |text: String| findings.push(Finding::fail(PATH, row.line, text));
    if !STATES.contains(&row.state) {
        fail(format!("{} has the state {}, not one of {}", row.id, row.state, STATES.join(", ")));
    }
    if row.what.is_empty() {
        fail(format!("{} does not say what it asks for", row.id));
    }
    if row.state == "done" && row.tests().next().is_none() {
        fail(format!("{} is done, but names no test", row.id));
    }
    for test in row.tests().filter(|test| !proofs.has(test)) {
        fail(format!("{} names {test}, and there is no such test", row.id));
    }
    if row.state == "open" && !proofs.of(row.id).is_empty() {
        let text = format!("{} is open, but {} names it", row.id, proofs.of(row.id).join(", "));
        findings.push(Finding::warn(PATH, row.line, text));
    }
    let silent: Vec<_> =
        row.tests().filter(|test| proofs.has(test) && !proofs.names(test, row.id)).collect();
    for test in silent {
        let text = format!("{test} does not name {} in its doc comment", row.id);
        findings.push(Finding::warn(PATH, row.line, text));
    }
}

/// `cargo xtask conformance`.
pub(crate) fn run(mode: Mode) -> Result<ExitCode> {
    let files = Tree::load(&shell::root())?;
    let proofs = Proofs::find(&files);
    let text = files.text(PATH).with_context(|| format!("{PATH} is missing"))?;
    match mode {
        Mode::Show => {
            for row in rows(text) {
                println!("{:<6} {:<11} {}", row.id, row.state, proofs.of(row.id).join("\n  "));
            }
            for (state, count) in count(text) {
                println!("{state}: {count}");
            }
        }
        Mode::Write => {
            let written = with_proofs(text, &proofs);
            fs::write(shell::root().join(PATH), written).context("cannot write the table")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn count(text: &str) -> BTreeMap<&str, usize> {
    rows(text).fold(BTreeMap::new(), |mut counts, row| {
        *counts.entry(row.state).or_default() += 1;
        counts
    })
}

/// The same table, its proof column holding the tests that name the row's requirement.
fn with_proofs(text: &str, proofs: &Proofs) -> String {
    let mut written = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        match Row::parse(index + 1, line) {
            Some(row) => {
                let tests: Vec<_> =
                    proofs.of(row.id).iter().map(|test| format!("`{test}`")).collect();
                let cells = [row.id, row.what, row.state, &tests.join(" ")].join(" | ");
                written.push_str(&format!("| {} |", cells.trim_end()));
            }
            None => written.push_str(line),
        }
        written.push('\n');
    }
    written
}
