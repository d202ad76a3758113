//! The one-shot client: a connection to the chat server for what a person could do without any agent.
//!
//! It registers, asks one thing, says `QUIT` and is gone. Its nick says on whose behalf, and
//! contains `_peek`, by which bots leave it alone.

mod link;
#[cfg(test)]
mod tests;

use std::time::Duration;

use gangline_api::ipc::{
    ChannelsData, ChatLine, Command, EncodeError, IfAbsent, NoData, ReadData, Response, WhoData,
    WhoUser, no_such_channel,
};
use gangline_config::Config;
use gangline_core::{
    AgentName,
    name::{ChannelName, Target, fold},
    split,
};
use gangline_irc::{
    client::Address,
    wire::{Message, numeric as n},
};
use gangline_os::{clock::parse_rfc3339, paths::Overrides};

use self::link::Link;
pub(super) use self::link::OneShotError;
use crate::{failure::Failure, place};

/// How long the whole of it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most lines of history that are asked for.
const HISTORY_MAX: u32 = 100;
/// The most lines of one message.
const LINES_MAX: usize = 100;

/// Where the chat server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Where it listens.
    pub(super) address: Address,
    /// Its name, with which agents' nicks begin.
    pub(super) name: String,
}

/// Returns where the configuration has the server; without one it is the installation's own, which
/// is asked by its socket: whoever has its port may be another user.
pub(super) fn server(place: &Overrides) -> Result<Server, Failure> {
    let installation = place::existing(place)?;
    let paths = &installation.paths;
    let config = match installation.configuration() {
        Some(loaded) => loaded.config,
        None => Config::default(),
    };
    let address = match config.network.embedded {
        true => Address::Own(paths.irc_socket()),
        false => Address::Tcp(config.server.address()),
    };
    Ok(Server { address, name: config.server.name })
}

/// Returns whether a request can be met without the agent's daemon.
pub(super) fn can(command: &Command) -> bool {
    match command {
        Command::Send { .. } | Command::Read { .. } | Command::Channels | Command::Who { .. } => {
            true
        }
        Command::Hello { .. }
        | Command::Ask { .. }
        | Command::Join { .. }
        | Command::Part { .. }
        | Command::Topic { .. }
        | Command::Compact
        | Command::Clear
        | Command::Model { .. }
        | Command::Status { .. }
        | Command::Pause
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::SetDirectory { .. }
        | Command::Subscribe { .. } => false,
    }
}

/// Asks the server, on behalf of an agent if there is one, and returns what a daemon would.
pub(super) fn answer(
    server: &Server,
    nick: Option<&AgentName>,
    command: &Command,
) -> Result<Response, OneShotError> {
    answer_as(server, &nicks(server, nick), command, &|| false).map(|(_, response)| response)
}

/// Asks the server under the first of these nicks that it takes; returns that one too. Does nothing
/// if the request is taken back before the server takes us.
pub(super) fn answer_as(
    server: &Server,
    nicks: &[String],
    command: &Command,
    taken_back: &dyn Fn() -> bool,
) -> Result<(String, Response), OneShotError> {
    let mut link = Link::open(&server.address, nicks, PATIENCE)?;
    if taken_back() {
        link.quit();
        return Err(OneShotError::TakenBack);
    }
    let response = match command {
        Command::Send { channel: Target::Channel(channel), message, absent, .. } => {
            send(&mut link, channel, message, *absent)
        }
        Command::Send { channel: Target::Nick(nick), message, .. } => {
            say(&mut link, nick.as_str(), message)
        }
        Command::Read { channel: Target::Channel(channel), limit, .. } => {
            read(&mut link, channel, *limit)
        }
        Command::Who { target } => who(&mut link, target),
        Command::Topic { channel, topic: Some(topic) } => set_topic(&mut link, channel, topic),
        Command::Channels => channels(&mut link),
        // What was said privately was not said to this connection.
        Command::Read { channel: Target::Nick(_), .. }
        // The rest is not asked: see `can`.
        | Command::Hello { .. }
        | Command::Ask { .. }
        | Command::Join { .. }
        | Command::Part { .. }
        | Command::Topic { topic: None, .. }
        | Command::Compact
        | Command::Clear
        | Command::Model { .. }
        | Command::Status { .. }
        | Command::Pause
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::SetDirectory { .. }
        | Command::Subscribe { .. } => {
            Ok(Response::failed(None, "only the agent's daemon knows this"))
        }
    };
    link.quit();
    Ok((link.nick().to_owned(), response?))
}

/// Returns the nicks to try: one that names the agent, then shorter ones.
fn nicks(server: &Server, nick: Option<&AgentName>) -> Vec<String> {
    let tail = uuid::Uuid::new_v4().simple().to_string();
    let (tail, more) = (&tail[..4], &tail[4..8]);
    let of_agent = nick.filter(|nick| nick.server() == server.name);
    let named = of_agent.map(|nick| format!("{nick}__peek{tail}"));
    let plain = [format!("{}-_peek{tail}", server.name), format!("p_peek{tail}{more}")];
    named.into_iter().chain(plain).collect()
}

fn done(data: &impl serde::Serialize) -> Result<Response, OneShotError> {
    Response::done(None, data).map_err(|error: EncodeError| OneShotError::Odd(error.to_string()))
}

fn send(
    link: &mut Link,
    channel: &ChannelName,
    text: &str,
    absent: IfAbsent,
) -> Result<Response, OneShotError> {
    if absent == IfAbsent::Refuse && !listed(link)?.iter().any(|(name, _)| same(name, channel)) {
        return Ok(Response::failed(None, no_such_channel(channel)));
    }
    join(link, channel)?;
    say(link, channel.as_str(), text)
}

