//! Who may be there: people of other users without an account, names that look like ours, rooms
//! that are not for all.
//!
//! What the configuration says of it is [`Access`].

use std::sync::Arc;

use gangline_core::{Nick, Tier, likeness, name};

use super::{
    access::{Access, Guests, RoomRule},
    call::Call,
    client::Client,
    client_id::ClientId,
    events::{Doing, EventKind},
    state::State,
    trust::Origin,
};
use crate::wire::numeric as n;

#[cfg(test)]
mod tests;

/// Returns the one sentence that a guest is refused with.
fn refusal(origin: Origin, to_let_in: &str) -> String {
    let who = match origin {
        Origin::Own | Origin::Socket => "You have no account here".to_owned(),
        Origin::User(uid) => {
            format!("Your user (uid {uid}) does not run this server, and you have no account")
        }
        Origin::Unknown(_) => "The system does not say which user you are (on macOS, or from \
                               outside a container), and you have no account"
            .to_owned(),
    };
    let else_ask = match to_let_in {
        "" => String::new(),
        line => format!(", or ask its owner to let guests in with {line}"),
    };
    format!("{who}: log in, such as with the server password owner:TOKEN{else_ask}")
}

/// Returns whether a nick has the form that `gangline channel` gives itself, here of an agent of
/// this server or none: `spark-ada__peek0a1b`, `spark-_peek0a1b`.
fn is_our_client(nick: &str) -> bool {
    let Some((_, tail)) = nick.rsplit_once("_peek") else { return false };
    tail.len() == 4 && tail.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a nick (folded) is one that the client of this account may have: its name,
/// underscores behind it (another connection has the name), or our one-shot client's on its behalf.
fn is_variant(account: &str, nick: &str) -> bool {
    let account = name::fold(account);
    let Some(tail) = nick.strip_prefix(&account) else { return false };
    tail.bytes().all(|byte| byte == b'_') || (tail.starts_with("__peek") && is_our_client(nick))
}

/// Returns whether a nick looks like one of ours and this client may not bear it.
pub(super) fn looks_like_ours(server: &str, client: &Client, nick: &Nick) -> bool {
    let own = client.account().is_some_and(|account| is_variant(account, nick.folded()));
    if !own && ["gangline", "system"].iter().any(|ours| likeness::is_like(ours, nick.folded())) {
        return true;
    }
    let is_guest = client.tier() == Tier::Stranger;
    if is_guest
        && (likeness::is_like_ours(nick.folded())
            || likeness::is_like_agent_of(server, nick.folded()))
    {
        return true;
    }
    let prefix = format!("{}-", name::fold(server));
    nick.folded().starts_with(&prefix)
        && match client.tier() {
            Tier::Agent => match client.account() {
                // Its own nick is reserved for its account already; these follow from it.
                Some(account) => !is_variant(account, nick.folded()),
                None => !is_our_client(nick.folded()),
            },
            Tier::Owner | Tier::Member => !is_our_client(nick.folded()),
            Tier::Stranger => true,
        }
}

impl State {
    /// Refuses somebody of another user who has no account, unless guests may come in.
    pub(super) fn refuse_guest(&mut self, id: ClientId) -> bool {
        let Some(client) = self.client(id) else { return true };
        let access = self.config.access.borrow().clone();
        if access.guests != Guests::No || !client.is_guest() {
            return false;
        }
        let text = refusal(client.origin, &access.to_let_in);
        tracing::info!(client = id.0, origin = ?client.origin, "a guest was refused");
        self.numeric(id, n::ERR_YOUREBANNEDCREEP, &[], &text);
        self.doom(id, "Guests are not let in");
        true
    }

    /// Applies a change of who may be there to those who are: guests go once none may be, and leave
    /// the rooms that were closed. Members stay in a room that was closed, as on other servers.
    pub(super) fn apply_access(&mut self) {
        let access = self.config.access.borrow_and_update().clone();
        let before = std::mem::replace(&mut self.applied, Arc::clone(&access));
        match access.guests {
            Guests::Read | Guests::Talk => self.clear_closed_rooms(&before, &access),
            Guests::No => self.close_guests(),
        }
    }

    fn close_guests(&mut self) {
        let guests = self.clients.values().filter(|client| client.is_ready());
        let guests = guests.filter(|client| client.is_guest());
        for id in guests.map(|client| client.id).collect::<Vec<_>>() {
            self.doom(id, "Guests are no longer let in");
        }
    }

    /// Takes guests out of rooms that are closed in a way in which they were not before. Who came
    /// in with a key or an invitation stays until either changes.
    fn clear_closed_rooms(&mut self, before: &Access, now: &Access) {
        let narrower = |(room, rule): &(&String, &RoomRule)| {
            let old = before.rooms.get(*room).cloned().unwrap_or_default();
            (rule.invite_only && !old.invite_only)
                || (rule.no_guests && !old.no_guests)
                || (rule.key.is_some() && rule.key != old.key)
        };
        let closed: Vec<String> =
            now.rooms.iter().filter(narrower).map(|(room, _)| room.clone()).collect();
        let text = "This room is no longer open to guests";
        for room in closed {
            for id in self.members(&room, None) {
                if self.client(id).is_some_and(Client::is_guest) {
                    self.turn_out(id, &room, text);
                }
            }
        }
    }

    /// Takes somebody out of a room in the server's name.
    fn turn_out(&mut self, id: ClientId, room: &str, why: &str) {
        let Some(name) = self.channel(room).map(|channel| channel.name.clone()) else { return };
        let nick = self.client(id).map_or_else(String::new, |client| client.name().to_owned());
        let source = self.config.name.clone();
        let words = [name.as_str(), &nick];
        let kind = EventKind::Kick;
        let doing = Doing { kind, source: &source, account: None, words: &words, text: Some(why) };
        self.happens(&name, &doing);
        self.leave(id, &name);
    }

    /// Returns whether the client may only read.
    pub(super) fn only_reads(&self, id: ClientId) -> bool {
        let guest = self.client(id).is_some_and(Client::is_guest);
        guest && self.config.access.borrow().guests == Guests::Read
    }

    /// Refuses what somebody who may only read would say or change; returns whether it was.
    pub(super) fn refuse_reader(&mut self, call: &Call) -> bool {
        let command = call.message.command.as_str();
        let target = call.message.at(0).unwrap_or("*").to_owned();
        let more = call.message.at(1).is_some();
        let acts = match command {
            "PRIVMSG" | "NOTICE" | "TAGMSG" | "INVITE" | "KICK" | "REDACT" => true,
            "AWAY" => !call.message.at(0).unwrap_or_default().is_empty(),
            "TOPIC" => more,
            // What a room's modes are, and one's own, is no secret.
            "MODE" => {
                more && target.starts_with('#') && !matches!(call.message.at(1), Some("b" | "+b"))
            }
            _ => false,
        };
        if !acts || !self.only_reads(call.id) {
            return false;
        }
        let text = "Guests may only read here; log in to do more";
        let number = match command {
            "PRIVMSG" | "TAGMSG" => n::ERR_CANNOTSENDTOCHAN,
            // Programs must not be answered when they send notices.
            "NOTICE" => return true,
            "TOPIC" | "MODE" | "KICK" => n::ERR_CHANOPRIVSNEEDED,
            _ => n::ERR_NOPRIVILEGES,
        };
        match number {
            n::ERR_NOPRIVILEGES => self.numeric(call.id, number, &[], text),
            _ => self.numeric(call.id, number, &[&target], text),
        }
        true
    }

    /// Returns what a client says when it goes: nothing of one who may only read.
    pub(super) fn last_words<'a>(&self, id: ClientId, why: Option<&'a str>) -> Option<&'a str> {
        why.filter(|_| !self.only_reads(id))
    }

    /// Returns whether the configuration keeps guests out of a room that others may come into.
    pub(super) fn keeps_guests_out(&self, room: &str) -> bool {
        self.config.access.borrow().rooms.get(room).is_some_and(|rule| rule.no_guests)
    }

    /// Returns why the configuration does not let somebody with this key into a room.
    pub(super) fn kept_out(&self, room: &str, key: Option<&str>) -> Option<(u16, &'static str)> {
        let access = self.config.access.borrow();
        let rule = access.rooms.get(room)?;
        if rule.invite_only {
            return Some((n::ERR_INVITEONLYCHAN, "Cannot join channel (+i)"));
        }
        let wanted = rule.key.as_ref()?;
        let right = key.is_some_and(|given| wanted.matches(given));
        (!right).then_some((n::ERR_BADCHANNELKEY, "Cannot join channel (+k)"))
    }

    /// Returns whether an agent belongs into a room, so that nothing keeps it out.
    pub(super) fn belongs(&self, client: &Client, room: &str) -> bool {
        let access = self.config.access.borrow();
        let Some(rule) = access.rooms.get(room) else { return false };
        let account = client.account().map(name::fold);
        client.tier() == Tier::Agent && account.is_some_and(|it| rule.agents.contains(&it))
    }

    /// Returns the configuration's rule of a room that is not for everybody.
    pub(super) fn closed_room(&self, room: &str) -> Option<RoomRule> {
        let access = self.config.access.borrow();
        access.rooms.get(&name::fold(room)).filter(|rule| rule.is_closed()).cloned()
    }
}
