//! Statements of a send: its lines go into the outbox, and what it delivers at once is a message.

use super::{
    Writer,
    acts::{self, MadeByCall},
    fault::Fault,
    fence, messages, outbox,
};
use crate::types::{NewAct, Send, SendReceipt};

/// Sends in an epoch that still holds.
pub(crate) fn send(
    w: &mut Writer,
    send: &Send,
    question: Option<&str>,
) -> Result<SendReceipt, Fault> {
    fence::fence(w, &send.agent, send.turn.map(|turn| turn.epoch))?;
    put(w, send, question)
}

/// As [`send`], and records what the call did.
pub(crate) fn send_once(
    w: &mut Writer,
    new: &Send,
    act: Option<&NewAct>,
) -> Result<SendReceipt, Fault> {
    let receipt = send(w, new, None)?;
    if let Some(act) = act
        && let Some(first) = receipt.outbox.first()
    {
        let message = receipt.delivered.map(|row| row.id);
        acts::record(w, act, &MadeByCall { number: first.0, message })?;
    }
    Ok(receipt)
}

/// Sends, without asking whose epoch it is. A question that is not named is looked for in what the
/// send answers.
pub(super) fn put(
    w: &mut Writer,
    send: &Send,
    question: Option<&str>,
) -> Result<SendReceipt, Fault> {
    let lines = outbox::put(w, send, question)?;
    let delivered = match &send.deliver {
        Some(message) if !lines.repeated || message.intake_key.is_some() => {
            Some(messages::put(w, message, lines.root)?)
        }
        _ => None,
    };
    let repeated = lines.repeated || delivered.is_some_and(|row| row.duplicate);
    Ok(SendReceipt { outbox: lines.ids, repeated, delivered })
}
