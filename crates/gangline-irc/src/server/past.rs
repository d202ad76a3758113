//! Who had which nick before, in memory: what WHOWAS tells.

use std::collections::VecDeque;

use gangline_core::name::fold;
use gangline_os::clock::UnixMicros;

/// Former bearers that are remembered.
const MOST: usize = 1_000;

/// Somebody who no longer has a nick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Was {
    pub(super) nick: String,
    pub(super) user: String,
    pub(super) host: String,
    pub(super) realname: String,
    /// Until when.
    pub(super) at: UnixMicros,
}

/// The last [`MOST`] of them, the newest first.
#[derive(Debug, Default)]
pub(super) struct Past {
    all: VecDeque<Was>,
}

impl Past {
    pub(super) fn add(&mut self, was: Was) {
        self.all.truncate(MOST - 1);
        self.all.push_front(was);
    }

    /// Returns who had this nick (folded), the newest first.
    pub(super) fn of(&self, nick: &str) -> impl Iterator<Item = &Was> {
        self.all.iter().filter(move |was| fold(&was.nick) == nick)
    }
}
