//! Reminders to owners of open approvals, wherever they were asked: in private on our own server,
//! in a room where no account tells who an owner is.

mod changes;
mod present;

use std::time::Duration;

pub(super) use changes::ToldAgain;
pub(super) use present::Owners;

use gangline_api::approval::wanted_of_row;
use gangline_core::{
    Target, Tier, TurnId,
    approval::{
        Audience,
        remind::{self, Before, Seen},
        view::{self, Around, Extent},
    },
    name::ChannelName,
    trust::OWNER,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{Announce, ApprovalRow, LineKind, MessageRow, Send as StoreSend};
use tracing::warn;

use super::Chat;
use crate::{
    place,
    texts::{self, approvals},
};

/// When owners were told of an approval last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reminded {
    turn: TurnId,
    round: u64,
    at: UnixMicros,
}

impl Chat {
    /// Tells owners of what is open, as far as they are to be told now. Each telling has a key of
    /// its own, so that a successor does not repeat it.
    pub(super) async fn notify_owners(&mut self) {
        self.remind_at = None;
        if self.deps.showing.borrow().view.approvals == 0 {
            self.reminded.clear();
            return;
        }
        let open = match self.deps.store.approvals(Some(&self.deps.agent), true).await {
            Ok(open) => open,
            Err(error) => return warn!(%error, "cannot read approvals"),
        };
        for row in open {
            let asked = match row.message {
                Some(message) => self.deps.store.message(message).await.ok().flatten(),
                None => None,
            };
            self.notify_owners_of(&row, asked.as_ref()).await;
            let now = self.deps.clock.now();
            let seen = seen(asked.as_ref(), row.audience);
            let next = remind::next_in(seen, now.since(row.opened_at));
            let at = now.plus(next);
            self.remind_at = Some(self.remind_at.map_or(at, |soonest| soonest.min(at)));
        }
    }

    /// Returns in what time owners are to be told next.
    pub(super) fn remind_in(&self) -> Option<Duration> {
        Some(self.remind_at?.since(self.deps.clock.now()))
    }

    /// Returns where owners are told of an approval, as it is written and as a place; none where it
    /// is told already.
    fn reminder_place(&self, room: Option<String>, round: u64) -> Option<(String, String)> {
        match (self.deps.own, room) {
            (true, _) => Some((OWNER.to_owned(), place::private(OWNER))),
            // It stands there already.
            (false, Some(_)) if round == 0 => None,
            (false, Some(room)) => Some((room.clone(), room)),
            (false, None) => self
                .deps
                .home
                .iter()
                .min_by_key(|it| it.folded())
                .map(|home| (home.to_string(), home.folded().to_owned())),
        }
    }

    async fn notify_owners_of(&mut self, row: &ApprovalRow, asked: Option<&MessageRow>) {
        let waited = self.deps.clock.now().since(row.opened_at);
        let Some(round) = remind::round(seen(asked, row.audience), waited) else { return };
        let before = self.reminded.get(&row.number).copied().filter(|it| it.turn == row.turn);
        // Who reads along in the room was not shown what only owners are.
        let read_in = asked.filter(|_| row.audience == Audience::Everybody);
        if before.is_some_and(|it| it.round == round) || !self.is_due(read_in, round, before) {
            return;
        }
        let told = Reminded { turn: row.turn, round, at: self.deps.clock.now() };
        let room = asked.filter(|it| it.target.starts_with('#')).map(|it| it.target.clone());
        let Some((target, place)) = self.reminder_place(room.clone(), round) else { return };
        let number = row.number.to_string();
        let around = Around {
            agent: self.deps.agent.as_str(),
            asker: asked.map(|it| it.sender.as_str()),
            folder: row.folder.as_ref().map_or("", |folder| folder.as_str()),
            home: None,
        };
        let wanted = wanted_of_row(&row.tool, row.detail.as_str());
        let waits = (round > 0).then(|| texts::span(waited));
        let told_line = match target.parse() {
            Ok(Target::Channel(_)) if row.audience == Audience::Owners => {
                view::withheld(around, &number)
            }
            Ok(Target::Channel(_)) => view::announcement(&wanted, around, &number),
            Ok(Target::Nick(_)) | Err(_) => {
                let from = match (&room, asked) {
                    (Some(room), _) => format!("in {room}"),
                    (None, Some(asked)) if !asked.target.is_empty() => "in private".to_owned(),
                    (None, _) => "at the command line".to_owned(),
                };
                view::owners_notice(&wanted, around, (&number, &from), waits.as_deref())
            }
        };
        let said = self.deps.redactor.sourced(&told_line.text);
        let extent = match row.audience {
            Audience::Everybody => told_line.extent_of(&said),
            Audience::Owners => Extent::Cut,
        };
        let lines = approvals::asked(told_line.text, row.before.as_ref());
        let lines = lines.iter().map(|line| self.deps.redactor.sourced(line).into()).collect();
        let send = StoreSend {
            agent: self.deps.agent.clone(),
            turn: Some(row.turn),
            idem_key: format!("{}own-{number}-{}-{round}", place::ANNOUNCES, row.turn).into(),
            target,
            lines,
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        let announce = Announce { send, place, extent, question: None };
        match self.deps.store.announce(row.number, announce).await {
            Ok(_) => {
                self.reminded.insert(row.number, told);
            }
            Err(error) => warn!(%error, "cannot tell owners of an approval"),
        }
    }
}

impl Chat {
    /// Returns whether owners are told now. Where nobody knows accounts, they are.
    fn is_due(&mut self, asked: Option<&MessageRow>, round: u64, before: Option<Reminded>) -> bool {
        if !self.deps.own {
            return true;
        }
        if !self.knows_owners() {
            return false;
        }
        let room = asked.and_then(|it| it.target.parse::<ChannelName>().ok());
        let owner = self.owners.owner(room.as_ref(), before.map(|it| it.at));
        let told = if before.is_some() { Before::Notified } else { Before::Never };
        remind::is_due(round, owner, told)
    }
}

/// Returns whether an owner can have seen the announcement where it was asked.
fn seen(asked: Option<&MessageRow>, audience: Audience) -> Seen {
    match asked {
        // The room was not shown what it is.
        Some(row) if row.target.starts_with('#') && audience == Audience::Owners => Seen::Not,
        Some(row) if row.target.starts_with('#') => Seen::InRoom,
        Some(row) if !row.target.is_empty() && row.principal.tier == Tier::Owner => Seen::ByOwner,
        Some(_) | None => Seen::Not,
    }
}
