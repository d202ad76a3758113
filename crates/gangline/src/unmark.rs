//! The mark of an agent's children, and how those that outlive the agent shed it.

use std::os::unix::process::CommandExt as _;

use gangline_os::mark::RUN_MARK;

use crate::{failure::Failure, program};

/// Returns whether an agent's child runs this program.
pub(crate) fn is_marked() -> bool {
    std::env::var_os(RUN_MARK).is_some_and(|mark| !mark.is_empty())
}

/// Refuses what only the owner may do to somebody whom an agent started.
pub(crate) fn refuse(what: &str) -> Result<(), Failure> {
    if !is_marked() {
        return Ok(());
    }
    Err(Failure::user(format!("an agent does not {what}"))
        .hint("this shell was started by an agent (GANGLINE_RUN is set): use one of your own"))
}

/// Begins the program anew without the mark if it has one; else returns at once. The sweep of a
/// later daemon reads the environment that a process was started with, so no other way helps.
#[allow(clippy::disallowed_methods, reason = "no child: this process goes on as the same program")]
pub(crate) fn shed_mark() -> Result<(), Failure> {
    if !is_marked() {
        return Ok(());
    }
    let failed = |error| Failure::environment(error).doing("cannot start again without the mark");
    let program = program::path()?;
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env_remove(RUN_MARK);
    Err(failed(again.exec()))
}
