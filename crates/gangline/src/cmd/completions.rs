//! `gangline completions` and `gangline man`: what shells and `man` know of the command line, made of
//! the same description that the help is made of.

use std::{fs, path::Path};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{cli::Cli, failure::Failure, output};

/// The program's name on the command line.
const NAME: &str = "gangline";

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}

/// Writes a page for the program and one for each command into a folder, which is made if needed.
pub(super) fn man(folder: &Path) -> Result<u8, Failure> {
    let failed = |error| {
        Failure::environment(error).doing(format!("cannot write pages into {}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    output::print(&format!(
        "written to {0}: `man {0}/{NAME}.1` shows the first page\n",
        folder.display()
    ))?;
    Ok(0)
}
