//! The unit that goes to the link: a line, or all lines of a send as one message of several lines.
//!
//! Rows are one for each line, always. Where the own server takes such messages
//! (`draft/multiline`), the rows of one send go together under one id and are confirmed together.
//! How a send is said the first time is committed before it is said ([`SentAs`]), and is never
//! changed: the server knows a repetition by its id, and the two forms have different ids. Pure;
//! start at [`how`].

use gangline_core::{
    name::Target,
    shown::BREAK,
    split::{self, Joint},
};
use gangline_irc::{
    client::{LineKind as WireKind, Say},
    wire::multiline::{self, Follows},
};
use gangline_store::{LineKind, OutboxId, OutboxRow, OutboxState, SentAs};

#[cfg(test)]
mod tests;

/// Stands in an id in place of the part's number: all of it.
const ALL: &str = "all";

// What a text is split into fits one message.
const _: () = assert!(
    split::LINES_MAX <= multiline::LINES_MAX
        && split::LINES_MAX * (split::LINE_BYTES + 2) <= multiline::BYTES_MAX
);

/// A line, or all lines of a send.
#[derive(Debug, Clone)]
pub(super) struct Sending {
    first: OutboxRow,
    rest: Vec<OutboxRow>,
}

impl From<OutboxRow> for Sending {
    fn from(first: OutboxRow) -> Self {
        Self { first, rest: Vec::new() }
    }
}

impl Sending {
    /// Returns the rows of a send as one message; `None` without rows.
    pub(super) fn whole(rows: Vec<OutboxRow>) -> Option<Self> {
        let as_whole = |row| OutboxRow { sent_as: Some(SentAs::Whole), ..row };
        let mut rows = rows.into_iter().map(as_whole);
        Some(Self { first: rows.next()?, rest: rows.collect() })
    }

    /// Returns the first row: where it goes, who asked, which turn said it is the same for all.
    pub(super) fn first(&self) -> &OutboxRow {
        &self.first
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &OutboxRow> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    pub(super) fn ids(&self) -> Vec<OutboxId> {
        self.rows().map(|row| row.id).collect()
    }

    pub(super) fn key(&self) -> String {
        key(&self.first)
    }

    pub(super) fn sent_as(&self) -> SentAs {
        self.first.sent_as.unwrap_or(SentAs::Lines)
    }

    /// Returns what the link is asked to say on a connection.
    pub(super) fn say(&self, target: Target, connection: u64) -> Say {
        let mut texts: Vec<(Follows, String)> = Vec::with_capacity(1 + self.rest.len());
        for row in self.rows() {
            let follows = match row.joint {
                Joint::Anew => Follows::Anew,
                Joint::Word | Joint::Space => Follows::On,
            };
            // The space that was cut out stands at the end of the line before.
            if let (Joint::Space, Some((_, before))) = (row.joint, texts.last_mut()) {
                before.push(' ');
            }
            texts.push((follows, row.body.as_str().to_owned()));
        }
        let (_, text) = texts.remove(0);
        Say {
            key: self.key(),
            target,
            text,
            further: texts,
            kind: match self.first.kind {
                LineKind::Privmsg => WireKind::Privmsg,
                LineKind::Notice => WireKind::Notice,
            },
            reply_to: self.first.question.clone(),
            connection: Some(connection),
        }
    }

    /// Returns the text on one line, as other agents have it from the link.
    pub(super) fn on_one_line(&self) -> String {
        let mut text = self.first.body.as_str().to_owned();
        for row in &self.rest {
            match row.joint {
                Joint::Anew => text.push_str(&format!(" {BREAK} ")),
                Joint::Word => {}
                Joint::Space => text.push(' '),
            }
            text.push_str(row.body.as_str());
        }
        text
    }
}

/// Returns the row's id on the wire: no epoch, so that a successor's repetition is the same line.
pub(super) fn key(row: &OutboxRow) -> String {
    match row.sent_as {
        Some(SentAs::Whole) => format!("{}.{ALL}", row.idem_key),
        Some(SentAs::Lines) | None => format!("{}.{}", row.idem_key, row.part),
    }
}

/// Returns the rows of a send that an id on the wire means.
pub(super) fn named(part: &str, rows: Vec<OutboxRow>) -> Option<Sending> {
    if part == ALL {
        return Sending::whole(rows);
    }
    let part: i64 = part.parse().ok()?;
    rows.into_iter().find(|row| row.part == part).map(Sending::from)
}

/// Whether the row may go out with the others of its send. Notices stay lines: they are asides, and
/// other programs pass them over.
pub(super) fn may_be_whole(row: &OutboxRow) -> bool {
    row.parts > 1 && row.kind == LineKind::Privmsg && row.sent_as != Some(SentAs::Lines)
}

/// Returns how a send is said, by all its rows: as it was the first time; as one message if nothing
/// became of any of its rows yet and the server takes it. A row with attempts and no form was said
/// by an older program, line by line.
pub(super) fn how(rows: &[OutboxRow]) -> SentAs {
    let again = rows.iter().all(|row| row.sent_as == Some(SentAs::Whole));
    let untouched = |row: &OutboxRow| {
        row.sent_as.is_none() && row.attempts == 0 && row.state == OutboxState::Queued
    };
    let bytes: usize = rows.iter().map(|row| row.body.as_str().len() + 2).sum();
    let fits = rows.len() <= multiline::LINES_MAX && bytes <= multiline::BYTES_MAX;
    match again || (fits && rows.iter().all(untouched)) {
        true => SentAs::Whole,
        false => SentAs::Lines,
    }
}
