//! Closed sets that are written as words: in the database, on every wire, in `agents.yaml`.
//!
//! [`words!`](crate::words!) declares such a set once, each value with its word. The crates inside
//! share these types as they are; a type of its own is due only where a wire must stay the same
//! although the inside changes.

use std::{fmt, str::FromStr};

#[doc(hidden)]
pub use serde;

/// A value of a closed set, written as a word.
pub trait Word: Copy + Eq + fmt::Display + FromStr<Err = WordError> + 'static {
    /// What the set is, for a message: `phase`.
    const WHAT: &'static str;
    /// Every value, in order.
    const ALL: &'static [Self];

    /// Returns the word used in the database and on every wire.
    fn as_str(self) -> &'static str;
}

/// A word that is not one of the expected ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a known {what}")]
pub struct WordError {
    /// The word.
    pub text: String,
    /// What it should have been, as [`Word::WHAT`] has it.
    pub what: &'static str,
}

/// A word as another program wrote it. One that only a newer program knows is kept as it is: it is
/// shown, and never taken for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stored<W> {
    /// A word of the set.
    Known(W),
    /// Any other.
    Other(String),
}

impl<W: Word> Stored<W> {
    /// Returns the word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(known) => (*known).as_str(),
            Self::Other(other) => other,
        }
    }

    /// Returns the value, if the set has it.
    #[must_use]
    pub fn known(&self) -> Option<W> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Other(_) => None,
        }
    }
}

impl<W: Word> From<W> for Stored<W> {
    fn from(known: W) -> Self {
        Self::Known(known)
    }
}

impl<W: Word> From<String> for Stored<W> {
    fn from(text: String) -> Self {
        text.parse().map_or_else(|_| Self::Other(text), Self::Known)
    }
}

impl<W: Word> PartialEq<W> for Stored<W> {
    fn eq(&self, other: &W) -> bool {
        self.known() == Some(*other)
    }
}

impl<W: Word> fmt::Display for Stored<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<W: Word> serde::Serialize for Stored<W> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, W: Word> serde::Deserialize<'de> for Stored<W> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Declares a closed set of words: `words! { /// What it is. Name, "what it is" { /// … A = "a" } }`.
///
/// The type is `Copy` and ordered as written; it has `ALL`, `as_str`, [`Display`](fmt::Display),
/// [`FromStr`], serde by its word, and [`Word`].
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal {
        $($(#[$of:meta])* $variant:ident = $word:literal),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$of])* $variant),* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word used in the database and on every wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl $crate::word::Word for $name {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = Self::ALL;
            fn as_str(self) -> &'static str { self.as_str() }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::word::WordError;
            fn from_str(text: &str) -> Result<Self, $crate::word::WordError> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    other => Err($crate::word::WordError { text: other.to_owned(), what: $what }),
                }
            }
        }

        impl $crate::word::serde::Serialize for $name {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where S: $crate::word::serde::Serializer {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::word::serde::Deserialize<'de> for $name {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where D: $crate::word::serde::Deserializer<'de> {
                let text: String = $crate::word::serde::Deserialize::deserialize(deserializer)?;
                text.parse().map_err($crate::word::serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Stored;
    use crate::agent::AgentPhase;

    /// What a newer program wrote is neither lost nor taken for something else.
    #[test]
    fn a_word_that_is_not_known_is_kept_as_it_is() {
        for (text, known) in [("idle", Some(AgentPhase::Idle)), ("gallop", None), ("", None)] {
            let stored = Stored::<AgentPhase>::from(text.to_owned());
            assert_eq!((stored.as_str(), stored.known()), (text, known));
            assert_eq!(stored == AgentPhase::Idle, known.is_some());
            assert_eq!(stored.to_string(), text);
        }
        assert_eq!(Stored::from(AgentPhase::Parked), Stored::Known(AgentPhase::Parked));
    }
}
