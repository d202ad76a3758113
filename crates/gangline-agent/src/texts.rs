//! The daemon's own texts, in one place.

pub(crate) mod approvals;
mod budgets;
pub mod changes;
pub(crate) mod findings;
pub(crate) mod pauses;
pub(crate) mod questions;
pub(crate) mod supervisor;

use std::{path::Path, time::Duration};

use gangline_api::status::{RunningTool, StatusNote};
use gangline_config::Permissions;
use gangline_core::{
    AgentName, MessageId,
    agent::{PhaseName, View},
    outcome::{By, Outcome},
    pause::{Held, PauseReason},
    shown::{self, label, one_line},
};
use gangline_store::{Cancel, MessageRow, RuleRow};

pub(crate) use budgets::{
    FLEET_PARKED, budget_alert, budget_holds, budget_raise, budget_refused, budget_stands,
    is_budget_refusal,
};

use crate::settings::InsteadOf;

pub(crate) const WITHDRAWN: &str =
    "nobody refused this: the request was withdrawn because the turn is ending";
pub(crate) const TAKEN_BACK: &str = "the backend withdrew its request";
const START_TIMEOUT: &str = "the backend was not ready in time and was stopped";
const TURN_TIMEOUT: &str = "the turn showed no activity and is being stopped";
pub(crate) const INTERRUPT_TIMEOUT: &str =
    "the backend did not react to an interrupt and was stopped";
pub(crate) const LOGGED_IN: &str = "the backend is logged in again; waiting messages are delivered";
pub(crate) const COMPACTING: &str = "the context is being shortened";
pub(crate) const COMPACTED: &str = "the context was shortened";
pub(crate) const NOT_COMPACTED: &str = "the backend ended before its context was shorter";
/// Behind a whisper about a turn that is over.
pub(crate) const WHISPER_OF_EARLIER_TASK: &str = "(about your earlier task)";
/// The end of a prompt that is given a second time after tools were used for it.
pub(crate) const GIVEN_AGAIN: &str = "\n[gangline] you get this prompt again because your \
     context was full and has been shortened; what you did for it before is done";
/// Why a prompt carries the checkpoint.
pub(crate) const WAS_SHORTENED: &str = "your conversation was shortened";
pub(crate) const WAS_RENEWED: &str = "this is a new session: your conversation had no more room";
pub(crate) const CHECKPOINT_GIVEN: &str =
    "the agent was given the checkpoint: pinned rules, task, constraints and what is open";
pub(crate) const EMPTIED: &str =
    "the context will be emptied: the agent begins without a checkpoint";
pub(crate) const RENEWED: &str =
    "the backend begins a new session; its first prompt carries the checkpoint";
/// How a status calls the turn for the notes.
pub(crate) const WRITES_NOTES: &str = "writes its notes before its context is shortened";
pub(crate) const TOOL_CUT_OFF: &str = "(the turn ended before it came back)";
pub(crate) const PARKED: &str = "my backend keeps failing, so I have stopped it. Your message is \
     stored and waits until my owner has fixed it and says `resume`";
pub(crate) const RESUMED: &str = "waiting messages are delivered again";

pub(crate) const ENDED_BY_US: &str = "ended by the daemon";
pub(crate) const FIXED_MODEL: &str = "I do not know how to change my program's model: change it \
     in the program, or write the arguments for it into my entry in agents.yaml (`screen: \
     {model: [...]}`)";
pub(crate) const ENDED_WELL: &str =
    "the backend exited with code 0; it is restarted when it is needed";
pub(crate) const FRESH_SESSION: &str =
    "the backend begins a new session: it remembers nothing of the last one";

/// Tells the operator that an agent in a container has no folder of it.
pub(crate) fn no_container_state(state: &Path, directory: &Path) -> String {
    format!(
        "`profile: container`, and there is no {}: it works in {}, and its notes are in Gangline's \
         state folder",
        state.display(),
        directory.display()
    )
}

