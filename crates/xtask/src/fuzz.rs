//! `cargo xtask fuzz`: lets libFuzzer look for input that breaks a target of `fuzz/`.
//! Its findings stay in `fuzz/artifacts/`, what it learnt below cargo's target folder, so that the
//! seeds in `fuzz/corpus/` remain as they were written. Start at [`run`].

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

/// The programs of `fuzz/fuzz_targets/`, by their names there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Target {
    /// A line of IRC is read, written and read again.
    IrcWire,
    /// A text is read as `agents.yaml`, and its faults are shown.
    Config,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::IrcWire => "irc_wire",
            Self::Config => "config",
        }
    }
}

/// Installs the runner if it is missing, then builds and runs the targets one after the other. The
/// first finding ends the run with an error.
pub(crate) fn run(args: &FuzzArgs) -> Result<ExitCode> {
    install()?;
    let built = Metadata::load()?.target_directory.join("fuzz");
    for target in args.target.map_or_else(|| Target::value_variants().to_vec(), |one| vec![one]) {
        let name = target.name();
        let learnt = learnt(&built, target);
        fs::create_dir_all(&learnt)
            .with_context(|| format!("cannot make the folder {}", learnt.display()))?;
        println!("fuzzing {name} for {} s; new inputs go to {}", args.seconds, learnt.display());
        let mut fuzz = shell::cargo();
        // Instrumentation is behind unstable flags; this makes a stable compiler take them.
        fuzz.env("RUSTC_BOOTSTRAP", "1").args(arguments(target, args.seconds, &built));
        shell::run(&mut fuzz).with_context(|| {
            format!("{name} was not passed; input that breaks it is in fuzz/artifacts/{name}")
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn install() -> Result<()> {
    if shell::find_program("cargo-fuzz").is_some() {
        return Ok(());
    }
    println!("cargo-fuzz is missing; it builds and runs fuzz targets. Building {CARGO_FUZZ}");
    shell::run(shell::cargo().args(["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]))
}

/// Where inputs that reached new code are kept between runs.
fn learnt(built: &Path, target: Target) -> PathBuf {
    built.join("corpus").join(target.name())
}

/// What cargo is told. libFuzzer adds to the first folder of inputs and only reads the second.
fn arguments(target: Target, seconds: u32, built: &Path) -> Vec<OsString> {
    let name = target.name();
    let mut arguments: Vec<OsString> = ["fuzz", "run", "--target-dir"].map(Into::into).into();
    arguments.push(built.into());
    arguments.push(name.into());
    arguments.push(learnt(built, target).into());
    arguments.push(format!("fuzz/corpus/{name}").into());
    arguments.push("--".into());
    arguments.push(format!("-max_total_time={seconds}").into());
    arguments.push(format!("-max_len={LONGEST}").into());
    arguments
}
