//! Builds the product and becomes it: `cargo xtask demo` and `cargo xtask up`. Start at [`run`].

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::shell;

/// Builds `gangline` with cargo's progress on the terminal, then replaces this program by
/// `gangline <verb> <args>` in the caller's working directory. Returns only on failure.
pub(crate) fn run(verb: &str, args: &[String]) -> Result<ExitCode> {
    shell::run(shell::cargo().args(["build", "--package", "gangline", "--bin", "gangline"]))?;
    let program = Metadata::load()?.target_directory.join("debug/gangline");
    let here = std::env::current_dir().context("cannot tell the working directory")?;
    let error = shell::command(&program).current_dir(here).arg(verb).args(args).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
