//! `cargo xtask test`: what must hold before a commit, here and in continuous integration.
//! Steps run in order and the first that fails ends the run. Start at [`run`].

mod setup;
mod slowest;
#[cfg(test)]
mod tests;

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::{shell, tidy};

/// How much is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Everything.
    Full,
    /// No installing, no documentation.
    Quick,
}

/// What follows from a test that was left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skips {
    /// It is counted, and told with its reason.
    Count,
    /// The run fails.
    Fail,
}

/// What the steps have to say at the end.
#[derive(Default)]
struct Report {
    /// Lines for the end of the run.
    closing: Vec<String>,
    /// What was left out, each with its reason.
    skipped: Vec<String>,
    /// The slowest tests, slowest first.
    slowest: Vec<slowest::Timed>,
}

struct Step {
    name: &'static str,
    run: fn(&mut Report) -> Result<()>,
}

/// Runs all steps of this pace; fails fast and names the step that failed.
pub(crate) fn run(pace: Pace, skips: Skips) -> Result<ExitCode> {
    let mut report = Report::default();
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for step in steps(pace) {
        println!("\n── {} {}", step.name, "─".repeat(60usize.saturating_sub(step.name.len())));
        let start = shell::now();
        let outcome = (step.run)(&mut report);
        let took = start.elapsed();
        if let Err(error) = outcome {
            println!("\n✗ {} failed after {}: {error:#}", step.name, seconds(took));
            print_closing(&report, &times);
            return Ok(ExitCode::FAILURE);
        }
        println!("✓ {} in {}", step.name, seconds(took));
        times.push((step.name, took));
    }
    print_closing(&report, &times);
    Ok(verdict(&report, skips))
}

/// How a run ends whose steps all passed.
fn verdict(report: &Report, skips: Skips) -> ExitCode {
    if skips == Skips::Fail && !report.skipped.is_empty() {
        println!("✗ all steps passed, but {} test(s) were left out", report.skipped.len());
        return ExitCode::FAILURE;
    }
    println!("all steps passed");
    ExitCode::SUCCESS
}

fn steps(pace: Pace) -> Vec<Step> {
    let mut steps = Vec::new();
    if pace == Pace::Full {
        steps.push(Step { name: "programs the tests need", run: setup::run });
    }
    steps.push(Step { name: "format", run: format });
    steps.push(Step { name: "tidy", run: tidy });
    steps.push(Step { name: "lints", run: lints });
    steps.push(Step { name: "build of the tests", run: build_tests });
    steps.push(Step { name: "tests", run: run_tests });
    if pace == Pace::Full {
        steps.push(Step { name: "documentation", run: documentation });
        steps.push(Step { name: "documentation tests", run: documentation_tests });
    }
    steps
}

fn format(_: &mut Report) -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn tidy(report: &mut Report) -> Result<()> {
    let findings = tidy::check()?;
    let counts = tidy::print(&findings);
    report.closing.push(format!("tidy: {counts}"));
    if counts.failed > 0 {
        bail!("{} finding(s)", counts.failed);
    }
    Ok(())
}

fn lints(_: &mut Report) -> Result<()> {
    shell::run(shell::cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn build_tests(_: &mut Report) -> Result<()> {
    shell::run(shell::cargo().args(["nextest", "run", "--workspace", "--no-run"]))
}

fn run_tests(report: &mut Report) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let folder = target.join("xtask");
    let junit = target.join("nextest/default/junit.xml");
    // The report of an earlier run says nothing of this one.
    let _ = fs::remove_file(&junit);
    fs::create_dir_all(&folder).context("cannot make the folder for the list of skipped tests")?;
    let list = folder.join("skipped.txt");
    fs::write(&list, "").context("cannot empty the list of skipped tests")?;
    let mut nextest = shell::cargo();
    nextest
        .args(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "slow"])
        .env("GANGLINE_SKIPPED", &list);
    let (passed, tail) = shell::run_keeping_tail(&mut nextest, 200)?;
    let text = fs::read_to_string(&list).context("cannot read the list of skipped tests")?;
    report.skipped.extend(text.lines().map(str::to_owned));
    report.closing.extend(closing_lines(&tail));
    let junit = fs::read_to_string(&junit).unwrap_or_default();
    report.slowest = slowest::slowest(&junit, slowest::LISTED);
    if !passed {
        bail!("see the failures above");
    }
    Ok(())
}

/// From nextest's `Summary` line to the end; without one, the last few lines.
fn closing_lines(tail: &[String]) -> Vec<String> {
    let start = tail
        .iter()
        .rposition(|line| line.trim_start().starts_with("Summary"))
        .unwrap_or(tail.len().saturating_sub(5));
    tail[start..].iter().map(|line| line.trim().to_owned()).collect()
}

fn documentation(_: &mut Report) -> Result<()> {
    let mut doc = shell::cargo();
    doc.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    shell::run(&mut doc)
}

fn documentation_tests(report: &mut Report) -> Result<()> {
    let files = tidy::Tree::load(&shell::root())?;
    let with: Vec<_> = Metadata::load()?
        .members()
        .filter(|package| has_doctests(&files, &package.name))
        .map(|package| package.name.clone())
        .collect();
    if with.is_empty() {
        println!("no documentation holds an example");
        return Ok(());
    }
    let mut test = shell::cargo();
    test.args(["test", "--quiet", "--doc"]);
    for name in &with {
        test.args(["--package", name]);
    }
    shell::run(&mut test)?;
    report.closing.push(format!("documentation examples passed in {}", with.join(", ")));
    Ok(())
}

/// Whether a library has a code block in its documentation. Looking first saves linking every
/// crate for nothing.
fn has_doctests(files: &tidy::Tree, package: &str) -> bool {
    let folder = format!("crates/{package}/src/");
    files.contains(&format!("{folder}lib.rs"))
        && files.iter().filter(|file| file.path.starts_with(&folder)).any(|file| {
            file.text
                .lines()
                .map(str::trim_start)
                .any(|line| line.starts_with("/// ```") || line.starts_with("//! ```"))
        })
}

fn print_closing(report: &Report, times: &[(&str, Duration)]) {
    println!("\n── summary {}", "─".repeat(53));
    for (name, took) in times {
        println!("{:>9}  {name}", seconds(*took));
    }
    for line in &report.closing {
        println!("{line}");
    }
    if !report.slowest.is_empty() {
        println!("the slowest {} tests:", report.slowest.len());
    }
    for test in &report.slowest {
        println!("{:>9}  {}", seconds(test.took), test.name);
    }
    println!("skipped: {}", report.skipped.len());
    for line in &report.skipped {
        println!("  {line}");
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
