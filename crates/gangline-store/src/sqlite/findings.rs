//! Statements of findings: raised, seen, resolved; each with its event.

use gangline_core::{
    AgentName, FindingNumber, MessageId, Redacted,
    cause::Limit,
    finding::{Choice, ChoiceWord, FindingKind, FindingState, Severity},
    pause::PauseReason,
    word::Stored,
};
use rusqlite::{Connection, Row, params};

use super::{
    Writer, alerts, events,
    fault::Fault,
    fence, numbers,
    rows::{self, page},
    sql,
};
use crate::{
    error::FindingError,
    types::{AlertWords, FindingFilter, FindingRow, NewAlert, NewEvent, NewFinding, Raised},
};

/// So much of a message is quoted, in bytes.
const EVIDENCE_BYTES: usize = 200;

macro_rules! finding_sql {
    ($rest:literal) => {
        concat!(
            "SELECT number, agent, key, kind, severity, cause, evidence, choices, recommended, \
             affects, message, state, seen_by, resolved_by, choice, raised_at, changed_at, seen_at, \
             resolved_at FROM findings ",
            $rest
        )
    };
}

/// Raises a finding, or gives the unresolved one of its key new texts.
pub(crate) fn raise(w: &mut Writer, new: &NewFinding) -> Result<Raised, Fault> {
    fence::fence(w, &new.agent, None)?;
    put(w, new)
}

/// As [`raise`], without asking whose epoch it is: for a write that was let through already.
pub(super) fn put(w: &mut Writer, new: &NewFinding) -> Result<Raised, Fault> {
    if let Some(row) = unresolved(&w.connection, &new.agent, &new.key)? {
        renew(w, row.number, new)?;
        if new.severity > row.severity {
            alert(w, row.number, new)?;
        }
        return Ok(Raised { number: row.number, new: false });
    }
    let number = FindingNumber(numbers::next(w)?);
    let sql = "INSERT INTO findings (number, installation_id, agent, key, kind, severity, cause, \
               evidence, choices, recommended, affects, message, state, raised_at, changed_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'open', ?13, ?13)";
    sql::run(
        &w.connection,
        sql,
        params![
            number.0,
            &w.installation_id,
            new.agent.folded(),
            &new.key,
            new.kind.as_str(),
            new.severity.as_str(),
            new.cause.as_str(),
            new.evidence.as_str(),
            choices(&new.choices),
            new.recommended.map(ChoiceWord::as_str),
            new.affects.as_str(),
            new.message.map(|id| id.0),
            w.now.0
        ],
    )?;
    numbers::keep_in_step(w, number.0)?;
    record(w, number)?;
    alert(w, number, new)?;
    Ok(Raised { number, new: true })
}

/// Raises the alert about a finding that is new, or graver than it was. It is told again while a person
/// has to decide.
fn alert(w: &mut Writer, number: FindingNumber, new: &NewFinding) -> Result<(), Fault> {
    let Some(event) = gangline_core::alert::of_finding(new.kind) else { return Ok(()) };
    // A warning about a budget asks for nothing, and the agent works without what its folder brings.
    let waits = !new.choices.is_empty()
        && new.kind != FindingKind::UntrustedFolder
        && (new.kind != FindingKind::Budget || new.severity == Severity::Error);
    let words = new.alert.clone().unwrap_or_else(|| {
        let what = (&new.agent, new.cause.as_str());
        let text = gangline_core::alert::text::found(event, what, (number, &new.choices));
        // Masked as the cause is.
        AlertWords { text: Redacted::from_store(text), room_text: None }
    });
    // An agent may have many of these at once, or one after the other.
    let group = match new.kind {
        FindingKind::DeadLetter | FindingKind::HeldMessages | FindingKind::BreakerOpen => {
            new.kind.as_str()
        }
        _ => "",
    };
    let alert = NewAlert {
        group,
        about: waits.then_some(number.0),
        severity: new.severity,
        room_text: words.room_text,
        ..NewAlert::new(new.agent.clone(), event, words.text)
    };
    alerts::put(w, &alert).map(drop)
}

