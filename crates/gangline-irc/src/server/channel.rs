//! A channel: its members and modes.

use std::collections::{BTreeMap, BTreeSet};

use gangline_core::{ChannelName, name::fold};
use gangline_os::clock::UnixMicros;

use super::{
    access::RoomRule,
    client_id::ClientId,
    holder::Holder,
    store::{Ban, RoomRow},
};

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Member {
    pub(super) op: bool,
    pub(super) voice: bool,
}

impl Member {
    /// Returns the prefix of NAMES and WHO: the highest, or all of them.
    pub(super) fn prefix(self, all: bool) -> &'static str {
        match (self.op, self.voice) {
            (true, true) if all => "@+",
            (true, _) => "@",
            (false, true) => "+",
            (false, false) => "",
        }
    }
}

/// A channel with at least one member.
pub(super) struct Channel {
    pub(super) name: ChannelName,
    pub(super) created_at: UnixMicros,
    pub(super) members: BTreeMap<ClientId, Member>,
    pub(super) modes: Modes,
    /// Who may come in whatever its modes say.
    pub(super) invited: BTreeSet<Holder>,
    /// The place of the newest line that was shown in it; 0 before there was one.
    pub(super) newest: i64,
}

/// Modes of a channel. Messages from outside are never taken (`n`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Modes {
    /// Letters of `imst` that are set.
    pub(super) flags: BTreeSet<char>,
    pub(super) key: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) bans: Vec<Ban>,
}

impl Modes {
    pub(super) fn of(row: &RoomRow) -> Self {
        Self {
            flags: row.flags.chars().collect(),
            key: row.key.clone(),
            limit: row.limit,
            bans: row.bans.clone(),
        }
    }

    /// Writes the modes into a row.
    pub(super) fn put_into(&self, row: &mut RoomRow) {
        row.flags = self.flags.iter().collect();
        row.key.clone_from(&self.key);
        row.limit = self.limit;
        row.bans.clone_from(&self.bans);
    }

    pub(super) fn bans(&self, mask: &str) -> bool {
        self.bans.iter().any(|ban| fold(&ban.mask) == fold(mask))
    }

    /// Returns what makes these modes of others: letters with their signs, then the parameters.
    /// `None` if they are the same.
    pub(super) fn since(&self, before: &Self) -> Option<Vec<String>> {
        let (mut set, mut unset) = (String::new(), String::new());
        let mut params = Vec::new();
        set.extend(self.flags.difference(&before.flags));
        unset.extend(before.flags.difference(&self.flags));
        if let Some(key) = self.key.as_ref().filter(|_| self.key != before.key) {
            set.push('k');
            params.push(key.clone());
        }
        if let Some(limit) = self.limit.filter(|_| self.limit != before.limit) {
            set.push('l');
            params.push(limit.to_string());
        }
        for ban in self.bans.iter().filter(|ban| !before.bans(&ban.mask)) {
            set.push('b');
            params.push(ban.mask.clone());
        }
        if self.key.is_none() && before.key.is_some() {
            unset.push('k');
            params.push("*".to_owned());
        }
        if self.limit.is_none() && before.limit.is_some() {
            unset.push('l');
        }
        for ban in before.bans.iter().filter(|ban| !self.bans(&ban.mask)) {
            unset.push('b');
            params.push(ban.mask.clone());
        }
        let signed = |sign: char, letters: &str| match letters {
            "" => String::new(),
            letters => format!("{sign}{letters}"),
        };
        let letters = signed('+', &set) + &signed('-', &unset);
        params.insert(0, letters);
        (!params[0].is_empty()).then_some(params)
    }

    pub(super) fn has(&self, flag: char) -> bool {
        self.flags.contains(&flag)
    }

    /// Returns the modes with those that the configuration sets; its key is shown to nobody.
    pub(super) fn under(mut self, rule: &RoomRule) -> Self {
        if rule.invite_only {
            self.flags.insert('i');
        }
        if rule.key.is_some() {
            self.key = Some("*".to_owned());
        }
        self
    }

    /// Returns the letters and then the parameters, as 324 shows them; the key only to members.
    pub(super) fn shown(&self, member: bool) -> Vec<String> {
        let mut letters = String::from("+n");
        letters.extend(&self.flags);
        let mut params = Vec::new();
        if let Some(key) = &self.key {
            letters.push('k');
            params.push(if member { key.clone() } else { "*".to_owned() });
        }
        if let Some(limit) = self.limit {
            letters.push('l');
            params.push(limit.to_string());
        }
        params.insert(0, letters);
        params
    }
}

impl Channel {
    pub(super) fn new(name: ChannelName, created_at: UnixMicros, modes: Modes) -> Self {
        Self {
            name,
            created_at,
            members: BTreeMap::new(),
            modes,
            invited: BTreeSet::new(),
            newest: 0,
        }
    }

    pub(super) fn member(&self, id: ClientId) -> Option<Member> {
        self.members.get(&id).copied()
    }

    pub(super) fn is_op(&self, id: ClientId) -> bool {
        self.member(id).is_some_and(|member| member.op)
    }
}
