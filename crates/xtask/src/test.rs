//! `cargo xtask test`: what must hold before a commit, here and in continuous integration.
//! Steps run in stages, some at the same time as others. Start at [`stages`].

mod setup;
mod slowest;
#[cfg(test)]
mod tests;

use std::fs;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::shell::{self, Output};
use crate::tidy;

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

/// One thing that must hold.
struct Step {
    name: &'static str,
    run: fn(&Output, &mut Report) -> Result<()>,
}

/// Steps that run at the same time as others, in two lists. Each list is done in order; the first
/// step that fails ends it.
struct Stage {
    /// Shown as they run.
    steps: Vec<Step>,
    /// Shown when they have ended.
    beside: Vec<Step>,
}

/// Runs all stages of this pace. A stage in which a step fails is the last one.
pub(crate) fn run(pace: Pace, skips: Skips) -> Result<ExitCode> {
    let folder = Metadata::load()?.target_directory.join("xtask");
    fs::create_dir_all(&folder).context("cannot make the folder for logs")?;
    let mut done = Done::default();
    for stage in stages(pace) {
        let log = Output::to_file(&folder.join("beside.log"))?;
        done.merge(both(&stage, &log));
        if done.failed {
            break;
        }
    }
    print_closing(&done.report, &done.times);
    Ok(if done.failed { ExitCode::FAILURE } else { exit_code(&done.report, skips) })
}

/// Programs are installed while the tests are built: the one waits for the network, the other for
/// the processors. Lints and documentation are done in the time that the tests spend waiting.
fn stages(pace: Pace) -> Vec<Stage> {
    let full = |steps: Vec<Step>| if pace == Pace::Full { steps } else { Vec::new() };
    let mut lints = vec![Step { name: "lints", run: lints }];
    lints.extend(full(vec![
        Step { name: "documentation", run: documentation },
        Step { name: "documentation tests", run: documentation_tests },
    ]));
    vec![
        Stage {
            steps: vec![
                Step { name: "format", run: format },
                Step { name: "test runner", run: setup::runner },
            ],
            beside: vec![Step { name: "tidy", run: tidy }],
        },
        Stage {
            steps: vec![Step { name: "build of the tests", run: build_tests }],
            beside: full(vec![Step { name: "programs the tests need", run: setup::programs }]),
        },
        Stage { steps: vec![Step { name: "tests", run: run_tests }], beside: lints },
    ]
}

