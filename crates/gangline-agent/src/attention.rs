//! Answers to findings: what a choice does, the same on every surface.
//!
//! What a choice does and the end of its finding are rows, and one commit ([`answer`]): the daemon of the agent,
//! or the hub, sees them there. Start at [`chosen`].

use gangline_api::status::{ShownPause, still_held as still_held_by};
use gangline_core::{AgentName, FindingNumber, finding::ChoiceWord, pause::Continue};
use gangline_os::{
    change_notice,
    clock::{UnixMicros, rfc3339},
    paths::Paths,
};
use gangline_store::{
    ChoiceDone, FindingAnswer, FindingError, FindingRow, PauseRow, Released, Store, StoreError,
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

/// Returns the choice that somebody has said of an unresolved finding.
///
/// # Errors
/// As [`Store::answer_finding`]; a word that is no choice is [`NotChosen::NoSuchWord`].
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

/// Carries out a choice and resolves its finding, in one commit, and notifies whom it concerns. A daemon that
/// dies at once has been told: its successor reads the same rows.
///
/// # Errors
/// As [`Store::answer_finding`]; nothing has changed then.
pub async fn answer(
    site: Site<'_>,
    row: &FindingRow,
    choice: ChoiceWord,
) -> Result<ChoiceDone, FindingError> {
    let Site { store, paths, by, released } = site;
    let answer = FindingAnswer { number: row.number, choice, by: by.to_owned(), released };
    let done = store.answer_finding(answer).await?.done;
    let notify = |name: &str| change_notice::notify(&paths.change_notice(name));
    match &done {
        ChoiceDone::Resumed | ChoiceDone::Aborted(_) | ChoiceDone::Retried(_) => {
            notify(row.agent.folded());
        }
        ChoiceDone::Released(Released::Done { agents, .. }) => {
            agents.iter().for_each(|agent| notify(agent.folded()));
        }
        ChoiceDone::Started | ChoiceDone::Restarted => notify("hub"),
        ChoiceDone::NotGivenUp(_)
        | ChoiceDone::Released(_)
        | ChoiceDone::NoMessage
        | ChoiceDone::Dismissed => {}
    }
    Ok(done)
}

/// Returns what a choice has done, in words; `None` if that depends on what else holds the agent.
#[must_use]
pub fn told(site: Site<'_>, agent: &AgentName, done: &ChoiceDone) -> Option<String> {
    let released = site.released;
    Some(match done {
        ChoiceDone::Resumed | ChoiceDone::Aborted(_) => return None,
        ChoiceDone::Dismissed => "put away".to_owned(),
        ChoiceDone::Retried(message) => format!("{message} waits again"),
        ChoiceDone::NotGivenUp(message) => format!("{message} is not given up any more"),
        ChoiceDone::NoMessage => "it is about no message, so nothing was done".to_owned(),
        ChoiceDone::Released(Released::Done { root, messages, .. }) => {
            format!("{root} may take up to {released} more turns, {messages} held wait again")
        }
        ChoiceDone::Released(Released::NotHeld { root }) => {
            format!("nothing of {root} is held any more")
        }
        ChoiceDone::Released(Released::Ended { root, by }) => format!("{root} was ended by {by}"),
        ChoiceDone::Released(Released::Unknown) => "its message is gone".to_owned(),
        ChoiceDone::Started => format!("{agent} is to run; the hub starts it"),
        ChoiceDone::Restarted => format!("{agent} is restarted by the hub"),
    })
}
