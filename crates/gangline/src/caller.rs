//! Who runs this program, and whether an agent started it: its children carry a run id. How those
//! that outlive the agent shed it.

use std::os::unix::process::CommandExt as _;

use gangline_os::run_id::RUN_ID;

use crate::{failure::Failure, program};

/// Returns whether an agent's child runs this program.
pub(crate) fn is_agent() -> bool {
    std::env::var_os(RUN_ID).is_some_and(|run_id| !run_id.is_empty())
}

/// Refuses what only the owner may do to somebody whom an agent started.
pub(crate) fn refuse(what: &str) -> Result<(), Failure> {
    if !is_agent() {
        return Ok(());
    }
    Err(Failure::user(format!("an agent cannot {what}"))
        .hint("this shell was started by an agent (GANGLINE_RUN is set): use your own shell"))
}

/// Returns who orders something, for the record.
pub(crate) fn name() -> String {
    let user = std::env::var("USER").ok().filter(|user| !user.trim().is_empty());
    user.unwrap_or_else(|| "owner".to_owned())
}

/// Begins the program anew without the run id if it has one; else returns at once. The sweep of a
/// later daemon reads the environment that a process was started with, so no other way helps.
#[allow(clippy::disallowed_methods, reason = "no child: this process goes on as the same program")]
pub(crate) fn shed_run_id() -> Result<(), Failure> {
    if !is_agent() {
        return Ok(());
    }
    let failed = |error| Failure::environment(error).doing("cannot start again without the run id");
    let program = program::path()?;
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env_remove(RUN_ID);
    Err(failed(again.exec()))
}
