//! One agent whole; the fleet's list is in `fleet.rs`.

use std::{fmt::Write as _, time::Duration};

use gangline_api::{
    budget::Counted,
    status::{AgentStatus, BYPASS, RunningTool, ShownPause, SupervisorStatus, WaitingFor},
};
use gangline_core::{agent::AgentPhase, budget::UsageSource};
use gangline_os::clock::{UnixMicros, parse_rfc3339};
use gangline_store::MessageRow;
use jiff::tz::TimeZone;

use super::{
    budget::money,
    table::Cell,
    text::{Paint, age, cut, one_line, paint},
};

#[cfg(test)]
mod tests;

/// What is printed where there is no agent.
pub(crate) const NONE: &str = "no agents yet\n";
/// So much of a message that waits is shown, in characters.
const SAID_MAX: usize = 50;

fn state(agent: &AgentStatus) -> Cell {
    let phase = agent.phase.as_str();
    let (word, paint) = match agent.phase.known() {
        Some(AgentPhase::Parked | AgentPhase::Down) => (phase, Paint::Red),
        Some(AgentPhase::Idle | AgentPhase::Starting) if agent.needs_login => {
            ("needs login", Paint::Yellow)
        }
        Some(AgentPhase::Idle) if agent.rate_limited && agent.pending > 0 => {
            ("rate limited", Paint::Yellow)
        }
        Some(AgentPhase::Idle | AgentPhase::Starting) if agent.paused => ("paused", Paint::Yellow),
        Some(_) | None if !agent.waiting_for.is_empty() => (phase, Paint::Yellow),
        Some(_) | None => (phase, Paint::Green),
    };
    Cell::painted(paint, word)
}

fn last_turn(agent: &AgentStatus, now: UnixMicros) -> String {
    match agent.last_activation {
        #[allow(clippy::cast_possible_truncation, reason = "the wire has seconds as a float")]
        Some(seconds) => age(now.since(UnixMicros((seconds * 1e6) as i64))),
        None => "-".to_owned(),
    }
}

/// Returns all about one agent.
pub(crate) fn whole(agent: &AgentStatus, now: UnixMicros) -> String {
    let mut out = format!("{}\n", paint(Paint::Bold, agent.nick.as_str()));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<10}{value}");
    };
    line("state", &state(agent).shown());
    line("doing", &one_line(&agent.description));
    if let Some(tool) = &agent.tool {
        line("runs", &running(tool, now));
    }
    for pause in &agent.pauses {
        line("paused", &one_line(&paused(agent, pause, now)));
    }
    if agent.pending > 0 {
        line("queue", &format!("{} waiting: `gangline cancel m42` cancels one", agent.pending));
    }
    line("daemon", &daemon(agent));
    line("turns", &turns(agent, now));
    if let Some(runtime) = &agent.runtime {
        let instead = agent.configured_runtime.as_ref();
        let of = instead.map(|of| format!(" instead of {}, by --runtime", one_line(of)));
        line("runtime", &format!("{}{}", one_line(runtime), of.unwrap_or_default()));
    }
    if let Some(how) = permissions(agent) {
        line("tools", &how.shown());
    }
    if !agent.spent.is_empty() {
        line("spent", &format!("today {}", spent(&agent.spent)));
    }
    if let Some(supervisor) = &agent.supervisor {
        line("watched", &supervisor_line(supervisor));
    }
    if let Some(session) = &agent.session {
        line("session", &one_line(session));
    }
    for waiting in &agent.waiting_for {
        line("waits for", &waits(agent, waiting, now));
    }
    out
}