fn renew(w: &mut Writer, number: FindingNumber, new: &NewFinding) -> Result<(), Fault> {
    let sql = "UPDATE findings SET severity = ?2, cause = ?3, evidence = ?4, choices = ?5, \
               recommended = ?6, affects = ?7, message = ?8, changed_at = ?9 WHERE number = ?1";
    sql::run(
        &w.connection,
        sql,
        params![
            number.0,
            new.severity.as_str(),
            new.cause.as_str(),
            new.evidence.as_str(),
            choices(&new.choices),
            new.recommended.map(ChoiceWord::as_str),
            new.affects.as_str(),
            new.message.map(|id| id.0),
            w.now.0
        ],
    )?;
    Ok(())
}

fn choices(choices: &[Choice]) -> String {
    serde_json::to_string(choices).unwrap_or_default()
}

/// Resolves the unresolved finding of a key, if there is one.
pub(crate) fn resolve(
    w: &mut Writer,
    agent: &AgentName,
    key: &str,
) -> Result<Option<FindingNumber>, Fault> {
    fence::fence(w, agent, None)?;
    let Some(row) = unresolved(&w.connection, agent, key)? else { return Ok(None) };
    close(w, row.number, (None, None))?;
    Ok(Some(row.number))
}

/// A pause is over: so is its finding, whoever ended it.
pub(crate) fn pause_over(
    w: &mut Writer,
    agent: &AgentName,
    reason: PauseReason,
) -> Result<(), Fault> {
    let kind = match reason {
        PauseReason::Escalation => FindingKind::Escalation,
        PauseReason::RateLimit => FindingKind::RateLimit,
        PauseReason::Operator
        | PauseReason::Question
        | PauseReason::Schedule
        | PauseReason::Budget
        | PauseReason::Fleet => return Ok(()),
    };
    match unresolved(&w.connection, agent, kind.as_str())? {
        Some(row) => close(w, row.number, (None, None)),
        None => Ok(()),
    }
}

/// The key of the finding about a message that was given up.
fn dead_letter_key(message: MessageId) -> String {
    format!("{}/{message}", FindingKind::DeadLetter)
}

/// The key of the finding about the held messages of a cause.
fn held_key(root: MessageId) -> String {
    format!("{}/{root}", FindingKind::HeldMessages)
}

/// A message was given up.
pub(super) fn given_up(w: &mut Writer, agent: &AgentName, message: MessageId) -> Result<(), Fault> {
    let sql = "SELECT sender, attempt, body FROM messages WHERE id = ?";
    let (sender, attempt, body) = sql::one(&w.connection, sql, params![message.0], |row| {
        let text: String = row.get(2)?;
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, Redacted::from_store(text)))
    })?;
    let cause = format!("{message} from {sender} was given up after {attempt} attempts");
    let cause = Redacted::from_store(cause);
    let mut new = NewFinding::new(agent.clone(), FindingKind::DeadLetter, cause);
    new.key = dead_letter_key(message);
    new.evidence = body.head(EVIDENCE_BYTES);
    new.choices = vec![
        Choice::new(ChoiceWord::Retry, "tries it again, as if for the first time"),
        Choice::new(ChoiceWord::Dismiss, "leaves it given up"),
    ];
    new.recommended = Some(ChoiceWord::Retry);
    new.message = Some(message);
    put(w, &new).map(drop)
}

/// A person tried a message again that was given up.
pub(super) fn tried_again(w: &mut Writer, message: MessageId, by: &str) -> Result<(), Fault> {
    close_key(w, &dead_letter_key(message), (Some(ChoiceWord::Retry), Some(by)))
}

