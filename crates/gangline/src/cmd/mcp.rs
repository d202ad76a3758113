//! `gangline mcp`, when it is run as one of many commands; see [`crate::mcp`].

use crate::{
    cli::Global,
    failure::Failure,
    mcp::{self, McpArgs},
};

#[derive(Debug, clap::Args)]
#[command(about = mcp::ABOUT, long_about = mcp::LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    args: McpArgs,
}

pub(crate) fn run_apart(global: &Global, args: &Args) -> Result<u8, Failure> {
    mcp::run(global, &args.args).map(|()| 0)
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    run_apart(global, &args)
}
