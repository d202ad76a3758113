//! `gangline logs`: the newest events, oldest first.

use gangline_api::event::EventRecord;
use gangline_broker::EventQuery;
use jiff::tz::TimeZone;

use crate::{
    cli::{Global, Logs},
    failure::Failure,
    output, place, show, store, view,
};

pub(super) async fn run(global: &Global, args: Logs) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let broker = store::existing(&paths).await?;
    if let Some(agent) = &args.agent {
        store::known(&broker, &paths, agent).await?;
    }
    let query =
        EventQuery { agent: args.agent, limit: args.lines, newest: true, ..EventQuery::default() };
    let page = broker.events(query).await?;
    let events: Vec<EventRecord> = page.events.iter().map(view::event).collect();
    if global.json {
        output::json(&events)?;
    } else {
        output::print(&show::events::list(&events, &TimeZone::system()))?;
    }
    Ok(0)
}