/// Messages of a cause are held.
pub(super) fn held(
    w: &mut Writer,
    (agent, root): (&AgentName, MessageId),
    (limit, held): (Limit, MessageId),
) -> Result<(), Fault> {
    let cause = match limit {
        Limit::Turns(turns) => format!("the request {root} has used all of its {turns} turns"),
        Limit::Hops(hops) => format!("{held} of the request {root} has come over {hops} agents"),
    };
    let cause = Redacted::from_store(format!("{cause}: its messages are held"));
    let mut new = NewFinding::new(agent.clone(), FindingKind::HeldMessages, cause);
    new.key = held_key(root);
    new.choices = vec![
        Choice::new(ChoiceWord::Release, "gives the request as many turns again"),
        Choice::new(ChoiceWord::Dismiss, "leaves its messages held"),
    ];
    new.message = Some(root);
    put(w, &new).map(drop)
}

/// The messages of a cause are held no more.
pub(super) fn not_held(w: &mut Writer, root: MessageId) -> Result<(), Fault> {
    close_key(w, &held_key(root), (None, None))
}

/// Resolves the findings of a key, whichever agent they are about.
fn close_key(
    w: &mut Writer,
    key: &str,
    how: (Option<ChoiceWord>, Option<&str>),
) -> Result<(), Fault> {
    let sql = "SELECT number FROM findings WHERE key = ? AND state <> 'resolved'";
    let numbers: Vec<i64> = sql::all(&w.connection, sql, params![key], sql::column)?;
    for number in numbers {
        close(w, FindingNumber(number), how)?;
    }
    Ok(())
}

