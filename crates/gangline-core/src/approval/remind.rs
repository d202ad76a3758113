//! When owners are told of an approval that waits: at once where they cannot have seen it, and again
//! while it stays open.

use std::time::Duration;

/// So long those in the room have, before an owner is told in private.
pub const ROOM_ALONE: Duration = Duration::from_secs(60);
/// When owners are told again for the first and the second time, after it was asked.
pub const AGAIN: [Duration; 2] = [Duration::from_secs(10 * 60), Duration::from_secs(30 * 60)];
/// How often after that.
pub const EVERY: Duration = Duration::from_secs(60 * 60);

/// Who can have seen an approval where it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Those in a room: perhaps an owner.
    InRoom,
    /// An owner, in private.
    ByOwner,
    /// No owner.
    Not,
}

/// Returns which time of telling is due after an approval has waited so long: 0 is the first one.
/// `None`: an owner can have seen it, and none has to be told yet.
#[must_use]
pub fn round(seen: Seen, waited: Duration) -> Option<u64> {
    let [first, second] = AGAIN;
    let round = if waited < first {
        0
    } else if waited < second {
        1
    } else {
        2 + (waited - second).as_secs() / EVERY.as_secs()
    };
    match (round, seen) {
        (0, Seen::ByOwner) => None,
        (0, Seen::InRoom) if waited < ROOM_ALONE => None,
        (round, Seen::InRoom | Seen::ByOwner | Seen::Not) => Some(round),
    }
}

#[cfg(test)]
mod tests;
