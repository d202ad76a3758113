//! Faults between the agent and its network: each is reported once in the log and as an event in
//! the store, and in the agent's status while it lasts.

use std::collections::{BTreeMap, BTreeSet};

use gangline_api::event::{Event, Notice};
use gangline_core::{name::ChannelName, name::fold};
use gangline_irc::client::NickTrouble;
use gangline_os::lock;
use gangline_store::NewEvent;
use tracing::{info, warn};

use super::Chat;
use crate::bus::Incoming;

#[cfg(test)]
mod tests;

/// The word by which programs know these events.
const CODE: &str = "irc";
/// The most reasons that are reported for one absence.
const REASONS_MAX: usize = 8;
/// The number of attempts without a socket after which a running hub counts as an older version:
/// about 10 s, far longer than a hub needs from its lock to its socket.
const SOCKETLESS: u32 = 8;
/// A room that is full, closed after a netsplit, or joined by too many at once opens again without
/// our doing; so may one about which the server says nothing (0).
const OPENS_BY_ITSELF: [u16; 4] = [471, 437, 480, 0];

/// What is in the way now.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// Why there is no connection.
    off: Option<String>,
    /// The reasons that were told since the last one.
    off_told: BTreeSet<String>,
    /// How often in a row the own server's socket was not there although a hub runs.
    socketless: u32,
    nick: Option<String>,
    login: Option<String>,
    /// The sentence about each room that does not let us in.
    rooms: BTreeMap<ChannelName, String>,
    /// What the status says.
    shown: Option<String>,
}

impl Troubles {
    /// Returns the one that explains most.
    fn worst(&self) -> Option<String> {
        let off = self.off.as_ref().map(|why| format!("not on IRC: {why}"));
        let room = || self.rooms.values().next().cloned();
        self.nick.clone().or(off).or_else(|| self.login.clone()).or_else(room)
    }
}

impl Chat {
    /// The connection, or an attempt to connect, has ended.
    pub(super) async fn off_irc(&mut self, why: &str) {
        // The next connection logs in anew, or tells anew why it cannot.
        self.troubles.login = None;
        // The installation's own server goes and comes with its hub.
        if self.deps.own {
            return self.off_own().await;
        }
        let told = &mut self.troubles.off_told;
        let news = told.len() < REASONS_MAX && told.insert(why.to_owned());
        self.troubles.off = Some(why.to_owned());
        self.troubles.rooms.clear();
        self.notify_trouble(news.then(|| format!("not on IRC: {why}"))).await;
    }

    /// On the own server only one fault is reported: a hub that runs without a socket.
    async fn off_own(&mut self) {
        let paths = &self.deps.paths;
        let runs = matches!(lock::probe(&paths.hub_lock()), Ok(Some(_)));
        if !runs || paths.irc_socket().exists() {
            self.troubles.socketless = 0;
            if self.troubles.off.take().is_some() {
                self.notify_trouble(None).await;
            }
            return;
        }
        self.troubles.socketless = self.troubles.socketless.saturating_add(1);
        if self.troubles.socketless < SOCKETLESS {
            return;
        }
        let text = format!(
            "the running hub has no {}: its version is older, so run `gangline restart --hub`",
            paths.irc_socket().display()
        );
        let news = self.troubles.off.as_ref() != Some(&text);
        let told = news.then(|| format!("not on IRC: {text}"));
        self.troubles.off = Some(text);
        self.notify_trouble(told).await;
    }

    /// The server has accepted us under this nick.
    pub(super) async fn on_irc(&mut self, nick: &str) {
        self.troubles.off = None;
        self.troubles.socketless = 0;
        self.troubles.off_told.clear();
        if fold(nick) == self.deps.agent.folded() {
            self.troubles.nick = None;
        }
        self.notify_trouble(None).await;
    }

    /// The nick or the account could not be had.
    pub(super) async fn nick_trouble(
        &mut self,
        trouble: NickTrouble,
        using: Option<&str>,
        why: &str,
    ) {
        let wanted = &self.deps.agent;
        let text = match (trouble, using) {
            (NickTrouble::NotAllowed, _) => format!(
                "the server does not accept the nick {wanted}: {why}. Give the agent another nick \
                 in agents.yaml (the server may limit its length), or make the server allow it"
            ),
            (NickTrouble::Taken, None) => {
                format!("the nick {wanted} and its variants are taken: {why}")
            }
            (NickTrouble::Taken | NickTrouble::Changed, Some(other)) => format!(
                "the agent does not have the nick {wanted} ({why}): connected as {other}, and \
                 silent until it is free"
            ),
            (NickTrouble::Changed, None) => {
                format!("the agent does not have the nick {wanted}: {why}")
            }
            (NickTrouble::Login, _) => format!("{why}; see `network.sasl`"),
        };
        let place = match trouble {
            NickTrouble::Login => &mut self.troubles.login,
            NickTrouble::Taken | NickTrouble::NotAllowed | NickTrouble::Changed => {
                &mut self.troubles.nick
            }
        };
        let news = place.replace(text.clone()).as_ref() != Some(&text);
        self.notify_trouble(news.then_some(text)).await;
    }

    /// The wanted nick is ours again.
    pub(super) async fn nick_is_ours(&mut self) {
        self.troubles.nick = None;
        self.notify_trouble(None).await;
    }

    /// A channel refuses the agent. Its waiting lines are dropped, unless the channel may open
    /// again. of one that the agent itself asked for, it hears by the tool.
    pub(super) async fn room_refuses(&mut self, channel: &ChannelName, numeric: u16, why: &str) {
        if self.deps.home.contains(channel) {
            let number = Some(numeric).filter(|number| *number > 0);
            let number = number.map_or_else(String::new, |it| format!(" (numeric {it})"));
            let text = format!("not in {channel}: {why}{number}; the agent keeps trying");
            let known = self.troubles.rooms.insert(channel.clone(), text.clone());
            let news = known.as_ref() != Some(&text);
            self.notify_trouble(news.then_some(text)).await;
        }
        if !OPENS_BY_ITSELF.contains(&numeric) {
            self.give_up_room(channel, why).await;
        }
    }

    /// We are in the channel, or want it no more.
    pub(super) async fn room_is_open(&mut self, channel: &ChannelName) {
        if self.troubles.rooms.remove(channel).is_some() {
            self.notify_trouble(None).await;
        }
    }

    /// Tells what is new, and shows what is left.
    async fn notify_trouble(&mut self, news: Option<String>) {
        if let Some(text) = news {
            warn!(text, "trouble with IRC");
            self.record(text).await;
        }
        let shown = self.troubles.worst();
        if shown == self.troubles.shown {
            return;
        }
        if shown.is_none() {
            info!("the problem with IRC is over");
        }
        self.troubles.shown.clone_from(&shown);
        self.notify_loop(Incoming::Irc(shown)).await;
    }

    async fn record(&self, text: String) {
        let deps = &self.deps;
        let text = deps.redactor.redact(&text).into_string();
        let event = Event::from(Notice { code: CODE.to_owned(), text });
        let Some(payload) = event.encode().ok().and_then(|bytes| String::from_utf8(bytes).ok())
        else {
            return;
        };
        let event = NewEvent {
            agent: deps.agent.clone(),
            epoch: Some(deps.epoch),
            turn: None,
            kind: event.kind().to_owned(),
            payload: deps.redactor.redact(&payload),
        };
        if let Err(error) = deps.store.append(vec![event]).await {
            warn!(%error, "cannot record a problem with IRC");
        }
    }
}
