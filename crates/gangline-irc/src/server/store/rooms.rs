//! What is stored of a room beside its lines and its topic.

use std::{collections::BTreeSet, fmt};

use gangline_core::ChannelName;
use gangline_os::clock::UnixMicros;

/// A mask that keeps people out of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    /// `nick!user@host` with `*` and `?`, or `~a:ACCOUNT`.
    pub mask: String,
    /// Who set it (`nick!user@host`).
    pub by: String,
    /// When.
    pub at: UnixMicros,
}

/// A room: whose it is, who may do what in it, its modes. People are known by their accounts: a
/// nick may be somebody else's tomorrow.
#[derive(Clone, PartialEq, Eq)]
pub struct RoomRow {
    /// The room as first written.
    pub channel: ChannelName,
    /// When it was made.
    pub created_at: UnixMicros,
    /// The account (folded) that it belongs to; `None` also if that is a session without an account.
    pub founder: Option<String>,
    /// Accounts (folded) that are operators.
    pub ops: BTreeSet<String>,
    /// Accounts (folded) that have a voice.
    pub voices: BTreeSet<String>,
    /// Accounts (folded) of the agents that were in the room when its modes were set: these do not
    /// keep them out.
    pub agents: BTreeSet<String>,
    /// Letters that are set, in order.
    pub flags: String,
    /// The key that JOIN must bring.
    pub key: Option<String>,
    /// The maximum number of members.
    pub limit: Option<usize>,
    /// Who is kept out, in the order of setting.
    pub bans: Vec<Ban>,
    /// When the row was last changed.
    pub at: UnixMicros,
}

impl RoomRow {
    /// Returns the row of a room of which nothing is known yet.
    #[must_use]
    pub fn new(channel: ChannelName, created_at: UnixMicros) -> Self {
        Self {
            channel,
            created_at,
            founder: None,
            ops: BTreeSet::new(),
            voices: BTreeSet::new(),
            agents: BTreeSet::new(),
            flags: String::new(),
            key: None,
            limit: None,
            bans: Vec::new(),
            at: created_at,
        }
    }

    /// Returns whether nobody has set anything in the room.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let set = !self.flags.is_empty() || self.key.is_some() || self.limit.is_some();
        let people = !self.ops.is_empty() || !self.voices.is_empty();
        !set && !people && self.bans.is_empty()
    }

    /// Returns whether nobody has set anything in the room and it belongs to no account.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_plain() && self.founder.is_none()
    }
}

impl fmt::Debug for RoomRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomRow")
            .field("channel", &self.channel.as_str())
            .field("founder", &self.founder)
            .field("flags", &self.flags)
            .field("ops", &self.ops)
            .field("voices", &self.voices)
            .field("bans", &self.bans)
            .finish_non_exhaustive()
    }
}
