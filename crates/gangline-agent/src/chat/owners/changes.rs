//! Owners are told again of what a manager asked for while nobody has decided it, at the times at which
//! they are told again of an approval. The first time is the request's own announcement.

use gangline_core::{
    Target,
    approval::remind::{self, Before, Seen},
    forged,
    name::ChannelName,
    split,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{ChangeRow, LineKind, Send as StoreSend};
use tracing::warn;

use crate::{chat::Chat, texts::changes};

/// When owners were told again of a change last.
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) struct ToldAgain {
    round: u64,
    at: UnixMicros,
}

impl Chat {
    /// Tells owners again of what the agent asked for and nobody has decided, as far as that is due.
    /// Each telling has a key of its own, so that a successor does not repeat it.
    pub(in crate::chat) async fn notify_owners_of_changes(&mut self) {
        let open = match self.deps.store.changes(Some(&self.deps.agent), true).await {
            Ok(open) => open,
            Err(error) => return warn!(%error, "cannot read changes"),
        };
        self.changes_told.retain(|number, _| open.iter().any(|row| row.number == *number));
        self.shown_changes.retain(|(number, _)| open.iter().any(|row| row.number == *number));
        for row in open {
            self.notify_owners_of_change(&row).await;
        }
    }

    async fn notify_owners_of_change(&mut self, row: &ChangeRow) {
        let now = self.deps.clock.now();
        let waited = now.since(row.asked_at);
        // Owners have the announcement, or find it in the room.
        let Some(round) = remind::round(Seen::ByOwner, waited) else { return };
        let before = self.changes_told.get(&row.number).copied();
        let room = match row.reply_target.parse() {
            Ok(Target::Channel(room)) => Some(room),
            Ok(Target::Nick(_)) | Err(_) => None,
        };
        let since = before.map_or(row.asked_at, |it| it.at);
        if before.is_some_and(|it| it.round == round)
            || !self.is_change_due(room.as_ref(), round, since)
        {
            return;
        }
        let room = room.map(|room| room.to_string());
        let Some((target, _)) = self.reminder_place(room, round) else { return };
        let text = changes::waits(row, &target, waited);
        let send = StoreSend {
            agent: self.deps.agent.clone(),
            turn: None,
            idem_key: format!("ch-{}-again-{round}", row.number).into(),
            target,
            lines: split::redacted_lines(&self.deps.redactor.sourced(&text), |left| {
                format!("… (+{left} lines)")
            })
            .lines
            .into_iter()
            .map(forged::continued)
            .collect(),
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        match self.deps.store.send(send).await {
            Ok(_) => {
                self.changes_told.insert(row.number, ToldAgain { round, at: now });
            }
            Err(error) => warn!(%error, "cannot tell owners of a change"),
        }
    }

    /// Returns whether owners are told again now. Where nobody knows accounts, they are.
    fn is_change_due(&mut self, room: Option<&ChannelName>, round: u64, since: UnixMicros) -> bool {
        if !self.deps.own {
            return true;
        }
        self.knows_owners()
            && remind::is_due(round, self.owners.owner(room, Some(since)), Before::Notified)
    }
}