/// Tells the agent of its daemon's start (R2-14).
pub(crate) fn restarted((notes, directory): (&str, &str), resumes: bool) -> String {
    let session = if resumes { "your session is intact" } else { "your session is new" };
    format!(
        "[gangline] you were just (re)started; check {notes} for your notes; {session}, and your \
         files are in {directory} as you left them"
    )
}

/// Tells the model that a person said no, and why.
pub(crate) fn denied(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("a person refused this and said: {reason}"),
        None => "a person refused this; do not try it again in another way".to_owned(),
    }
}

pub(crate) fn model(name: Option<&str>) -> String {
    let name = name.map_or_else(|| "the backend's default".to_owned(), |name| format!("`{name}`"));
    format!("the model is {name} from the next turn on")
}

/// The effort was chosen, and the backend is started anew for it.
pub(crate) fn effort(level: Option<&str>) -> String {
    let level = level.map_or_else(|| "the backend's default".to_owned(), |it| format!("`{it}`"));
    format!("the effort is {level} from the next turn on; the backend is started anew for it")
}

/// The permissions of the agent do not hold with its program (C5).
pub(crate) fn ran_unasked((agent, mode): (&AgentName, &str), ran: &str) -> String {
    format!(
        "{agent} ran {ran} unasked: `permissions: {mode}` has no effect on this program. Make it \
         ask in its own settings, or accept that it can do everything that you can do"
    )
}

/// A rule that was made before and would not be made today.
pub(crate) fn void_rule(row: &RuleRow) -> String {
    let why = row.void.as_deref().unwrap_or_default();
    format!("rule {} is void and allows nothing: {}: {why}", row.rule.number, row.rule)
}

/// All of them, for owners; what they say may have been asked in private.
pub(crate) fn void_rules(agent: &AgentName, numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let (rules, are) = if numbers.len() == 1 { ("rule", "is") } else { ("rules", "are") };
    format!(
        "{rules} {} of {agent} {are} void: rules are checked more strictly now, and the agent asks again. \
         `gangline policy list {agent}` says why; `always` makes a new rule where one may be made",
        numbers.join(", ")
    )
}

/// What everybody sees who asks about a nick (C5).
pub(crate) fn realname(backend: &str, permissions: Permissions, unasked: Option<&str>) -> String {
    let plain = format!("gangline agent ({backend})");
    match (permissions, unasked) {
        (Permissions::Bypass, _) => format!("{plain}, permissions: BYPASS"),
        (Permissions::Ask | Permissions::Allowlist, None) => plain,
        (Permissions::Ask | Permissions::Allowlist, Some(_)) => {
            format!("{plain}, permissions: {} DOES NOT HOLD", permissions.as_str())
        }
    }
}

/// What the program in a terminal is to those who may prompt it.
pub(crate) fn has_the_shell(owners_only: bool) -> &'static str {
    match owners_only {
        true => {
            "this agent works in a terminal, without approvals: anybody who may prompt it can \
             run anything in its shell. That is only its owner"
        }
        false => {
            "this agent works in a terminal, without approvals: anybody who may prompt it can \
             run anything in its shell. With `prompt: members` that is every member"
        }
    }
}

/// Another backend than the configured one runs (R3-17).
pub(crate) fn stands_in(name: &str, configured: &InsteadOf) -> String {
    let mut text = format!("the backend is `{name}` instead of `{}`", configured.name);
    if !configured.left_out.is_empty() {
        let keys: Vec<String> = configured.left_out.iter().map(|key| format!("`{key}`")).collect();
        let rest = format!("; these keys of the configuration have no effect: {}", keys.join(", "));
        text.push_str(&rest);
    }
    text
}

/// The session that was used last is another backend's.
pub(crate) fn left_session(other: &str, goes_on: bool) -> String {
    let what = if goes_on { "continues its own session" } else { "begins a new session" };
    format!("the backend {what}; the session of `{other}` continues when you switch back")
}

pub(crate) fn watermark(tokens: u64, window: Option<u64>) -> String {
    let window = window.map_or_else(String::new, |window| format!(" of {window}"));
    format!(
        "the context holds {tokens}{window} tokens: the agent writes its notes, then its context is \
         shortened"
    )
}

