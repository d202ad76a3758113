//! The times of reminders of an open approval: at once if owners cannot have seen it, and again
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

/// Where an owner is when it is time to tell owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// In the room where it was asked.
    InRoom,
    /// In another room of the agent, or has spoken to it since the last telling.
    Here,
    /// Nowhere that the agent knows of.
    Away,
}

/// Whether owners were told of this approval before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// They were.
    Notified,
    /// Not yet.
    Never,
}

/// Returns whether to tell owners now, which time it is ([`round`]) and where an owner is. An owner in
/// the room reads it there; one who is away finds the first line on returning, and no heap of them.
#[must_use]
pub fn is_due(round: u64, owner: Owner, before: Before) -> bool {
    match (round, owner, before) {
        (0, Owner::InRoom, _) | (_, Owner::Away, Before::Notified) => false,
        (0, Owner::Here | Owner::Away, _)
        | (_, Owner::InRoom | Owner::Here, _)
        | (_, Owner::Away, Before::Never) => true,
    }
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

/// Returns in what time [`round`] tells something else, after an approval has waited so long.
#[must_use]
pub fn next_in(seen: Seen, waited: Duration) -> Duration {
    let [first, second] = AGAIN;
    let next = match seen {
        Seen::InRoom if waited < ROOM_ALONE => ROOM_ALONE,
        Seen::InRoom | Seen::ByOwner | Seen::Not if waited < first => first,
        Seen::InRoom | Seen::ByOwner | Seen::Not if waited < second => second,
        Seen::InRoom | Seen::ByOwner | Seen::Not => {
            let hours = u32::try_from((waited - second).as_secs() / EVERY.as_secs());
            second.saturating_add(EVERY.saturating_mul(hours.unwrap_or(u32::MAX).saturating_add(1)))
        }
    };
    next.saturating_sub(waited)
}

#[cfg(test)]
mod tests;
