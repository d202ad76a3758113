//! Statements for agents that are no longer configured: closes what only their daemons could carry out, and
//! opens their findings again if they come back.

use gangline_core::{AgentName, FindingNumber, Principal, Redacted, Tier, approval::Decision};
use rusqlite::params;

use super::{Writer, changes, fault::Fault, findings, sql};
use crate::types::Ruling;

/// Who closes it. A person who resolves a finding always makes a choice; this does not.
const BY: &str = "gangline";

/// Closes the agents' open approvals, requested changes and unresolved findings. Returns their numbers.
pub(crate) fn withdraw(w: &mut Writer, agents: &[AgentName]) -> Result<Vec<i64>, Fault> {
    let mut closed = Vec::new();
    for agent in agents {
        let why = Redacted::from_store(format!("{agent} was removed from the configuration"));
        let sql = "UPDATE approvals SET state = 'withdrawn', note = ?2, closed_at = ?3 \
                   WHERE agent = ?1 AND state = 'open' RETURNING number";
        let with = params![agent.folded(), why.as_str(), w.now.0];
        closed.append(&mut sql::all(&w.connection, sql, with, sql::column)?);
        for change in changes::list(&w.connection, Some(agent), true)? {
            changes::decide(w, change.number, &refusal(&why))?.ok();
            closed.push(change.number.0);
        }
        let sql = "SELECT number FROM findings WHERE agent = ? AND state <> 'resolved'";
        let found: Vec<i64> = sql::all(&w.connection, sql, params![agent.folded()], sql::column)?;
        for number in &found {
            findings::close(w, FindingNumber(*number), (None, Some(BY)))?;
        }
        closed.extend(found);
    }
    closed.sort_unstable();
    Ok(closed)
}

/// The manager reads this if it comes back; nobody is there to tell the rooms.
fn refusal(why: &Redacted) -> Ruling {
    Ruling {
        decision: Decision::Deny,
        by: Principal { account: BY.to_owned(), tier: Tier::Owner },
        known_as: BY.to_owned(),
        note: Some(why.clone()),
        say: None,
    }
}

/// Opens the findings again that were closed because the agent was removed, if what they are about is still
/// so. What only a daemon can see is opened in any case: the daemon looks, and resolves it.
pub(crate) fn back(w: &mut Writer, agent: &AgentName) -> Result<(), Fault> {
    let sql = "UPDATE findings SET state = iif(seen_at IS NULL, 'open', 'seen'), resolved_by = NULL, \
               resolved_at = NULL WHERE number IN (SELECT max(number) FROM findings \
               WHERE agent = ?1 AND state = 'resolved' AND resolved_by = ?2 AND choice IS NULL GROUP BY key) \
               AND NOT EXISTS (SELECT 1 FROM findings other WHERE other.agent = findings.agent \
               AND other.key = findings.key AND other.state <> 'resolved') AND CASE kind \
               WHEN 'dead_letter' THEN EXISTS (SELECT 1 FROM messages \
                 WHERE id = findings.message AND messages.state = 'dead_letter') \
               WHEN 'held_messages' THEN EXISTS (SELECT 1 FROM messages INDEXED BY messages_cause \
                 WHERE coalesce(cause, cause_root, id) = findings.message AND messages.state = 'held') \
               WHEN 'escalation' THEN EXISTS (SELECT 1 FROM pauses WHERE agent = ?1 AND reason = kind) \
               WHEN 'rate_limit' THEN EXISTS (SELECT 1 FROM pauses WHERE agent = ?1 AND reason = kind) \
               ELSE 1 END RETURNING number";
    let numbers: Vec<i64> = sql::all(&w.connection, sql, params![agent.folded(), BY], sql::column)?;
    for number in numbers {
        findings::record(w, FindingNumber(number))?;
    }
    Ok(())
}
