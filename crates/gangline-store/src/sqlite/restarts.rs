//! Statements of the message that tells of a daemon's start.

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Origin, Principal, Tier, redact::Redacted,
};
use rusqlite::params;

use super::{Writer, fault::Fault, fence, messages, sql};
use crate::types::NewMessage;

/// Who it is from, for the agent (R2-14).
const SENDER: &str = "system";

/// Takes back what earlier starts left, and stores what this one tells.
pub(crate) fn put(
    w: &mut Writer,
    (agent, epoch): (&AgentName, Epoch),
    text: Option<Redacted>,
) -> Result<Option<MessageId>, Fault> {
    fence::fence(w, agent, Some(epoch))?;
    // The column `restart` is made from this key.
    let key = format!("restart/{}", epoch.0);
    let sql = "UPDATE messages SET state = 'cancelled', reason = 'a later start', settled_at = ?1 \
               WHERE agent = ?2 AND state = 'accepted' AND restart <> ?3";
    sql::run(&w.connection, sql, params![w.now.0, agent.folded(), epoch.0])?;
    let Some(body) = text else { return Ok(None) };
    let message = NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(key),
        origin: Origin::System,
        principal: Principal { account: agent.to_string(), tier: Tier::Agent },
        sender: SENDER.to_owned(),
        target: String::new(),
        body,
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    Ok(Some(messages::put(w, &message, None)?.id))
}
