//! Recovery at the start: settles what an earlier daemon left open, before anything new begins.
//!
//! The answer rule runs over the lost turn's recorded events; a recorded tool call counts as its
//! result, and a send counts if its rows are in the outbox.

use std::collections::HashSet;

use gangline_api::event::{self, Event};
use gangline_core::{
    AgentName, MessageId, SendKey, TurnId,
    act::ActKind,
    answer::{How, Rules, TurnAction, TurnMessage},
    block::Block,
    outcome::{By, OutcomeRecord},
    recovery::{self, LostTurn, SentLine},
};
use gangline_mcp::table;
use gangline_os::clock::UnixMicros;
use gangline_store::{
    ActAgain, EndTurn, EventQuery, OpenTurn, OutboxRow, Store, StoreError, Waited,
};
use serde_json::Value;
use tracing::info;

use crate::{
    agent_loop::{sends_for, settle, tool_kind},
    identity::{Identity, new_event},
};

/// What was settled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// How many turns.
    pub(crate) turns: usize,
    /// The other agents that have something of it, such as the answer to their question: notify them.
    pub(crate) notify: Vec<AgentName>,
}

/// Settles every turn of an older epoch.
pub(crate) async fn recover(
    me: &Identity,
    store: &Store,
    rules: Rules,
) -> Result<Recovered, StoreError> {
    store.void_older(&me.agent, me.epoch).await?;
    // Their callers are gone with the daemon: the answers are messages.
    store.stop_waiting(&me.agent, Waited::Before(me.epoch)).await?;
    let open = store.open_turns(&me.agent, me.epoch).await?;
    let mut recovered = Recovered { turns: open.len(), notify: Vec::new() };
    for turn in open {
        recovered.notify.extend(recover_one(me, store, rules, turn).await?);
    }
    Ok(recovered)
}

async fn recover_one(
    me: &Identity,
    store: &Store,
    rules: Rules,
    open: OpenTurn,
) -> Result<Vec<AgentName>, StoreError> {
    let turn = open.turn.turn;
    let lines = lines_of(store, &open).await?;
    let recovered = recovery::recover(
        LostTurn {
            turn,
            messages: open.messages.iter().map(message).collect(),
            actions: for_the_prompt(actions(store, &me.agent, turn, &lines).await?, &open.messages),
            sent: lines.iter().map(sent_line).collect(),
            ended: open.ended_by.is_some().then_some(By::Operator),
        },
        rules,
    );
    let mut sends = Vec::new();
    for one in &recovered.settle {
        let row = open.messages.iter().map(|entry| &entry.message).find(|m| m.id == one.message);
        if let Some(row) = row {
            sends.extend(sends_for(me, turn, row, one));
        }
    }
    let outcome = OutcomeRecord::from(&recovered.outcome);
    let ended = Event::from(event::TurnEnded {
        turn,
        outcome: outcome.clone(),
        reason: Some(why(&open)),
        messages: recovered.settle.iter().map(|one| one.message).collect(),
    });
    let end = EndTurn {
        agent: me.agent.clone(),
        turn,
        outcome,
        settle: recovered.settle.iter().map(|one| settle(one, &me.redactor)).collect(),
        sends,
        events: new_event(me, Some(turn), &ended).into_iter().collect(),
        withdraw_approvals: Some("the daemon ended".to_owned()),
    };
    let ended = store.end_turn(end).await?;
    info!(%turn, "recovered a lost turn");
    Ok(ended.notify)
}

/// Returns why the turn ended, for its record.
fn why(open: &OpenTurn) -> String {
    match &open.ended_by {
        Some(by) => format!("{by} had ended it when the daemon ended"),
        None => "the daemon ended in the middle of it".to_owned(),
    }
}

fn message(entry: &gangline_store::TurnMessage) -> TurnMessage {
    let row = &entry.message;
    TurnMessage {
        id: row.id,
        asker: row.sender.clone(),
        target: row.target.clone(),
        origin: row.origin,
        attempt: row.attempt,
        in_reply_to: row.in_reply_to,
        how: entry.how,
        joined: 0,
    }
}

/// The lines that the turn sent by tool.
async fn lines_of(store: &Store, open: &OpenTurn) -> Result<Vec<OutboxRow>, StoreError> {
    let mut lines: Vec<OutboxRow> = Vec::new();
    let mut seen = HashSet::new();
    for entry in &open.messages {
        let Some(trace) = store.trace(entry.message.id).await? else { continue };
        let of_turn =
            trace.outbox.into_iter().filter(|row| row.idem_key.turn() == Some(open.turn.turn));
        lines.extend(of_turn.filter(|row| seen.insert(row.id)));
    }
    let again = store.acts_again(&open.turn.agent, open.turn.turn).await?;
    for one in &again {
        lines.extend(lines_again(store, open, one).await?);
    }
    lines.sort_by_key(|row| (row.created_at, row.id));
    Ok(lines)
}

