//! Statements of rules, and of what approvals offer to make rules of.

use gangline_core::{
    AgentName, ApprovalNumber, Principal, Redacted,
    rule::{Form, Offer, Rule, Subject},
    shown,
};
use rusqlite::{Connection, Row, params};
use serde_json::json;

use super::{Writer, alerts, events, fault::Fault, rows, sql};
use crate::types::{Decided, NewAlert, NewEvent, RULES_MAX, RuleRow, Ruling, Stored};

fn stored(form: &Form) -> (&'static str, String) {
    match form {
        // Strings always become JSON.
        Form::Command(words) => ("command", serde_json::to_string(words).unwrap_or_default()),
        Form::File(path) => ("file", path.clone()),
        Form::Arguments(json) => ("arguments", json.clone()),
    }
}

/// Returns a form as it was stored; `None` for one of a newer program.
fn form(kind: &str, body: String) -> Option<Form> {
    match kind {
        "command" => serde_json::from_str(&body).ok().map(Form::Command),
        "file" => Some(Form::File(body)),
        "arguments" => Some(Form::Arguments(body)),
        _ => None,
    }
}

/// Stores what an approval offers, in place of what it offered before.
pub(super) fn store_offer(w: &mut Writer, number: i64, offer: &Offer) -> Result<(), Fault> {
    let unclear = match &offer.subject {
        Subject::Forms(_) => None,
        Subject::Unclear(why) => Some(why),
    };
    sql::run(&w.connection, "DELETE FROM rule_forms WHERE approval = ?", params![number])?;
    let sql = "INSERT OR REPLACE INTO rule_offers (approval, tool, directory, unclear) \
               VALUES (?, ?, ?, ?)";
    sql::run(&w.connection, sql, params![number, &offer.tool, &offer.directory, unclear])?;
    for (place, wanted) in (0_i64..).zip(offer.forms()) {
        let (kind, body) = stored(wanted);
        let sql = "INSERT INTO rule_forms (approval, place, form, body) VALUES (?, ?, ?, ?)";
        sql::run(&w.connection, sql, params![number, place, kind, body])?;
    }
    Ok(())
}

pub(crate) fn offer(c: &Connection, number: ApprovalNumber) -> Result<Option<Offer>, Fault> {
    let sql = "SELECT tool, directory, unclear FROM rule_offers WHERE approval = ?";
    let found = sql::first(c, sql, params![number.0], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    })?;
    let Some((tool, directory, unclear)) = found else { return Ok(None) };
    let sql = "SELECT form, body FROM rule_forms WHERE approval = ? ORDER BY place";
    let forms: Vec<Option<Form>> = sql::all(c, sql, params![number.0], |row| {
        Ok(form(&row.get::<_, String>(0)?, row.get(1)?))
    })?;
    let forms: Option<Vec<Form>> = forms.into_iter().collect();
    let subject = match (unclear, forms) {
        (Some(why), _) => Subject::Unclear(why),
        (None, Some(forms)) => Subject::Forms(forms),
        (None, None) => Subject::Unclear("a newer program stored it".to_owned()),
    };
    Ok(Some(Offer { tool, directory, subject }))
}

fn rule_row(row: &Row<'_>) -> rusqlite::Result<Option<RuleRow>> {
    let Some(form) = form(&row.get::<_, String>("form")?, row.get("body")?) else {
        return Ok(None);
    };
    let approval: Option<i64> = row.get("approval")?;
    Ok(Some(RuleRow {
        rule: Rule {
            number: row.get("number")?,
            tool: row.get("tool")?,
            directory: row.get("directory")?,
            form,
        },
        agent: rows::parsed(row, "agent")?,
        approval: approval.map(ApprovalNumber),
        made_by: Principal { account: row.get("made_by")?, tier: rows::parsed(row, "made_tier")? },
        made_as: row.get("made_as")?,
        made_at: rows::time(row, "made_at")?,
        void: row.get("void")?,
    }))
}

macro_rules! rule_sql {
    ($rest:literal) => {
        concat!(
            "SELECT number, agent, tool, directory, form, body, approval, made_by, made_tier, \
             made_as, made_at, void FROM rules ",
            $rest
        )
    };
}

