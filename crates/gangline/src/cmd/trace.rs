//! `gangline trace`: the life of one message.

use jiff::tz::TimeZone;

use crate::{
    cli::{Global, message::About},
    failure::Failure,
    output, place, show, store, view,
};

/// Show one message: its states, turns, sent lines and approvals
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    about: About,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let message = args.about.message;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    let trace = store.trace(message).await?.ok_or_else(|| {
        Failure::user(format!("there is no message {message} in {}", paths.state.display()))
            .hint("`gangline logs` lists the messages")
    })?;
    if global.json {
        output::json(&view::trace(&trace))?;
    } else {
        output::print(&show::trace::screen(&trace, &TimeZone::system()))?;
    }
    Ok(0)
}
