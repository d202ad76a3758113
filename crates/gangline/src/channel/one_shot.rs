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
    client::{Address, Line, LineKind},
    wire::{Message, numeric as n},
};
use gangline_os::{clock::parse_rfc3339, paths::Overrides};
use tokio::time::timeout;

use self::link::Link;
pub(super) use self::link::OneShotError;
use crate::{failure::Failure, place};

/// How long all of it may take, but for the goodbye.
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
        | Command::Pause { .. }
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::SetDirectory { .. }
        | Command::Wake { .. }
        | Command::Tool { .. }
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
/// if the request is taken back before the server takes us. Not for within an async runtime: it has
/// its own.
pub(super) fn answer_as(
    server: &Server,
    nicks: &[String],
    command: &Command,
    taken_back: &dyn Fn() -> bool,
) -> Result<(String, Response), OneShotError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(OneShotError::Runtime)?;
    let answered = runtime.block_on(async {
        let asking = async {
            let mut link = Link::open(&server.address, nicks).await?;
            let response = match taken_back() {
                true => Err(OneShotError::TakenBack),
                false => ask(&mut link, command).await,
            };
            Ok((link, response))
        };
        let (link, response) = within(PATIENCE, asking).await?;
        let nick = link.nick().to_owned();
        link.quit().await;
        response.map(|response| (nick, response))
    });
    // A look-up of the server's name may still be under way.
    runtime.shutdown_background();
    answered
}

async fn within<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, OneShotError>>,
) -> Result<T, OneShotError> {
    timeout(patience, work).await.unwrap_or(Err(OneShotError::Silent))
}

async fn ask(link: &mut Link, command: &Command) -> Result<Response, OneShotError> {
    match command {
        Command::Send { channel: Target::Channel(channel), absent: IfAbsent::Refuse, .. }
        | Command::Topic { channel, topic: Some(_) }
            if !is_listed(link, channel).await? =>
        {
            Ok(Response::failed(None, no_such_channel(channel)))
        }
        Command::Send { channel: target, message, .. } => say(link, target, message).await,
        Command::Read { channel: Target::Channel(channel), limit, .. } => {
            read(link, channel, (*limit).min(HISTORY_MAX)).await
        }
        Command::Who { target } => who(link, target).await,
        Command::Topic { channel, topic: Some(topic) } => set_topic(link, channel, topic).await,
        Command::Channels => channels(link).await,
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
        | Command::Pause { .. }
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::SetDirectory { .. }
        | Command::Wake { .. }
        | Command::Tool { .. }
        | Command::Subscribe { .. } => {
            Ok(Response::failed(None, "only the agent's daemon knows this"))
        }
    }
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

async fn say(link: &mut Link, target: &Target, text: &str) -> Result<Response, OneShotError> {
    if let Target::Channel(channel) = target {
        link.join(channel).await?;
    }
    let cut = |left| format!("… (+{left} lines)");
    let lines = split::lines(text, split::LINE_BYTES, LINES_MAX, cut).lines;
    link.say(target, lines.into_iter().map(|line| line.text).collect()).await?;
    done(&NoData {})
}

async fn set_topic(
    link: &mut Link,
    channel: &ChannelName,
    topic: &str,
) -> Result<Response, OneShotError> {
    link.join(channel).await?;
    let topic = topic.replace(['\r', '\n', '\0'], " ");
    link.send(Message::new("TOPIC").param(channel.as_str()).trailing(topic))?;
    link.reply(|line| (line.command == "TOPIC").then_some(())).await?;
    done(&NoData {})
}

/// Returns the server's channels and how many are in each.
async fn listed(link: &mut Link) -> Result<Vec<(String, u32)>, OneShotError> {
    link.send(Message::new("LIST"))?;
    let mut found = Vec::new();
    let row = |line: &Message| {
        if line.numeric() == Some(n::RPL_LIST) {
            let members = line.at(2).and_then(|count| count.parse().ok()).unwrap_or(0);
            found.extend(line.at(1).map(|name| (name.to_owned(), members)));
        }
        (line.numeric() == Some(n::RPL_LISTEND)).then_some(())
    };
    link.reply(row).await?;
    found.sort();
    Ok(found)
}

async fn is_listed(link: &mut Link, channel: &ChannelName) -> Result<bool, OneShotError> {
    Ok(listed(link).await?.iter().any(|(name, _)| fold(name) == channel.folded()))
}

async fn channels(link: &mut Link) -> Result<Response, OneShotError> {
    let listed = listed(link).await?;
    let channels = listed.iter().map(|(name, _)| name.clone()).collect();
    done(&ChannelsData { channels, members: listed.into_iter().collect() })
}

async fn who(link: &mut Link, target: &Target) -> Result<Response, OneShotError> {
    link.send(Message::new("WHO").param(target.as_str()))?;
    let mut users = Vec::new();
    let row = |line: &Message| {
        if line.numeric() == Some(n::RPL_WHOREPLY) {
            let modes = line.at(6).unwrap_or_default().to_owned();
            users.extend(line.at(5).map(|nick| WhoUser { nick: nick.to_owned(), modes }));
        }
        (line.numeric() == Some(n::RPL_ENDOFWHO)).then_some(())
    };
    link.reply(row).await?;
    done(&WhoData { users })
}

async fn read(
    link: &mut Link,
    channel: &ChannelName,
    limit: u32,
) -> Result<Response, OneShotError> {
    let messages = if !is_listed(link, channel).await? {
        // Looking into a channel must not make it.
        Vec::new()
    } else if link.has_history() {
        link.join(channel).await?;
        link.latest(channel, limit as usize).await?.into_iter().map(chat_line).collect()
    } else {
        cultures_page(link, channel, limit).await?
    };
    done(&ReadData { messages, remaining: 0 })
}

#[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
fn chat_line(line: Line) -> ChatLine {
    let at = line.server_time.as_deref().and_then(parse_rfc3339).map_or(0, |at| at.0);
    let text = match line.kind {
        LineKind::Privmsg | LineKind::Notice => line.text,
        LineKind::Action => format!("/me {}", line.text),
    };
    ChatLine { nick: line.nick, text, timestamp: at as f64 / 1e6, tier: None }
}

/// Reads what a server of culture's tells of its history.
async fn cultures_page(
    link: &mut Link,
    channel: &ChannelName,
    limit: u32,
) -> Result<Vec<ChatLine>, OneShotError> {
    let ask = Message::new("HISTORY").param("RECENT").param(channel.as_str());
    link.send(ask.param(limit.to_string()))?;
    let mut lines = Vec::new();
    let row = |line: &Message| {
        if let ("HISTORY", [_, nick, at, text]) = (line.command.as_str(), line.params.as_slice()) {
            let timestamp = at.parse().unwrap_or(0.0);
            let (nick, text) = (nick.clone(), text.clone());
            lines.push(ChatLine { nick, text, timestamp, tier: None });
        }
        (line.command == "HISTORYEND").then_some(())
    };
    link.reply(row).await?;
    Ok(lines)
}
