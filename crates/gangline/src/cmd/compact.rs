//! `gangline compact`: an agent's context is shortened, once no turn is open (R2-06).

use super::pause;
use crate::{cli::Global, control::Word, failure::Failure, fleet::Chosen, who::Who};

/// Shorten an agent's context when no turn is open
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Who,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    pause::tell(global, &Chosen::Named(vec![args.agent]), Word::Compact).await
}
