//! The connection of a one-shot client: the link that daemons have, too
//! ([`gangline_irc::client::Link`]), until it ends for the first time.

use std::{fmt, io};

use gangline_core::name::{ChannelName, Target};
use gangline_irc::{
    client::{
        self, Address, Line, LineKind, LinkCommand, LinkConfig, LinkEvent, OtherNick, Others, Say,
        pace::Pace,
    },
    wire::{Message, caps, numeric},
};
use gangline_os::{CancellationToken, clock, task::TaskGroup};
use tokio::sync::mpsc;

use super::LINES_MAX;
use crate::show::text::one_line;

/// The name it gives for its user.
const USER: &str = "_peek";
/// The name it gives for itself.
const REALNAME: &str = "gangline channel";
/// The most commands and events that wait; all that one question may need.
const QUEUE: usize = 2 * LINES_MAX;
/// What is said goes out at once: nothing follows it.
const PACE: Pace = Pace { burst: 200, per_second: 20.0 };

/// Why the server did not tell.
#[derive(Debug, thiserror::Error)]
pub(in crate::channel) enum OneShotError {
    /// There is nothing to run the connection.
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
    /// The connection was not made, or has ended.
    #[error("{0}")]
    Down(String),
    /// The server did not answer in time.
    #[error("the server did not answer in time")]
    Silent,
    /// The server said no.
    #[error("the server refused: {0}")]
    Refused(String),
    /// Something cannot be told.
    #[error("{0}")]
    Odd(String),
    /// Nobody wants it any more.
    #[error("the request was cancelled: nothing was done")]
    TakenBack,
}

/// One connection, registered.
pub(super) struct Link {
    commands: mpsc::Sender<LinkCommand>,
    events: mpsc::Receiver<LinkEvent>,
    /// Runs the link, and ends it when it is dropped.
    _tasks: TaskGroup,
    history: bool,
    nick: String,
}

impl Link {
    /// Connects and registers with the first of the nicks that the server takes.
    pub(super) async fn open(address: &Address, nicks: &[String]) -> Result<Self, OneShotError> {
        let mut nicks = nicks.iter().filter_map(|nick| nick.parse().ok());
        let first = nicks.next().ok_or_else(|| OneShotError::Odd("no nick fits".to_owned()))?;
        let config = LinkConfig {
            instead: nicks.collect(),
            username: USER.to_owned(),
            realname: REALNAME.to_owned(),
            pace: PACE,
            bot: false,
            other_nick: OtherNick::Speak,
            others: Others::Pass,
            ..LinkConfig::new(address.clone(), first, clock::system())
        };
        let (commands, taken) = mpsc::channel(QUEUE);
        let (told, events) = mpsc::channel(QUEUE);
        let mut tasks = TaskGroup::new("one-shot");
        tasks.spawn("link", async move {
            client::Link::run(config, taken, told, CancellationToken::new()).await;
        });
        let (history, nick) = (false, String::new());
        let mut link = Self { commands, events, _tasks: tasks, history, nick };
        let up = |event: &LinkEvent| {
            let LinkEvent::Up { nick, caps, .. } = event else { return None };
            Some((nick.clone(), caps.clone()))
        };
        let (nick, caps) = link.until(up).await?;
        link.nick = nick;
        link.history = caps.iter().any(|cap| cap == caps::CHATHISTORY);
        Ok(link)
    }

    /// Returns the nick that the server took.
    pub(super) fn nick(&self) -> &str {
        &self.nick
    }

    /// Returns whether the server tells history in the way of IRCv3.
    pub(super) fn has_history(&self) -> bool {
        self.history
    }

    /// Sends one line as it is.
    pub(super) fn send(&self, message: Message) -> Result<(), OneShotError> {
        self.command(LinkCommand::Raw(message))
    }

    pub(super) async fn join(&mut self, channel: &ChannelName) -> Result<(), OneShotError> {
        self.command(LinkCommand::Join(channel.clone()))?;
        self.until(|event| matches!(event, LinkEvent::Joined { .. }).then_some(())).await
    }

