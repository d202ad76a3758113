//! `gangline channel`, when it is run as one of many commands; see [`crate::channel`].

use crate::{
    channel::{self, ChannelArgs},
    cli::Global,
    failure::Failure,
};

/// Send and read messages as an agent; the agents' skill uses it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    args: ChannelArgs,
}

pub(crate) fn run_apart(global: &Global, args: Args) -> Result<u8, Failure> {
    channel::run(global, args.args)
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    run_apart(global, args)
}
