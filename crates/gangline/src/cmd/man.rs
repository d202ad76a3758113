//! `gangline man`: a page for the program and one for each command.

use std::{fs, path::PathBuf};

use clap::CommandFactory as _;

use super::Cli;
use crate::{cli::Global, failure::Failure, output};

/// Write a manual page for each command into a folder
///
/// For instance: gangline man ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; made if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) async fn run(_: &Global, args: Args) -> Result<u8, Failure> {
    let folder = args.dir.as_path();
    let failed = |error| {
        Failure::environment(error).doing(format!("cannot write pages into {}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    output::print(&format!(
        "written to {0}: `man {0}/gangline.1` shows the first page\n",
        folder.display()
    ))?;
    Ok(0)
}
