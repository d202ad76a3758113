//! Whose a room is, and who may do what in it beyond its members' present powers.
//!
//! A room belongs to the account of its founder. The founder's powers, and those of the accounts that
//! were made operators or given a voice, are stored like modes. Somebody without an account is known
//! by this one session: the room is theirs until the connection ends. Nothing here goes by a nick,
//! which anybody may take. Start at [`State::found`]; storing is [`State::keep_room`].

use std::collections::BTreeSet;

use gangline_core::{Tier, name::fold};

use super::{
    channel::Channel,
    client::Client,
    client_id::ClientId,
    flight::{Asker, Job},
    state::State,
    store::{HistoryError, RoomRow},
};
use crate::wire::text;

/// Rooms of which something is stored.
pub(super) const ROOMS_MAX: usize = 10_000;
/// What begins a ban of an account: `~a:ada`.
pub(super) const ACCOUNT_BAN: &str = "~a:";

/// Too many rooms are stored already.
pub(super) struct TooMany;

impl State {
    /// Returns what will be stored of a room once all changes are that are on their way. That is
    /// something only if the room is there or is stored.
    pub(super) fn room_row(&self, name: &str) -> Option<RoomRow> {
        let key = fold(name);
        let known = self.asked_rooms.get(&key).map(|(_, row)| row);
        known.or_else(|| self.rooms.get(&key)).cloned().or_else(|| {
            let channel = self.channels.get(&key)?;
            Some(RoomRow::new(channel.name.clone(), channel.created_at))
        })
    }

    /// Returns whether the room is this client's.
    pub(super) fn is_founder(&self, client: &Client, room: &str) -> bool {
        let by_account = self.rooms.get(room).and_then(|row| row.founder.as_deref());
        match by_account {
            Some(account) => client.folded_account().as_deref() == Some(account),
            None => self.founders.get(room) == Some(&client.id),
        }
    }

    /// Returns whether the room is anybody's who could come back.
    pub(super) fn has_founder(&self, room: &str) -> bool {
        self.founders.contains_key(room)
            || self.room_row(room).is_some_and(|row| row.founder.is_some())
    }

    /// Returns whether somebody who comes in may take the room: it is nobody's, and nothing is set.
    pub(super) fn is_to_be_had(&self, room: &str) -> bool {
        !self.has_founder(room) && self.rooms.get(room).is_none_or(RoomRow::is_plain)
    }

    /// Returns whether the client's account is among the operators that are stored.
    pub(super) fn is_kept_op(&self, client: &Client, room: &str) -> bool {
        self.is_listed(client, room, |row| &row.ops)
    }

    /// Returns whether the client's account is among those with a voice that are stored.
    pub(super) fn has_kept_voice(&self, client: &Client, room: &str) -> bool {
        self.is_listed(client, room, |row| &row.voices)
    }

    fn is_listed(
        &self,
        client: &Client,
        room: &str,
        list: impl Fn(&RoomRow) -> &BTreeSet<String>,
    ) -> bool {
        let account = client.folded_account();
        let row = self.room_row(room);
        row.zip(account).is_some_and(|(row, account)| list(&row).contains(&account))
    }

    /// Gives a room that is nobody's to a client. One without an account keeps it while its
    /// connection lives, and as many of them as it may be in.
    pub(super) fn found(&mut self, id: ClientId, room: &str) {
        let most = self.config.limits.channels;
        let Some(client) = self.clients.get_mut(id) else { return };
        if let Some(account) = client.folded_account() {
            return self.found_by(&account, room);
        }
        if client.founded.len() < most {
            client.founded.insert(room.to_owned());
            self.founders.insert(room.to_owned(), id);
        }
    }

    /// Gives a room to an account.
    fn found_by(&mut self, account: &str, room: &str) {
        let Some(mut row) = self.room_row(room) else { return };
        row.founder = Some(account.to_owned());
        row.at = self.now();
        if self.keep_room(None, row).is_err() {
            tracing::warn!(room, "whose a room is was not stored: too many rooms are");
        }
    }

    /// The session has logged in: what was its own is its account's.
    pub(super) fn hand_over(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let Some(account) = client.folded_account() else { return };
        for room in std::mem::take(&mut client.founded) {
            self.founders.remove(&room);
            self.found_by(&account, &room);
        }
    }

    /// The session has ended: what was its own is nobody's.
    pub(super) fn give_up(&mut self, client: &Client) {
        for room in &client.founded {
            self.founders.remove(room);
        }
    }

    /// Sends a room to the store.
    ///
    /// # Errors
    /// [`TooMany`] if it is a new one and there is no room for it.
    pub(super) fn keep_room(&mut self, asker: Option<Asker>, row: RoomRow) -> Result<(), TooMany> {
        let key = row.channel.folded().to_owned();
        let known = self.rooms.contains_key(&key);
        if !known && !row.is_empty() && self.rooms.len() >= ROOMS_MAX && !self.forget_a_room() {
            return Err(TooMany);
        }
        let asked = self.asked_rooms.entry(key).or_insert_with(|| (0, row.clone()));
        *asked = (asked.0 + 1, row.clone());
        self.flights.push(Job::Room { asker, room: row });
        Ok(())
    }

