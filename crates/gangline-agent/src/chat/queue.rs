//! The agent's waiting messages: listing them and cancelling one.

use gangline_core::{
    MessageId, MessageState, Principal, Target, Tier,
    name::{ChannelName, fold},
    shown,
};
use gangline_irc::client::Line;
use gangline_os::clock::UnixMicros;
use gangline_store::{Cancel, MessageFilter, MessageRow, PAGE_MAX};
use tracing::{info, warn};

use super::{Chat, answer::place_of, decide::Handled};
use crate::{bus::Incoming, texts};

/// The maximum number of waiting messages that are listed, one line each.
const LISTED_MAX: usize = 8;
/// The maximum number of waiting messages that are counted.
pub(super) const COUNTED_MAX: u32 = 5_000;
/// How much of each is quoted, in bytes.
const QUOTED_BYTES: usize = 60;

impl Chat {
    /// Says what waits: position, number, author, since when, first words.
    pub(super) async fn queue(&self, line: &Line, who: &Principal) -> Handled {
        let Some(rows) = self.pending().await else { return Handled::NotNow };
        if rows.is_empty() {
            self.answer(line, "nothing waits").await;
            return Handled::Yes;
        }
        let now = self.deps.clock.now();
        let mut texts = vec![match rows.len() {
            1 => "1 message waits:".to_owned(),
            many => format!("{many} messages wait:"),
        }];
        for (index, row) in rows.iter().take(LISTED_MAX).enumerate() {
            texts.push(format!("{}. {}", index + 1, listed(row, (line, who), now)));
        }
        if rows.len() > LISTED_MAX {
            texts.push(format!("and {} more", rows.len() - LISTED_MAX));
        }
        self.answer_lines(line, &texts).await;
        Handled::Yes
    }

    /// Returns what waits, the next one first; `None` if the store does not say.
    pub(super) async fn pending(&self) -> Option<Vec<MessageRow>> {
        let mut rows: Vec<MessageRow> = Vec::new();
        // The newest come first, a page at a time.
        loop {
            let filter = MessageFilter {
                agent: Some(self.deps.agent.clone()),
                states: vec![MessageState::Accepted],
                before: rows.last().map(|row| row.id),
            };
            match self.deps.store.messages(filter, PAGE_MAX).await {
                Ok(page) => {
                    let last = page.len() < PAGE_MAX as usize;
                    rows.extend(page);
                    if last || rows.len() >= COUNTED_MAX as usize {
                        break;
                    }
                }
                Err(error) => {
                    warn!(%error, "cannot read what waits");
                    return None;
                }
            }
        }
        // Nobody waits for the news of a start.
        rows.retain(|row| !row.is_restart_note());
        rows.reverse();
        Some(rows)
    }

    /// Takes back a message that waits, for its author or an owner.
    pub(super) async fn cancel(&self, line: &Line, who: &Principal, id: MessageId) -> Handled {
        let row = match self.deps.store.message(id).await {
            Ok(row) => row.filter(|row| row.agent == self.deps.agent),
            Err(error) => {
                warn!(%error, "cannot read a message");
                return Handled::NotNow;
            }
        };
        let Some(row) = row else {
            self.answer(line, &texts::no_such_message(id)).await;
            return Handled::Yes;
        };
        if row.principal != *who && who.tier != Tier::Owner {
            self.answer(line, &texts::not_yours(id, &row.sender)).await;
            return Handled::Yes;
        }
        match self.deps.store.cancel(id, &who.account).await {
            Ok(Cancel::Done) => {
                info!(%id, by = who.account, "cancelled");
                self.notify_loop(Incoming::Cancelled { message: id }).await;
                self.answer(line, &format!("{id} is cancelled: I will not work on it")).await;
                self.notify_author(line, &row).await;
            }
            // The same line taken in twice finds its own work done.
            Ok(Cancel::Settled(MessageState::Cancelled)) if line.from_history => {}
            Ok(found) => self.answer(line, &texts::not_cancelled(id, found)).await,
            Err(error) => {
                warn!(%error, "cannot cancel a message");
                return Handled::NotNow;
            }
        }
        Handled::Yes
    }

    /// Tells where the message was asked that somebody has cancelled it elsewhere.
    async fn notify_author(&self, line: &Line, row: &MessageRow) {
        if row.target.is_empty() || fold(&place_of(line)) == fold(&row.target) {
            return;
        }
        let text = texts::cancelled_by(row, &line.nick);
        let key = format!("c-{}-{:x}", row.id, row.accepted_at.0);
        self.notify(key, row.target.clone(), (&[text], Some(row.id)), None).await;
    }
}

/// Returns one waiting message in a line. What was said in private is quoted to its author in
/// private only.
fn listed(row: &MessageRow, (line, who): (&Line, &Principal), now: UnixMicros) -> String {
    let since = texts::span(now.since(row.accepted_at));
    let in_room = row.target.parse::<ChannelName>().is_ok();
    let own = matches!(line.target, Target::Nick(_)) && row.principal == *who;
    let what = match () {
        () if in_room || own => format!("`{}`", first_words(row)),
        () if row.target.is_empty() => "from the command line".to_owned(),
        () => "in private".to_owned(),
    };
    let place = if in_room { format!(" in {}", row.target) } else { String::new() };
    format!("{} from {}{place}, {since} ago: {what}", row.id, shown::label(&row.sender))
}

fn first_words(row: &MessageRow) -> String {
    let head = row.body.head(QUOTED_BYTES);
    let more = if head.as_str().len() < row.body.as_str().len() { "…" } else { "" };
    format!("{}{more}", shown::code(head.as_str()))
}

#[cfg(test)]
mod tests;
