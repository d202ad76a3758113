//! The one binary: reads the command line, wires the crates together, turns errors into exit codes.
//!
//! No logic of the product is here. Start at [`main`]; each command has a file in [`cmd`], but for
//! [`channel`] and [`mcp`], which are on their way before anything else is looked at.

mod attention;
mod budgets;
mod caller;
mod channel;
mod cli;
mod cmd;
mod configuration;
mod control;
mod failure;
mod fleet;
mod folders;
mod http;
mod init;
mod invite;
mod keep;
mod logging;
mod mcp;
mod names;
mod output;
mod owner;
mod place;
mod program;
mod show;
mod store;
mod versions;
mod view;
mod who;

use std::process::ExitCode;

use clap::Parser;
use cmd::{Cli, Command};
use failure::{Exit, Failure};

/// What the async runtime takes of the kernel at once. It keeps room for so many, and a daemon has
/// few descriptors; more than these are taken in several rounds.
const EVENTS: usize = 128;

fn main() -> ExitCode {
    let early = channel::early(std::env::args_os());
    if let Some(code) = early.or_else(|| mcp::early(std::env::args_os())) {
        return code;
    }
    let cli = match cmd::started::plain(std::env::args_os()).map_or_else(Cli::try_parse, Ok) {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    match start(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit().code())
        }
    }
}

/// Help and version are what was asked for; everything else is wrong usage.
fn refused(error: &clap::Error) -> ExitCode {
    // Nothing can be done about a terminal that is gone.
    let _ = error.print();
    match error.kind() {
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion => {
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(Exit::Usage.code()),
    }
}

fn start(cli: Cli) -> Result<u8, Failure> {
    caller::is_at(cli.global.place());
    if cli.command.stays() {
        caller::shed_run_id()?;
    }
    logging::begin(cli.command.voice());
    // A second installation of the provider is no fault.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // These have an async runtime of their own where they need one.
    let command = match cli.command {
        Command::Channel(args) => return cmd::channel::run_apart(&cli.global, args),
        Command::Mcp(args) => return cmd::mcp::run_apart(&cli.global, &args),
        other => other,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_io_events_per_tick(EVENTS)
        .build()
        .map_err(|error| Failure::environment(error).doing("cannot start the async runtime"))?;
    runtime.block_on(command.run(&cli.global))
}
