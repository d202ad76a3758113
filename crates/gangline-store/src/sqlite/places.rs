//! Statements of the places in which approvals are announced.

use gangline_core::{ApprovalNumber, approval::view::Extent, redact::Redacted};
use rusqlite::{Connection, params};

use super::{Writer, fault::Fault, outbox, rows, send, sql};
use crate::{
    NUMBER_PLACEHOLDER,
    types::{Announce, ApprovalPlace, ApprovalRow, LineKind, Send, SendReceipt},
};

/// Announces an approval in a place. The same key again changes nothing.
pub(super) fn put(
    w: &mut Writer,
    number: ApprovalNumber,
    announce: &Announce,
) -> Result<SendReceipt, Fault> {
    let send = numbered(&announce.send, number);
    let receipt = send::put(w, &send, announce.question.as_deref())?;
    if !receipt.repeated {
        // A reminder that follows keeps what was heard there: the answer to the first line may be
        // under way. One that shows all counts anew where not all was shown before.
        let sql = "INSERT INTO approval_places (number, place, installation_id, agent, target, \
                   idem_key, whole) VALUES (?, ?, ?, ?, ?, ?, ?) \
                   ON CONFLICT (number, place) DO UPDATE SET target = excluded.target, \
                   idem_key = excluded.idem_key, \
                   whole = iif(heard_at IS NULL, excluded.whole, max(whole, excluded.whole)), \
                   told_at = iif(whole >= excluded.whole, told_at, NULL), \
                   heard_at = iif(whole >= excluded.whole, heard_at, NULL)";
        let with = params![
            number.0,
            &announce.place,
            &w.installation_id,
            announce.send.agent.folded(),
            &announce.send.target,
            announce.send.idem_key.as_str(),
            announce.extent == Extent::Whole
        ];
        sql::run(&w.connection, sql, with)?;
    }
    Ok(receipt)
}

/// Returns where an approval was announced.
pub(crate) fn list(c: &Connection, number: ApprovalNumber) -> Result<Vec<ApprovalPlace>, Fault> {
    let sql = "SELECT place, target, whole, told_at, heard_at FROM approval_places \
               WHERE number = ? ORDER BY place";
    Ok(sql::all(c, sql, params![number.0], rows::approval_place)?)
}

/// Forgets them: the approval is asked anew.
pub(super) fn forget(w: &mut Writer, number: ApprovalNumber) -> Result<(), Fault> {
    sql::run(&w.connection, "DELETE FROM approval_places WHERE number = ?", params![number.0])?;
    Ok(())
}

/// Says a line wherever an approval was announced.
pub(super) fn say_everywhere(
    w: &mut Writer,
    row: &ApprovalRow,
    (key, text): (&str, &Redacted),
) -> Result<(), Fault> {
    for (at, place) in list(&w.connection, row.number)?.into_iter().enumerate() {
        let send = Send {
            agent: row.agent.clone(),
            turn: None,
            idem_key: format!("{key}-{at}").into(),
            target: place.target,
            lines: vec![text.clone().into()],
            // A notice wakes no agent.
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        outbox::put(w, &send, None)?;
    }
    Ok(())
}

/// Says that nobody has to decide any more: where the approval was asked, and where else it was
/// announced.
pub(super) fn say_gone(w: &mut Writer, number: ApprovalNumber, say: &Send) -> Result<(), Fault> {
    let say = numbered(say, number);
    send::put(w, &say, None)?;
    let others = list(&w.connection, number)?.into_iter().filter(|it| it.target != say.target);
    for (at, place) in others.enumerate() {
        let idem_key = format!("{}-{at}", say.idem_key).into();
        send::put(w, &Send { idem_key, target: place.target, ..say.clone() }, None)?;
    }
    Ok(())
}

fn numbered(announce: &Send, number: ApprovalNumber) -> Send {
    let mut send = announce.clone();
    for line in &mut send.lines {
        if line.text.as_str().contains(NUMBER_PLACEHOLDER) {
            let text = line.text.as_str().replace(NUMBER_PLACEHOLDER, &number.to_string());
            line.text = Redacted::from_store(text);
        }
    }
    send
}
