//! How many are in the channels that we are in, by what the server sends anyway: the list behind our
//! JOIN, and then who comes and goes. Keeps no nick, only a keyed hash of each.
//!
//! What it cannot know it says: nothing is guessed. A count is not known before the server has
//! listed the room, nor while more than [`MEMBERS_MAX`] are there, nor after a change of modes,
//! which may change whom we are shown. A list makes it known again. Start at [`Members::heard`].

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use gangline_core::name::ChannelName;

use super::Session;
use crate::{
    client::LinkEvent,
    wire::{Message, numeric},
};

/// The most members of one channel that are counted; eight bytes each are kept.
pub(super) const MEMBERS_MAX: usize = 4096;
/// The most channels whose members are counted.
pub(super) const ROOMS_MAX: usize = 256;
/// What servers put before a nick for its rank in the room, whether they say so or not.
const RANKS: &str = "~&@%+!";

/// One nick, folded as the server folds.
type Nick = u64;

/// Which nicks are the same to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Casemapping {
    Ascii,
    /// `[]\~` are the upper case of `{}|^`.
    Rfc1459,
    /// The same without `~`.
    Strict,
}

/// Who is in a room.
#[derive(Debug, Default)]
struct Room {
    /// Sorted; `None` while it is not known.
    here: Option<Vec<Nick>>,
    list: List,
}

/// What the server lists, until it says that this is all.
#[derive(Debug, Default)]
enum List {
    /// It lists nothing.
    #[default]
    None,
    /// In any order, perhaps doubled.
    Rows(Vec<Nick>),
    /// They are too many, or somebody came or went between two rows: whether the later rows know
    /// that depends on the server.
    Useless,
}

/// The rooms that we are in, of one connection.
#[derive(Debug)]
pub(super) struct Members {
    rooms: BTreeMap<ChannelName, Room>,
    casemapping: Casemapping,
    /// What the server says it puts before a nick.
    ranks: String,
    /// Nobody can find nicks that fall together.
    keys: RandomState,
}

impl Default for Members {
    fn default() -> Self {
        let (rooms, ranks) = (BTreeMap::new(), String::new());
        Self { rooms, casemapping: Casemapping::Rfc1459, ranks, keys: RandomState::new() }
    }
}

impl Casemapping {
    /// A mapping that is not known here folds letters at least; so do all.
    fn of(name: &str) -> Self {
        match name {
            "rfc1459" => Self::Rfc1459,
            "rfc1459-strict" | "strict-rfc1459" => Self::Strict,
            _ => Self::Ascii,
        }
    }

    fn fold(self, byte: u8) -> u8 {
        match (self, byte) {
            (Self::Rfc1459 | Self::Strict, b'[') => b'{',
            (Self::Rfc1459 | Self::Strict, b']') => b'}',
            (Self::Rfc1459 | Self::Strict, b'\\') => b'|',
            (Self::Rfc1459, b'~') => b'^',
            (Self::Ascii | Self::Rfc1459 | Self::Strict, other) => other.to_ascii_lowercase(),
        }
    }
}

impl Room {
    fn count(&self) -> Option<u32> {
        self.here.as_ref().and_then(|here| u32::try_from(here.len()).ok())
    }

    fn enters(&mut self, nick: Nick) {
        self.spoils_list();
        let Some(here) = &mut self.here else { return };
        match here.binary_search(&nick) {
            Ok(_) => {}
            Err(_) if here.len() >= MEMBERS_MAX => self.here = None,
            Err(at) => here.insert(at, nick),
        }
    }

    /// Returns whether the nick was there, as far as that is known.
    fn leaves(&mut self, nick: Nick) -> bool {
        self.spoils_list();
        let Some(here) = &mut self.here else { return false };
        let found = here.binary_search(&nick);
        found.map(|at| here.remove(at)).is_ok()
    }

    /// Nothing is known until the next list.
    fn forget(&mut self) {
        self.spoils_list();
        self.here = None;
    }

    fn spoils_list(&mut self) {
        if let List::Rows(_) = self.list {
            self.list = List::Useless;
        }
    }

    fn listed(&mut self, nicks: Vec<Nick>) {
        if let List::None = self.list {
            self.list = List::Rows(Vec::new());
        }
        for nick in nicks {
            match &mut self.list {
                List::Rows(rows) if rows.len() < MEMBERS_MAX => rows.push(nick),
                List::Rows(_) => self.forget(),
                List::Useless | List::None => return,
            }
        }
    }

    /// What was known before is kept if this list is useless: it was true up to now.
    fn list_ends(&mut self) {
        if let List::Rows(mut rows) = std::mem::take(&mut self.list) {
            rows.sort_unstable();
            rows.dedup();
            rows.shrink_to_fit();
            self.here = Some(rows);
        }
    }
}

