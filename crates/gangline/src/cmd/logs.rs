//! `gangline logs`: the newest events, oldest first, and with `-f` those that follow.

use std::time::Duration;

use gangline_api::event::EventRecord;
use gangline_broker::{Broker, EventQuery};
use gangline_core::AgentName;
use gangline_os::signals::Signals;
use jiff::tz::TimeZone;

use crate::{
    cli::{Global, Logs},
    failure::Failure,
    names, output, place, show, store, view,
};

/// How often new events are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn run(global: &Global, args: Logs) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let broker = store::existing(&paths).await?;
    let named = args.agent.as_ref().map(|who| names::agent(global, who)).transpose()?;
    if let Some(agent) = &named {
        store::known(&broker, &paths, agent).await?;
    }
    let query = EventQuery {
        agent: named.clone(),
        limit: args.lines,
        newest: true,
        ..EventQuery::default()
    };
    let page = broker.events(query).await?;
    let events: Vec<EventRecord> = page.events.iter().map(view::event).collect();
    if args.follow {
        if !events.is_empty() {
            tell(global, &events)?;
        }
        let signals = Signals::new()
            .map_err(|error| Failure::environment(error).doing("cannot listen to signals"))?;
        return follow(global, &broker, named, (page.cursor, signals)).await;
    }
    if global.json {
        output::json(&events)?;
    } else {
        output::print(&show::events::list(&events, &TimeZone::system()))?;
    }
    Ok(0)
}

/// Tells what happens behind the cursor, until it is asked to stop.
async fn follow(
    global: &Global,
    broker: &Broker,
    agent: Option<AgentName>,
    (mut cursor, mut signals): (gangline_broker::Cursor, Signals),
) -> Result<u8, Failure> {
    loop {
        let query = EventQuery {
            agent: agent.clone(),
            after: Some(cursor.clone()),
            ..EventQuery::default()
        };
        let page = broker.events(query).await?;
        let full = !page.events.is_empty();
        if full {
            let events: Vec<EventRecord> = page.events.iter().map(view::event).collect();
            tell(global, &events)?;
        }
        if output::is_unread() {
            return Ok(0);
        }
        cursor = page.cursor;
        // A page may have been full: the rest is not waited for.
        let pause = if full { Duration::ZERO } else { LOOK_EVERY };
        tokio::select! {
            _ = signals.next() => return Ok(0),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

fn tell(global: &Global, events: &[EventRecord]) -> Result<(), Failure> {
    if !global.json {
        return output::print(&show::events::list(events, &TimeZone::system()));
    }
    events.iter().try_for_each(output::json_line)
}
