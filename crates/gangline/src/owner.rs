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
};
use gangline_hub::credentials::OWNER;
use gangline_os::{
    clock::{self, UnixMicros},
    paths::Paths,
};
use gangline_store::{LetterRow, NewMessage, NewReminder};
use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::configuration::Loaded;

/// Returns the owner as a principal.
pub(crate) fn principal() -> Principal {
    Principal { account: OWNER.to_owned(), tier: Tier::Owner }
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
