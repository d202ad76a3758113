//! `--deep`: the conformance suite over each installed program, against a stand-in model.

use gangline_runtime::{
    conformance::{self, Dialect, Outcome, Report},
    registry::Found,
};

use super::lab::Lab;
use crate::{cli::Global, failure::Failure, output, place};

/// A backend that can be tried.
#[derive(Debug)]
pub(crate) struct Target {
    /// How it is called in what is shown.
    pub(crate) name: String,
    /// What it is.
    pub(crate) found: Found,
    /// How it has to be spoken to.
    pub(crate) dialect: &'static Dialect,
    /// Its program and what stands before our own arguments; empty = it is a part of Gangline.
    pub(crate) words: Vec<String>,
    /// What its program says; empty = nothing that looks like a version.
    pub(crate) version: String,
}

/// Runs the suite over the targets, one after the other; the reports are in their order. None
/// after a Ctrl-C, which leaves neither a process nor a file.
pub(crate) async fn deep(
    global: &Global,
    targets: &[Target],
) -> Result<Option<Vec<Report>>, Failure> {
    if targets.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let lab = Lab::open(&place::plain(global)?.state)?;
    let (stop, asked) = crate::cmd::until_asked()?;
    let reports = tokio::select! {
        reports = run(&lab, targets) => Some(reports),
        () = stop.cancelled() => None,
        () = asked => None,
    };
    lab.close().await;
    if reports.is_none() {
        output::note("interrupted; nothing is left behind");
    }
    reports.transpose()
}

async fn run(lab: &Lab, targets: &[Target]) -> Result<Vec<Report>, Failure> {
    let mut reports = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        output::note(format!("{} {}", target.name, target.version).trim_end());
        let bench = lab.bench(index, target).await?;
        let report = conformance::run(&bench.subject, &progress).await;
        output::note(&format!("  {:.1} s", report.took.as_secs_f64()));
        reports.push(report);
    }
    Ok(reports)
}

/// One line on standard error for each verdict.
fn progress(outcome: &Outcome) {
    let Outcome { cell, verdict, .. } = outcome;
    let why = verdict.why().map(|why| format!(": {why}")).unwrap_or_default();
    output::note(&format!("  {:11} {}{why}", verdict.word(), cell.title));
}
