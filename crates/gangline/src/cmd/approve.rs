//! `gangline approve`: an approval is allowed, once or always.

use gangline_api::approval::Decision;

use super::decide;
use crate::{
    cli::{Global, approval::Decide},
    failure::Failure,
};

/// Allow what an approval asks for
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    decide: Decide,
    /// Allow it without asking from now on: store the exact rule and show it. `gangline policy
    /// remove` undoes it
    #[arg(long)]
    always: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    if args.always {
        return decide::always(global, args.decide).await;
    }
    decide::run(global, args.decide, Decision::Allow).await
}
