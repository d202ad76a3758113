//! `gangline resume`: a paused or parked agent continues.

use super::pause;
use crate::{
    cli::{Global, whom::Whom},
    control::Word,
    failure::Failure,
};

/// Let paused agents continue; let parked ones, whose backend kept failing, try again
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    whom: Whom,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    pause::tell(global, &args.whom.chosen(), Word::Resume).await
}
