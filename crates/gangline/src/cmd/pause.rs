//! `gangline pause`: no new turns; and the way of all words to daemons.

use gangline_api::status::AgentStatus;
use gangline_core::pause::{pause_for, pause_until};
use gangline_os::clock::UnixMicros;
use jiff::tz::TimeZone;

use crate::{
    caller,
    cli::{Global, whom::Whom},
    control::{self, Taken, Word},
    failure::Failure,
    fleet::{Chosen, Fleet, Member},
    output, owner, place,
};

/// Stop agents from beginning new turns; messages are stored and wait
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    whom: Whom,
    /// How long: `2h`, `90 min`, `1 day`; without it, until `gangline resume`
    #[arg(long = "for", value_name = "LENGTH", conflicts_with = "until")]
    length: Option<String>,
    /// Until when, by this machine's clock: `9:00` (when it is so next), `tomorrow 9:00`, RFC 3339
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let zones = |name: &str| TimeZone::get(name).ok();
    let now = owner::now();
    let until = match (&args.length, &args.until) {
        (Some(length), _) => Some(pause_for(length, &now, &zones)),
        (None, Some(time)) => Some(pause_until(time, &now, &zones)),
        (None, None) => None,
    };
    let until = until.transpose().map_err(|error| Failure::user(error.to_string()))?;
    let until = until.map(|at| UnixMicros(at.0));
    tell(global, &args.whom.chosen(), Word::Pause { until }).await
}

/// Tells each of the agents, also when one of them does not listen.
pub(super) async fn tell(global: &Global, whom: &Chosen, word: Word) -> Result<u8, Failure> {
    caller::refuse(&format!("{word} agents"))?;
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let chosen = fleet.chosen(whom, concerns).await?;
    if chosen.is_empty() {
        output::note("there are no agents");
    }
    let mut last = None;
    for member in &chosen {
        let changes = word != Word::Resume || is_held(member);
        let told = control::tell(&fleet, member, word).await;
        let held = control::held_after(&fleet.store, &member.name, word).await?;
        // Then this is the better reason why nothing is aborted.
        let told = told.map_err(|failure| held.iter().fold(failure, Failure::hint));
        match told {
            Ok(taken) if held.is_some() => {
                let done = outcome(member, word, &taken);
                let done = if word == Word::Resume { "" } else { &done };
                output::print(&format!("{done}{}\n", held.unwrap_or_default()))?;
            }
            Ok(_) if !changes => output::print(&format!(
                "{} is not paused, so nothing changes: `gangline status {}` says what it does\n",
                member.name, member.name
            ))?,
            Ok(taken) => output::print(&outcome(member, word, &taken))?,
            Err(failure) if chosen.len() == 1 => return Err(failure),
            Err(failure) => {
                failure.report();
                last = Some(failure.exit().code());
            }
        }
    }
    Ok(last.unwrap_or(0))
}

/// Returns whether `resume` changes anything for the agent: its daemon knows best.
fn is_held(member: &Member) -> bool {
    let status = if member.runs() { control::status(&member.name) } else { None };
    // Under `on_escalation: notify` an escalated agent is not paused.
    let held = |it: &AgentStatus| it.paused || it.circuit_open || it.needs_login || it.escalated;
    status.as_ref().map_or_else(|| member.is_held(), held)
}

fn concerns(fleet: &Fleet, member: &Member) -> bool {
    member.runs() || fleet.is_enabled(&member.name)
}

fn outcome(member: &Member, word: Word, taken: &Taken) -> String {
    let name = &member.name;
    let done = match word {
        Word::Pause { until } => control::paused(until),
        Word::Resume => "resumed".to_owned(),
        Word::Interrupt if *taken != Taken::ByDaemon => "is not escalated any more".to_owned(),
        Word::Interrupt => "ends its turn".to_owned(),
        Word::Compact => "shortens its context once no turn is open".to_owned(),
        Word::Clear => "begins a new session once no turn is open".to_owned(),
    };
    match taken {
        Taken::ByDaemon => format!("{name} {done}\n"),
        Taken::ByRow => format!("{name} {done}; its daemon is not running\n"),
        Taken::Unheard(why) => format!(
            "{name} {done}. Its socket cannot be used ({why}), so it learns this from the \
                 database: \
             that takes up to 30 s\n"
        ),
    }
}
