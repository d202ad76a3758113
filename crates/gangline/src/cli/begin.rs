//! Arguments of the commands by which somebody begins: `init`, `import`, `demo`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder of the configuration [default: that of --config, else $XDG_CONFIG_HOME/gangline]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The server's name, which every nick begins with [default: from the machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Keep the configuration in a git repository of its folder
    #[arg(long)]
    pub(crate) git: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Move a configuration that is there aside, under a name with the time
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// server.yaml, agents.yaml, mesh.yaml, culture.yaml, or a folder of them [default: ~/.culture]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Where to write [default: that of --config, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Move a configuration that is there aside, under a name with the time
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}