pub(crate) fn notes_failed(outcome: &Outcome) -> String {
    format!("the turn that writes the notes ended with `{outcome}`; other turns are not affected")
}

/// The agent left something out of its form.
pub(crate) fn form_incomplete(missing: &[&str], form: &Path) -> String {
    let names: Vec<String> = missing.iter().map(|name| format!("`## {name}`")).collect();
    let form = form.display();
    format!(
        "the agent's form {form} has no {}: after its context is shortened it is told only what \
         Gangline knows itself",
        names.join(" and no ")
    )
}

pub(crate) fn cold_reset(tokens: u64) -> String {
    format!(
        "the context holds {tokens} tokens and was not used for the time of `cold_reset`: a new \
         session replaces it"
    )
}

pub(crate) fn shortened_in_vain(tokens: u64) -> String {
    format!(
        "the context holds {tokens} tokens right after it was shortened, so it is not shortened \
         again: `compact_watermark` is too low, raise it"
    )
}

/// Tells the model why a tool is refused in the turn for its notes.
pub(crate) fn only_notes(folder: &Path) -> String {
    format!("this turn cannot ask for approvals: you may write only files in {}", folder.display())
}

pub(crate) fn circuit_open(deaths: usize, why: &str) -> String {
    format!(
        "the backend died {deaths} times in a row, the last time with: {why}. Fix that, then say \
         `resume`"
    )
}

/// Returns what is added where each death came in a turn with the same messages.
pub(crate) fn suspected(messages: &[MessageId]) -> String {
    let names: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names[..] {
        [] => String::new(),
        [first, ..] => format!(
            ". Each time it worked on {}: if that is the cause, say `cancel {first}` before `resume`",
            shown::listed(&names)
        ),
    }
}

/// Returns why a start was given up, with what the backend said meanwhile.
pub(crate) fn start_timeout(said: Option<&str>) -> String {
    match said {
        Some(said) => format!("{START_TIMEOUT}: {said}"),
        None => START_TIMEOUT.to_owned(),
    }
}

/// The text before a program's own words in a notice of its end.
const IT_SAID: &str = "; it said: ";

/// Returns why a backend has ended, for the person who fixes it: `how` it ended, or its last words.
pub(crate) fn death(how: &str, words: Option<&str>, phase: PhaseName) -> String {
    if how != exited(0) {
        return words.unwrap_or(how).to_owned();
    }
    // It says nothing of itself, and nobody sees what is wrong with an end like this.
    let said = words.and_then(|words| words.split_once(IT_SAID));
    let said = said.map(|(_, said)| format!("{IT_SAID}{said}")).unwrap_or_default();
    match phase {
        PhaseName::Starting => format!("{how} before it was ready for prompts{said}"),
        PhaseName::Down | PhaseName::Idle | PhaseName::Parked => {
            format!("{how} soon after its start")
        }
        PhaseName::Taking | PhaseName::Prompting | PhaseName::Working | PhaseName::Interrupting => {
            format!("{how} in the middle of a turn")
        }
    }
}

/// Returns how a backend ended, for the next attempt at what was lost: without a code only the
/// adapter's own words say so. What the program said is not for the model.
pub(crate) fn how_ended<'a>(how: &'a str, words: Option<&'a str>) -> &'a str {
    match words.filter(|_| how == exited(-1)) {
        Some(words) => words.split_once(IT_SAID).map_or(words, |(ended, _)| ended),
        None => how,
    }
}

/// Returns how a backend ended that was not asked to.
pub(crate) fn exited(code: i32) -> String {
    match code {
        0 => "the process exited with code 0".to_owned(),
        1.. => format!("process exited with code {code}"),
        _ => "process ended without a code".to_owned(),
    }
}

pub(crate) fn hooks_dropped(count: u64) -> String {
    format!("{count} hook calls were dropped: the hook is too slow")
}

pub(crate) fn hook_failed(event: &str, error: &dyn std::error::Error) -> String {
    format!("the hook for {event} failed: {error}")
}

/// Alert (R1-46): it is not started any more.
pub(crate) fn alert_parked(agent: &AgentName, deaths: usize, why: &str) -> String {
    format!(
        "[ERROR] {agent} crashed {deaths} times and is parked: say `resume` to try again; the last \
         time: {why}"
    )
}

