//! Statements of wakes.

use std::time::Duration;

use gangline_core::{
    MessageId, MessageState, Origin, Principal, likeness,
    wake::{Label, PER_PERIOD, PERIOD},
};
use gangline_os::clock::UnixMicros;
use rusqlite::params;

use super::{Writer, fault::Fault, fence, messages, sql};
use crate::{
    error::WakeError,
    types::{Accepted, NewMessage, NewWake},
};

/// The network of what did not come over IRC.
const NETWORK: &str = "local";
/// Among so many of the newest messages it is looked who the owners are.
const LATELY: u32 = 2000;

/// Stores a wake, unless its key is known or its label has used up what it may.
pub(crate) fn put(w: &mut Writer, new: NewWake) -> Result<Result<Accepted, WakeError>, Fault> {
    fence::fence(w, &new.agent, None)?;
    let key = new.key.as_ref().map(|key| format!("wake/{}/{key}", new.label));
    if let Some(key) = &key {
        let sql = "SELECT id FROM messages WHERE agent = ? AND network_id = ? AND intake_key = ?";
        let with = params![new.agent.folded(), NETWORK, key];
        if let Some(known) = sql::first(&w.connection, sql, with, sql::column)? {
            return Ok(Ok(Accepted { id: MessageId(known), duplicate: true }));
        }
    }
    if let Some(name) = somebody(w, &new.label)? {
        return Ok(Err(WakeError::Somebody { label: new.label, name }));
    }
    if let Some(wait) = wait(w, &new)? {
        return Ok(Err(WakeError::TooMany { agent: new.agent, label: new.label, wait }));
    }
    let message = NewMessage {
        agent: new.agent,
        network_id: NETWORK.to_owned(),
        intake_key: key,
        origin: Origin::Wake,
        principal: Principal { account: new.label.account(), tier: new.tier },
        sender: new.label.to_string(),
        target: String::new(),
        body: new.body,
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    Ok(Ok(messages::put(w, &message, None)?))
}

/// Returns the agent, or the person in charge who wrote lately, whose name the label looks like.
fn somebody(w: &Writer, label: &Label) -> Result<Option<String>, Fault> {
    let sql = "SELECT agent FROM agents UNION SELECT sender FROM \
               (SELECT sender, tier, origin FROM messages ORDER BY id DESC LIMIT ?) \
               WHERE tier = 'owner' AND origin IN ('mention', 'direct')";
    let names: Vec<String> = sql::all(&w.connection, sql, params![LATELY], sql::column)?;
    Ok(names.into_iter().find(|name| likeness::is_like(name, label.as_str())))
}

/// Returns how long the label must wait, if it has woken the agent as often as it may. What a clock
/// that was set back makes a wake of the future is not counted.
fn wait(w: &Writer, new: &NewWake) -> Result<Option<Duration>, Fault> {
    let since = w.now.before(PERIOD);
    let sql = "SELECT accepted_at FROM messages INDEXED BY messages_wakes \
               WHERE agent = ? AND principal = ? AND origin = 'wake' \
               AND accepted_at > ? AND accepted_at <= ? ORDER BY accepted_at DESC LIMIT 1 OFFSET ?";
    let before = PER_PERIOD.saturating_sub(1);
    let with = params![new.agent.folded(), new.label.account(), since.0, w.now.0, before];
    let tenth: Option<i64> = sql::first(&w.connection, sql, with, sql::column)?;
    Ok(tenth.map(|at| UnixMicros(at).plus(PERIOD).since(w.now)))
}
