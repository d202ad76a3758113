//! The fleet: one line for each agent.

use std::time::Duration;

use gangline_api::{
    listing::{AgentListing, Desired, Standing},
    status::{Activity, BYPASS, ShownPause, WaitingFor},
};
use gangline_core::pause::PauseReason;
use gangline_os::clock::{UnixMicros, parse_rfc3339};
use jiff::tz::TimeZone;

use super::{
    agents::NONE,
    table::{Cell, table},
    text::{Paint, age, one_line},
};

#[cfg(test)]
mod tests;

/// How much of an agent the list of `ps` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    /// What fits a terminal of [`WIDTH`] columns.
    Usual,
    /// All.
    Wide,
}

/// The width of a terminal that nobody has made wider.
const WIDTH: usize = 80;
/// The least room of the last column, whatever the others need.
const LAST_MIN: usize = 12;

/// Returns the list of `ps`.
pub(crate) fn list(agents: &[AgentListing], columns: Columns, now: UnixMicros) -> String {
    if agents.is_empty() {
        return NONE.to_owned();
    }
    let mut out = match columns {
        Columns::Usual => {
            let rows: Vec<_> = agents.iter().map(|agent| usual(agent, now)).collect();
            fitted(["NICK", "STATUS", "TURN", "AGE", "QUEUE", "UP", "RUNTIME", "WAITING-FOR"], rows)
        }
        Columns::Wide => {
            let rows: Vec<_> = agents.iter().map(|agent| wide(agent, now)).collect();
            let heading = [
                "NICK",
                "STATUS",
                "TURN",
                "AGE",
                "QUEUE",
                "PID",
                "UP",
                "VERSION",
                "RUNTIME",
                "WAITING-FOR",
                "CHANNELS",
            ];
            table(heading, &rows)
        }
    };
    for agent in agents {
        if let Some(more) = more(agent) {
            out.push_str(&format!("\n{}: {}", agent.nick(), one_line(&more)));
        }
        if let Some(why) = &agent.failed_because {
            out.push_str(&format!("\n{} failed: {}", agent.nick(), one_line(why)));
        }
        if agent.replaced && columns == Columns::Usual {
            let nick = agent.nick();
            let old = "runs an old program";
            out.push_str(&format!("\n{nick} {old}: `gangline restart {nick}` uses the new one"));
        }
    }
    match out.ends_with('\n') {
        true => out,
        false => out + "\n",
    }
}

/// Returns what stands below the table: what a busy agent does, or what holds another one, and what
/// helps.
fn more(agent: &AgentListing) -> Option<String> {
    let status = &agent.status;
    let zone = TimeZone::system();
    let held =
        |pause: &ShownPause| format!("{}; {}", pause.describe(&zone), pause.helps(&status.nick));
    match (agent.standing, status.pauses.as_slice()) {
        _ if status.activity == Activity::Working => Some(status.description.clone()),
        (Standing::Paused | Standing::RateLimited, [_, ..]) => {
            Some(status.pauses.iter().map(held).collect::<Vec<_>>().join("; "))
        }
        // Only one that has failed before says more than that it starts.
        (Standing::Starting, _) if status.description != "starting" => {
            Some(status.description.clone())
        }
        _ => None,
    }
}

/// Returns a table whose last column is cut to what the others leave of [`WIDTH`].
fn fitted<const N: usize>(heading: [&str; N], mut rows: Vec<[Cell; N]>) -> String {
    let mut left = WIDTH;
    for (column, title) in heading.iter().enumerate().take(N.saturating_sub(1)) {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(Cell::width);
        left = left.saturating_sub(cells.chain([title.chars().count()]).max().unwrap_or(0) + 2);
    }
    for row in &mut rows {
        if let Some(last) = row.last_mut() {
            last.cut(left.max(LAST_MIN));
        }
    }
    table(heading, &rows)
}

fn usual(agent: &AgentListing, now: UnixMicros) -> [Cell; 8] {
    let [nick, status, turn, age, queue, _, up, _, runtime, waiting, _] = wide(agent, now);
    [nick, status, turn, age, queue, up, runtime, waiting]
}

fn wide(agent: &AgentListing, now: UnixMicros) -> [Cell; 11] {
    let status = &agent.status;
    let dash = || "-".to_owned();
    let since = |at: &Option<String>| {
        let at = at.as_deref().and_then(parse_rfc3339);
        at.map_or_else(dash, |at| age(now.since(at)))
    };
    [
        Cell::from(status.nick.as_str()),
        Cell::painted(paint(agent), standing(agent)),
        Cell::from(agent.turn.map_or_else(dash, |turn| turn.to_string())),
        Cell::from(if agent.turn.is_some() {
            since(&agent.turn_started_at)
        } else {
            last_turn(status.last_activation, now).map_or_else(dash, age)
        }),
        Cell::from(if status.pending == 0 { dash() } else { status.pending.to_string() }),
        Cell::from(status.pid.map_or_else(dash, |pid| pid.to_string())),
        Cell::from(since(&agent.started_at)),
        version(agent),
        runtime(agent),
        waiting_for(agent),
        Cell::from(channels(agent)),
    ]
}

