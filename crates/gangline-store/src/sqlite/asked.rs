//! What the end of a turn means for the questions that its messages asked: every turn ends in an
//! answer, also of an agent that did not call the tool for it.

use gangline_core::{
    AgentName, MessageId, MessageState, Principal, Tier,
    question::{
        self, ANSWER_MAX, AnswerRule, Facts, NO_ANSWER, QuestionState, Standing, Where, may_answer,
    },
    redact::Redacted,
    trust::Policy,
};
use rusqlite::{Connection, params};

use super::{Writer, fault::Fault, questions, sql};
use crate::types::{EndTurn, NewAnswer, QuestionRow, Settle};

/// The most messages that are searched to learn what one of them is about: each question back adds a hop, and
/// hops are limited.
const ABOUT_MAX: usize = 64;

/// What a turn answered by its end.
pub(super) struct Answered {
    /// The messages whose askers need not be told it again.
    pub(super) messages: Vec<MessageId>,
    /// Those who asked.
    pub(super) askers: Vec<AgentName>,
}

/// Answers the questions that the turn's messages asked and that the agent has not answered by tool:
/// with what it said to the asker.
pub(super) fn answer_by_turn(w: &mut Writer, end: &EndTurn) -> Result<Answered, Fault> {
    let (mut answered, mut closed) =
        (Answered { messages: Vec::new(), askers: Vec::new() }, Vec::new());
    for settle in &end.settle {
        for row in about(&w.connection, &end.agent, settle.message)? {
            let is_open = row.state == QuestionState::Open;
            if closed.contains(&row.number) || (is_open && settled_by(w, (end, settle), &row)?) {
                closed.push(row.number);
                answered.messages.push(settle.message);
                answered.askers.push(row.agent);
            } else if counts_no_more(w, end, &row)? {
                answered.messages.push(settle.message);
            }
        }
    }
    Ok(answered)
}

/// Returns whether what the agent says about a question is no answer to its asker: somebody else's stands, or
/// only people's count. It would be a prompt that does not say what it is about.
fn counts_no_more(w: &Writer, end: &EndTurn, row: &QuestionRow) -> Result<bool, Fault> {
    let elsewhere = row.answered_by.as_deref() != Some(end.agent.as_str());
    let decided = row.state == QuestionState::Answered && elsewhere && !has_voted(w, end, row)?;
    Ok(decided || row.rule == AnswerRule::Humans)
}

/// Returns the questions to an agent that its message is about: the one that the message asks; or, if it
/// brings the answer to a question of the agent's own, those whose askers that question was for (R1-51).
pub(crate) fn about(
    c: &Connection,
    agent: &AgentName,
    message: MessageId,
) -> Result<Vec<QuestionRow>, Fault> {
    let mut found: Vec<QuestionRow> = Vec::new();
    let mut look: Vec<(MessageId, Option<QuestionRow>)> = vec![(message, None)];
    let mut looked = 0;
    while let Some((message, by)) = look.pop() {
        looked += 1;
        if looked > ABOUT_MAX {
            break;
        }
        let Some(row) = questions::of_message(c, message)? else { continue };
        if row.agent == *agent {
            let Some(turn) = row.turn else { continue };
            let sql = "SELECT message FROM turn_messages WHERE agent = ? AND epoch = ? \
                       AND number = ? AND message != ?";
            let with = params![agent.folded(), turn.epoch.0, turn.number, message.0];
            for id in sql::all(c, sql, with, sql::column)? {
                look.push((MessageId(id), Some(row.clone())));
            }
            continue;
        }
        let is_asked = row.asked.agents().contains(agent);
        let asked_back = by.is_none_or(|own| own.asked.agents().contains(&row.agent));
        if is_asked && asked_back && found.iter().all(|it| it.number != row.number) {
            found.push(row);
        }
    }
    Ok(found)
}

