//! Who is shown a question in the chat: what was asked in private is between the two and the owners.

use super::Where;
use crate::message::Tier;

/// Where a question was announced, seen from the place where somebody wants to see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Announced {
    /// In that place.
    Here,
    /// Elsewhere, in a room.
    InARoom,
    /// Elsewhere, and in private only; or nowhere.
    InPrivate,
}

/// What somebody is shown of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sight {
    /// All of it.
    Shown,
    /// All of it, but in their private conversation: others read along here.
    Aside,
    /// Nothing, for this reason: what it says follows the question's number.
    Hidden(&'static str),
}

/// Returns what somebody of this tier is shown of a question in a place.
#[must_use]
pub fn sight(announced: Announced, place: Where<'_>, tier: Tier) -> Sight {
    match (announced, tier, place) {
        (Announced::Here, ..) | (_, Tier::Owner, Where::Direct | Where::Private) => Sight::Shown,
        // It is no secret, but the room may be another one.
        (Announced::InARoom | Announced::InPrivate, Tier::Owner, Where::Room(_)) => Sight::Aside,
        (Announced::InARoom, Tier::Member | Tier::Agent | Tier::Stranger, _) => {
            Sight::Hidden("was asked elsewhere")
        }
        (Announced::InPrivate, Tier::Member | Tier::Agent | Tier::Stranger, _) => {
            Sight::Hidden("was asked in private")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a place in which it was announced, and an owner, are shown a question.
    #[test]
    fn a_question_is_shown_where_it_was_asked_and_to_owners() {
        let room = "#lab".parse().unwrap();
        let (room, private, direct) = (Where::Room(&room), Where::Private, Where::Direct);
        let elsewhere = Sight::Hidden("was asked elsewhere");
        let secret = Sight::Hidden("was asked in private");
        for (announced, place, tier, expect) in [
            (Announced::Here, room, Tier::Member, Sight::Shown),
            (Announced::Here, private, Tier::Member, Sight::Shown),
            (Announced::InARoom, room, Tier::Member, elsewhere),
            (Announced::InARoom, private, Tier::Member, elsewhere),
            (Announced::InPrivate, room, Tier::Member, secret),
            (Announced::InPrivate, private, Tier::Member, secret),
            (Announced::InPrivate, direct, Tier::Stranger, secret),
            (Announced::InPrivate, private, Tier::Agent, secret),
            (Announced::InPrivate, room, Tier::Owner, Sight::Aside),
            (Announced::InARoom, room, Tier::Owner, Sight::Aside),
            (Announced::InPrivate, private, Tier::Owner, Sight::Shown),
            (Announced::InPrivate, direct, Tier::Owner, Sight::Shown),
        ] {
            assert_eq!(sight(announced, place, tier), expect, "{announced:?} {place:?} {tier:?}");
        }
    }
}
