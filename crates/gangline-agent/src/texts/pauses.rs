//! What people are told of pauses and escalations.

use gangline_api::status::{ShownPause, cut};
use gangline_config::OnEscalation;
use gangline_core::{
    AgentName, Redacted, alert,
    finding::FindingKind,
    mention,
    pause::{Continue, Held, PauseReason, pause_ends},
    shown::label,
    time::WallMicros,
};
use gangline_os::clock::{UnixMicros, local_minute};

use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::{bus::Escalation, place::IN_PRIVATE};

/// So much of a cause or of evidence is shown, in characters.
const SAID_MAX: usize = 160;
/// So much of a task is quoted, in characters.
const TASK_MAX: usize = 80;

/// Returns what is recorded when a pause begins.
pub(crate) fn paused(reason: PauseReason) -> String {
    let why = match reason {
        PauseReason::Operator => "",
        PauseReason::Question => " (nobody answered a question in time)",
        PauseReason::Escalation => " (escalated)",
        PauseReason::Schedule => " (it sleeps)",
        PauseReason::Budget => " (a budget is spent)",
        PauseReason::RateLimit => " (the provider's quota is spent)",
        PauseReason::Fleet => " (the limit of the whole installation is reached)",
    };
    format!("new messages are stored and wait{why}")
}

/// Returns why nothing new is begun, for those who wait, in the first person.
pub(crate) fn why_held(held: Held, pauses: &[ShownPause]) -> String {
    let note = pauses.iter().find(|it| it.reason == held.reason).and_then(|it| it.note.as_deref());
    let note = note.map_or_else(String::new, |note| format!(" ({})", cut(note, SAID_MAX)));
    let until = held.until.map_or_else(String::new, |at| format!(" until {}", local(at)));
    match held.reason {
        PauseReason::Operator | PauseReason::Question => match held.until {
            None => "I am paused until my owner says `resume`".to_owned(),
            Some(at) => format!("I am paused until {}, or until my owner says `resume`", local(at)),
        },
        // Its cause may be from a private conversation.
        PauseReason::Escalation => {
            "I am held because I seem stuck, until my owner says `resume` or `abort`".to_owned()
        }
        PauseReason::Schedule => {
            format!("I sleep{until}; my owner's `resume` wakes me")
        }
        PauseReason::Budget => format!("I am held{until}: my budget is spent{note}"),
        PauseReason::RateLimit => {
            format!(
                "my model's provider lets nothing pass{until}: its quota is spent; then I begin"
            )
        }
        PauseReason::Fleet => {
            format!("I am held{until}: the limit of the whole installation is reached{note}")
        }
    }
}

/// Returns the agent's reply to a word that does not end what holds it, in the first person; `None` if the
/// word ends it.
pub(crate) fn still_held(word: Continue, held: &[Held], pauses: &[ShownPause]) -> Option<String> {
    let of = |held: &Held| Some((why_held(*held, pauses), word.instead(held.reason)?.to_owned()));
    let (why, helps): (Vec<_>, Vec<_>) = held.iter().filter_map(of).unzip();
    let (why, helps) = (why.join("; "), helps.join("; "));
    let word = word.as_str();
    let text = format!("{why}. `{word}` does not end this: {helps}");
    (!helps.is_empty()).then_some(text)
}

/// The cause of an escalation of which nothing else is known.
pub(crate) const ESCALATED_BEFORE: &str = "it was escalated before its daemon was restarted";

/// Returns what people are told of a pause with an end.
pub(crate) fn local(at: WallMicros) -> String {
    let (date, minute) = local_minute(UnixMicros(at.0));
    format!("{date} {minute}")
}

/// Returns when a pause ends of which a person said so, by this machine's clock and zone.
///
/// # Errors
/// Why it cannot be used, for that person.
pub(crate) fn ends(said: &str, now: UnixMicros) -> Result<UnixMicros, String> {
    let now = Timestamp::from_microsecond(now.0).unwrap_or_default();
    let now = Zoned::new(now, TimeZone::system());
    let zones = |name: &str| TimeZone::get(name).ok();
    let at = pause_ends(said, &now, &zones).map_err(|error| error.to_string())?;
    Ok(UnixMicros(at.0))
}

/// Returns what is told of a spent quota.
pub(crate) fn limited(until: Option<WallMicros>) -> String {
    let until = until.map_or_else(String::new, |at| format!(" until {}", local(at)));
    format!("the model's provider lets nothing pass{until}: the account's quota is spent")
}

/// Returns what the other agents of an account are warned of.
pub(crate) fn limit_of_another(
    agent: &AgentName,
    account: &str,
    until: Option<WallMicros>,
) -> String {
    let until = until.map_or_else(String::new, |at| format!(" until {}", local(at)));
    format!(
        "{agent} met a spent quota and waits{until}; this agent has the same account: {account}"
    )
}

/// Returns what an agent is stuck on, in one line.
pub(crate) fn stuck(escalation: &Escalation) -> String {
    cut(&escalation.cause, SAID_MAX)
}

/// Returns an escalation without private words, for readers who may not see them.
pub(crate) fn without_words(it: &Escalation) -> Escalation {
    Escalation {
        kind: it.kind,
        task: Redacted::constant(IN_PRIVATE),
        cause: "see `gangline attention`".to_owned(),
        evidence: String::new(),
        retries: it.retries,
    }
}

/// The alert of an escalation at webhooks (R1-42).
pub(crate) fn spiraling(agent: &AgentName, it: &Escalation) -> String {
    let task = cut(&mention::strip(it.task.as_str(), &[agent]), TASK_MAX);
    let retried = match repeats(it) {
        Some(times) => format!("Retried the same approach {times} times"),
        None => cut(&it.cause, SAID_MAX),
    };
    alert::text::spiraling(agent, &task, &retried)
}

/// Returns how often the agent has tried the same again, if that is what is wrong.
fn repeats(it: &Escalation) -> Option<u32> {
    let is_spiral = it.kind == FindingKind::Spiraling;
    Some(it.retries).filter(|retries| is_spiral && *retries > 0)
}

/// What an escalation holds up.
pub(crate) fn affected(it: &Escalation, then: OnEscalation) -> String {
    match then {
        OnEscalation::Hold => format!("new messages wait; its task: {}", it.task),
        OnEscalation::Notify => format!("its task: {}", it.task),
    }
}

/// The notice of an escalation, in the form of R1-35, with cause, evidence and choices.
pub(crate) fn escalation(agent: &AgentName, it: &Escalation, then: OnEscalation) -> String {
    let task = cut(&mention::strip(it.task.as_str(), &[agent]), TASK_MAX);
    let retried = match repeats(it) {
        Some(times) => format!(" Retried same approach {times} times."),
        None => String::new(),
    };
    let meanwhile = match then {
        OnEscalation::Hold => "Until then new messages wait",
        OnEscalation::Notify => "Meanwhile it continues to work",
    };
    // A cause may be a sentence already.
    let said = |text: &str| cut(text.trim_end().trim_end_matches('.'), SAID_MAX);
    let (cause, evidence) = (said(&it.cause), said(&it.evidence));
    let evidence = match evidence.is_empty() {
        true => String::new(),
        false => format!(" Evidence: {evidence}."),
    };
    format!(
        "[ESCALATION] Agent {agent} appears stuck on task \"{task}\".{retried} Awaiting human \
         guidance. Reply @{nick} resume/abort. Cause: {cause}.{evidence} resume: it continues; abort: \
         its turn ends, then it continues. {meanwhile}",
        nick = label(agent.as_str()),
    )
}
