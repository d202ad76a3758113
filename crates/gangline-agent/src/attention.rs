//! Answers to findings: what a choice does, the same on every surface.
//!
//! What is a row is done here; what only the agent's daemon can do is left to the caller. The finding is
//! resolved after its choice was carried out, so that nothing is resolved undone; a decision on an escalation
//! is rows only, and one commit ([`guide`]). Start at [`chosen`].

use gangline_api::status::{ShownPause, still_held as still_held_by};
use gangline_core::{
    AgentName, FindingNumber, TurnId,
    finding::{ChoiceWord, FindingKind},
    pause::Continue,
};
use gangline_os::{
    change_notice,
    clock::{UnixMicros, rfc3339},
    paths::Paths,
};
use gangline_store::{
    Desired, EscalationAnswer, FindingError, FindingRow, PauseRow, Released, RestartWhen, Store,
    StoreError,
};
use jiff::tz::TimeZone;

/// Where a choice is carried out, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The store.
    pub store: &'a Store,
    /// Where things lie.
    pub paths: &'a Paths,
    /// Who has chosen, as others know that person.
    pub by: &'a str,
    /// How many more turns a release gives.
    pub released: i64,
}

/// What is left to the caller before the finding is resolved by [`Store::decide_finding`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// Nothing; this was done.
    Done(String),
    /// The agent's daemon must be told to go on: it closes its breaker and lifts what holds it.
    Resume,
    /// The agent's daemon must be told to end its open turn.
    Abort,
}

/// Returns the choice that somebody has said of an unresolved finding.
///
/// # Errors
/// As [`Store::decide_finding`]; a word that is no choice is [`NotChosen::NoSuchWord`].
pub async fn chosen(
    store: &Store,
    number: FindingNumber,
    said: &str,
) -> Result<(FindingRow, ChoiceWord), NotChosen> {
    let row = store.one_finding(number).await.map_err(FindingError::from)?;
    let row = row.ok_or(FindingError::Unknown(number))?;
    if row.resolved_at.is_some() {
        let by = row.resolved_by;
        return Err(FindingError::Resolved { number, by }.into());
    }
    let word = said.trim().trim_end_matches(['.', '!']).to_lowercase();
    let found = row.choices.iter().find(|it| it.word.as_str() == word);
    match found {
        Some(choice) => {
            let word = choice.word;
            Ok((row, word))
        }
        None if word == ChoiceWord::Dismiss.as_str() && row.may_be_dismissed() => {
            Ok((row, ChoiceWord::Dismiss))
        }
        None => {
            let known = words(&row);
            Err(NotChosen::NoSuchWord { number, agent: row.agent, said: said.to_owned(), known })
        }
    }
}

/// Returns the word of a choice that lets the agent continue; `None` for other choices.
#[must_use]
pub fn continues(choice: ChoiceWord) -> Option<Continue> {
    match choice {
        ChoiceWord::Resume => Some(Continue::Resume),
        ChoiceWord::Abort => Some(Continue::Abort),
        ChoiceWord::Retry
        | ChoiceWord::Release
        | ChoiceWord::Start
        | ChoiceWord::Restart
        | ChoiceWord::Dismiss => None,
    }
}

/// Returns a pause as the wire has it.
#[must_use]
pub fn shown(row: &PauseRow) -> ShownPause {
    ShownPause {
        reason: row.reason.into(),
        until: row.until.map(rfc3339),
        note: row.note.as_ref().map(ToString::to_string),
    }
}

/// Returns what holds an agent that the word does not release, for example a spent budget, and what helps; by
/// its row, in the third person. `None` if the word releases it.
///
/// # Errors
/// [`StoreError`] if the database cannot be read.
pub async fn still_held(
    store: &Store,
    now: UnixMicros,
    agent: &AgentName,
    word: Continue,
) -> Result<Option<String>, StoreError> {
    let row = store.agent(agent).await?;
    let pauses: Vec<_> = row.iter().flat_map(|row| row.holding(now)).map(shown).collect();
    Ok(still_held_by(agent.as_str(), word, &pauses, &TimeZone::system()))
}

