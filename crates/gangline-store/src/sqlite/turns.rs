//! Statements of turns: T1, T3, recovery.

use gangline_core::{AgentName, Epoch, MessageId, MessageState, answer::How, redact::Redacted};
use rusqlite::{Connection, params};

use super::{
    Writer, approvals, asked, causes, events,
    fault::Fault,
    fence, findings, messages,
    rows::{self, message_sql, turn_sql},
    send, sql, turn_orders,
};
use crate::{
    error::StoreError,
    types::{EndTurn, Ended, NewEvent, OpenTurn, Send, Settle, Take, Taken, TurnMessage},
};

pub(crate) fn take(w: &mut Writer, take: &Take) -> Result<Taken, Fault> {
    fence::fence(w, &take.agent, Some(take.turn.epoch))?;
    let sql = "SELECT ended_at FROM turns WHERE agent = ? AND epoch = ? AND number = ?";
    let there: Option<Option<i64>> = sql::first(
        &w.connection,
        sql,
        params![take.agent.folded(), take.turn.epoch.0, take.turn.number],
        sql::column,
    )?;
    if let Some(Some(_)) = there {
        let (agent, turn) = (take.agent.clone(), take.turn);
        return Err(StoreError::TurnNotOpen { agent, turn }.into());
    }
    let mut taken = Taken::default();
    let mut news = false;
    // A repetition adds nothing, so it counts nothing.
    let inherited = match there.is_none() && take.messages.is_empty() {
        true => causes::inherit(w, take)?,
        false => None,
    };
    for id in &take.messages {
        match take_one(w, take, *id)? {
            One::In { attempt, new } => {
                taken.attempts.push((*id, attempt));
                news |= new;
            }
            One::Gone { teller } => {
                taken.gone.push(*id);
                taken.teller = taken.teller.or(teller);
            }
        }
    }
    let new_turn = there.is_none() && (take.messages.is_empty() || !taken.attempts.is_empty());
    if new_turn {
        open(w, take, inherited)?;
    }
    if new_turn || news {
        let kind = if new_turn { "turn_started" } else { "turn_steered" };
        events::put(w, &[taken_event(take, &taken, kind)])?;
    }
    taken.pending = messages::pending_count(&w.connection, &take.agent, w.now)?;
    Ok(taken)
}

/// What became of one message of a take.
enum One {
    /// It is in the turn; `new`: it was not before.
    In { attempt: i64, new: bool },
    /// It is not.
    Gone { teller: Option<AgentName> },
}

/// Takes one message.
fn take_one(w: &mut Writer, take: &Take, id: MessageId) -> Result<One, Fault> {
    match causes::admit(w, take, id)? {
        causes::Admitted::Taken => {}
        causes::Admitted::Kept(teller) => return Ok(One::Gone { teller }),
        causes::Admitted::NotWaiting => return attempt_of(w, take, id),
    }
    let sql = "UPDATE messages SET state = 'in_turn', attempt = attempt + 1, takes = takes + 1, \
               turn_epoch = ?3, turn_number = ?4, taken_at = ?5, reason = NULL \
               WHERE id = ?1 AND agent = ?2 AND state = 'accepted' RETURNING attempt";
    let attempt: i64 = sql::one(
        &w.connection,
        sql,
        params![id.0, take.agent.folded(), take.turn.epoch.0, take.turn.number, w.now.0],
        sql::column,
    )?;
    let sql = "INSERT INTO turn_messages (agent, epoch, number, message, how, attempt) \
               VALUES (?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            take.agent.folded(),
            take.turn.epoch.0,
            take.turn.number,
            id.0,
            take.how.as_str(),
            attempt
        ],
    )?;
    Ok(One::In { attempt, new: true })
}

/// Returns the attempt of a message that the turn has already: a repetition of a take whose answer
/// got lost.
fn attempt_of(w: &Writer, take: &Take, id: MessageId) -> Result<One, Fault> {
    let sql = "SELECT attempt FROM messages WHERE id = ?1 AND agent = ?2 \
               AND state = 'in_turn' AND turn_epoch = ?3 AND turn_number = ?4";
    let with = params![id.0, take.agent.folded(), take.turn.epoch.0, take.turn.number];
    let attempt: Option<i64> = sql::first(&w.connection, sql, with, sql::column)?;
    Ok(match attempt {
        Some(attempt) => One::In { attempt, new: false },
        None => One::Gone { teller: None },
    })
}

fn open(w: &mut Writer, take: &Take, inherited: Option<MessageId>) -> Result<(), Fault> {
    let sql = "INSERT INTO turns (agent, epoch, number, installation_id, prompt_uuid, started_at, \
               cause) VALUES (?, ?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            take.agent.folded(),
            take.turn.epoch.0,
            take.turn.number,
            &w.installation_id,
            &take.prompt_uuid,
            w.now.0,
            inherited.map(|id| id.0)
        ],
    )?;
    Ok(())
}

