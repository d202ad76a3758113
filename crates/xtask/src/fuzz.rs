//! `cargo xtask fuzz`: lets libFuzzer look for input that breaks a target of `fuzz/`, and runs the
//! property tests with other inputs than the usual ones. libFuzzer's findings stay in
//! `fuzz/artifacts/`, what it learnt below cargo's target folder, so that the seeds in
//! `fuzz/corpus/` remain as they were written. Start at [`run`].

mod properties;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::metadata::Metadata;
use crate::shell;

/// The release of the fuzzing runner that this repository is known to work with.
const CARGO_FUZZ: &str = "0.13.2";

/// The longest input that is tried, in bytes: more than the longest line of IRC.
const LONGEST: usize = 9000;

/// What to fuzz, and how long.
#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// One target; without it, each in turn.
    target: Option<Target>,
    /// So long for each target.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// The programs of `fuzz/fuzz_targets/`, by their names there; and the property tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Target {
    /// A line of IRC is read, written and read again.
    IrcWire,
    /// A text is read as `agents.yaml`, and its faults are shown.
    Config,
    /// A talk with Claude Code.
    Claude,
    /// A talk with Codex' app server.
    Codex,
    /// A talk with a program that speaks ACP.
    Acp,
    /// A screen of a program in a terminal.
    Screen,
    /// A stream of a model's API.
    Sse,
    /// Lines of an MCP server.
    McpStdio,
    /// Responses of an MCP server over HTTP.
    McpHttp,
    /// The tokens that a response tells to the relay.
    Usage,
    /// Every property test of the workspace, again and again, each time with another seed.
    Properties,
}

impl Target {
    /// The program of this target, if libFuzzer runs it.
    fn program(self) -> Option<&'static str> {
        match self {
            Self::IrcWire => Some("irc_wire"),
            Self::Config => Some("config"),
            Self::Claude => Some("claude"),
            Self::Codex => Some("codex"),
            Self::Acp => Some("acp"),
            Self::Screen => Some("screen"),
            Self::Sse => Some("sse"),
            Self::McpStdio => Some("mcp_stdio"),
            Self::McpHttp => Some("mcp_http"),
            Self::Usage => Some("usage"),
            Self::Properties => None,
        }
    }
}

/// Builds and runs the targets one after the other. The first finding ends the run with an error.
pub(crate) fn run(args: &FuzzArgs) -> Result<ExitCode> {
    for target in args.target.map_or_else(|| Target::value_variants().to_vec(), |one| vec![one]) {
        match target.program() {
            Some(name) => fuzz(name, args.seconds)?,
            None => properties::run(args.seconds)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one of libFuzzer's programs. Installs what runs it if that is missing.
fn fuzz(name: &str, seconds: u32) -> Result<()> {
    install()?;
    let built = Metadata::load()?.target_directory.join("fuzz");
    let learnt = learnt(&built, name);
    fs::create_dir_all(&learnt)
        .with_context(|| format!("cannot make the folder {}", learnt.display()))?;
    println!("fuzzing {name} for {seconds} s; new inputs go to {}", learnt.display());
    let mut fuzz = shell::cargo();
    // Instrumentation is behind unstable flags; this makes a stable compiler take them.
    fuzz.env("RUSTC_BOOTSTRAP", "1").args(arguments(name, seconds, &built));
    shell::run(&mut fuzz).with_context(|| {
        format!("{name} was not passed; input that breaks it is in fuzz/artifacts/{name}")
    })
}

fn install() -> Result<()> {
    if shell::find_program("cargo-fuzz").is_some() {
        return Ok(());
    }
    println!("cargo-fuzz is missing; it builds and runs fuzz targets. Building {CARGO_FUZZ}");
    shell::run(shell::cargo().args(["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]))
}

/// Where inputs that reached new code are kept between runs.
fn learnt(built: &Path, name: &str) -> PathBuf {
    built.join("corpus").join(name)
}

/// What cargo is told. libFuzzer adds to the first folder of inputs and only reads the second.
fn arguments(name: &str, seconds: u32, built: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["fuzz", "run", "--target-dir"].map(Into::into).into();
    arguments.push(built.into());
    arguments.push(name.into());
    arguments.push(learnt(built, name).into());
    arguments.push(format!("fuzz/corpus/{name}").into());
    arguments.push("--".into());
    arguments.push(format!("-max_total_time={seconds}").into());
    arguments.push(format!("-max_len={LONGEST}").into());
    arguments
}