/// Sets a topic, of a channel that is there.
fn set_topic(
    link: &mut Link,
    channel: &ChannelName,
    topic: &str,
) -> Result<Response, OneShotError> {
    if !listed(link)?.iter().any(|(name, _)| same(name, channel)) {
        return Ok(Response::failed(None, no_such_channel(channel)));
    }
    join(link, channel)?;
    let topic = topic.replace(['\r', '\n', '\0'], " ");
    link.send(&Message::new("TOPIC").param(channel.as_str()).trailing(topic))?;
    link.until(|line| Ok((line.command == "TOPIC").then_some(())))?;
    done(&NoData {})
}

fn say(link: &mut Link, target: &str, text: &str) -> Result<Response, OneShotError> {
    let cut = |left| format!("… (+{left} lines)");
    for line in split::lines(text, split::LINE_BYTES, LINES_MAX, cut).lines {
        link.send(&Message::new("PRIVMSG").param(target).trailing(line.text))?;
    }
    // What is wrong with a line is told before the answer to this.
    link.send(&Message::new("PING").param("sent"))?;
    link.until(|line| Ok((line.command == "PONG").then_some(())))?;
    done(&NoData {})
}

fn join(link: &mut Link, channel: &ChannelName) -> Result<(), OneShotError> {
    link.send(&Message::new("JOIN").param(channel.as_str()))?;
    link.until(|line| Ok((line.numeric() == Some(n::RPL_ENDOFNAMES)).then_some(())))
}

/// Returns the server's channels and how many are in each.
fn listed(link: &mut Link) -> Result<Vec<(String, u32)>, OneShotError> {
    link.send(&Message::new("LIST"))?;
    let mut found = Vec::new();
    link.until(|line| match line.numeric() {
        Some(n::RPL_LIST) => {
            let members = line.at(2).and_then(|count| count.parse().ok()).unwrap_or(0);
            found.extend(line.at(1).map(|name| (name.to_owned(), members)));
            Ok(None)
        }
        Some(n::RPL_LISTEND) => Ok(Some(())),
        _ => Ok(None),
    })?;
    found.sort();
    Ok(found)
}

fn channels(link: &mut Link) -> Result<Response, OneShotError> {
    let listed = listed(link)?;
    let channels = listed.iter().map(|(name, _)| name.clone()).collect();
    done(&ChannelsData { channels, members: listed.into_iter().collect() })
}

fn who(link: &mut Link, target: &Target) -> Result<Response, OneShotError> {
    link.send(&Message::new("WHO").param(target.as_str()))?;
    let mut users = Vec::new();
    link.until(|line| match line.numeric() {
        Some(n::RPL_WHOREPLY) => {
            let modes = line.at(6).unwrap_or_default().to_owned();
            users.extend(line.at(5).map(|nick| WhoUser { nick: nick.to_owned(), modes }));
            Ok(None)
        }
        Some(n::RPL_ENDOFWHO) => Ok(Some(())),
        _ => Ok(None),
    })?;
    done(&WhoData { users })
}

fn read(link: &mut Link, channel: &ChannelName, limit: u32) -> Result<Response, OneShotError> {
    let limit = limit.min(HISTORY_MAX).to_string();
    let messages = if !listed(link)?.iter().any(|(name, _)| same(name, channel)) {
        // Looking into a channel must not make it.
        Vec::new()
    } else if link.has_history() {
        join(link, channel)?;
        let words = ["LATEST", channel.as_str(), "*", &limit];
        let ask = words.into_iter().fold(Message::new("CHATHISTORY"), Message::param);
        link.send(&ask)?;
        page(link)?
    } else {
        let words = ["RECENT", channel.as_str(), &limit];
        link.send(&words.into_iter().fold(Message::new("HISTORY"), Message::param))?;
        cultures_page(link)?
    };
    done(&ReadData { messages, remaining: 0 })
}

/// Reads one batch of history.
fn page(link: &mut Link) -> Result<Vec<ChatLine>, OneShotError> {
    let mut lines = Vec::new();
    link.until(|line| {
        match (line.command.as_str(), line.tag("batch")) {
            ("BATCH", _) if line.at(0).is_some_and(|batch| batch.starts_with('-')) => {
                return Ok(Some(()));
            }
            ("PRIVMSG" | "NOTICE", Some(_)) => lines.extend(chat_line(line)),
            _ => {}
        }
        Ok(None)
    })?;
    Ok(lines)
}

#[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
fn chat_line(line: &Message) -> Option<ChatLine> {
    let at = line.tag("time").and_then(parse_rfc3339).map_or(0, |at| at.0);
    let nick = line.nick()?.to_owned();
    Some(ChatLine { nick, text: line.at(1)?.to_owned(), timestamp: at as f64 / 1e6, tier: None })
}

/// Reads what a server of culture's tells of its history.
fn cultures_page(link: &mut Link) -> Result<Vec<ChatLine>, OneShotError> {
    let mut lines = Vec::new();
    link.until(|line| match line.command.as_str() {
        "HISTORY" => {
            if let [_, nick, at, text] = line.params.as_slice() {
                let timestamp = at.parse().unwrap_or(0.0);
                let (nick, text) = (nick.clone(), text.clone());
                lines.push(ChatLine { nick, text, timestamp, tier: None });
            }
            Ok(None)
        }
        "HISTORYEND" => Ok(Some(())),
        _ => Ok(None),
    })?;
    Ok(lines)
}

fn same(name: &str, channel: &ChannelName) -> bool {
    fold(name) == channel.folded()
}