/// Answers an open question with what the turn said; returns whether its asker needs no other reply.
fn settled_by(
    w: &mut Writer,
    (end, settle): (&EndTurn, &Settle),
    row: &QuestionRow,
) -> Result<bool, Fault> {
    let me = Principal { account: end.agent.to_string(), tier: Tier::Agent };
    let facts = Facts { number: row.number, asker: &row.agent, asked: &row.asked, rule: row.rule };
    let Ok(standing) = may_answer(facts, &me, Where::Direct, &Policy::default()) else {
        return Ok(false);
    };
    if has_voted(w, end, row)? {
        return Ok(false);
    }
    // An agent that asks back answers once it has read the reply (R1-51).
    if questions::has_asked_back(&w.connection, &end.agent, (settle.message, &row.agent))? {
        return Ok(true);
    }
    let Some(text) = text(w, (end, settle), row)? else { return Ok(false) };
    // The others may have an answer.
    let others = row.asked.agents().len() > 1 && text.starts_with(NO_ANSWER);
    let standing = match standing {
        Standing::Decides if others => Standing::Counts,
        Standing::Decides | Standing::Counts | Standing::Advises => standing,
    };
    let known_as = me.account.clone();
    let new = NewAnswer { known_as, by: me, standing, text: Redacted::from_store(text) };
    Ok(questions::answer(w, row.number, &new)?.is_ok())
}

/// A message that goes back to the queue and whose question the agent has answered, or that is closed,
/// does not come again.
pub(super) fn keep_answered(w: &mut Writer, end: &EndTurn) -> Result<(), Fault> {
    let sql = "UPDATE messages SET settled_at = ?1, \
               reason = 'question ' || question || ' has an answer', \
               state = CASE WHEN EXISTS (SELECT 1 FROM questions q WHERE q.id = question \
                   AND q.state IN ('open', 'answered')) THEN 'answered' ELSE 'cancelled' END \
               WHERE agent = ?2 AND state = 'accepted' AND turn_epoch = ?3 AND turn_number = ?4 \
               AND EXISTS (SELECT 1 FROM questions q WHERE q.id = question AND q.agent != ?2 \
                   AND (q.state != 'open' OR EXISTS (SELECT 1 FROM question_votes v \
                       WHERE v.question = q.id AND v.agent = ?2)))";
    let with = params![w.now.0, end.agent.folded(), end.turn.epoch.0, end.turn.number];
    sql::run(&w.connection, sql, with)?;
    Ok(())
}

fn has_voted(w: &Writer, end: &EndTurn, row: &QuestionRow) -> Result<bool, Fault> {
    let votes = questions::votes(&w.connection, row.number)?;
    Ok(votes.iter().any(|vote| vote.by == end.agent))
}

/// Returns what the agent answers: what it said at the end, what it sent the asker, or why it has no answer.
fn text(
    w: &mut Writer,
    (end, settle): (&EndTurn, &Settle),
    row: &QuestionRow,
) -> Result<Option<String>, Fault> {
    let said = match settle.state {
        MessageState::Answered => match &settle.answer {
            Some(answer) => Some(answer.to_string()),
            None => said_to_asker(w, end, row)?,
        },
        MessageState::NoReply | MessageState::Failed | MessageState::DeadLetter => {
            let why = settle.reason.as_deref().unwrap_or(settle.state.as_str());
            return Ok(Some(format!("{NO_ANSWER} {why}")));
        }
        MessageState::Accepted
        | MessageState::InTurn
        | MessageState::Cancelled
        | MessageState::Expired
        | MessageState::Refused
        | MessageState::Held => None,
    };
    let Some(mut said) = said else { return Ok(None) };
    said.truncate(said.floor_char_boundary(ANSWER_MAX));
    // The number of an option means the option; whatever else it says is its answer.
    Ok(Some(question::resolve(&row.options, row.choose, &said).unwrap_or(said)))
}

/// Returns what the turn said to the asker: the text with which another message of the same asker is
/// settled, or the last lines that it sent by tool.
fn said_to_asker(
    w: &mut Writer,
    end: &EndTurn,
    row: &QuestionRow,
) -> Result<Option<String>, Fault> {
    for other in &end.settle {
        let Some(answer) = &other.answer else { continue };
        let sql = "SELECT principal FROM messages WHERE id = ? AND origin = 'agent'";
        let by: Option<String> =
            sql::first(&w.connection, sql, params![other.message.0], sql::column)?;
        if by.as_deref() == Some(row.agent.as_str()) {
            return Ok(Some(answer.to_string()));
        }
    }
    let sql = "SELECT body FROM outbox WHERE agent = ?1 AND turn_epoch = ?2 AND turn_number = ?3 \
               AND idem_key = (SELECT idem_key FROM outbox WHERE agent = ?1 AND turn_epoch = ?2 \
                   AND turn_number = ?3 AND lower(target) = ?4 ORDER BY id DESC LIMIT 1) \
               ORDER BY part";
    let (agent, turn) = (end.agent.folded(), end.turn);
    let with = params![agent, turn.epoch.0, turn.number, row.agent.folded()];
    let lines: Vec<String> = sql::all(&w.connection, sql, with, sql::column)?;
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}
