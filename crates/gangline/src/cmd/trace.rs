//! `gangline trace`: the life of one message.

use gangline_core::MessageId;
use jiff::tz::TimeZone;

use crate::{cli::Global, failure::Failure, output, place, show, store, view};

pub(super) async fn run(global: &Global, message: MessageId) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let store = store::existing(&paths).await?;
    let trace = store.trace(message).await?.ok_or_else(|| {
        Failure::user(format!("there is no message {message} in {}", paths.state.display()))
            .hint("`gangline logs` names the messages that came")
    })?;
    if global.json {
        output::json(&view::trace(&trace))?;
    } else {
        output::print(&show::trace::screen(&trace, &TimeZone::system()))?;
    }
    Ok(0)
}
