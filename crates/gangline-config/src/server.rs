//! `server`: where the IRC server is, and who may be on the embedded one, in which rooms.
//!
//! A room's key is the one secret that may stand in the file: everybody who enters the room knows
//! it. No message quotes a line that holds one.

use std::{collections::BTreeMap, fmt};

use gangline_core::name::ChannelName;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Guests,
    declared::{Declared, section},
    error::shown,
    join_address,
    node::{Node, Value},
    reader::Reader,
    value::host,
};

#[cfg(test)]
mod tests;

/// The longest key of a room, in bytes.
const KEY_MAX: usize = 64;

section! {
    /// `server`: the IRC server that the agents join (R0-61).
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Server() |reader, key, node| {
        /// The server's name, which every agent's nick begins with.
        pub name: String = "spark".into() => name(reader, key, &node),
        /// Host name or address.
        pub host: String = "localhost".into() => host(reader, &node),
        /// TCP port, 1 to 65535.
        pub port: u16 = 6667 => reader.integer(key, &node, 1..=65535),
        /// What other users of this machine may do without an account, on the embedded server.
        pub guests: Guests = Guests::No => guests(reader, &node),
        /// Rooms of the embedded server that are not for everybody.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        #[schemars(with = "BTreeMap<String, Room>")]
        pub rooms: BTreeMap<ChannelName, Room> = BTreeMap::new() => rooms(reader, key, node),
    }
    ignored: ["links", "archived", "archived_at", "archived_reason"]
}

impl Server {
    /// Returns `host:port`, an IPv6 host in brackets.
    #[must_use]
    pub fn address(&self) -> String {
        join_address(&self.host, self.port)
    }
}

section! {
    /// One room of `server.rooms`. Its agents and the owner always get in.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Room() |reader, key, node| {
        /// What a client must give to join: `/join #ops KEY`. At most 64 bytes, without spaces, commas
        /// and colons.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub key: Option<RoomKey> = None,
        /// Whether others need an owner's invitation.
        pub invite_only: bool = false,
    }
}

/// A room's key; never shown.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoomKey(String);

impl RoomKey {
    /// Returns the key, for the server that checks it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RoomKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Reads the server's name.
fn name(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let name = reader.text(key, node)?;
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    let begins = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    if begins && name.len() <= 32 && name.bytes().all(legal) {
        return Some(name);
    }
    let shown = shown(&name);
    let message = format!(
        "`{shown}` is not a server name: write a-z, 0-9, - and _, a letter first, at most 32 bytes"
    );
    reader.fault(node.place, message);
    None
}

/// Reads `guests`; `no` without quotes is `false` to some writers of YAML.
fn guests(reader: &mut Reader<'_>, node: &Node) -> Option<Guests> {
    match node.value {
        Value::Bool(false) => Some(Guests::No),
        _ => reader.word("guests", node),
    }
}

/// Reads `rooms`.
fn rooms(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<BTreeMap<ChannelName, Room>> {
    let section = reader.section(key, node)?;
    let mut rooms = BTreeMap::new();
    for (name, node) in section.entries {
        let channel = match name.text.parse::<ChannelName>() {
            Ok(channel) => channel,
            Err(error) => {
                reader.secret_value_fault(name.place, &error.to_string(), "write it as \"#name\"");
                continue;
            }
        };
        if rooms.contains_key(&channel) {
            let message = format!("the room `{channel}` appears twice in `rooms`");
            reader.secret_value_fault(name.place, &message, "remove one of them");
            continue;
        }
        if let Some(room) = room(reader, &channel, node) {
            rooms.insert(channel, room);
        }
    }
    Some(rooms)
}

fn room(reader: &mut Reader<'_>, channel: &ChannelName, node: Node) -> Option<Room> {
    let place = node.place;
    let Value::Map(entries) = node.value else {
        let message = format!("the room `{channel}` must be a mapping, not {}", node.value.kind());
        reader.secret_value_fault(place, &message, "write {key: KEY} or {invite_only: true}");
        return None;
    };
    let mut room = Room::default();
    for (name, node) in entries {
        match name.text.as_str() {
            "key" => room.key = key(reader, channel, &node),
            "invite_only" => match yes_or_no(&node.value) {
                Some(value) => room.invite_only = value,
                None => reader.secret_value_fault(
                    node.place,
                    &format!("`invite_only` of {channel} must be true or false"),
                    "write true or false",
                ),
            },
            other => {
                let message = format!("unknown key `{}` of the room {channel}", shown(other));
                let help = format!("the keys are {}", Room::KEYS.known.join(", "));
                reader.secret_value_fault(name.place, &message, &help);
            }
        }
    }
    if room == Room::default() {
        reader.warn_plain(place, format!("the room {channel} has no key and is open to all"));
    }
    Some(room)
}

fn yes_or_no(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Text(text) if text == "yes" => Some(true),
        Value::Text(text) if text == "no" => Some(false),
        _ => None,
    }
}

fn key(reader: &mut Reader<'_>, channel: &ChannelName, node: &Node) -> Option<RoomKey> {
    let text = match &node.value {
        Value::Text(text) => text.as_str(),
        _ => "",
    };
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == ',' || c == ':';
    if text.is_empty() || text.len() > KEY_MAX || text.contains(odd) {
        reader.secret_value_fault(
            node.place,
            &format!("the key of {channel} cannot be used"),
            "write a text of 1 to 64 bytes without spaces, commas and colons; in quotes if it is \
             a number",
        );
        return None;
    }
    Some(RoomKey(text.to_owned()))
}
