//! Names that are safe to put on an IRC line, into a path and into a process environment.
//!
//! Every name is parsed once at the rim; comparison folds case by RFC 1459's rule, so that
//! `Ada[` and `ada{` are the same nick.

use std::{
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// The longest agent name and nick, in bytes. InspIRCd and Ergo take 32 by default; names are
/// limited harder than file systems do, so that `<state>/agents/<name>/…` always fits.
pub const NICK_MAX: usize = 63;
/// The longest channel name, in bytes.
pub const CHANNEL_MAX: usize = 64;

/// A name that could not be accepted, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct NameError {
    text: String,
    wanted: &'static str,
}

fn refuse(text: &str, wanted: &'static str) -> NameError {
    let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    NameError { text: shown, wanted }
}

/// Returns the text folded by RFC 1459's casemapping: ASCII lower case, and `[]\~` as `{}|^`.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '[' => '{',
            ']' => '}',
            '\\' => '|',
            '~' => '^',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name {
            text: String,
            folded: String,
        }

        impl $name {
            /// Returns the name as it was written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.text
            }

            /// Returns the form that equality, hashing, paths and database keys use.
            #[must_use]
            pub fn folded(&self) -> &str {
                &self.folded
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.folded == other.folded
            }
        }
        impl Eq for $name {}
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.folded.hash(state);
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.folded.cmp(&other.folded)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text)
            }
        }
        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.text
            }
        }
    };
}

name_type! {
    /// The configured, lasting identity of an agent: `<server>-<name>` (R0-62), in lower case
    /// letters, digits, `-` and `_`. It is a file name and an environment value too.
    AgentName
}

name_type! {
    /// An IRC nick.
    Nick
}

name_type! {
    /// An IRC channel, `#` included.
    ChannelName
}

impl FromStr for AgentName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        const WANTED: &str = "an agent's nick: write <server>-<name>, such as `spark-ada`, \
                              from a-z, 0-9, - and _, at most 63 bytes";
        let legal =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        let two_parts = text
            .split_once('-')
            .is_some_and(|(server, name)| !server.is_empty() && !name.is_empty());
        if !starts || !two_parts || text.len() > NICK_MAX || !text.bytes().all(legal) {
            return Err(refuse(text, WANTED));
        }
        Ok(Self { text: text.to_owned(), folded: text.to_owned() })
    }
}

impl AgentName {
    /// Returns the part before the first hyphen.
    #[must_use]
    pub fn server(&self) -> &str {
        self.text.split_once('-').map_or("", |(server, _)| server)
    }

    /// Returns the part after the first hyphen, by which the agent may be mentioned for short.
    #[must_use]
    pub fn short(&self) -> &str {
        self.text.split_once('-').map_or(&self.text, |(_, short)| short)
    }

    /// Returns the agent's nick.
    #[must_use]
    pub fn nick(&self) -> Nick {
        Nick { text: self.text.clone(), folded: fold(&self.text) }
    }
}

impl FromStr for Nick {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        const WANTED: &str = "a nick: letters, digits and -[]\\`_^{|}, not beginning with -, at \
                              most 63 bytes";
        let special = |byte: u8| b"[]\\`_^{|}".contains(&byte);
        let first = text.bytes().next();
        // After a collision some servers leave people with a number of theirs: `1AAAAAAAB`.
        let starts = first.is_some_and(|byte| byte.is_ascii_alphanumeric() || special(byte));
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || special(byte);
        if !starts || text.len() > NICK_MAX || !text.bytes().all(legal) {
            return Err(refuse(text, WANTED));
        }
        Ok(Self { text: text.to_owned(), folded: fold(text) })
    }
}

impl FromStr for ChannelName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        const WANTED: &str =
            "a channel: # and then no space, comma or control character, at most 64 bytes";
        let rest = text.strip_prefix('#').unwrap_or("");
        let legal = |c: char| !c.is_control() && !c.is_whitespace() && c != ',' && c != ':';
        if rest.is_empty() || text.len() > CHANNEL_MAX || !rest.chars().all(legal) {
            return Err(refuse(text, WANTED));
        }
        Ok(Self { text: text.to_owned(), folded: fold(text) })
    }
}

/// Where a line goes: a channel, or one person's nick.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// A channel.
    Channel(ChannelName),
    /// A nick: a direct message.
    Nick(Nick),
}

impl Target {
    /// Returns the target as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Channel(channel) => channel.as_str(),
            Self::Nick(nick) => nick.as_str(),
        }
    }

    /// Returns the form that equality and database keys use.
    #[must_use]
    pub fn folded(&self) -> &str {
        match self {
            Self::Channel(channel) => channel.folded(),
            Self::Nick(nick) => nick.folded(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Target {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        if text.starts_with('#') {
            text.parse().map(Self::Channel)
        } else {
            text.parse().map(Self::Nick)
        }
    }
}

impl TryFrom<String> for Target {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests;