/// Returns what was spent, and who says so of each number.
fn spent(counted: &[Counted]) -> String {
    let one = |it: &Counted| {
        let who = match it.source.known() {
            Some(UsageSource::Relay) => "counted by the relay",
            Some(UsageSource::Backend) => "as its backend says",
            None => "counted elsewhere",
        };
        let cost = match (it.usd, it.unknown_costs) {
            (None, _) => "of unknown cost".to_owned(),
            (Some(usd), 0) => money(usd),
            (Some(usd), _) => format!("{} and what has no known price", money(usd)),
        };
        format!("{} tokens, {cost} ({who})", it.tokens)
    };
    counted.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns who watches, what came of it, and what it cost.
fn supervisor_line(supervisor: &SupervisorStatus) -> String {
    let mut out = format!("by {}", one_line(&supervisor.agent));
    if let Some(why) = &supervisor.off {
        return format!(
            "by rules alone: {} is off: {}",
            one_line(&supervisor.agent),
            one_line(why)
        );
    }
    if let Some(model) = &supervisor.model {
        let _ = write!(out, " ({})", one_line(model));
    }
    if supervisor.paused {
        out.push_str(", paused: people have to decide");
    }
    if let Some(verdict) = &supervisor.verdict {
        let (count, last) = (supervisor.evaluations, one_line(verdict.as_str()));
        let tokens = supervisor.input_tokens.saturating_add(supervisor.output_tokens);
        let _ = write!(out, ", {count} verdicts, the last {last}; {tokens} tokens");
    }
    out
}

/// Returns a line for each of the messages that wait first, with the id by which it is taken back.
pub(crate) fn waiting(messages: &[MessageRow]) -> String {
    let line = |row: &MessageRow| {
        let said = cut(row.body.as_str(), SAID_MAX);
        format!(
            "  {:<10}{} from {}: {}\n",
            "waiting",
            row.id,
            one_line(&row.sender),
            one_line(&said)
        )
    };
    messages.iter().map(line).collect()
}

/// Returns what people must know of the tools; nothing where what is configured holds.
fn permissions(agent: &AgentStatus) -> Option<Cell> {
    let mode = agent.permissions.as_deref().unwrap_or_default();
    if mode == BYPASS {
        return Some(Cell::painted(Paint::Red, "permissions: BYPASS: every tool runs unasked"));
    }
    let ran = one_line(agent.unasked.as_deref()?);
    let text = format!(
        "UNASKED: it ran {ran}; `permissions: {mode}` has no effect on this \
         program"
    );
    Some(Cell::painted(Paint::Red, text))
}

/// Returns a tool that runs, with its main argument, and for how long it has.
pub(super) fn running(tool: &RunningTool, now: UnixMicros) -> String {
    let since = parse_rfc3339(&tool.since).map_or(Duration::ZERO, |at| now.since(at));
    let what =
        if tool.what.is_empty() { String::new() } else { format!(": {}", one_line(&tool.what)) };
    format!("{}{what}, for {}", one_line(&tool.name), age(since))
}

/// Returns a pause with its end as clocks on the wall show it, how long it still lasts, and what
/// ends it.
fn paused(agent: &AgentStatus, pause: &ShownPause, now: UnixMicros) -> String {
    let until = pause.until.as_deref().and_then(parse_rfc3339);
    // Of a pause of two hours that has just begun, two hours are left.
    let left = until.map(|until| until.since(now) + Duration::from_secs(59));
    let left = left.map_or_else(String::new, |left| format!(" (in {})", age(left)));
    let held = pause.describe_with(&TimeZone::system(), &left);
    format!("{held}; {}", pause.helps(&agent.nick))
}

fn turns(agent: &AgentStatus, now: UnixMicros) -> String {
    match agent.last_activation {
        Some(_) => format!("{}, the last {} ago", agent.turn_count, last_turn(agent, now)),
        None => agent.turn_count.to_string(),
    }
}

fn daemon(agent: &AgentStatus) -> String {
    let epoch = agent.epoch.map_or_else(String::new, |epoch| format!(", epoch {epoch}"));
    match agent.pid {
        Some(pid) => format!("process {pid}{epoch}"),
        None => format!("not running{epoch}"),
    }
}

fn waits(agent: &AgentStatus, waiting: &WaitingFor, now: UnixMicros) -> String {
    match waiting {
        WaitingFor::Approval { number, tool, summary, asked_at } => {
            let since = parse_rfc3339(asked_at).map_or(Duration::ZERO, |at| now.since(at));
            format!(
                "approval {number} ({}): {}; asked {} ago; `gangline approvals {number}` shows all of it",
                one_line(tool),
                one_line(summary),
                age(since)
            )
        }
        WaitingFor::Question { number, question, asked_at } => {
            let since = parse_rfc3339(asked_at).map_or(Duration::ZERO, |at| now.since(at));
            format!(
                "question {number}: {}; asked {} ago; `gangline answer {number} TEXT` answers it",
                one_line(question),
                age(since)
            )
        }
        WaitingFor::Login { hint } => format!("a login: {}", one_line(hint)),
        WaitingFor::Resume { why } => {
            // A daemon that is gone is started, and hears no word.
            let word = if agent.pid.is_some() { "resume" } else { "start" };
            let mended = format!("`gangline {word} {}`, once this is fixed", agent.nick);
            format!("{mended}: {}", one_line(why))
        }
        WaitingFor::Guidance { why } => {
            let nick = &agent.nick;
            format!(
                "guidance: `gangline resume {nick}` or `gangline interrupt {nick}`: {}",
                one_line(why)
            )
        }
        WaitingFor::Release { .. } => held(waiting).unwrap_or_default(),
        WaitingFor::Irc { trouble } => format!("IRC: {}", one_line(trouble)),
    }
}

/// Returns the text about held messages and the commands that let them continue.
pub(crate) fn held(waiting: &WaitingFor) -> Option<String> {
    let WaitingFor::Release { cause, messages, why } = waiting else { return None };
    let are = if *messages == 1 { "message is" } else { "messages are" };
    Some(format!(
        "`gangline release {cause}` or `gangline interrupt --cause {cause}`: {messages} {are} held: \
         {}",
        one_line(why)
    ))
}
