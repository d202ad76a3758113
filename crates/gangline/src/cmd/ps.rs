//! `gangline ps`: the agents, one line each, and the hub.

use gangline_api::listing::{AgentListing, Desired, Keeping, Standing};
use gangline_core::Epoch;
use gangline_hub::about::{About, KeptProcess, StandingWord};
use gangline_os::{
    clock::{self, UnixMicros, parse_rfc3339, rfc3339},
    proc,
};

use crate::{
    cli::Global,
    failure::Failure,
    fleet,
    fleet::{Fleet, Member},
    output, place,
    show::{self, fleet::Columns, wire::OfAgent},
    store,
    view::Facts,
};

#[cfg(test)]
mod tests;

/// List the agents and what each of them does
///
/// TURN is the open turn. AGE is its age; without an open turn, the time since the last one began.
/// QUEUE counts waiting messages, UP is the daemon's age. With --wide, `old` beside a version means
/// that a newer program is installed: restart to use it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show all columns: also process, version and channels
    #[arg(long, short)]
    wide: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let columns = if args.wide { Columns::Wide } else { Columns::Usual };
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let (loaded, trouble) = (installation.configuration(), installation.trouble());
    let fleet = Fleet { paths: installation.paths, store, loaded };
    let mut agents = Vec::new();
    for member in fleet.members().await? {
        agents.push(listing(&fleet, &member, trouble.as_deref()).await?);
    }
    if global.json {
        let named: Vec<_> = agents.iter().map(|it| OfAgent::new(&it.status, it)).collect();
        output::json(&named)?;
        return Ok(0);
    }
    let now = clock::system().now();
    output::print(&show::fleet::list(&agents, columns, now))?;
    if let Some(trouble) = trouble {
        output::print(&format!(
            "\nwarning: {}; running agents keep running, ended ones start again once it is \
             corrected: `gangline config check`\n",
            show::text::one_line(&trouble)
        ))?;
    }
    let about = fleet::hub(&fleet.paths)?.map(|hub| hub.about);
    let embedded = fleet.loaded.as_ref().is_some_and(|it| it.config.network.embedded);
    let starts = if place::is_demos(&fleet.paths) { "gangline demo" } else { "gangline up -d" };
    output::print(&format!("\n{}\n", hub(about.as_ref().map(Option::as_ref), starts, now)))?;
    if let Some(warning) = about.flatten().as_ref().and_then(|about| older(about, embedded)) {
        output::print(&format!("{warning}\n"))?;
    }
    Ok(0)
}

async fn listing(
    fleet: &Fleet,
    member: &Member,
    trouble: Option<&str>,
) -> Result<AgentListing, Failure> {
    let seen = Facts::new(member.name.clone(), member.row.clone(), member.holder.clone());
    let seen = Facts { trouble: trouble.map(str::to_owned), ..seen };
    let status = super::status::live(&store::facts(&fleet.store, seen).await?);
    let desired = if member.is_stopped() { Desired::Down } else { Desired::Up };
    let open = match member.is_in_turn() {
        true => fleet.store.open_turns(&member.name, Epoch(i64::MAX)).await?,
        false => Vec::new(),
    };
    let turn = open.last().map(|open| &open.turn);
    let row = member.row.as_ref().filter(|row| member.pid().map(i64::from) == Some(row.pid));
    let standing = Standing::of(&status, desired, keeping(fleet, member));
    let why = || trouble.map(str::to_owned).or_else(|| member.given_up.clone());
    Ok(AgentListing {
        failed_because: (standing == Standing::Failed).then(why).flatten(),
        standing,
        desired,
        stopped_by: member.order.as_ref().filter(|order| !order.is_up()).map(|it| it.by.clone()),
        turn: turn.map(|turn| turn.turn),
        turn_started_at: turn.map(|turn| rfc3339(turn.started_at)),
        started_at: row.map(|row| rfc3339(row.started_at)),
        replaced: member.pid().and_then(proc::was_replaced).unwrap_or(false),
        outdated: member.kept.as_ref().is_some_and(|kept| kept.outdated),
        status,
    })
}

fn keeping(fleet: &Fleet, member: &Member) -> Keeping {
    let kept: Option<&KeptProcess> = member.kept.as_ref();
    match kept.map(|kept| kept.standing) {
        None if fleet.loaded.is_some() && !fleet.is_enabled(&member.name) => Keeping::Off,
        Some(StandingWord::GivenUp) => Keeping::GivenUp,
        Some(StandingWord::Starting | StandingWord::Waiting) => Keeping::Starts,
        Some(StandingWord::Up | StandingWord::Stopping | StandingWord::Stopped) | None => {
            Keeping::Quiet
        }
    }
}

/// Returns what is said of a hub of an older version, which has no socket for the agents' daemons.
fn older(about: &About, embedded: bool) -> Option<String> {
    let missing = embedded && about.socket.is_none();
    missing.then(|| {
        format!(
            "warning: the hub (version {}) has no socket for its agents; those that start wait \
             until `gangline restart --hub`",
            about.version
        )
    })
}

/// Returns one line about the hub; `None` = none runs, `Some(None)` = it says nothing yet.
fn hub(about: Option<Option<&About>>, starts: &str, now: UnixMicros) -> String {
    let Some(about) = about else { return format!("no hub runs: `{starts}` starts one") };
    let Some(about) = about else { return "a hub is starting".to_owned() };
    let up = parse_rfc3339(&about.since)
        .map_or_else(String::new, |at| format!(", up {}", show::text::age(now.since(at))));
    let old = if proc::was_replaced(about.pid) == Some(true) { " old" } else { "" };
    let agents = if about.keeps_agents { "" } else { ", does not manage the agents" };
    let refused = match about.refused {
        Some(_) => "\nwarning: it rejected the changed configuration: see hub.log",
        None => "",
    };
    let http = about.http.as_ref().map_or_else(String::new, |it| format!(", HTTP on {it}"));
    let trouble = about.http_trouble.as_ref().map_or_else(String::new, |why| {
        format!(
            "\nwarning: HTTP: {}; it is tried again: stop the other program, or set another \
             `http.port` and run `gangline restart --hub`",
            show::text::one_line(why)
        )
    });
    format!(
        "hub: process {}, version {}{old}{up}, chat on {}{http}{agents}{refused}{trouble}",
        about.pid, about.version, about.irc
    )
}
