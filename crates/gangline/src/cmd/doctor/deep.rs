//! `--deep`: the conformance suite over each installed program, against a stand-in model.

use gangline_conformance::{self as conformance, Outcome, Progress, Report};

use super::{sandbox::Sandbox, shown, target::Target};
use crate::{cli::Global, failure::Failure, output, place};

/// Runs the suite over the targets, one after the other; the reports are in their order. None
/// after a Ctrl-C, which leaves neither a process nor a file.
pub(super) async fn deep(
    global: &Global,
    targets: &[Target],
    detail: Detail,
) -> Result<Option<Vec<Report>>, Failure> {
    if targets.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let sandbox = Sandbox::open(&place::unread(&global.place())?.state)?;
    let (stop, asked) = crate::cmd::until_asked()?;
    let reports = tokio::select! {
        reports = run(&sandbox, targets, detail) => Some(reports),
        () = stop.cancelled() => None,
        () = asked => None,
    };
    sandbox.close().await;
    if reports.is_none() {
        output::note("interrupted; all temporary files are removed");
    }
    reports.transpose()
}

async fn run(
    sandbox: &Sandbox,
    targets: &[Target],
    detail: Detail,
) -> Result<Vec<Report>, Failure> {
    let mut reports = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        if detail != Detail::Lines {
            output::note(format!("{} {}", target.name, target.version).trim_end());
        }
        let bench = sandbox.bench(index, target).await?;
        let report = conformance::run(&bench.subject, &|it| progress(detail, it)).await;
        if detail == Detail::Lines {
            output::note(&shown::line(target, &report));
        } else {
            output::note(&format!("  {} took {:.1} s", target.name, report.took.as_secs_f64()));
        }
        reports.push(report);
    }
    Ok(reports)
}

/// How much is told while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// A line for each backend.
    Lines,
    /// What was found.
    Scores,
    /// What is tried, what was found, and how long that took.
    Times,
}

/// Lines on standard error: one for each score if that is wanted, and what is tried meanwhile.
fn progress(detail: Detail, progress: Progress<'_>) {
    let Outcome { cell, score, took } = match (progress, detail) {
        (Progress::Found(_), Detail::Lines) => return,
        (Progress::Found(outcome), Detail::Scores | Detail::Times) => outcome,
        (Progress::Trying(cell), Detail::Times) => {
            return output::note(&format!("  trying      {}", cell.title));
        }
        // In a terminal it is written over by what is found.
        (Progress::Trying(cell), Detail::Lines | Detail::Scores) => {
            return output::passing(&format!("  trying      {}", cell.title));
        }
    };
    let why = score.why().map(|why| format!(": {why}")).unwrap_or_default();
    let took = match detail {
        Detail::Lines | Detail::Scores => String::new(),
        Detail::Times => format!("{:6.1} s  ", took.as_secs_f64()),
    };
    output::note(&format!("  {:11} {took}{}{why}", score.word(), cell.title));
}