    /// Says these lines, and waits until the server has taken them.
    pub(super) async fn say(
        &mut self,
        target: &Target,
        lines: Vec<String>,
    ) -> Result<(), OneShotError> {
        for text in &lines {
            self.command(LinkCommand::Say(Say {
                key: uuid::Uuid::new_v4().simple().to_string(),
                target: target.clone(),
                text: text.clone(),
                further: Vec::new(),
                connection: None,
                kind: LineKind::Privmsg,
                reply_to: None,
            }))?;
        }
        for _ in &lines {
            self.until(|event| {
                if let LinkEvent::Failed { why, .. } = event {
                    return Some(Err(refused(target, why)));
                }
                matches!(event, LinkEvent::Confirmed { .. }).then_some(Ok(()))
            })
            .await??;
        }
        Ok(())
    }

    /// Returns a channel's newest lines, at most so many.
    pub(super) async fn latest(
        &mut self,
        channel: &ChannelName,
        lines: usize,
    ) -> Result<Vec<Line>, OneShotError> {
        let target = Target::Channel(channel.clone());
        self.command(LinkCommand::Latest { target, lines, request: 1 })?;
        self.until(|event| {
            if let LinkEvent::HistoryPage { lines, .. } = event {
                return Some(lines.clone());
            }
            matches!(event, LinkEvent::CaughtUp { .. }).then(Vec::new)
        })
        .await
    }

    /// Takes the server's replies until `pick` finds something in one.
    pub(super) async fn reply<T>(
        &mut self,
        mut pick: impl FnMut(&Message) -> Option<T>,
    ) -> Result<T, OneShotError> {
        self.until(|event| if let LinkEvent::Other(line) = event { pick(line) } else { None }).await
    }

    /// Says goodbye, and waits until the server has closed, for two seconds at most.
    pub(super) async fn quit(mut self) {
        // What is gone already needs no goodbye.
        let _ = self.command(LinkCommand::Quit { reason: "done".to_owned() });
        while self.events.recv().await.is_some() {}
    }

    fn command(&self, command: LinkCommand) -> Result<(), OneShotError> {
        let told = self.commands.try_send(command);
        told.map_err(|_| OneShotError::Odd("the connection takes no more requests".to_owned()))
    }

    /// Takes events until `pick` finds something in one; one that says no ends it.
    async fn until<T>(
        &mut self,
        mut pick: impl FnMut(&LinkEvent) -> Option<T>,
    ) -> Result<T, OneShotError> {
        loop {
            let ended = || OneShotError::Down("the connection has ended".to_owned());
            let event = self.events.recv().await.ok_or_else(ended)?;
            if let Some(found) = pick(&event) {
                return Ok(found);
            }
            if let Some(error) = no(&event) {
                return Err(error);
            }
        }
    }
}

/// Returns what is wrong, if the event says that something is.
fn no(event: &LinkEvent) -> Option<OneShotError> {
    match event {
        LinkEvent::Down { why, .. } => Some(OneShotError::Down(one_line(why))),
        LinkEvent::NickProblem { wanted, using: None, why, .. } => Some(refused(wanted, why)),
        LinkEvent::JoinFailed { channel, why, .. } => Some(refused(channel, why)),
        LinkEvent::CatchUpFailed { target, why, .. } => Some(refused(target, why)),
        LinkEvent::Other(line) => {
            let number = line.numeric();
            let words = line.params.get(usize::from(number.is_some())..).unwrap_or_default();
            let says_no = line.command == "FAIL" || number.is_some_and(says_no);
            says_no.then(|| OneShotError::Refused(one_line(&words.join(" "))))
        }
        LinkEvent::Up { .. }
        | LinkEvent::Joined { .. }
        | LinkEvent::Parted { .. }
        | LinkEvent::Kicked { .. }
        | LinkEvent::Members { .. }
        | LinkEvent::Line(_)
        | LinkEvent::HistoryPage { .. }
        | LinkEvent::CaughtUp { .. }
        | LinkEvent::HistoryTargets { .. }
        | LinkEvent::HistoryTargetsFailed { .. }
        | LinkEvent::Confirmed { .. }
        | LinkEvent::Failed { .. }
        | LinkEvent::Unconfirmed { .. }
        | LinkEvent::NotSent { .. }
        | LinkEvent::NickProblem { using: Some(_), .. }
        | LinkEvent::NickChanged { .. } => None,
    }
}

/// Numerics of errors, but for those that say that there is no message of the day.
fn says_no(number: u16) -> bool {
    (400..600).contains(&number) && number != numeric::ERR_NOMOTD
}

fn refused(subject: impl fmt::Display, why: &str) -> OneShotError {
    OneShotError::Refused(one_line(&format!("{subject} {why}")))
}
