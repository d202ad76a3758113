//! The link: one IRC connection and its reconnect life. Owns the socket, nick, channels,
//! capabilities and the pace of what is sent. Does not know turns, the store or the outbox.
//!
//! Start at [`Link::run`]; the rules without any socket are in `session`.
//!
//! # The protocol with the caller
//!
//! Commands go in by one bounded queue, events come out by another. While the caller does not
//! take events the link reads nothing more from the server; while the link has a full queue of
//! lines it takes no more commands. Neither side's queue grows. Stopping is by token and works
//! always.
//!
//! * **Connection.** [`LinkEvent::Up`] when the server has accepted us (whatever capabilities it
//!   has, message of the day or not); [`LinkEvent::Down`] when the connection, or an attempt to
//!   connect, has ended, with the time until the next one: see [`backoff::backoff`]. The wait
//!   grows until a connection was healthy for [`Timing::healthy_after`]. A refused password and
//!   a ban wait longest at once.
//! * **Nick.** Another nick than the configured one is never used silently: each refusal is a
//!   [`LinkEvent::NickProblem`], lines wait while it lasts ([`OtherNick`]), the wanted nick is
//!   asked for again every [`Timing::regain_every`], and [`LinkEvent::NickChanged`] tells how it
//!   ended.
//! * **Channels.** Wanted channels are joined after each `Up`; [`LinkEvent::Joined`] when the
//!   server says so. After a KICK, or a refused JOIN, the link tries again, ever more slowly.
//! * **Saying.** [`LinkCommand::Say`] is one line with a key of the caller's. Exactly one of
//!   [`LinkEvent::Confirmed`], [`LinkEvent::Failed`], [`LinkEvent::Unconfirmed`] and
//!   [`LinkEvent::NotSent`] answers it. `Unconfirmed` means that the link went down before the
//!   server confirmed: the line may have been taken. `NotSent` means that it never left: the link
//!   was down or went down, we are no longer in the channel, or it is a message of several lines
//!   ([`Say::further`]) and this server takes none. After both the caller may say it
//!   again, with the same key, after the next `Up` or `Joined`. A
//!   key that is under way is not sent twice. A line that was given before the caller heard of a
//!   `Down` would be said on the next connection ahead of those before it, which were not sent: so it
//!   names its connection ([`Say::connection`]). A `Confirmed` may also come for an older key, when
//!   history shows a line of our own that carries it: so a caller with doubtful lines catches up
//!   first and says again what is still open. How a line is confirmed: with echo-message and
//!   message-tags by the echo, which carries the key in `+gangline/id` or the label; without
//!   them by the PONG to a PING after the line, with no error in between.
//! * **Catching up.** After `Joined` (and for direct messages after
//!   [`LinkCommand::FindTargets`]) the caller commands [`LinkCommand::CatchUp`] with the cursor
//!   it has stored. A [`LinkEvent::HistoryPage`] comes with the lines after that cursor and a
//!   new cursor; the caller stores both and commands `CatchUp` with the new cursor, until the
//!   page is empty: [`LinkEvent::CaughtUp`]. Without a cursor the answer is one page without
//!   lines, whose cursor is the newest line (if there is any), and `CaughtUp`. A page may have
//!   no lines and still a cursor: it held only our own. [`LinkEvent::CatchUpFailed`] says that
//!   the server refused or did not answer; a server without history answers `CaughtUp` at once.
//!   A server without CHATHISTORY that shows a channel's last lines to who joins (InspIRCd's
//!   `chanhistory`) has them kept until `CatchUp`, which is then answered by a page of those after
//!   the cursor; such a page may hold lines of the cursor's own second once more. Where such lines
//!   come without times, nobody can tell the new ones from the old, and they are passed over.
//!   Live lines come at once, also in between, as [`LinkEvent::Line`] with
//!   [`Line::from_history`] false; so a line may come both ways and the caller removes the
//!   double by its `msgid`. A `Down` cancels what was asked. A command that was given before the
//!   caller heard of it may be carried out on the next connection: the number of a request shows
//!   which answer is whose, and only that to the newest says how far a target was read.

use std::time::Duration;

