//! `gangline release`: held messages continue, and their request gets as many turns again.

use gangline_core::{MessageId, cause::TURNS_PER_CAUSE};
use gangline_os::change_notice;
use gangline_store::Released;

use super::request::{messages, unknown};
use crate::{
    caller,
    cli::{Global, message},
    failure::Failure,
    output, place, store,
};

/// Give a request more turns, so that its held messages continue
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A held message, such as `m42`; the whole request continues
    #[arg(value_parser = message::id)]
    message: MessageId,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let message = args.message;
    caller::refuse("release messages")?;
    let installation = place::existing(&global.place())?;
    let paths = &installation.paths;
    let store = store::existing(paths).await?;
    let loaded = installation.configuration();
    let more = loaded.map_or(TURNS_PER_CAUSE, |loaded| loaded.config.turns_per_cause.into());
    let text = match store.release(message, more).await? {
        Released::Done { root, messages: count, agents } => {
            for agent in &agents {
                change_notice::notify(&paths.change_notice(agent.folded()));
            }
            let released = messages(count);
            format!("{root} may take up to {more} more turns: {released} put back into the queue\n")
        }
        Released::NotHeld { root } => {
            return Err(Failure::user(format!("nothing of {root} is held"))
                .hint(format!("`gangline trace {message}` shows its state")));
        }
        Released::Ended { root, by } => {
            return Err(Failure::user(format!("{root} was ended by {by}"))
                .hint("an ended request cannot continue: send it again"));
        }
        Released::Unknown => return Err(unknown(message, paths)),
    };
    output::print(&text)?;
    Ok(0)
}