/// Why nothing was chosen.
#[derive(Debug, thiserror::Error)]
pub enum NotChosen {
    /// There is no such finding, or it is resolved.
    #[error(transparent)]
    Finding(#[from] FindingError),
    /// The word is none of its choices.
    #[error("`{said}` is not a choice for finding {number} of {agent}; choose {known}")]
    NoSuchWord {
        /// The finding.
        number: FindingNumber,
        /// The agent that it is about.
        agent: AgentName,
        /// What was said.
        said: String,
        /// What may be chosen.
        known: String,
    },
}

/// Returns the choices of a finding in words.
#[must_use]
pub fn words(row: &FindingRow) -> String {
    let mut words: Vec<&str> = row.choices.iter().map(|it| it.word.as_str()).collect();
    if row.may_be_dismissed() && !words.contains(&ChoiceWord::Dismiss.as_str()) {
        words.push(ChoiceWord::Dismiss.as_str());
    }
    words.join(", ")
}

/// Carries out what a choice does in the store.
///
/// # Errors
/// [`StoreError`] if the database cannot be written; nothing is resolved then.
pub async fn carry_out(
    site: Site<'_>,
    row: &FindingRow,
    choice: ChoiceWord,
) -> Result<Left, StoreError> {
    let Site { store, paths, by, released } = site;
    let agent = &row.agent;
    let notify = |agent: &AgentName| {
        change_notice::notify(&paths.change_notice(agent.folded()));
    };
    Ok(Left::Done(match choice {
        ChoiceWord::Resume => return Ok(Left::Resume),
        ChoiceWord::Abort => return Ok(Left::Abort),
        ChoiceWord::Dismiss => "put away".to_owned(),
        ChoiceWord::Retry => match row.message {
            Some(message) if store.retry(message, by).await? => {
                notify(agent);
                format!("{message} waits again")
            }
            Some(message) => format!("{message} is not given up any more"),
            None => "there is no message to try again".to_owned(),
        },
        ChoiceWord::Release => match row.message {
            Some(root) => match store.release(root, released).await? {
                Released::Done { root, messages, agents } => {
                    agents.iter().for_each(notify);
                    format!(
                        "{root} may take up to {released} more turns, {messages} held wait again"
                    )
                }
                Released::NotHeld { root } => format!("nothing of {root} is held any more"),
                Released::Ended { root, by } => format!("{root} was ended by {by}"),
                Released::Unknown => "its message is gone".to_owned(),
            },
            None => "there is no message to release".to_owned(),
        },
        ChoiceWord::Start => {
            store.order(agent, Desired::Up, by).await?;
            change_notice::notify(&paths.change_notice("hub"));
            format!("{agent} is to run; the hub starts it")
        }
        ChoiceWord::Restart => {
            store.order_restart(agent, RestartWhen::Immediately, by).await?;
            change_notice::notify(&paths.change_notice("hub"));
            format!("{agent} is restarted by the hub")
        }
    }))
}

/// Returns whether the choice is a decision on an escalation: [`guide`] carries it out.
#[must_use]
pub fn guides(row: &FindingRow, choice: ChoiceWord) -> bool {
    row.kind.known() == Some(FindingKind::Escalation) && continues(choice).is_some()
}

/// Carries out a decision on an escalation, in one commit: the finding is resolved, its pause ends, and
/// by `abort` the open turn is ordered to end. Returns that turn. The agent's daemon is notified.
///
/// # Errors
/// As [`Store::answer_escalation`]; nothing has changed then.
pub async fn guide(
    site: Site<'_>,
    row: &FindingRow,
    choice: ChoiceWord,
) -> Result<Option<TurnId>, FindingError> {
    let answer = EscalationAnswer { number: row.number, choice, by: site.by.to_owned() };
    let answered = site.store.answer_escalation(answer).await?;
    change_notice::notify(&site.paths.change_notice(row.agent.folded()));
    Ok(answered.ends)
}

/// Resolves a finding whose choice was carried out. Doing so may have resolved it already.
///
/// # Errors
/// [`StoreError`] if the database cannot be written.
pub async fn settle(
    site: Site<'_>,
    number: FindingNumber,
    choice: ChoiceWord,
) -> Result<(), StoreError> {
    match site.store.decide_finding(number, choice, site.by).await {
        Ok(_)
        | Err(
            FindingError::Resolved { .. }
            | FindingError::Unknown(_)
            | FindingError::NoSuchChoice { .. },
        ) => Ok(()),
        Err(FindingError::Store(error)) => Err(error),
    }
}
