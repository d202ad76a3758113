//! Which writes of an agent count: those of its newest epoch.

use gangline_core::{AgentName, Epoch, TurnId};
use rusqlite::params;

use super::{Writer, fault::Fault, sql};
use crate::StoreError;

fn current(w: &mut Writer, agent: &AgentName) -> Result<Epoch, Fault> {
    let sql = "SELECT epoch FROM agents WHERE agent = ?";
    let epoch: Option<i64> = sql::first(&w.connection, sql, params![agent.folded()], sql::column)?;
    Ok(Epoch(epoch.unwrap_or(0)))
}

/// Lets a write through only if the epoch that it names, and the one that this process has begun
/// for the agent, are the agent's. A write that names none, of a process that began none, passes.
pub(super) fn fence(w: &mut Writer, agent: &AgentName, named: Option<Epoch>) -> Result<(), Fault> {
    let bound = w.epochs.get(agent).copied();
    if named.is_none() && bound.is_none() {
        return Ok(());
    }
    let current = current(w, agent)?;
    for held in [named, bound].into_iter().flatten() {
        if held != current {
            return Err(StoreError::Fenced { agent: agent.clone(), held, current }.into());
        }
    }
    Ok(())
}

/// As [`fence`], for the end of a turn: a daemon ends lost turns of older epochs as well.
pub(super) fn fence_end(w: &mut Writer, agent: &AgentName, turn: TurnId) -> Result<(), Fault> {
    match w.epochs.get(agent) {
        Some(bound) if turn.epoch <= *bound => fence(w, agent, None),
        _ => fence(w, agent, Some(turn.epoch)),
    }
}