/// Returns the lines of an earlier attempt that a call of this turn was answered with, as if this turn had
/// sent them by that call.
async fn lines_again(
    store: &Store,
    open: &OpenTurn,
    again: &ActAgain,
) -> Result<Vec<OutboxRow>, StoreError> {
    let (first, now) = (again.act.turn, open.turn.turn);
    let announced = |call: String| {
        let of = |turn| SendKey::of_call(Some(turn), &call);
        (of(first).as_str().to_owned(), of(now))
    };
    let (there, here) = match again.act.kind {
        ActKind::Send => (again.act.request.clone(), again.request.clone().into()),
        ActKind::Question => announced(format!("ask-{}", again.act.number)),
        ActKind::Change => announced(format!("change-{}-0", again.act.number)),
        ActKind::Letter | ActKind::Reminder | ActKind::Order => return Ok(Vec::new()),
    };
    let rows = store.outbox_by_idem(&open.turn.agent, &there).await?;
    let as_if = |row| OutboxRow {
        idem_key: SendKey::clone(&here),
        turn: Some(now),
        in_reply_to: again.in_reply_to,
        created_at: again.at,
        ..row
    };
    Ok(rows.into_iter().map(as_if).collect())
}

fn sent_line(row: &OutboxRow) -> SentLine {
    SentLine { to: row.target.clone(), text: row.body.as_str().to_owned() }
}

/// Returns what the turn did, as far as it is recorded.
async fn actions(
    store: &Store,
    agent: &AgentName,
    turn: TurnId,
    lines: &[OutboxRow],
) -> Result<Vec<TurnAction>, StoreError> {
    let mut said = Vec::new();
    let mut after = None;
    loop {
        let query = EventQuery {
            agent: Some(agent.clone()),
            turn: Some(turn),
            after: after.clone(),
            ..EventQuery::default()
        };
        let page = store.events(query).await?;
        if page.events.is_empty() {
            return Ok(in_order(turn, said, lines));
        }
        after = Some(page.cursor);
        for recorded in page.events {
            let payload = serde_json::from_str(recorded.payload.as_str()).unwrap_or_default();
            if let Ok(Some(Event::Assistant(words))) = Event::decode(&recorded.kind, payload) {
                said.push((recorded.at, words));
            }
        }
    }
}

/// A `no_reply` that names no message is one to what the turn had then. What joined the turn may have come
/// later: it is given again.
fn for_the_prompt(
    actions: Vec<TurnAction>,
    messages: &[gangline_store::TurnMessage],
) -> Vec<TurnAction> {
    let woke = messages.iter().filter(|entry| entry.how == How::Woke);
    let each = woke.map(|entry| TurnAction::NoReply { message: Some(entry.message.id) });
    let each: Vec<TurnAction> = each.collect();
    let one = |action| match action {
        TurnAction::NoReply { message: None } => each.clone(),
        other => vec![other],
    };
    actions.into_iter().flat_map(one).collect()
}

/// Puts what was said by the model and what was sent into one order. A send by the tool stands at
/// its call; one by the agent's shell has none of its own, and stands where its time is.
fn in_order(
    turn: TurnId,
    said: Vec<(UnixMicros, event::Assistant)>,
    lines: &[OutboxRow],
) -> Vec<TurnAction> {
    let mut actions = Vec::new();
    let mut counted = HashSet::new();
    for (at, words) in said {
        sent_before(Some(at), lines, (&mut actions, &mut counted));
        for block in words.content {
            action(block, turn, lines, (&mut actions, &mut counted));
        }
    }
    // A send may be committed before the words that led to it.
    sent_before(None, lines, (&mut actions, &mut counted));
    actions
}

/// Adds the sends before a time that were not counted yet.
fn sent_before(
    time: Option<UnixMicros>,
    lines: &[OutboxRow],
    (actions, counted): (&mut Vec<TurnAction>, &mut HashSet<SendKey>),
) {
    for row in lines.iter().filter(|row| time.is_none_or(|time| row.created_at < time)) {
        if counted.insert(row.idem_key.clone()) {
            actions.push(sent(row));
            actions.push(TurnAction::ToolResult(gangline_core::answer::Tool::Send));
        }
    }
}

fn action(
    block: Block,
    turn: TurnId,
    lines: &[OutboxRow],
    (actions, counted): (&mut Vec<TurnAction>, &mut HashSet<SendKey>),
) {
    match block {
        Block::Text { text } => actions.push(TurnAction::Text(text)),
        Block::Thinking { .. } => {}
        Block::ToolUse { id, name, input } => {
            let key = SendKey::of_call(Some(turn), &id);
            if name == table::SEND
                && let Some(row) = lines.iter().find(|row| row.idem_key == key)
                && counted.insert(key)
            {
                actions.push(sent(row));
            }
            if name == table::NO_REPLY {
                actions.extend(no_reply(&input));
            }
            actions.push(TurnAction::ToolResult(tool_kind(&name)));
        }
    }
}

/// Returns what a call of `no_reply` decided; nothing if the tool refused what it names.
fn no_reply(input: &Value) -> Option<TurnAction> {
    let named = input.get("message").and_then(Value::as_str).filter(|text| !text.is_empty());
    let message = named.map(str::parse::<MessageId>).transpose().ok()?;
    Some(TurnAction::NoReply { message })
}

fn sent(row: &OutboxRow) -> TurnAction {
    TurnAction::Sent { to: row.target.clone(), in_reply_to: row.in_reply_to }
}

#[cfg(test)]
mod tests;
