//! The person who runs the program: under which nick they speak, and how.

use std::sync::Mutex;

use gangline_api::ipc::{Command, IfAbsent};
use gangline_core::name::{ChannelName, Nick, Target};
use gangline_os::paths::Overrides;

use crate::{channel::ask, failure::Failure};

#[cfg(test)]
mod tests;

/// The nick of somebody whose login has no name that could be one.
const NAMELESS: &str = "guest";
/// What is put behind a nick that somebody has already, one after the other.
const TAILS: [&str; 4] = ["", "_", "__", "_mcp"];
/// The longest part of a login's name that is used.
const NICK_MAX: usize = 20;

/// A person.
#[derive(Debug)]
pub(super) struct Person {
    place: Overrides,
    nicks: Vec<String>,
    /// The nick that the server took last.
    used: Mutex<Option<String>>,
}

impl Person {
    pub(super) fn new(user: Option<&str>, place: Overrides) -> Self {
        let name = nick_of(user.unwrap_or_default());
        let nicks = TAILS.map(|tail| format!("{name}{tail}")).into();
        Self { place, nicks, used: Mutex::new(None) }
    }

    /// Returns the nick under which they spoke last, or will first.
    pub(super) fn nick(&self) -> Option<Nick> {
        let used = self.used.lock().ok().and_then(|used| used.clone());
        used.or_else(|| self.nicks.first().cloned())?.parse().ok()
    }

    /// Says something, unless it is taken back before; returns once the server has it.
    pub(super) fn say(
        &self,
        to: &Target,
        text: &str,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<String, Failure> {
        let command = Command::Send {
            channel: to.clone(),
            message: text.to_owned(),
            absent: IfAbsent::Refuse,
            in_reply_to: None,
        };
        let nick = self.ask(&command, taken_back)?;
        Ok(format!("Sent to {to} as {nick}"))
    }

    pub(super) fn set_topic(
        &self,
        channel: &ChannelName,
        text: &str,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<String, Failure> {
        let command = Command::Topic { channel: channel.clone(), topic: Some(text.to_owned()) };
        let nick = self.ask(&command, taken_back)?;
        Ok(format!("Topic set for {channel} as {nick}"))
    }

    fn ask(&self, command: &Command, taken_back: &dyn Fn() -> bool) -> Result<String, Failure> {
        let nick = ask::in_person(&self.place, &self.nicks, command, taken_back)?;
        if let Ok(mut used) = self.used.lock() {
            *used = Some(nick.clone());
        }
        Ok(nick)
    }
}

/// Returns a login's name as a nick. A hyphen is for agents.
fn nick_of(login: &str) -> String {
    let plain = login.chars().map(|c| if c == '.' || c == '-' { '_' } else { c });
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = plain.filter(fits).collect();
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    match &name[..name.len().min(NICK_MAX)] {
        "" => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}