pub(crate) fn list(c: &Connection, agent: Option<&AgentName>) -> Result<Vec<RuleRow>, Fault> {
    let sql = match agent {
        Some(_) => rule_sql!("WHERE agent = ?1 ORDER BY number"),
        None => rule_sql!("WHERE ?1 IS NULL ORDER BY number"),
    };
    let found = sql::all(c, sql, params![agent.map(AgentName::folded)], rule_row)?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the rules of an agent that allow something.
pub(super) fn in_force(c: &Connection, agent: &AgentName) -> Result<Vec<RuleRow>, Fault> {
    let mut rows = list(c, Some(agent))?;
    rows.retain(|row| row.void.is_none());
    Ok(rows)
}

/// Voids rules, each with the reason. Returns those of the agent that are void and of which nobody was told.
pub(crate) fn void(
    w: &mut Writer,
    agent: &AgentName,
    found: &[(i64, String)],
) -> Result<Vec<RuleRow>, Fault> {
    for (number, why) in found {
        let sql = "UPDATE rules SET void = ? WHERE number = ? AND agent = ? AND void IS NULL";
        sql::run(&w.connection, sql, params![why, number, agent.folded()])?;
    }
    let sql = rule_sql!("WHERE agent = ? AND void IS NOT NULL AND void_told = 0 ORDER BY number");
    let rows = sql::all(&w.connection, sql, params![agent.folded()], rule_row)?;
    Ok(rows.into_iter().flatten().collect())
}

/// Raises the alert that says which rules are void, once.
pub(crate) fn tell_void(w: &mut Writer, numbers: &[i64], alert: &NewAlert) -> Result<(), Fault> {
    for number in numbers {
        let sql = "UPDATE rules SET void_told = 1 WHERE number = ?";
        sql::run(&w.connection, sql, params![number])?;
    }
    alerts::raise(w, alert).map(drop)
}

/// Makes rules of what an approval offers.
pub(super) fn store(
    w: &mut Writer,
    (agent, number): (&AgentName, ApprovalNumber),
    (offer, ruling): (&Offer, &Ruling),
) -> Result<Stored, Fault> {
    let before = in_force(&w.connection, agent)?;
    let mut new: Vec<&Form> = Vec::new();
    for form in offer.forms() {
        let known = before.iter().any(|row| row.rule.allows(offer, form));
        if !known && !new.contains(&form) {
            new.push(form);
        }
    }
    if before.len() + new.len() > RULES_MAX {
        let count = before.len();
        return Ok(Stored::Nothing(format!(
            "{agent} has {count} rules of at most {RULES_MAX}; `gangline policy remove` makes room"
        )));
    }
    for form in new {
        insert(w, (agent, number), (offer, form), ruling)?;
    }
    let mut rows = in_force(&w.connection, agent)?;
    rows.retain(|row| offer.forms().iter().any(|form| row.rule.allows(offer, form)));
    Ok(Stored::Rules(rows))
}

fn insert(
    w: &mut Writer,
    (agent, number): (&AgentName, ApprovalNumber),
    (offer, form): (&Offer, &Form),
    ruling: &Ruling,
) -> Result<(), Fault> {
    let (kind, body) = stored(form);
    // It may hold again: a link is gone.
    let sql = "DELETE FROM rules WHERE agent = ? AND tool = ? AND directory = ? AND form = ? \
               AND body = ? AND void IS NOT NULL";
    let same = params![agent.folded(), &offer.tool, &offer.directory, kind, &body];
    sql::run(&w.connection, sql, same)?;
    // Not `ON CONFLICT DO NOTHING`: that would use up a number.
    let sql = "INSERT INTO rules (installation_id, agent, tool, directory, form, body, approval, \
               made_by, made_tier, made_as, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            agent.folded(),
            &offer.tool,
            &offer.directory,
            kind,
            body,
            number.0,
            &ruling.by.account,
            ruling.by.tier.as_str(),
            &ruling.known_as,
            w.now.0
        ],
    )?;
    Ok(())
}

/// Records what came of an `always`: in the log it is the same whichever surface took the word.
pub(super) fn record_always(
    w: &mut Writer,
    decided: &Decided,
    (stored, by): (&Stored, &str),
) -> Result<(), Fault> {
    let by = shown::label(by);
    let texts = match stored {
        Stored::Rules(rows) => rows
            .iter()
            .map(|row| format!("rule {} is stored by {by}: {}", row.rule.number, row.rule))
            .collect(),
        Stored::Nothing(why) => {
            let number = decided.number;
            vec![format!(
                "approval {number} is allowed this once by {by}: no rule is stored, because {why}"
            )]
        }
    };
    record(w, &decided.agent, texts)
}

fn record(w: &mut Writer, agent: &AgentName, texts: Vec<String>) -> Result<(), Fault> {
    let event = |text: String| NewEvent {
        agent: agent.clone(),
        epoch: None,
        turn: None,
        kind: "notice".to_owned(),
        // A rule holds no secret, and the names of people are none.
        payload: Redacted::from_store(json!({"code": "rule", "text": text}).to_string()),
    };
    let all: Vec<NewEvent> = texts.into_iter().map(event).collect();
    events::put(w, &all).map(drop)
}

/// Removes a rule, records by whom, and returns it.
pub(crate) fn remove(w: &mut Writer, number: i64, by: &str) -> Result<Option<RuleRow>, Fault> {
    let row = sql::first(&w.connection, rule_sql!("WHERE number = ?"), params![number], rule_row)?;
    let Some(row) = row.flatten() else { return Ok(None) };
    sql::run(&w.connection, "DELETE FROM rules WHERE number = ?", params![number])?;
    let text = format!("rule {number} is removed by {}: {}", shown::label(by), row.rule);
    record(w, &row.agent, vec![text])?;
    Ok(Some(row))
}
