//! Statements of the attention list: what waits for a human, over all agents.

use std::{collections::HashMap, time::Duration};

use gangline_core::{
    AgentName, MessageId, Redacted,
    approval::Audience,
    attention::{self, Affects, Held, Item, ItemKind, ItemState, Offer},
    privacy::Said,
    question::Asked,
    time::WallMicros,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::{
    approvals, changes,
    fault::Fault,
    findings, questions,
    rows::{self, page},
    sql,
};
use crate::{
    PAGE_MAX,
    types::{ApprovalRow, ChangeRow, FindingFilter, QuestionFilter, QuestionRow},
};

/// Returns what waits for a human, ranked. At most [`PAGE_MAX`] of each kind are looked at.
pub(crate) fn list(c: &Connection, now: UnixMicros) -> Result<Vec<Item>, Fault> {
    let waiting = waiting(c)?;
    let affects = |agent: &AgentName, room: Option<&str>| {
        let (waiting, people) = waiting.get(agent).copied().unwrap_or_default();
        let room = room.filter(|room| room.starts_with('#')).map(str::to_owned);
        Affects { text: Redacted::default(), room, waiting, people }
    };
    let mut items = Vec::new();
    for row in questions::list(c, &QuestionFilter::default(), PAGE_MAX)? {
        if row.asked.agents().is_empty() || row.rule.is_for_people() {
            let affects = affects(&row.agent, Some(&row.reply_target));
            items.push(question(row, affects, now));
        }
    }
    for row in approvals::list(c, None, true)? {
        let affects = affects(&row.agent, None);
        let said = match row.audience {
            Audience::Everybody => said(c, row.message)?,
            Audience::Owners => Said::InPrivate,
        };
        items.push(Item { said, ..approval(row, affects, now) });
    }
    for row in changes::list(c, None, true)? {
        let affects = affects(&row.agent, Some(&row.reply_target));
        items.push(change(row, affects, now));
    }
    for row in findings::list(c, &FindingFilter::default(), page_max())? {
        if !row.choices.is_empty() {
            let affects = affects(&row.agent, None);
            let said = said(c, row.message)?;
            items.push(Item { said, ..row.into_item(affects) });
        }
    }
    attention::rank(&mut items);
    Ok(items)
}

fn page_max() -> u32 {
    u32::try_from(page(0)).unwrap_or(PAGE_MAX)
}

/// Returns how many messages wait for each agent, and how many of them are from people.
fn waiting(c: &Connection) -> Result<HashMap<AgentName, (u64, u64)>, Fault> {
    let sql = "SELECT agent, count(*) AS waiting, sum(tier <> 'agent') AS people FROM messages \
               INDEXED BY messages_waiting WHERE state = 'accepted' \
               AND NOT (origin = 'system' AND coalesce(intake_key, '') LIKE 'restart/%') \
               GROUP BY agent";
    let rows = sql::all(c, sql, params![], |row| {
        let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok((rows::parsed(row, "agent")?, (count("waiting")?, count("people")?)))
    })?;
    Ok(rows.into_iter().collect())
}

/// Returns where the message was said that an item is about.
fn said(c: &Connection, message: Option<MessageId>) -> Result<Said, Fault> {
    let Some(message) = message else { return Ok(Said::InPrivate) };
    let sql = "SELECT target FROM messages WHERE id = ?";
    let target: Option<String> = sql::first(c, sql, params![message.0], sql::column)?;
    Ok(Said::at(&target.unwrap_or_default()))
}

fn since(at: UnixMicros, now: UnixMicros) -> (WallMicros, Duration) {
    (WallMicros(at.0), now.since(at))
}

fn question(row: QuestionRow, affects: Affects, now: UnixMicros) -> Item {
    let (since, waited) = since(row.asked_at, now);
    let held = if row.waits.is_some() { Held::Call } else { Held::Nothing };
    let options = row.options.iter().enumerate();
    let said = Said::of_question(&row.asked, &row.reply_target);
    let room = match &row.asked {
        Asked::Room(room) => Some(room.to_string()),
        Asked::Operator | Asked::Person(_) | Asked::Agents(_) => affects.room.clone(),
    };
    Item {
        number: row.number.0,
        kind: ItemKind::Question,
        what: row.asked.to_string(),
        agent: row.agent,
        severity: attention::question_severity(waited, held),
        state: ItemState::Open,
        seen_by: None,
        cause: row.body,
        evidence: Redacted::default(),
        options: options
            .map(|(at, text)| Offer { word: (at + 1).to_string(), what: text.clone() })
            .collect(),
        recommended: None,
        affects: Affects { room, ..affects },
        since,
        said,
    }
}

fn yes_or_no() -> Vec<Offer> {
    let offer = |word: &str, what: &str| Offer { word: word.to_owned(), what: what.to_owned() };
    vec![offer("yes", "allows it"), offer("no", "refuses it; a reason may follow")]
}

fn approval(row: ApprovalRow, affects: Affects, now: UnixMicros) -> Item {
    let (since, waited) = since(row.opened_at, now);
    Item {
        number: row.number.0,
        kind: ItemKind::Approval,
        what: row.tool,
        agent: row.agent,
        severity: attention::approval_severity(waited),
        state: ItemState::Open,
        seen_by: None,
        cause: row.summary,
        evidence: row.before.map(|it| Redacted::from_store(it.note())).unwrap_or_default(),
        options: yes_or_no(),
        recommended: None,
        affects,
        since,
        said: Said::InPrivate,
    }
}

fn change(row: ChangeRow, affects: Affects, now: UnixMicros) -> Item {
    let (since, waited) = since(row.asked_at, now);
    let said = Said::at(&row.reply_target);
    Item {
        number: row.number.0,
        kind: ItemKind::Approval,
        what: row.kind.to_string(),
        agent: row.agent,
        severity: attention::question_severity(waited, Held::Nothing),
        state: ItemState::Open,
        seen_by: None,
        cause: row.summary,
        evidence: row.reason,
        options: yes_or_no(),
        recommended: None,
        affects,
        since,
        said,
    }
}
