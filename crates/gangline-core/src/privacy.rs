//! What was said in private is between the two: who else is shown what.
//!
//! Pure. Code that shows something to others asks [`Said`] where it was said. Every place that is not a
//! room counts as private, so a new kind of place is private until somebody decides otherwise. Start at
//! [`Reader::sees`].

use crate::{name::Target, question::Asked};

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Said {
    /// In a room, where everybody reads it.
    InARoom,
    /// In a private conversation, or outside of any: at a shell, by a program, in a letter.
    InPrivate,
}

impl Said {
    /// Returns where something was said that belongs to this place: a channel, a nick, or nothing.
    #[must_use]
    pub fn at(target: &str) -> Self {
        match target.parse() {
            Ok(Target::Channel(_)) => Self::InARoom,
            Ok(Target::Nick(_)) | Err(_) => Self::InPrivate,
        }
    }

    /// Returns where a question was asked. `reply_target` is the place of the request that its asker works on.
    #[must_use]
    pub fn of_question(asked: &Asked, reply_target: &str) -> Self {
        match asked {
            Asked::Person(_) => Self::InPrivate,
            Asked::Operator | Asked::Room(_) | Asked::Agents(_) => Self::at(reply_target),
        }
    }
}

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// An owner.
    Owner,
    /// Anybody else who may read what is said in rooms: the alert channel and webhooks, a program with a
    /// token for one agent.
    Others,
}

impl Reader {
    /// Returns whether this reader is shown what was said there.
    #[must_use]
    pub fn sees(self, said: Said) -> bool {
        match (self, said) {
            (Self::Owner, Said::InARoom | Said::InPrivate) | (Self::Others, Said::InARoom) => true,
            (Self::Others, Said::InPrivate) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_said_in_a_room_is_the_owners() {
        for (target, said) in [
            ("#lab", Said::InARoom),
            ("ori", Said::InPrivate),
            ("oak-ada", Said::InPrivate),
            ("", Said::InPrivate),
            ("# lab", Said::InPrivate),
        ] {
            assert_eq!(Said::at(target), said, "{target}");
        }
        assert!(Reader::Owner.sees(Said::InPrivate) && Reader::Owner.sees(Said::InARoom));
        assert!(Reader::Others.sees(Said::InARoom) && !Reader::Others.sees(Said::InPrivate));
    }

    #[test]
    fn a_question_is_private_that_was_asked_of_one_or_for_one() {
        for (asked, reply_target, said) in [
            ("operator", "#lab", Said::InARoom),
            ("operator", "ori", Said::InPrivate),
            ("operator", "", Said::InPrivate),
            ("person:zoe", "#lab", Said::InPrivate),
            ("room:#lab", "#lab", Said::InARoom),
            ("room:#lab", "ori", Said::InPrivate),
            ("agents:oak-bob", "#lab", Said::InARoom),
            ("agents:oak-bob", "ori", Said::InPrivate),
            ("agents:oak-bob", "", Said::InPrivate),
        ] {
            let asked: Asked = asked.parse().unwrap();
            assert_eq!(Said::of_question(&asked, reply_target), said, "{asked} {reply_target}");
        }
    }
}
