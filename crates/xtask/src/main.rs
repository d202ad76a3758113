//! Repository tasks: `cargo xtask test | demo | up | tidy | conformance | bench | walk | fuzz`.
//! Knows the layout of this repository and nothing of the product's logic. Start at [`Task`].
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for a developer's terminal: its output is its purpose"
)]

mod bench;
mod fuzz;
mod launch;
mod metadata;
mod shell;
mod test;
mod tidy;
mod walk;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Tasks of the Gangline repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold before a commit: format, tidy, lints, tests, documentation.
    Test(TestArgs),
    /// Build gangline and run its demo: people and one agent in a chat, with no key and no network.
    Demo(Passed),
    /// Build gangline and run `gangline up` in front of this terminal.
    Up(Passed),
    /// Check the rules of this repository that the compiler cannot check.
    Tidy,
    /// Show which tests name which requirement; `--write` brings docs/conformance.md in step.
    Conformance(ConformanceArgs),
    /// Measure goals against their anchors, in turn, in the same run.
    Bench(bench::BenchArgs),
    /// Count the queues that a mention crosses inside a daemon, and the daemon's tasks.
    Walk,
    /// Look for input that breaks a reader of hostile bytes, guided by coverage, or a property.
    Fuzz(fuzz::FuzzArgs),
}

#[derive(Args)]
struct TestArgs {
    /// Leave out installing programs, the documentation build and documentation tests.
    #[arg(long)]
    quick: bool,
    /// Fail when a test was left out, for whatever reason.
    #[arg(long)]
    no_skips: bool,
}

#[derive(Args)]
struct Passed {
    /// Handed to gangline as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

#[derive(Args)]
struct ConformanceArgs {
    /// Rewrite the proof column from the tests' doc comments.
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Test(args) => {
            let pace = if args.quick { test::Pace::Quick } else { test::Pace::Full };
            let skips = if args.no_skips { test::Skips::Fail } else { test::Skips::Count };
            test::run(pace, skips)
        }
        Task::Demo(passed) => launch::run("demo", &passed.args),
        Task::Up(passed) => launch::run("up", &passed.args),
        Task::Tidy => tidy::run(),
        Task::Conformance(args) => tidy::conformance::run(if args.write {
            tidy::conformance::Mode::Write
        } else {
            tidy::conformance::Mode::Show
        }),
        Task::Bench(args) => bench::run(&args),
        Task::Walk => walk::run(),
        Task::Fuzz(args) => fuzz::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