    /// Forgets the oldest room that belongs to an account, in which nothing is set and nobody is.
    fn forget_a_room(&mut self) -> bool {
        let is_idle = |(key, row): &(&String, &RoomRow)| {
            row.is_plain() && !self.channels.contains_key(*key) && !self.is_configured(key)
        };
        let oldest = self.rooms.iter().filter(is_idle).min_by_key(|(_, row)| row.at);
        let Some(key) = oldest.map(|(key, _)| key.clone()) else { return false };
        if let Some(row) = self.rooms.remove(&key) {
            self.flights.push(Job::ForgetRoom(row.channel));
        }
        true
    }

    /// Returns whether the configuration names the room.
    pub(super) fn is_configured(&self, room: &str) -> bool {
        self.config.access.borrow().rooms.contains_key(room)
    }

    /// Has it stored when a room of the configuration was made.
    pub(super) fn remember_when(&mut self, room: &str) {
        let Some(row) = self.room_row(room) else { return };
        if self.keep_room(None, row).is_err() {
            tracing::warn!(room, "when a room was made was not stored: too many rooms are");
        }
    }

    /// Takes a room that was to be stored. Returns whether it is.
    pub(super) fn room_kept(&mut self, row: RoomRow, kept: &Result<(), HistoryError>) -> bool {
        let key = row.channel.folded().to_owned();
        if let Some(asked) = self.asked_rooms.get_mut(&key) {
            asked.0 = asked.0.saturating_sub(1);
            if asked.0 == 0 {
                self.asked_rooms.remove(&key);
            }
        }
        if let Err(error) = kept {
            tracing::error!(%error, room = key, "what was set in a room was not stored");
            return false;
        }
        if row.is_empty() && !self.is_configured(&key) {
            self.rooms.remove(&key);
            self.flights.push(Job::ForgetRoom(row.channel));
        } else {
            self.rooms.insert(key, row);
        }
        true
    }

    /// Notes that an account no longer belongs to a room: it was thrown out.
    pub(super) fn disown(&mut self, room: &str, account: Option<&str>) {
        let Some(account) = account.map(fold) else { return };
        let Some(mut row) = self.room_row(room) else { return };
        let before = row.clone();
        for list in [&mut row.ops, &mut row.voices, &mut row.agents] {
            list.remove(&account);
        }
        if row != before && self.keep_room(None, row).is_err() {
            tracing::warn!(room, "that somebody no longer belongs to a room was not stored");
        }
    }

    /// Returns why a client may say nothing in a room, if that is so.
    pub(super) fn muted(&self, client: &Client, channel: &Channel) -> Option<&'static str> {
        let Some(member) = channel.member(client.id) else {
            return Some("Cannot send to channel (+n): you are not in it");
        };
        if member.op || member.voice {
            return None;
        }
        if channel.modes.has('m') {
            return Some(
                "Cannot send to channel (+m): only operators and those with a voice speak",
            );
        }
        self.is_banned(client, channel.name.folded())
            .then_some("Cannot send to channel (+b): you are banned")
    }

    /// Returns whether a ban of the room holds for the client. None does for the owner, for whom the
    /// room is, for its stored operators, and for agents that belong there.
    pub(super) fn is_banned(&self, client: &Client, room: &str) -> bool {
        let channel = self.channels.get(room).map(|channel| &channel.modes.bans);
        let bans = channel.or_else(|| self.rooms.get(room).map(|row| &row.bans));
        let Some(bans) = bans.filter(|bans| !bans.is_empty()) else { return false };
        let source = fold(&client.source());
        let account = client.folded_account();
        // What marks an account is no letter of a name, and is not folded.
        let fits = |mask: &str| match mask.strip_prefix(ACCOUNT_BAN) {
            Some(wanted) => {
                account.as_deref().is_some_and(|name| text::matches(name, &fold(wanted)))
            }
            None => text::matches(&source, &fold(mask)),
        };
        if !bans.iter().any(|ban| fits(&ban.mask)) {
            return false;
        }
        let free = client.tier() == Tier::Owner
            || self.belongs(client, room)
            || self.is_founder(client, room)
            || self.is_kept_op(client, room);
        !free
    }
}

/// Returns a ban as it is stored: all three parts of a mask, or an account. `None` if it is none.
pub(super) fn ban_mask(word: &str) -> Option<String> {
    const MASK_MAX: usize = 128;
    let legal = |c: char| !c.is_control() && !matches!(c, ' ' | ',');
    if word.is_empty() || word.len() > MASK_MAX || !word.chars().all(legal) {
        return None;
    }
    for begins in ["~account:", ACCOUNT_BAN] {
        if let Some(account) = word.strip_prefix(begins) {
            return (!account.is_empty()).then(|| format!("{ACCOUNT_BAN}{account}"));
        }
    }
    if word.starts_with(['~', '$', ':']) {
        return None;
    }
    Some(match (word.split_once('!'), word.split_once('@')) {
        (Some(_), Some(_)) => word.to_owned(),
        (Some(_), None) => format!("{word}@*"),
        (None, Some(_)) => format!("*!{word}"),
        (None, None) => format!("{word}!*@*"),
    })
}

#[cfg(test)]
mod tests;
