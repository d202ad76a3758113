//! `gangline completions`: what a shell knows of the command line, made of the same description that the
//! help is made of.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::{cli::Global, failure::Failure, output};

/// Print a script that makes a shell complete commands and options
///
/// For instance: gangline completions bash > ~/.local/share/bash-completion/completions/gangline
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) async fn run(_: &Global, args: Args) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gangline", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
