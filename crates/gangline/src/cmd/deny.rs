//! `gangline deny`: an approval is refused.

use gangline_api::approval::Decision;

use super::decide;
use crate::{
    cli::{Global, approval::Decide},
    failure::Failure,
};

/// Refuse what an approval asks for; the model reads the reason
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    decide: Decide,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    decide::run(global, args.decide, Decision::Deny).await
}