/// What came of some steps.
#[derive(Default)]
struct Done {
    report: Report,
    times: Vec<(&'static str, Duration)>,
    failed: bool,
}

impl Done {
    fn merge(&mut self, other: Self) {
        self.report.closing.extend(other.report.closing);
        self.report.skipped.extend(other.report.skipped);
        self.report.slowest.extend(other.report.slowest);
        self.times.extend(other.times);
        self.failed |= other.failed;
    }
}

/// Runs both lists of a stage at once.
fn both(stage: &Stage, log: &Output) -> Done {
    thread::scope(|scope| {
        let beside = scope.spawn(|| all(&stage.beside, log));
        let mut done = all(&stage.steps, &Output::Terminal);
        done.merge(beside.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done
    })
}

fn all(steps: &[Step], output: &Output) -> Done {
    let mut done = Done::default();
    for step in steps {
        let line = "─".repeat(60usize.saturating_sub(step.name.len()));
        output.say(&format!("\n── {} {line}", step.name));
        let start = shell::now();
        let outcome = (step.run)(output, &mut done.report);
        let took = start.elapsed();
        output.show();
        if let Err(error) = outcome {
            println!("\n✗ {} failed after {}: {error:#}", step.name, seconds(took));
            done.failed = true;
            break;
        }
        println!("✓ {} in {}", step.name, seconds(took));
        done.times.push((step.name, took));
    }
    done
}

/// How a run ends whose steps all passed.
fn exit_code(report: &Report, skips: Skips) -> ExitCode {
    if skips == Skips::Fail && !report.skipped.is_empty() {
        println!("✗ all steps passed, but {} test(s) were left out", report.skipped.len());
        return ExitCode::FAILURE;
    }
    println!("all steps passed");
    ExitCode::SUCCESS
}

fn format(output: &Output, _: &mut Report) -> Result<()> {
    output.run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn tidy(_: &Output, report: &mut Report) -> Result<()> {
    let findings = tidy::check()?;
    let counts = tidy::print(&findings);
    report.closing.push(format!("tidy: {counts}"));
    if counts.failed > 0 {
        bail!("{} finding(s)", counts.failed);
    }
    Ok(())
}

fn lints(output: &Output, _: &mut Report) -> Result<()> {
    output.run(shell::waiting_cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

/// Builds the tests, and notes which they are and where: nextest then runs them without cargo, whose
/// lock the lints hold meanwhile.
fn build_tests(_: &Output, _: &mut Report) -> Result<()> {
    let mut metadata = shell::cargo();
    metadata.args(["metadata", "--format-version", "1", "--all-features", "--no-deps"]);
    let mut build = shell::cargo();
    // Without the examples: they are measurements, which the lints check.
    build.args(["nextest", "list", "--workspace", "--tests", "--list-type", "binaries-only"]);
    build.args(["--message-format", "json"]);
    let places = Places::find()?;
    for (command, file) in [(&mut metadata, &places.metadata), (&mut build, &places.binaries)] {
        fs::write(file, shell::read(command)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// What the steps of one run leave for each other.
struct Places {
    metadata: PathBuf,
    binaries: PathBuf,
    skipped: PathBuf,
    /// The test runner's report.
    report: PathBuf,
}

impl Places {
    fn find() -> Result<Self> {
        let target = Metadata::load()?.target_directory;
        let folder = target.join("xtask");
        Ok(Self {
            metadata: folder.join("metadata.json"),
            binaries: folder.join("binaries.json"),
            skipped: folder.join("skipped.txt"),
            report: target.join("nextest/default/junit.xml"),
        })
    }
}

/// How many slots there are for tests; `.config/nextest.toml` says how many a test takes.
fn test_threads() -> usize {
    const A_CORE: usize = 24;
    // More would need more memory and ports than a machine has for its tests.
    const CORES: usize = 16;
    A_CORE * thread::available_parallelism().map_or(2, NonZero::get).min(CORES)
}

fn run_tests(_: &Output, report: &mut Report) -> Result<()> {
    let places = Places::find()?;
    // The report of an earlier run says nothing of this one.
    let _ = fs::remove_file(&places.report);
    fs::write(&places.skipped, "").context("cannot empty the list of skipped tests")?;
    let mut nextest = shell::cargo();
    nextest
        .args(["nextest", "run", "--no-fail-fast", "--status-level", "slow"])
        .arg("--cargo-metadata")
        .arg(&places.metadata)
        .arg("--binaries-metadata")
        .arg(&places.binaries)
        .args(["--test-threads", &test_threads().to_string()])
        .env("GANGLINE_SKIPPED", &places.skipped);
    let (passed, tail) = shell::run_keeping_tail(&mut nextest, 200)?;
    let text =
        fs::read_to_string(&places.skipped).context("cannot read the list of skipped tests")?;
    report.skipped.extend(text.lines().map(str::to_owned));
    report.closing.extend(closing_lines(&tail));
    let junit = fs::read_to_string(&places.report).unwrap_or_default();
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

fn documentation(output: &Output, _: &mut Report) -> Result<()> {
    let mut doc = shell::waiting_cargo();
    // With the examples, foreign crates have the features that they had for the lints, and are not
    // looked at once more.
    doc.args(["doc", "--workspace", "--no-deps", "--lib", "--bins", "--examples"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    output.run(&mut doc)
}

fn documentation_tests(output: &Output, report: &mut Report) -> Result<()> {
    let files = tidy::Tree::load(&shell::root())?;
    let with: Vec<_> = Metadata::load()?
        .members()
        .filter(|package| has_doctests(&files, &package.name))
        .map(|package| package.name.clone())
        .collect();
    if with.is_empty() {
        output.say("no documentation holds an example");
        return Ok(());
    }
    let mut test = shell::waiting_cargo();
    test.args(["test", "--quiet", "--doc"]);
    for name in &with {
        test.args(["--package", name]);
    }
    output.run(&mut test)?;
    report.closing.push(format!("documentation examples passed in {}", with.join(", ")));
    Ok(())
}

/// Whether a library has an example in its documentation. Looking first saves building and linking
/// every crate for nothing.
fn has_doctests(files: &tidy::Tree, package: &str) -> bool {
    let folder = format!("crates/{package}/src/");
    files.contains(&format!("{folder}lib.rs"))
        && files.iter().any(|file| file.path.starts_with(&folder) && has_example(file.text))
}

/// Whether a comment of a file opens a block that rustdoc takes for Rust. The end of a block looks
/// like the beginning of one without a language, so blocks are followed from line to line.
fn has_example(text: &str) -> bool {
    let mut open = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(comment) = comment else {
            open = false;
            continue;
        };
        let Some(language) = comment.trim_start().strip_prefix("```") else { continue };
        if !open && is_rust(language.trim()) {
            return true;
        }
        open = !open;
    }
    false
}

/// Whether rustdoc compiles a block of this language: it has none, or only words of rustdoc's own.
fn is_rust(language: &str) -> bool {
    const OWN: [&str; 5] = ["rust", "should_panic", "no_run", "compile_fail", "standalone_crate"];
    language
        .split([',', ' '])
        .filter(|word| !word.is_empty())
        .all(|word| OWN.contains(&word) || word.starts_with("edition"))
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
