//! What is said of a response: the lines that culture's clients print, and what went wrong.

use std::fmt::Write as _;

use gangline_api::ipc::{
    ChannelsData, ChatLine, Command, Lines, ReadData, Response, SetDirectoryData, WhoData,
    no_such_channel, not_joined,
};
use gangline_core::{AgentName, Tier, name::Target};
use gangline_irc::client::Address;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    client::{AskError, Unreachable},
    one_shot::{OneShotError, Server},
    verb::Verb,
};
use crate::{failure::Failure, output, show::text::one_line};

#[cfg(test)]
mod tests;

/// Stands behind a line of somebody whom nobody knows.
const STRANGER: &str = " [stranger]";

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Printed {
    /// On standard output.
    pub(super) text: String,
    /// On standard error, a line each.
    pub(super) notes: Vec<String>,
}

/// Returns what is printed of a request that was done.
pub(super) fn text(verb: &str, command: &Command, response: &Response) -> Result<Printed, Failure> {
    let plain = |text: String| Ok(Printed { text: text + "\n", notes: Vec::new() });
    match command {
        Command::Send { channel, .. } => plain(format!("Sent to {channel}")),
        // A look leaves unread what was unread: reading again gives the same.
        Command::Read { channel, lines: Lines::Peek, .. } => {
            Ok(Printed { notes: Vec::new(), ..read(channel, &data(response)?) })
        }
        Command::Read { channel, .. } => Ok(read(channel, &data(response)?)),
        Command::Ask { .. } => {
            plain(serde_json::to_string_pretty(response).map_err(Failure::environment)?)
        }
        Command::Join { channel } => plain(format!("Joined {channel}")),
        Command::Part { channel } => plain(format!("Left {channel}")),
        Command::Channels => {
            let ChannelsData { channels, .. } = data(response)?;
            plain(listed("Active channels:", "No active channels", &channels))
        }
        Command::Who { target } => {
            let WhoData { users } = data(response)?;
            let nicks: Vec<String> = users.into_iter().map(|user| user.nick).collect();
            let (some, none) = (format!("Users in {target}:"), format!("No users in {target}"));
            plain(listed(&some, &none, &nicks))
        }
        Command::Topic { channel, topic: Some(_) } => plain(format!("Topic set for {channel}")),
        Command::Topic { channel, topic: None } => {
            plain(topic(channel.as_str(), response.data.as_ref()))
        }
        Command::Compact => plain("Context window compacted".to_owned()),
        Command::Clear => plain("Context window cleared".to_owned()),
        Command::SetDirectory { .. } => {
            let SetDirectoryData { directory, path, text } = data(response)?;
            plain(match path {
                Some(_) => format!("Directory: {directory}\n\n{}", text.trim_end()),
                // The warning says why it is not told.
                None if !response.warnings.is_empty() => format!("Directory: {directory}"),
                None => format!("Directory: {directory} (it has no CLAUDE.md)"),
            })
        }
        // No verb makes these.
        Command::Hello { .. }
        | Command::Model { .. }
        | Command::Status { .. }
        | Command::Pause { .. }
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::Wake { .. }
        | Command::Tool { .. }
        | Command::Subscribe { .. } => plain(verb.to_owned()),
    }
}

fn data<T: DeserializeOwned>(response: &Response) -> Result<T, Failure> {
    let data = response.data.clone().unwrap_or_default();
    serde_json::from_value(data)
        .map_err(|error| Failure::environment(error).doing("cannot read the daemon's response"))
}

fn read(channel: &Target, data: &ReadData) -> Printed {
    let mut text = String::new();
    for ChatLine { nick, text: said, tier, .. } in &data.messages {
        let mark = if *tier == Some(Tier::Stranger) { STRANGER } else { "" };
        let _ = writeln!(text, "<{}> {}{mark}", one_line(nick), one_line(said));
    }
    if data.messages.is_empty() {
        text = format!("No messages in {channel}\n");
    }
    let notes = match data.remaining {
        0 => Vec::new(),
        more => vec![format!("{more} more unread: read again")],
    };
    Printed { text, notes }
}

/// Returns a heading with one line for each, or another line if the list is empty.
fn listed(some: &str, none: &str, names: &[String]) -> String {
    if names.is_empty() {
        return none.to_owned();
    }
    names.iter().fold(some.to_owned(), |out, name| out + "\n  " + &one_line(name))
}

fn topic(channel: &str, data: Option<&Value>) -> String {
    match data.and_then(|data| data.get("topic")) {
        None => format!("Topic query sent for {channel} (result arrives asynchronously)"),
        Some(Value::String(topic)) if !topic.is_empty() => {
            format!("Topic for {channel}: {}", one_line(topic))
        }
        Some(_) => format!("No topic set for {channel}"),
    }
}

