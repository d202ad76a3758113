//! Arguments that every command or several of them take. No logic; a command's own arguments are beside
//! what it does, in [`crate::cmd`].

use std::path::PathBuf;

use clap::Args;
use gangline_os::paths::Overrides;

pub(crate) mod approval;
pub(crate) mod message;
pub(crate) mod number;
pub(crate) mod whom;

/// Where the help of a command has what every command takes: behind its own options.
const GLOBAL: &str = "Options of every command";

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The state folder [default: $XDG_STATE_HOME/gangline; reading commands fall back to the
    /// demo's when only that exists]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", env = "GANGLINE_STATE")]
    pub(crate) state: Option<PathBuf>,
    /// The configuration [default: ./agents.yaml, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE", env = "GANGLINE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON instead of text, on every reading command
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
}

impl Global {
    /// Returns what was said of where the installation is.
    pub(crate) fn place(&self) -> Overrides {
        Overrides { config: self.config.clone(), state: self.state.clone(), folder: None }
    }
}
