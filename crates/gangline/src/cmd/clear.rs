//! `gangline clear`: an agent begins a new session, once no turn is open (R2-11).

use super::pause;
use crate::{cli::Global, control::Word, failure::Failure, fleet::Chosen, who::Who};

/// Begin a new session of an agent when no turn is open
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Who,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    pause::tell(global, &Chosen::Named(vec![args.agent]), Word::Clear).await
}