impl Members {
    /// Takes a word of `ISUPPORT`.
    pub(super) fn learn(&mut self, key: &str, value: &str) {
        match key {
            "CASEMAPPING" => {
                let casemapping = Casemapping::of(&value.to_ascii_lowercase());
                // What was hashed by another rule says nothing any more.
                if casemapping != self.casemapping {
                    self.casemapping = casemapping;
                    self.rooms.values_mut().for_each(|room| *room = Room::default());
                }
            }
            // `(ov)@+`.
            "PREFIX" => {
                let ranks = value.split_once(')').map_or("", |(_, ranks)| ranks);
                let in_no_nick = |c: &char| !c.is_alphanumeric() && !"-_[]\\`^{|}".contains(*c);
                self.ranks = ranks.chars().filter(in_no_nick).take(16).collect();
            }
            _ => {}
        }
    }

    /// Takes a live line of the server; `is_own` says whether a nick is ours. Returns the rooms
    /// whose count is another one now, except those that we enter or leave by this line.
    pub(super) fn heard(
        &mut self,
        message: &Message,
        is_own: impl Fn(&str) -> bool,
    ) -> Vec<(ChannelName, Option<u32>)> {
        let by = message.nick().unwrap_or_default();
        let at = |index: usize| message.at(index).unwrap_or_default();
        match message.command.as_str() {
            "JOIN" if is_own(by) => self.we_enter(at(0)),
            "PART" if is_own(by) => self.we_leave(at(0)),
            "KICK" if is_own(at(1)) => self.we_leave(at(0)),
            "JOIN" => {
                let nick = self.nick(by);
                return self.in_room(at(0), |room| room.enters(nick));
            }
            "PART" => return self.leaves(at(0), by),
            "KICK" => return self.leaves(at(0), at(1)),
            "QUIT" => {
                let nick = self.nick(by);
                return self.in_all(|room| {
                    room.leaves(nick);
                });
            }
            "NICK" => {
                let (from, to) = (self.nick(by), self.nick(at(0)));
                return self.in_all(|room| {
                    if room.leaves(from) {
                        room.enters(to);
                    }
                });
            }
            // In some rooms a rank decides who is shown to whom.
            "MODE" => return self.in_room(at(0), Room::forget),
            _ => match message.numeric() {
                Some(numeric::RPL_NAMREPLY) => return self.row(at(2), at(3)),
                Some(numeric::RPL_ENDOFNAMES) => return self.in_room(at(1), Room::list_ends),
                _ => {}
            },
        }
        Vec::new()
    }

    fn we_enter(&mut self, channel: &str) {
        let Ok(channel) = channel.parse::<ChannelName>() else { return };
        if self.rooms.len() < ROOMS_MAX || self.rooms.contains_key(&channel) {
            self.rooms.insert(channel, Room::default());
        }
    }

    fn we_leave(&mut self, channel: &str) {
        if let Ok(channel) = channel.parse::<ChannelName>() {
            self.rooms.remove(&channel);
        }
    }

    fn leaves(&mut self, channel: &str, who: &str) -> Vec<(ChannelName, Option<u32>)> {
        let nick = self.nick(who);
        self.in_room(channel, |room| {
            room.leaves(nick);
        })
    }

    /// Takes a row of a list: `@ada`, `@+ada` or `@ada!user@host`.
    fn row(&mut self, channel: &str, names: &str) -> Vec<(ChannelName, Option<u32>)> {
        let is_rank = |c: char| RANKS.contains(c) || self.ranks.contains(c);
        let nicks = names.split(' ').filter_map(|name| {
            let name = name.trim_start_matches(is_rank);
            let nick = name.split_once('!').map_or(name, |(nick, _)| nick);
            (!nick.is_empty()).then(|| self.nick(nick))
        });
        let nicks: Vec<Nick> = nicks.collect();
        self.in_room(channel, |room| room.listed(nicks))
    }

    fn nick(&self, nick: &str) -> Nick {
        let mut hasher = self.keys.build_hasher();
        nick.bytes().for_each(|byte| hasher.write_u8(self.casemapping.fold(byte)));
        hasher.finish()
    }

    fn in_room(
        &mut self,
        channel: &str,
        change: impl FnOnce(&mut Room),
    ) -> Vec<(ChannelName, Option<u32>)> {
        let Ok(channel) = channel.parse::<ChannelName>() else { return Vec::new() };
        let Some(room) = self.rooms.get_mut(&channel) else { return Vec::new() };
        let before = room.count();
        change(room);
        let count = room.count();
        if count == before { Vec::new() } else { vec![(channel, count)] }
    }

    fn in_all(&mut self, change: impl Fn(&mut Room)) -> Vec<(ChannelName, Option<u32>)> {
        let mut changed = Vec::new();
        for (channel, room) in &mut self.rooms {
            let before = room.count();
            change(room);
            let count = room.count();
            if count != before {
                changed.push((channel.clone(), count));
            }
        }
        changed
    }
}

impl Session {
    /// Counts who is where by a live line of the server.
    pub(super) fn count_members(&mut self, message: &Message) {
        let nick = &self.nick;
        for (channel, count) in self.members.heard(message, |name| nick.is_current(name)) {
            self.tell(LinkEvent::Members { channel, count });
        }
    }
}