/// Returns the failure of a request that the daemon did not do.
pub(super) fn refused(
    verb: &str,
    command: &Command,
    response: &Response,
    nick: &AgentName,
) -> Failure {
    let error = response.error.as_deref().unwrap_or("unknown error");
    if is_absent_channel(command, error) {
        return no_channel(command, response);
    }
    let what = match command {
        Command::Ask { channel, .. } => format!("ask in {channel}"),
        Command::Topic { channel, topic: Some(_) } => format!("topic set for {channel}"),
        Command::Compact => "context compact".to_owned(),
        Command::Clear => "context clear".to_owned(),
        Command::Send { channel, .. } | Command::Read { channel, .. } => {
            format!("{} {channel}", verb)
        }
        Command::Join { channel }
        | Command::Part { channel }
        | Command::Topic { channel, topic: None } => format!("{} {channel}", verb),
        Command::Who { target } => format!("who {target}"),
        Command::Channels
        | Command::SetDirectory { .. }
        | Command::Hello { .. }
        | Command::Model { .. }
        | Command::Status { .. }
        | Command::Pause { .. }
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::Wake { .. }
        | Command::Tool { .. }
        | Command::Subscribe { .. } => verb.to_owned(),
    };
    let failure = Failure::user(format!("{what} failed: {}", one_line(error)));
    // Any other refusal of the daemon or the chat server has its reason in itself.
    match command {
        Command::Read { channel: Target::Channel(channel), .. }
        | Command::Ask { channel: Target::Channel(channel), .. }
        | Command::Topic { channel, .. }
        | Command::Part { channel }
            if error == not_joined(channel) =>
        {
            failure.hint(format!(
                "`gangline channel list --agent {nick}` shows where it is; `gangline channel join \
                 {channel} --agent {nick}` makes it join"
            ))
        }
        _ => failure,
    }
}

fn is_absent_channel(command: &Command, error: &str) -> bool {
    match command {
        Command::Send { channel: Target::Channel(channel), .. } => {
            error == no_such_channel(channel)
        }
        _ => false,
    }
}

/// Returns the failure of a message to a channel that nobody is in.
pub(super) fn no_channel(command: &Command, response: &Response) -> Failure {
    let error = one_line(response.error.as_deref().unwrap_or("unknown error"));
    let failure = Failure::user(error.clone());
    match is_absent_channel(command, &error) {
        true => failure.hint(
            "`gangline channel list` shows the active channels; --create makes one by this message",
        ),
        false => failure,
    }
}

/// Returns the failure of a request that may have been done.
pub(super) fn lost(nick: &AgentName, error: AskError) -> Failure {
    match error {
        AskError::Encode(error) => Failure::user(error.to_string()),
        AskError::Lost(_)
        | AskError::Closed
        | AskError::Silent(_)
        | AskError::Frame(_)
        | AskError::TooLong => Failure::environment(error)
            .doing(format!("no response from the daemon of {nick}"))
            .hint(format!("check the agent daemon: gangline status {nick}")),
    }
}

/// Returns the failure of a command that needs a daemon while none runs.
pub(super) fn unreachable(nick: &AgentName, error: &Unreachable) -> Failure {
    Failure::user(format!("cannot reach agent daemon for {nick}: {}", chain(error)))
        .hint(format!("check the agent is running: gangline status {nick}"))
}

/// Returns the failure of what only an agent can do, when none is named.
pub(super) fn nameless() -> Failure {
    Failure::user("GANGLINE_NICK or CULTURE_NICK must be set to a valid <server>-<agent> nick")
        .hint("set it and retry, e.g. export CULTURE_NICK=spark-claude; or give --agent NICK")
}

/// Returns the failure of what was tried without a daemon.
pub(super) fn no_server(server: &Server, error: OneShotError) -> Failure {
    let hint = match &server.address {
        Address::Tcp(_) => "is it running? start it with `gangline up -d`",
        Address::Own(_) => {
            "is it running? start it with `gangline up -d`; a hub of an older version has no \
             socket: `gangline restart --hub`"
        }
    };
    Failure::environment(error)
        .doing(format!("cannot ask the chat server at {}", server.address))
        .hint(hint)
}

/// Says that the agent's daemon is passed by.
pub(super) fn falling_back(verb: &Verb, command: &Command, nick: &AgentName, error: &Unreachable) {
    let mut text = format!(
        "warning: the daemon of {nick} cannot be reached: {}\n  `channel {}` goes over a \
         connection of its own to the chat server",
        chain(error),
        verb.name()
    );
    if matches!(command, Command::Send { .. }) {
        let _ = write!(text, " and will not appear under {nick}");
    }
    output::note(&format!("{text}\n  is it running? gangline status {nick}"));
}

/// Returns an error with its causes on one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(out, ": {error}");
        cause = error.source();
    }
    one_line(&out)
}
