//! `gangline logs`: the newest events, oldest first, and with `-f` those that follow.

use std::time::Duration;

use gangline_agent::log::{self, Depth};
use gangline_api::event::EventRecord;
use gangline_core::AgentName;
use gangline_os::signals::Signals;
use gangline_store::{Cursor, EventQuery, Store};
use jiff::tz::TimeZone;

use crate::{
    cli::{Global, number},
    failure::Failure,
    names, output, place, show, store,
    who::Who,
};

/// How often new events are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Show what an agent was asked and did, oldest first
///
/// Shows messages, tools, approvals, answers, starts and ends of the backend, and errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick; all agents if absent
    pub(crate) agent: Option<Who>,
    /// Also show internal steps: phases, start steps, thoughts without their text. --json always
    /// includes them
    #[arg(long)]
    pub(crate) all: bool,
    /// How many events
    #[arg(short = 'n', long, default_value_t = 50, value_parser = number::within::<u32>(1, 500))]
    pub(crate) lines: u32,
    /// Follow new events until Ctrl-C; as JSON, one event a line
    #[arg(short, long)]
    pub(crate) follow: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let named = args.agent.as_ref().map(|who| names::agent(&installation, who)).transpose()?;
    let paths = installation.paths;
    if let Some(agent) = &named {
        store::known(&store, &paths, agent).await?;
    }
    let depth = if args.all { Depth::All } else { Depth::Work };
    let shown = |event: &EventRecord| global.json || log::is_shown(event, depth);
    let (events, cursor) = log::newest(&store, (named.clone(), args.lines), &shown).await?;
    if args.follow {
        tell(global, &events, depth)?;
        let signals = Signals::new()
            .map_err(|error| Failure::environment(error).doing("cannot listen to signals"))?;
        return follow(global, &store, (named, depth), (cursor, signals)).await;
    }
    if global.json {
        output::json(&events)?;
    } else if events.is_empty() {
        output::print("nothing has happened yet\n")?;
    } else {
        output::print(&show::events::list(&events, depth, &TimeZone::system()))?;
    }
    Ok(0)
}

/// Tells what happens behind the cursor, until it is asked to stop.
async fn follow(
    global: &Global,
    store: &Store,
    (agent, depth): (Option<AgentName>, Depth),
    (mut cursor, mut signals): (Cursor, Signals),
) -> Result<u8, Failure> {
    loop {
        let query = EventQuery {
            agent: agent.clone(),
            after: Some(cursor.clone()),
            ..EventQuery::default()
        };
        let page = store.events(query).await?;
        let full = !page.events.is_empty();
        if full {
            let events: Vec<EventRecord> = page.events.iter().map(log::record).collect();
            tell(global, &events, depth)?;
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

fn tell(global: &Global, events: &[EventRecord], depth: Depth) -> Result<(), Failure> {
    if !global.json {
        return output::print(&show::events::list(events, depth, &TimeZone::system()));
    }
    events.iter().try_for_each(output::json_line)
}
