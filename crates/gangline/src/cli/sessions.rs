//! Options of `gangline sessions`.

use clap::Args;

use super::who::Who;

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// The agent's nick
    pub(crate) agent: Who,
    /// Also ask the backend which sessions it keeps of the agent's folder; some programs are started
    /// for that
    #[arg(long)]
    pub(crate) all: bool,
}