use gangline_core::{
    message::Principal,
    name::{ChannelName, Nick, Target},
};
use gangline_os::{CancellationToken, clock::SharedClock, secret::Secret};
use tokio::sync::mpsc;

pub use self::{address::Address, timing::Timing};
use self::{cursor::Cursor, pace::Pace};
use crate::wire::{Message, multiline::Follows};

mod address;
pub mod backoff;
pub mod cursor;
mod dial;
mod io;
pub mod pace;
mod session;
mod timing;

/// The most lines and requests that wait in the link; when it is full no command is taken.
pub const QUEUE_MAX: usize = 256;
/// The most lines of history in one page.
pub const PAGE_LINES: usize = 100;

/// What one link needs to know. Read once; see [`LinkConfig::new`] for the defaults.
#[derive(Clone)]
pub struct LinkConfig {
    /// Where the server is.
    pub address: Address,
    /// The nick that is ours.
    pub nick: Nick,
    /// What is tried, in this order, where the server does not take `nick` at registration. Without
    /// any it is neighbours of it.
    pub instead: Vec<Nick>,
    /// The user name of `USER`.
    pub username: String,
    /// The real name of `USER`.
    pub realname: String,
    /// Account and password for SASL PLAIN. They are sent by the own socket and to a loopback
    /// address only, since the connection is not encrypted.
    pub sasl: Option<(String, Secret)>,
    /// Channels to join.
    pub channels: Vec<ChannelName>,
    /// How fast lines go out on a foreign server.
    pub pace: Pace,
    /// Every span of time that the link waits for something.
    pub timing: Timing,
    /// Whether to tell the server that we are a program, if it knows such a mode.
    pub bot: bool,
    /// What to do with lines to send while the nick is not ours.
    pub other_nick: OtherNick,
    /// Whether what the link has no event for is passed on.
    pub others: Others,
    /// The time of day and of waiting.
    pub clock: SharedClock,
}

impl LinkConfig {
    /// Returns a configuration with the default pace and timing, no channels, no account.
    #[must_use]
    pub fn new(address: impl Into<Address>, nick: Nick, clock: SharedClock) -> Self {
        Self {
            address: address.into(),
            username: "gangline".to_owned(),
            realname: nick.to_string(),
            nick,
            instead: Vec::new(),
            sasl: None,
            channels: Vec::new(),
            pace: Pace::FOREIGN,
            timing: Timing::default(),
            bot: true,
            other_nick: OtherNick::Hold,
            others: Others::Drop,
            clock,
        }
    }
}

/// What happens to lines to send while we have another nick than the wanted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherNick {
    /// They wait until the nick is ours again.
    Hold,
    /// They are sent under the other nick.
    Speak,
}

/// What happens to lines of the server that the link has no event for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They are dropped.
    Drop,
    /// They come as [`LinkEvent::Other`]: replies to `Raw`, other people's JOIN, QUIT, TOPIC ….
    Pass,
}

/// Why the wanted nick or account could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NickTrouble {
    /// Somebody else has the nick, or had it a moment ago.
    Taken,
    /// The server takes no such nick from us: it is too long there, or reserved.
    NotAllowed,
    /// The server gave us another nick, or changed ours.
    Changed,
    /// The account's password was refused, or could not be sent.
    Login,
}

/// The three forms of a line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// PRIVMSG.
    Privmsg,
    /// NOTICE: never to be answered by a program.
    Notice,
    /// `/me …`: a PRIVMSG of the form CTCP ACTION.
    Action,
}

/// What is shown of somebody writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypingState {
    /// At work.
    Active,
    /// No more.
    Done,
}

/// One line to be said, or several that are one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Say {
    /// The caller's name of the line, sent as `+gangline/id`; the same again for the same line.
    pub key: String,
    /// Where to.
    pub target: Target,
    /// The text, at most 350 bytes. Made one line here ([`crate::wire::text::sanitize`]), never
    /// split.
    pub text: String,
    /// The further lines of the same message, made fit like `text`: with these it is sent as one
    /// (`draft/multiline`), under its one key. Only where that capability is on.
    pub further: Vec<(Follows, String)>,
    /// How.
    pub kind: LineKind,
    /// The `msgid` of the line that this one answers.
    pub reply_to: Option<String>,
    /// The connection that it is for ([`LinkEvent::Up`]): on a later one it is dropped, without an
    /// answer. `None`: whichever there is.
    pub connection: Option<u64>,
}

