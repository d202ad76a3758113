//! What the doctor found, for people and for programs.

use std::fmt::Write as _;

use gangline_runtime::conformance::{Outcome, Report, Verdict, cells};
use serde::Serialize;

use super::deep::{Entry, Found};
use crate::{cli::Global, failure::Failure, output};

/// One backend on the wire.
#[derive(Serialize)]
struct Backend<'a> {
    backend: &'a str,
    program: Option<String>,
    version: Option<&'a str>,
    tested_version: Option<&'a str>,
    advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<Cell<'a>>>,
}

/// One rule on the wire.
#[derive(Serialize)]
struct Cell<'a> {
    id: &'a str,
    title: &'a str,
    requirements: &'a [&'a str],
    verdict: &'a str,
    why: Option<&'a str>,
    took_ms: u128,
}

fn backend<'a>(entry: &'a Entry, report: Option<&'a Report>) -> Backend<'a> {
    let (program, version) = match &entry.found {
        Found::Within | Found::Nowhere => (None, None),
        Found::At { program, version } => (Some(program.display().to_string()), Some(&**version)),
    };
    let cell = |Outcome { cell, verdict, took }: &'a Outcome| Cell {
        id: cell.id,
        title: cell.title,
        requirements: cell.requirements,
        verdict: verdict.word(),
        why: verdict.why(),
        took_ms: took.as_millis(),
    };
    Backend {
        backend: entry.dialect.backend,
        program,
        version: version.filter(|version| !version.is_empty()),
        tested_version: Some(entry.dialect.tested).filter(|version| !version.is_empty()),
        advice: advice(entry),
        took_ms: report.map(|report| report.took.as_millis()),
        cells: report.map(|report| report.outcomes.iter().map(cell).collect()),
    }
}

/// Returns what the operator could do about the program itself.
fn advice(Entry { dialect, found }: &Entry) -> Option<String> {
    let install = dialect.install;
    match found {
        Found::Within => None,
        Found::Nowhere => Some(format!("not installed; {install}")),
        Found::At { version, .. } if version == dialect.tested => None,
        Found::At { version, .. } if version.is_empty() => {
            Some(format!("it does not tell its version; tested is {}", dialect.tested))
        }
        Found::At { .. } => Some(format!("tested is {}; {install}", dialect.tested)),
    }
}

/// Shows what was looked for only.
pub(super) fn looked(global: &Global, entries: &[Entry]) -> Result<u8, Failure> {
    if global.json {
        let all: Vec<_> = entries.iter().map(|entry| backend(entry, None)).collect();
        output::json(&all)?;
        return Ok(0);
    }
    let mut out = String::new();
    for entry in entries {
        out.push_str(&line(entry));
    }
    out.push_str("\n`gangline runtime doctor --deep` tries them out: no network, no tokens\n");
    output::print(&out)?;
    Ok(0)
}

fn line(entry: &Entry) -> String {
    let place = match &entry.found {
        Found::Within => "part of Gangline".to_owned(),
        Found::Nowhere => String::new(),
        Found::At { program, version } => format!("{version} {}", program.display()),
    };
    let advice = advice(entry).map(|advice| format!(" ({advice})")).unwrap_or_default();
    format!("{:10} {}\n", entry.dialect.backend, format!("{place}{advice}").trim_start())
}

/// Shows what the suite found.
pub(super) fn reports(
    global: &Global,
    entries: &[Entry],
    reports: &[Report],
) -> Result<(), Failure> {
    let of = |entry: &Entry| reports.iter().find(|it| it.backend == entry.dialect.backend);
    if global.json {
        let all: Vec<_> = entries.iter().map(|entry| backend(entry, of(entry))).collect();
        return output::json(&all);
    }
    let mut out = table(reports);
    out.push('\n');
    for entry in entries {
        out.push_str(&line(entry));
        let broken = of(entry).into_iter().flat_map(Report::failures);
        for Outcome { cell, verdict, .. } in broken {
            let _ = writeln!(out, "  NO: {}: {}", cell.title, verdict.why().unwrap_or_default());
        }
    }
    output::print(&out)
}

/// The rules down, the backends across.
fn table(reports: &[Report]) -> String {
    let width = cells::CELLS.iter().map(|cell| cell.title.len()).max().unwrap_or_default();
    let mut out = format!("{:width$}", "");
    for report in reports {
        let _ = write!(out, "  {:11}", report.backend);
    }
    for cell in cells::CELLS {
        let _ = write!(out, "\n{:width$}", cell.title);
        for report in reports {
            let _ = write!(out, "  {:11}", report.verdict(cell.id).map_or("", Verdict::word));
        }
        out.truncate(out.trim_end().len());
    }
    out.push('\n');
    out
}