/// Returns the word for where it stands; of a newer program's phase its own word.
fn standing(agent: &AgentListing) -> String {
    match agent.standing {
        Standing::Unknown => one_line(agent.status.phase.as_str()),
        known => known.word().to_owned(),
    }
}

fn paint(agent: &AgentListing) -> Paint {
    match agent.standing {
        Standing::Down | Standing::Failed | Standing::Degraded | Standing::Parked => Paint::Red,
        Standing::Restarting
        | Standing::Stopping
        | Standing::Interrupting
        | Standing::Paused
        | Standing::NeedsLogin
        | Standing::RateLimited
        | Standing::Unknown => Paint::Yellow,
        Standing::Working if !agent.status.waiting_for.is_empty() => Paint::Yellow,
        Standing::Starting | Standing::Idle | Standing::Working | Standing::Compacting => {
            Paint::Green
        }
        Standing::Stopped | Standing::Off => Paint::Dim,
    }
}

fn last_turn(seconds: Option<f64>, now: UnixMicros) -> Option<Duration> {
    #[allow(clippy::cast_possible_truncation, reason = "the wire has seconds as a float")]
    seconds.map(|seconds| now.since(UnixMicros((seconds * 1e6) as i64)))
}

/// The version of the running program, marked when it is not the one on the disk any more.
fn version(agent: &AgentListing) -> Cell {
    let running = agent.status.version.as_deref().filter(|_| agent.status.pid.is_some());
    match (running, agent.replaced) {
        (Some(version), true) => Cell::painted(Paint::Yellow, format!("{version} old")),
        (Some(version), false) => Cell::from(version),
        (None, true) => Cell::painted(Paint::Yellow, "old"),
        (None, false) => Cell::from("-"),
    }
}

/// The backend of the daemon that runs, marked when it is not the configured one, or when its tools
/// run unasked.
fn runtime(agent: &AgentListing) -> Cell {
    let status = &agent.status;
    let bypass = status.permissions.as_deref() == Some(BYPASS);
    let loud = match (bypass, &status.unasked) {
        (true, _) => Some("BYPASS"),
        (false, Some(_)) => Some("UNASKED"),
        (false, None) => None,
    };
    if let (Some(name), Some(word)) = (&status.runtime, loud) {
        return Cell::painted(Paint::Red, format!("{} {word}", one_line(name)));
    }
    match (status.runtime.as_deref().filter(|_| status.pid.is_some()), &status.configured_runtime) {
        (Some(name), Some(_)) => {
            Cell::painted(Paint::Yellow, format!("{} (--runtime)", one_line(name)))
        }
        (Some(name), None) => Cell::from(one_line(name)),
        (None, _) => Cell::from("-"),
    }
}

fn waiting_for(agent: &AgentListing) -> Cell {
    let one = |waiting: &WaitingFor| match waiting {
        WaitingFor::Approval { number, tool, .. } => {
            format!("approval {number} ({})", one_line(tool))
        }
        WaitingFor::Question { number, .. } => format!("answer {number}"),
        WaitingFor::Login { .. } => "login".to_owned(),
        WaitingFor::Resume { .. } => "resume".to_owned(),
        WaitingFor::Guidance { .. } => "resume or abort".to_owned(),
        WaitingFor::Release { cause, messages, .. } => format!("release {cause} ({messages} held)"),
        WaitingFor::Irc { .. } => "irc".to_owned(),
    };
    let status = &agent.status;
    let mut all: Vec<String> = status.waiting_for.iter().map(one).collect();
    if agent.desired == Desired::Up {
        all.extend(status.pauses.iter().filter_map(ends_it).map(str::to_owned));
    }
    match (all.is_empty(), agent.desired, &agent.stopped_by) {
        (false, ..) => Cell::painted(Paint::Yellow, all.join(", ")),
        (true, Desired::Down, Some(by)) => {
            Cell::from(format!("start (stopped by {})", one_line(by)))
        }
        (true, Desired::Up | Desired::Down, _) => Cell::from("-"),
    }
}

/// Returns what a pause waits for, in a word or two.
fn ends_it(pause: &ShownPause) -> Option<&'static str> {
    Some(match pause.reason.known() {
        Some(PauseReason::Operator | PauseReason::Question) | None => "resume",
        // It is among what waits for people.
        Some(PauseReason::Escalation) => return None,
        Some(PauseReason::Schedule) => "its hours",
        Some(PauseReason::Budget) => "its budget",
        Some(PauseReason::RateLimit) => "its quota",
        Some(PauseReason::Fleet) => "budget release",
    })
}

fn channels(agent: &AgentListing) -> String {
    let names: Vec<&str> = agent.status.channels.iter().map(|channel| channel.as_str()).collect();
    if names.is_empty() { "-".to_owned() } else { one_line(&names.join(" ")) }
}