/// What the link is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkCommand {
    /// Say one line; answered by `Confirmed`, `Failed` or `Unconfirmed`.
    Say(Say),
    /// Show that we write, if the server can carry it; dropped when lines wait.
    Typing {
        /// Where to.
        target: Target,
        /// What.
        state: TypingState,
    },
    /// Join, now and after every reconnect.
    Join(ChannelName),
    /// Leave, and do not come back.
    Part {
        /// What to leave.
        channel: ChannelName,
        /// What the others read.
        why: String,
    },
    /// Take another nick, now and after every reconnect.
    Nick(Nick),
    /// Send this line as it is, at the usual pace; dropped while the link is down.
    Raw(Message),
    /// Ask for the page of history after the cursor.
    CatchUp {
        /// Whose history.
        target: Target,
        /// The place that was reached; `None` sets it to the newest line.
        after: Option<Cursor>,
        /// The caller's number for this request; its answer has it too, so that the answer to an
        /// earlier one is not taken for this one's.
        request: u64,
    },
    /// Ask for the newest lines, at most so many; answered by one `HistoryPage`, if there are any, and
    /// `CaughtUp`, or by `CatchUpFailed`. A server without CHATHISTORY answers `CaughtUp` at once.
    Latest {
        /// Whose history.
        target: Target,
        /// How many.
        lines: usize,
        /// As in [`LinkCommand::CatchUp`].
        request: u64,
    },
    /// Ask which targets have lines after this time (`2026-11-21T21:33:48.123Z`); answered by
    /// `HistoryTargets`. This is how direct messages from the time of an absence are found.
    FindTargets {
        /// The time of the server.
        after: String,
    },
    /// Leave the server and end.
    Quit {
        /// What the others read.
        reason: String,
    },
}

/// What the link tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// The server has accepted us; the wanted channels are being joined.
    Up {
        /// The nick that we have: not always the wanted one.
        nick: String,
        /// The capabilities that are on, sorted.
        caps: Vec<String>,
        /// The network's name, else the server's.
        network: String,
        /// Whether the server said that it is Gangline's own.
        own_server: bool,
        /// Whether it is the first time in the life of this link.
        first: bool,
        /// The number of this connection.
        connection: u64,
    },
    /// The connection or an attempt to connect has ended.
    Down {
        /// Why.
        why: String,
        /// When the next attempt is made.
        retry_in: Duration,
    },
    /// We are in the channel.
    Joined {
        /// Which.
        channel: ChannelName,
    },
    /// The server refused the channel, or did not answer; the link tries again later.
    JoinFailed {
        /// Which.
        channel: ChannelName,
        /// The server's number for it, 0 if it did not answer.
        numeric: u16,
        /// The server's words.
        why: String,
    },
    /// We have left the channel, by our own decision or the server's.
    Parted {
        /// Which.
        channel: ChannelName,
        /// The reason given.
        why: String,
    },
    /// Somebody has thrown us out; the link tries to come back.
    Kicked {
        /// Which.
        channel: ChannelName,
        /// By whom.
        by: String,
        /// The reason given.
        why: String,
    },
    /// So many are in a channel, we too; after `Joined` and `Down` unknown until it is told again.
    Members {
        /// Which.
        channel: ChannelName,
        /// How many. `None`: not known any more (more than 4096, or other modes, until a `NAMES`).
        count: Option<u32>,
    },
    /// Somebody else's line.
    Line(Line),
    /// A page of history; the answer to `CatchUp` and `Latest`.
    HistoryPage {
        /// Whose.
        target: Target,
        /// Other people's lines, oldest first; our own are not among them.
        lines: Vec<Line>,
        /// The place after the page's last line.
        cursor: Cursor,
        /// Whether more are to be expected: the page was full.
        more: bool,
        /// The number of the request that it answers.
        request: u64,
    },
    /// There is no line after the cursor.
    CaughtUp {
        /// Whose history.
        target: Target,
        /// The number of the request that it answers.
        request: u64,
    },
    /// The page could not be had.
    CatchUpFailed {
        /// Whose history.
        target: Target,
        /// The number of the request that it answers.
        request: u64,
        /// Why.
        why: String,
    },
    /// The answer to `FindTargets`; empty also when the server has no history.
    HistoryTargets {
        /// Targets and the time of their newest line.
        targets: Vec<(Target, String)>,
        /// Whether more are to be expected: the answer was full.
        more: bool,
    },
    /// `FindTargets` was refused or not answered.
    HistoryTargetsFailed {
        /// Why.
        why: String,
    },
    /// The server has taken the line.
    Confirmed {
        /// The line's key.
        key: String,
        /// The server's id of it.
        msgid: Option<String>,
        /// When it was said, by the server's clock, if the server told.
        at: Option<String>,
    },
    /// The server has refused the line, or it has no form.
    Failed {
        /// The line's key.
        key: String,
        /// The server's words.
        why: String,
        /// The server's number, if it gave one.
        numeric: Option<u16>,
    },
    /// The link went down before the line was confirmed: the server may have taken it.
    Unconfirmed {
        /// The line's key.
        key: String,
    },
    /// The line was not sent: the link is down, or we were thrown out of its channel before its
    /// turn came.
    NotSent {
        /// The line's key.
        key: String,
    },
    /// The wanted nick or account could not be had.
    NickProblem {
        /// The wanted nick.
        wanted: Nick,
        /// The nick that we have or ask for instead; `None` if the connection is given up.
        using: Option<String>,
        /// What is wrong.
        trouble: NickTrouble,
        /// The server's words.
        why: String,
    },
    /// Our nick has changed.
    NickChanged {
        /// What it is now.
        nick: String,
        /// Whether it is the wanted one.
        wanted: bool,
    },
    /// A line of the server that has no event of its own ([`Others::Pass`]).
    Other(Message),
}

