//! `--deep`: the conformance suite over each installed program, against a stand-in model.

use std::{path::PathBuf, time::Duration};

use gangline_os::{
    lines::{Line, LineReader},
    process::{self, Group, Ladder, Output, Spawn, Stdin, base_env},
};
use gangline_runtime::conformance::{self, Dialect, Outcome, Progress, Report};

use super::{lab::Lab, on_path, shown};
use crate::{cli::Global, failure::Failure, output, place};

/// How long a program may take to tell its version.
const VERSION_WITHIN: Duration = Duration::from_secs(20);
const AT_ONCE: Ladder =
    Ladder { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };
/// More than any version needs.
const LINE_MAX: usize = 4 * 1024;
/// The exit code of a program that a Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// A backend and what was found of it.
pub(super) struct Entry {
    pub(super) dialect: Dialect,
    pub(super) found: Found,
}

/// Where a backend's program is.
pub(super) enum Found {
    /// It is a part of this program.
    Within,
    /// It is there.
    At {
        /// The file.
        program: PathBuf,
        /// What it says; empty = nothing that looks like a version.
        version: String,
    },
    /// It is not on the PATH.
    Nowhere,
}

/// Looks for a backend's program and asks it for its version.
pub(super) async fn look(dialect: &Dialect) -> Found {
    if dialect.program.is_empty() {
        return Found::Within;
    }
    let Some(program) = on_path(dialect.program) else { return Found::Nowhere };
    let version = version(&program).await.unwrap_or_default();
    Found::At { program, version }
}

async fn version(program: &std::path::Path) -> Option<String> {
    let mut child = process::spawn(Spawn {
        program: program.to_owned(),
        args: vec!["--version".into()],
        cwd: std::env::temp_dir(),
        env: base_env(),
        stdin: Stdin::Null,
        stdout: Output::Piped,
        stderr: Output::Null,
        group: Group::New,
    })
    .ok()?;
    let mut lines = LineReader::new(child.take_stdout()?, LINE_MAX);
    let read = async {
        while let Ok(Some(line)) = lines.next().await {
            let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
            if let Some(version) = version_in(&text) {
                return Some(version);
            }
        }
        None
    };
    let version = tokio::time::timeout(VERSION_WITHIN, read).await.ok().flatten();
    child.end(&AT_ONCE).await;
    version
}

/// Returns the first word that is three numbers with dots between them.
fn version_in(line: &str) -> Option<String> {
    let numbers = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
    };
    let mut words = line.split(|c: char| c.is_whitespace() || matches!(c, 'v' | '(' | ')' | ','));
    words.find(numbers).map(str::to_owned)
}

/// Runs the suite over what was found. Exits with 1 if a rule is broken. A Ctrl-C ends it and
/// leaves neither a process nor a file.
pub(super) async fn deep(
    global: &Global,
    entries: Vec<Entry>,
    telling: Telling,
) -> Result<u8, Failure> {
    let lab = Lab::open(&place::plain(global)?.state)?;
    let (stop, asked) = crate::cmd::until_asked()?;
    let reports = tokio::select! {
        reports = run(&lab, &entries, telling) => Some(reports?),
        () = stop.cancelled() => None,
        () = asked => None,
    };
    lab.close().await;
    let Some(reports) = reports else {
        output::note("interrupted; nothing is left behind");
        return Ok(INTERRUPTED);
    };
    shown::reports(global, &entries, &reports)?;
    Ok(u8::from(reports.iter().any(|report| report.failures().next().is_some())))
}

async fn run(lab: &Lab, entries: &[Entry], telling: Telling) -> Result<Vec<Report>, Failure> {
    let mut reports = Vec::new();
    for Entry { dialect, found } in entries {
        let (program, version) = match found {
            Found::Within => (None, String::new()),
            Found::At { program, version } => (Some(program.clone()), version.clone()),
            Found::Nowhere => {
                output::note(&format!("{}: not installed", dialect.backend));
                continue;
            }
        };
        output::note(&format!("{} {version}", dialect.backend));
        let bench = lab.bench(dialect, program, version).await?;
        let report = conformance::run(&bench.subject, &|it| progress(telling, it)).await;
        output::note(&format!("  {} took {:.1} s", dialect.backend, report.took.as_secs_f64()));
        reports.push(report);
    }
    Ok(reports)
}

/// How much is told while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// What was found.
    Verdicts,
    /// What is tried, what was found, and how long that took.
    Times,
}

/// Lines on standard error: one for each verdict, and what is tried meanwhile.
fn progress(telling: Telling, progress: Progress<'_>) {
    let Outcome { cell, verdict, took } = match (progress, telling) {
        (Progress::Found(outcome), _) => outcome,
        (Progress::Trying(cell), Telling::Times) => {
            return output::note(&format!("  trying      {}", cell.title));
        }
        // In a terminal it is written over by what is found.
        (Progress::Trying(cell), Telling::Verdicts) => {
            return output::passing(&format!("  trying      {}", cell.title));
        }
    };
    let why = verdict.why().map(|why| format!(": {why}")).unwrap_or_default();
    let took = match telling {
        Telling::Verdicts => String::new(),
        Telling::Times => format!("{:6.1} s  ", took.as_secs_f64()),
    };
    output::note(&format!("  {:11} {took}{}{why}", verdict.word(), cell.title));
}

#[cfg(test)]
mod tests;