fn taken_event(take: &Take, taken: &Taken, kind: &str) -> NewEvent {
    let messages: Vec<_> = taken
        .attempts
        .iter()
        .map(|(id, attempt)| serde_json::json!({ "id": id, "attempt": attempt }))
        .collect();
    let payload = serde_json::json!({
        "turn": take.turn,
        "how": take.how.as_str(),
        "prompt_uuid": take.prompt_uuid,
        "messages": messages,
    });
    NewEvent {
        agent: take.agent.clone(),
        epoch: None,
        turn: Some(take.turn),
        kind: kind.to_owned(),
        // Ids and words of the program only.
        payload: Redacted::from_store(payload.to_string()),
    }
}

pub(crate) fn end(w: &mut Writer, end: &EndTurn) -> Result<Ended, Fault> {
    fence::fence_end(w, &end.agent, end.turn)?;
    let sql = "UPDATE turns SET ended_at = ?, outcome = ? \
               WHERE agent = ? AND epoch = ? AND number = ? AND ended_at IS NULL";
    let done = sql::run(
        &w.connection,
        sql,
        params![
            w.now.0,
            end.outcome.to_string(),
            end.agent.folded(),
            end.turn.epoch.0,
            end.turn.number
        ],
    )?;
    if done == 0 {
        let (agent, turn) = (end.agent.clone(), end.turn);
        return Err(StoreError::TurnNotOpen { agent, turn }.into());
    }
    turn_orders::turn_over(w, end)?;
    let mut ended = Ended::default();
    for settle in &end.settle {
        if !settle_one(w, end, settle)? {
            ended.skipped.push(settle.message);
        }
    }
    ended.returned = return_rest(w, end)?;
    let answered = asked::answer_by_turn(w, end)?;
    asked::keep_answered(w, end)?;
    ended.notify = answered.askers;
    for send in &end.sends {
        let answers = send.in_reply_to.is_some_and(|message| answered.messages.contains(&message));
        let receipt = match answers {
            // The asker has the answer to its question.
            true => send::put(w, &Send { deliver: None, ..send.clone() }, None)?,
            false => send::put(w, send, None)?,
        };
        ended.outbox.extend(receipt.outbox);
        if receipt.delivered.is_some() {
            ended.notify.extend(send.deliver.as_ref().map(|message| message.agent.clone()));
        }
    }
    events::put(w, &end.events)?;
    let why = end.withdraw_approvals.as_deref().unwrap_or("the turn ended");
    ended.withdrawn = approvals::withdraw(w, &end.agent, end.turn, why)?;
    Ok(ended)
}

fn settle_one(w: &mut Writer, end: &EndTurn, settle: &Settle) -> Result<bool, Fault> {
    if settle.state == MessageState::InTurn {
        return Err(StoreError::Invalid("a message cannot stay in a turn that ends").into());
    }
    let sql = "UPDATE messages SET state = ?, reason = ?, answer = ?, not_before = ?, \
               attempt = attempt - ?, settled_at = ? WHERE id = ? AND agent = ? \
               AND state = 'in_turn' AND turn_epoch = ? AND turn_number = ?";
    let done = sql::run(
        &w.connection,
        sql,
        params![
            settle.state.as_str(),
            &settle.reason,
            settle.answer.as_ref().map(Redacted::as_str),
            settle.not_before.map(|at| at.0),
            i64::from(settle.uncount_attempt),
            settle.state.is_terminal().then_some(w.now.0),
            settle.message.0,
            end.agent.folded(),
            end.turn.epoch.0,
            end.turn.number
        ],
    )?;
    if done > 0 && settle.state == MessageState::DeadLetter {
        findings::given_up(w, &end.agent, settle.message)?;
    }
    Ok(done > 0)
}

/// Puts back what nobody settled: a message never stays in a turn that has ended.
fn return_rest(w: &mut Writer, end: &EndTurn) -> Result<Vec<MessageId>, Fault> {
    let sql = "UPDATE messages SET state = 'accepted', reason = 'not settled by its turn' \
               WHERE agent = ? AND state = 'in_turn' AND turn_epoch = ? AND turn_number = ? \
               RETURNING id";
    let ids: Vec<i64> = sql::all(
        &w.connection,
        sql,
        params![end.agent.folded(), end.turn.epoch.0, end.turn.number],
        sql::column,
    )?;
    Ok(ids.into_iter().map(MessageId).collect())
}

pub(crate) fn open_turns(
    c: &Connection,
    agent: &AgentName,
    older_than: Epoch,
) -> Result<Vec<OpenTurn>, Fault> {
    let sql = turn_sql!(
        "WHERE t.agent = ? AND t.ended_at IS NULL AND t.epoch < ? ORDER BY t.epoch, t.number"
    );
    let mut turns = Vec::new();
    for turn in sql::all(c, sql, params![agent.folded(), older_than.0], rows::turn)? {
        let sql = message_sql!(
            ", t.how FROM turn_messages t JOIN messages m ON m.id = t.message \
             WHERE t.agent = ? AND t.epoch = ? AND t.number = ? ORDER BY t.message"
        );
        let with = params![agent.folded(), turn.turn.epoch.0, turn.turn.number];
        let messages = sql::all(c, sql, with, |row| {
            let how: String = row.get("how")?;
            let how = how.parse().unwrap_or(How::Woke);
            Ok(TurnMessage { message: rows::message(row)?, how })
        })?;
        let ended_by = turn_orders::ordered_end(c, agent, turn.turn)?;
        turns.push(OpenTurn { turn, messages, ended_by });
    }
    Ok(turns)
}