/// Somebody else's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its form.
    pub kind: LineKind,
    /// Where it was said: a channel, or our own nick.
    pub target: Target,
    /// The speaker's nick, as written. No identity.
    pub nick: String,
    /// The speaker's account, from the `account` tag of a server that has account-tag.
    pub account: Option<String>,
    /// Who speaks, as our own server stamped it ([`Address::Own`]); `None` on any other.
    pub principal: Option<Principal>,
    /// The server's id of the line.
    pub msgid: Option<String>,
    /// The server's time of the line, as written.
    pub server_time: Option<String>,
    /// The place behind this line in its conversation's history, as this server counts places;
    /// `None` if it gives neither ids nor times.
    pub cursor: Option<Cursor>,
    /// The text, one line, without control characters other than IRC's formatting. Where the message
    /// has several lines (`draft/multiline`), `⏎` stands between them.
    pub text: String,
    /// The speaker's own id of the line, as it claims.
    pub gangline_id: Option<String>,
    /// Whether it comes from history and not live.
    pub from_history: bool,
    /// The `msgid` of the line that this one answers, as the speaker claims.
    pub reply_to: Option<String>,
    /// Whether the server says that the speaker is a program.
    pub bot: bool,
}

/// Why a link has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkEnd {
    /// By `Quit`.
    Quit,
    /// By the token.
    Stopped,
    /// The commands' sender is gone.
    CommandsClosed,
    /// The events' receiver is gone.
    EventsClosed,
}

/// One IRC connection and its reconnect life.
#[derive(Debug)]
pub struct Link;

impl Link {
    /// Runs the link until it is told to quit or stop; connects again for ever until then.
    /// Both ends say `QUIT` to the server and wait for it for at most two seconds.
    ///
    /// Cancel-safe: no; dropping it closes the socket without a `QUIT` and without telling
    /// which lines were unconfirmed. Use the token.
    pub async fn run(
        config: LinkConfig,
        commands: mpsc::Receiver<LinkCommand>,
        events: mpsc::Sender<LinkEvent>,
        stop: CancellationToken,
    ) -> LinkEnd {
        io::Runner::new(config, commands, events).run(stop).await
    }
}
