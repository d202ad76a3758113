//! `gangline runtime`: which backends there are, which is usual, and whether they work.

mod list;
mod usual;

use clap::Subcommand;

use super::doctor;
use crate::{cli::Global, failure::Failure};

/// List, check and choose backends
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Runtime,
}

#[derive(Debug, Subcommand)]
enum Runtime {
    /// List every backend: its program and version, where it comes from, which agents it drives
    ///
    /// Backends are built in, or come from $XDG_CONFIG_HOME/gangline/runtimes.json,
    /// ~/.gastown/runtimes.json and Gas Town's settings. Nothing of their logins is shown.
    List(list::Args),
    /// Change the default backend
    #[command(subcommand)]
    Set(RuntimeSet),
    /// The same as `gangline doctor`
    Doctor(doctor::Args),
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimeSet {
    /// Use this backend for agents without `agent:`; written to gangline/runtimes.json
    Default {
        /// The backend's name
        name: String,
    },
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Runtime::List(args) => list::run(global, args).await,
        Runtime::Set(RuntimeSet::Default { name }) => usual::run(&name),
        Runtime::Doctor(args) => doctor::run(global, args).await,
    }
}