/// Records that somebody has seen a finding.
pub(crate) fn see(
    w: &mut Writer,
    number: FindingNumber,
    by: &str,
) -> Result<Result<FindingRow, FindingError>, Fault> {
    let row = match open_one(&w.connection, number)? {
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    if row.state == FindingState::Open {
        let sql =
            "UPDATE findings SET state = 'seen', seen_by = ?2, seen_at = ?3 WHERE number = ?1";
        sql::run(&w.connection, sql, params![number.0, by, w.now.0])?;
        record(w, number)?;
    }
    Ok(one(&w.connection, number)?.ok_or(FindingError::Unknown(number)))
}

/// Resolves a finding by a person's choice.
pub(crate) fn decide(
    w: &mut Writer,
    number: FindingNumber,
    choice: ChoiceWord,
    by: &str,
) -> Result<Result<FindingRow, FindingError>, Fault> {
    let row = match open_one(&w.connection, number)? {
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    let dismissed = choice == ChoiceWord::Dismiss && row.may_be_dismissed();
    if !dismissed && row.choices.iter().all(|it| it.word != choice) {
        let dismiss = row.may_be_dismissed().then_some(ChoiceWord::Dismiss);
        let offered = row.choices.into_iter().map(|it| it.word);
        let known = offered.filter(|word| Some(*word) != dismiss).chain(dismiss).collect();
        return Ok(Err(FindingError::NoSuchChoice { number, choice, known }));
    }
    close(w, number, (Some(choice), Some(by)))?;
    Ok(one(&w.connection, number)?.ok_or(FindingError::Unknown(number)))
}

/// Returns a finding that is not resolved.
fn open_one(
    c: &Connection,
    number: FindingNumber,
) -> Result<Result<FindingRow, FindingError>, Fault> {
    let Some(row) = one(c, number)? else { return Ok(Err(FindingError::Unknown(number))) };
    Ok(match row.state {
        FindingState::Open | FindingState::Seen => Ok(row),
        FindingState::Resolved => Err(FindingError::Resolved { number, by: row.resolved_by }),
    })
}

pub(super) fn close(
    w: &mut Writer,
    number: FindingNumber,
    (choice, by): (Option<ChoiceWord>, Option<&str>),
) -> Result<(), Fault> {
    let sql = "UPDATE findings SET state = 'resolved', choice = ?2, resolved_by = ?3, \
               resolved_at = ?4 WHERE number = ?1";
    let choice = choice.map(ChoiceWord::as_str);
    sql::run(&w.connection, sql, params![number.0, choice, by, w.now.0])?;
    record(w, number)
}

/// Records where a finding stands now.
pub(super) fn record(w: &mut Writer, number: FindingNumber) -> Result<(), Fault> {
    let Some(row) = one(&w.connection, number)? else { return Ok(()) };
    let by = match row.state {
        FindingState::Open => None,
        FindingState::Seen => row.seen_by.as_deref(),
        FindingState::Resolved => row.resolved_by.as_deref(),
    };
    let payload = serde_json::json!({
        "number": row.number,
        "state": row.state,
        "kind": row.kind.as_str(),
        "severity": row.severity,
        "cause": row.cause.as_str(),
        "choice": row.choice,
        "by": by,
    });
    let event = NewEvent {
        agent: row.agent,
        epoch: None,
        turn: None,
        kind: "finding".to_owned(),
        // Texts that were masked before, and words of the program.
        payload: Redacted::from_store(payload.to_string()),
    };
    events::put(w, &[event]).map(drop)
}

fn unresolved(c: &Connection, agent: &AgentName, key: &str) -> Result<Option<FindingRow>, Fault> {
    let sql = finding_sql!("WHERE agent = ? AND key = ? AND state <> 'resolved'");
    Ok(sql::first(c, sql, params![agent.folded(), key], row)?)
}

/// Returns the number of the agent's unresolved finding of a key.
pub(super) fn number_of(
    c: &Connection,
    agent: &AgentName,
    key: &str,
) -> Result<Option<FindingNumber>, Fault> {
    Ok(unresolved(c, agent, key)?.map(|row| row.number))
}

pub(crate) fn one(c: &Connection, number: FindingNumber) -> Result<Option<FindingRow>, Fault> {
    Ok(sql::first(c, finding_sql!("WHERE number = ?"), params![number.0], row)?)
}

/// Returns findings, newest first.
pub(crate) fn list(
    c: &Connection,
    filter: &FindingFilter,
    limit: u32,
) -> Result<Vec<FindingRow>, Fault> {
    let sql = finding_sql!(
        "WHERE (?1 IS NULL OR agent = ?1) AND (state <> 'resolved' OR ?2) \
         ORDER BY number DESC LIMIT ?3"
    );
    let agent = filter.agent.as_ref().map(AgentName::folded);
    Ok(sql::all(c, sql, params![agent, filter.resolved, page(limit)], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<FindingRow> {
    let text = |column: &'static str| -> rusqlite::Result<Redacted> {
        Ok(Redacted::from_store(row.get(column)?))
    };
    let word = |column: &'static str| -> rusqlite::Result<Option<ChoiceWord>> {
        Ok(row.get::<_, Option<String>>(column)?.and_then(|word| word.parse().ok()))
    };
    Ok(FindingRow {
        number: FindingNumber(row.get("number")?),
        agent: rows::parsed(row, "agent")?,
        key: row.get("key")?,
        kind: Stored::from(row.get::<_, String>("kind")?),
        severity: rows::parsed(row, "severity")?,
        cause: text("cause")?,
        evidence: text("evidence")?,
        choices: known(&row.get::<_, String>("choices")?),
        recommended: word("recommended")?,
        affects: text("affects")?,
        message: row.get::<_, Option<i64>>("message")?.map(MessageId),
        state: rows::parsed(row, "state")?,
        seen_by: row.get("seen_by")?,
        resolved_by: row.get("resolved_by")?,
        choice: word("choice")?,
        raised_at: rows::time(row, "raised_at")?,
        changed_at: rows::time(row, "changed_at")?,
        seen_at: rows::maybe_time(row, "seen_at")?,
        resolved_at: rows::maybe_time(row, "resolved_at")?,
    })
}

/// Reads the choices that this program knows.
fn known(text: &str) -> Vec<Choice> {
    let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect()
}
