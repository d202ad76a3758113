//! Ids: opaque on every wire, ordered where the database orders them.
//!
//! Ids are allocated by the store (messages, approvals) or counted within an epoch (turns);
//! nothing here invents one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An id that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct IdError {
    text: String,
    wanted: &'static str,
}

fn number(text: &str, prefix: char, wanted: &'static str) -> Result<i64, IdError> {
    text.strip_prefix(prefix)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| IdError { text: text.to_owned(), wanted })
}

/// One durable message, numbered by the database; written `m42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageId(pub i64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl FromStr for MessageId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        number(text, 'm', "a message id such as `m42`").map(Self)
    }
}

/// The generation of the daemon that may write for an agent; starts at 1, only rises.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub i64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One turn of one agent: its epoch and a counter within it; written `t3.17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TurnId {
    /// The epoch of the daemon that opened the turn.
    pub epoch: Epoch,
    /// The turn's number within that epoch, from 1.
    pub number: i64,
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}.{}", self.epoch, self.number)
    }
}

impl FromStr for TurnId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wanted = "a turn id such as `t3.17`";
        let bad = || IdError { text: text.to_owned(), wanted };
        let (epoch, counter) = text.split_once('.').ok_or_else(bad)?;
        let epoch = number(epoch, 't', wanted).map_err(|_| bad())?;
        let counter: i64 = counter.parse().map_err(|_| bad())?;
        Ok(Self { epoch: Epoch(epoch), number: counter })
    }
}

/// The number by which people decide an approval (`yes 12`); one sequence per installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalNumber(pub i64);

impl fmt::Display for ApprovalNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number by which a question is answered (`answer 12 yes`); of the same sequence as
/// [`ApprovalNumber`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionNumber(pub i64);

impl fmt::Display for QuestionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number by which people answer a finding (`12 resume`); of the same sequence as
/// [`ApprovalNumber`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FindingNumber(pub i64);

impl fmt::Display for FindingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! string_serde {
    ($($name:ty),*) => {$(
        impl TryFrom<String> for $name {
            type Error = <$name as FromStr>::Err;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )*};
}
string_serde!(MessageId, TurnId);

#[cfg(test)]
mod tests;
