//! Capabilities: `CAP LS 302` and its kin.

use std::collections::BTreeMap;

use super::Message;

/// The version of capability negotiation that is asked for.
pub const VERSION: &str = "302";
/// Tags on messages, `TAGMSG`, msgid.
pub const MESSAGE_TAGS: &str = "message-tags";
/// The tag `time`.
pub const SERVER_TIME: &str = "server-time";
/// Own lines come back as the server relayed them.
pub const ECHO_MESSAGE: &str = "echo-message";
/// The tag `label`.
pub const LABELED_RESPONSE: &str = "labeled-response";
/// `BATCH`.
pub const BATCH: &str = "batch";
/// The tag `account`.
pub const ACCOUNT_TAG: &str = "account-tag";
/// `CHATHISTORY`.
pub const CHATHISTORY: &str = "draft/chathistory";
/// SASL; its value lists the mechanisms.
pub const SASL: &str = "sasl";

/// The most capabilities that are remembered of one server.
pub const CAPS_MAX: usize = 256;

/// Capabilities with their values, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CapSet(BTreeMap<String, Option<String>>);

impl CapSet {
    /// Reads a list such as `sasl=PLAIN,EXTERNAL batch`. A leading `-` is part of the name.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let mut set = Self::default();
        set.add(list);
        set
    }

    /// Adds a list; a later value replaces an earlier one; more than [`CAPS_MAX`] are not kept.
    pub fn add(&mut self, list: &str) {
        for word in list.split(' ').filter(|word| !word.is_empty()) {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word, None),
            };
            if self.0.len() < CAPS_MAX || self.0.contains_key(name) {
                self.0.insert(name.to_owned(), value);
            }
        }
    }

    /// Applies the list of `CAP ACK`: `-name` takes a capability away.
    pub fn acknowledge(&mut self, list: &str) {
        for (name, value) in Self::parse(list).0 {
            match name.strip_prefix('-') {
                Some(gone) => self.remove(gone),
                None => {
                    self.0.insert(name, value);
                }
            }
        }
    }

    /// Takes a capability away.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns whether the capability is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the capability's value; `None` if it is not there or has none.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A server's `CAP` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapReply<'a> {
    /// `LS`, `ACK`, `NAK`, `NEW`, `DEL`, `LIST`, in upper case.
    pub verb: String,
    /// Whether further lines of the same list follow (`CAP * LS * :…`).
    pub more: bool,
    /// The list as it stands.
    pub list: &'a str,
}

/// Returns what a server's `CAP` line says, or `None` if it is another line or has no list.
#[must_use]
pub fn reply(message: &Message) -> Option<CapReply<'_>> {
    if message.command != "CAP" {
        return None;
    }
    let verb = message.at(1)?.to_ascii_uppercase();
    let more = message.at(2) == Some("*") && message.params.len() > 3;
    let list = message.at(if more { 3 } else { 2 }).unwrap_or("");
    Some(CapReply { verb, more, list })
}