/// Nobody needs to decide it any more; `approval` is its number, or what it is for.
pub(crate) fn approval_taken_back(approval: &str) -> String {
    format!("approval {approval} is closed: my program withdrew its request")
}

/// Returns why an approval needs no decision when its turn is over.
pub(crate) fn turn_over(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "my turn ended before anybody decided",
        Outcome::Failed(_) | Outcome::TimedOut => "my turn failed before anybody decided",
        Outcome::Interrupted(By::Operator) => "a person stopped the turn",
        Outcome::Interrupted(By::Supervisor) => "the supervisor stopped the turn",
        Outcome::RateLimited(_)
        | Outcome::NeedsLogin
        | Outcome::Interrupted(By::Drain)
        | Outcome::Lost(_) => "my turn ended early; the next attempt asks again",
    }
}

/// Returns why nothing new is begun, and what ends that; `None` if something may be begun.
pub(crate) fn why_kept(view: &View, note: &StatusNote) -> Option<String> {
    let login = note.needs_login.as_deref();
    if view.degraded {
        return Some("my store cannot write now; I begin when it can again".to_owned());
    }
    if view.needs_login {
        let hint = login.map_or_else(String::new, |hint| format!(" ({})", label(hint)));
        return Some(format!("my backend is not logged in{hint}; I begin when it is"));
    }
    if view.paused {
        let usual = Held { reason: PauseReason::Operator, until: None };
        let held = view.pauses.first().copied().unwrap_or(usual);
        return Some(pauses::why_held(held, &note.pauses));
    }
    if view.draining {
        return Some("my daemon is stopping; I begin after its next start".to_owned());
    }
    let limited = "my model refuses requests for now (its rate limit); I will try again";
    view.rate_limited.then(|| limited.to_owned())
}

pub(crate) fn no_such_message(id: MessageId) -> String {
    format!("I have no message {id}; `queue` lists waiting messages")
}

pub(crate) fn not_yours(id: MessageId, sender: &str) -> String {
    format!("only {} or an owner can cancel {id}", label(sender))
}

/// Says why a message cannot be cancelled, and what to do instead.
pub(crate) fn not_cancelled(id: MessageId, found: Cancel) -> String {
    match found {
        Cancel::InTurn(_) => {
            format!("{id} is in my open turn, so it cannot be cancelled: `stop` ends the turn")
        }
        Cancel::Settled(state) => format!("{id} cannot be cancelled: it {}", state.describe()),
        Cancel::Unknown => no_such_message(id),
        Cancel::Done => format!("{id} is cancelled"),
    }
}

/// Tells an author that somebody else cancelled the message.
pub(crate) fn cancelled_by(row: &MessageRow, by: &str) -> String {
    format!("{}: {} cancelled your message {}", label(&row.sender), label(by), row.id)
}

/// Returns what an open turn does, for the place that waits for it.
pub(crate) fn progress(after: Duration, tool: Option<&RunningTool>, message: MessageId) -> String {
    let what = match tool {
        Some(tool) if tool.what.is_empty() => format!("runs {}", label(&tool.name)),
        Some(tool) => format!("runs `{}`", tool.what),
        None => "works".to_owned(),
    };
    format!("{}: {what} ({message})", span(after))
}

/// Returns a length of time in its greatest unit: `40 s`, `2 min`, `3 h`, `5 d`.
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// Returns an error with its causes.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        text.push_str(&format!(": {below}"));
        cause = below.source();
    }
    text
}

/// Says that a turn is ended for its silence, and what it waited for.
pub(crate) fn turn_timeout(waits: Option<&str>) -> String {
    match waits {
        Some(on) => format!("{TURN_TIMEOUT}: it waited for {}", one_line(on)),
        None => TURN_TIMEOUT.to_owned(),
    }
}

/// Says what a turn waits for that does not keep it open.
pub(crate) fn waits(on: &str) -> String {
    format!("the turn waits for {}; that does not keep the turn from its time limit", one_line(on))
}

#[cfg(test)]
mod tests;
