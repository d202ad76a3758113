//! The owner as a principal, and what is written in the owner's name.

use gangline_agent::{
    container::Container,
    long_reminders::{self, TooLong},
};
use gangline_config::Profile;
use gangline_core::{
    AgentName, MessageState, Origin, Principal, Redacted, Redactor, Tier,
    question::{self, Choose},
    reminder::{Due, OPEN_MAX},
    whisper::{self, TEXT_MAX, WAITING_MAX, WhisperKind, WhisperSource},
};
use gangline_hub::credentials::OWNER;
use gangline_os::{
    clock::{self, UnixMicros},
    paths::Paths,
};
use gangline_store::{LetterRow, NewMessage, NewReminder, NewWhisper, StoreError};
use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::{configuration::Loaded, failure::Failure};

/// Returns the owner as a principal.
pub(crate) fn principal() -> Principal {
    Principal { account: OWNER.to_owned(), tier: Tier::Owner }
}

/// Returns a whisper of the owner, who is known as `by`.
///
/// # Errors
/// When it says nothing, or would be cut.
pub(crate) fn whisper(
    agent: &AgentName,
    (kind, said): (WhisperKind, &str),
    by: &str,
) -> Result<NewWhisper, Failure> {
    check_whisper(said)?;
    Ok(NewWhisper {
        agent: agent.clone(),
        kind,
        source: WhisperSource::Operator,
        text: whisper::text(&Redactor::new([]), said),
        by: Some(by.to_owned()),
        finding: None,
        turn: None,
    })
}

/// Refuses a whisper that would be cut, or says nothing.
pub(crate) fn check_whisper(said: &str) -> Result<(), Failure> {
    match said.trim().len() {
        0 => Err(Failure::user("not whispered: the text is empty")),
        length if length > TEXT_MAX => {
            Err(Failure::user(format!("not whispered: the text is longer than {TEXT_MAX} bytes"))
                .hint("put it into a file, and let the text name that"))
        }
        _ => Ok(()),
    }
}

/// Returns why a whisper is not stored.
pub(crate) fn whisper_refused(agent: &AgentName, error: StoreError) -> Failure {
    match error {
        StoreError::Invalid(_) => {
            Failure::user(format!("not whispered: {WAITING_MAX} whispers wait for {agent} already"))
                .hint("they are delivered with its next prompt: `gangline prompt` sends one")
        }
        error => error.into(),
    }
}

/// Returns the message by which an agent hears of the answer to its letter, and who gave it.
pub(crate) fn answer_to(letter: &LetterRow, (sender, text): (&str, &str)) -> NewMessage {
    let body = format!("{text}\n(the answer to your letter {}: {})", letter.id, letter.body);
    NewMessage {
        agent: letter.agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("letter/{}", letter.id)),
        origin: Origin::Cli,
        sender: sender.to_owned(),
        principal: principal(),
        target: String::new(),
        body: Redactor::new([]).redact(&body),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// Returns the text of a reminder as it is stored: a long one is a file in the agent's own folder.
pub(crate) fn reminder_text(
    (paths, loaded): (&Paths, Option<&Loaded>),
    agent: &AgentName,
    text: &str,
) -> Result<Redacted, TooLong> {
    let configured = loaded.and_then(|loaded| loaded.config.agent(agent));
    let in_container = configured.is_some_and(|agent| agent.profile == Profile::Container);
    let container = in_container.then(Container::default);
    let folder = long_reminders::folder(paths, agent, container.as_ref());
    long_reminders::stored(&folder, &Redactor::new([]), text)
}

/// Returns a reminder for an agent. What the agent says to it stands in the message's row.
pub(crate) fn reminder(
    agent: &AgentName,
    request: String,
    (due, body): (&Due, Redacted),
) -> NewReminder {
    NewReminder {
        agent: agent.clone(),
        by: principal(),
        turn: None,
        request,
        target: String::new(),
        body,
        due_at: UnixMicros(due.at.0),
        repeats: due.repeats.as_ref().map(ToString::to_string),
        open_max: u32::try_from(OPEN_MAX).unwrap_or(u32::MAX),
    }
}

/// Returns the time here, for what is said of times.
pub(crate) fn now() -> Zoned {
    let now = Timestamp::from_microsecond(clock::system().now().0).unwrap_or_default();
    Zoned::new(now, TimeZone::system())
}

/// Returns the text by which an agent is asked something: the question, its options with their
/// numbers, and how they are chosen.
pub(crate) fn asking(question: &str, options: &[String], choose: Choose) -> String {
    let (question, listed) = (question.trim(), question::text::options(options, choose));
    match listed.is_empty() {
        true => question.to_owned(),
        false => format!("{question}\noptions: {listed}, or a text of your own"),
    }
}
