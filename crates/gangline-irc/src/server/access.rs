//! What the configuration says of who may be there; it may change while the server runs. What
//! follows from it is in `admission.rs`.

use std::collections::{BTreeMap, BTreeSet};

use gangline_os::secret::Secret;

/// What other users of this machine may do without an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guests {
    /// They are not let in.
    #[default]
    No,
    /// They join and read, and say nothing.
    Read,
    /// They talk; agents do not obey them.
    Talk,
}

/// What the configuration says of one room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoomRule {
    /// What JOIN must bring.
    pub key: Option<Secret>,
    /// Whether an invitation is needed.
    pub invite_only: bool,
    /// Whether guests need an invitation, where others do not.
    pub no_guests: bool,
    /// Folded accounts of the agents that belong there: none of it stops them.
    pub agents: BTreeSet<String>,
}

impl RoomRule {
    /// Returns whether not everybody may come in.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.key.is_some() || self.invite_only
    }
}

/// Who may be there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// People of another user, without an account.
    pub guests: Guests,
    /// What the owner writes to let guests in, for the text that refuses one.
    pub to_let_in: String,
    /// Rooms by their folded names.
    pub rooms: BTreeMap<String, RoomRule>,
}
