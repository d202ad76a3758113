//! What the server keeps: the [`HistoryStore`] trait and the rows it speaks in.

mod accounts;
mod rooms;

pub use accounts::{Account, Accounts};
pub use rooms::{Ban, RoomRow};

use std::{future::Future, pin::Pin, sync::Arc};

use gangline_core::{ChannelName, Principal};
use gangline_os::clock::UnixMicros;
use tokio::sync::watch;

use super::events::{Event, NewEvent};

/// Marks that are kept; beyond them the oldest are forgotten, and what their owners missed is not
/// shown to them.
pub const MARKS_MAX: usize = 10_000;

/// What the id begins with of what is shown and is not among the kept lines.
pub(super) const TAGS_ID: &str = "tags.";

/// A future behind a `dyn` trait.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The store could not do it. Nothing of the call was kept; a later call may succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the history store failed: {why}")]
pub struct HistoryError {
    /// What went wrong, for the log and the sender: "disk full".
    pub why: String,
}

/// A part of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Something that was said.
    Line(StoredLine),
    /// Something that happened.
    Event(Arc<Event>),
}

/// One side of a private conversation. Two people may bear the same nick one after the other;
/// they are not the same party unless they proved the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// Somebody logged in to this account (folded).
    Account(String),
    /// Somebody of our own uid without an account, by folded nick.
    Member(String),
    /// Anybody else, by folded nick. Proves nothing: has no private history.
    Stranger(String),
}

impl Party {
    /// Returns the key that rows are stored under: `name`, `~nick` or `!nick`.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Account(name) => name.clone(),
            Self::Member(nick) => format!("~{nick}"),
            Self::Stranger(nick) => format!("!{nick}"),
        }
    }

    /// Returns the name that reaches this party on the wire: the account's name, or the nick.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Account(name) | Self::Member(name) | Self::Stranger(name) => name,
        }
    }

    /// Reads [`Party::key`] back.
    #[must_use]
    pub fn from_key(key: &str) -> Self {
        match (key.strip_prefix('~'), key.strip_prefix('!')) {
            (Some(nick), _) => Self::Member(nick.to_owned()),
            (None, Some(nick)) => Self::Stranger(nick.to_owned()),
            (None, None) => Self::Account(key.to_owned()),
        }
    }
}

/// What a line belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Conversation {
    /// A channel.
    Channel(ChannelName),
    /// Two parties, in either order.
    Direct(Party, Party),
}

impl Conversation {
    /// Returns the key that rows are stored under: the folded channel, or both parties in order
    /// with a space between.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Channel(channel) => channel.folded().to_owned(),
            Self::Direct(one, other) => {
                let (one, other) = (one.key(), other.key());
                if one <= other { format!("{one} {other}") } else { format!("{other} {one}") }
            }
        }
    }
}

/// PRIVMSG or NOTICE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// A line that may be answered.
    Privmsg,
    /// A line that programs never answer.
    Notice,
}

impl LineKind {
    /// Returns the command.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Privmsg => "PRIVMSG",
            Self::Notice => "NOTICE",
        }
    }
}

/// A line to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLine {
    /// Where it belongs.
    pub conversation: Conversation,
    /// Who said it, as a party: with `key` and the conversation the identity of a repeated line.
    pub sender: Party,
    /// The sender's own id of the line (`+gangline/id`).
    pub key: Option<String>,
    /// When the server took it.
    pub at: UnixMicros,
    /// PRIVMSG or NOTICE.
    pub kind: LineKind,
    /// `nick!user@host`.
    pub source: String,
    /// The account, if logged in.
    pub account: Option<String>,
    /// Who it is and how far trusted, as it was then.
    pub principal: Principal,
    /// Whether the sender had said that it is a program (`MODE +B`).
    pub bot: bool,
    /// The target as it stood on the line.
    pub target: String,
    /// The text.
    pub text: String,
    /// Client-only tags (`+…`), unescaped.
    pub tags: Vec<(String, Option<String>)>,
}

impl NewLine {
    /// Returns whether the line was taken back: a line that was said has a text.
    #[must_use]
    pub fn is_redacted(&self) -> bool {
        self.text.is_empty()
    }
}

/// A line that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLine {
    /// Its place in the server's one order, from 1.
    pub seq: i64,
    /// Its id on the wire. Never the id of another line, also after the store was deleted or
    /// put back from a copy.
    pub msgid: String,
    /// The line.
    pub line: Arc<NewLine>,
}

/// The outcome of one line of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// It is kept, durably.
    Stored {
        /// Its place in the order.
        seq: i64,
        /// Its id.
        msgid: String,
    },
    /// The same sender has said it before under the same key in the same conversation; this is
    /// what is kept.
    Duplicate(Box<StoredLine>),
}

/// A place in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// A line. One that retention has removed keeps its place; one that this store never had
    /// stands before everything.
    Msgid(String),
    /// A moment, compared in milliseconds as the wire shows it.
    At(UnixMicros),
    /// Something that was shown and is not among the lines, by its id: an event, or right behind the
    /// line at this place.
    Event {
        /// The line's place.
        behind: i64,
        /// The id.
        msgid: String,
    },
}

impl Bound {
    /// Returns the place of the line with this id.
    #[must_use]
    pub fn of(msgid: &str) -> Self {
        let behind = msgid.strip_prefix(TAGS_ID);
        let behind = behind.and_then(|rest| rest.split_once('.')?.0.parse().ok());
        let msgid = msgid.to_owned();
        match behind {
            Some(behind) => Self::Event { behind, msgid },
            None => Self::Msgid(msgid),
        }
    }
}

/// Which lines; bounds are exclusive but for [`Range::Around`]. Answers are in the order of
/// saying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// The newest.
    Latest,
    /// The newest, none older than the bound.
    LatestAfter(Bound),
    /// The newest before the bound.
    Before(Bound),
    /// The oldest after the bound.
    After(Bound),
    /// Half before and half from the bound on.
    Around(Bound),
    /// From the first bound towards the second, whichever is older.
    Between(Bound, Bound),
}

/// A question for lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Of what.
    pub conversation: Conversation,
    /// Which.
    pub range: Range,
    /// The maximum number.
    pub limit: usize,
}

/// A question for what was written to in a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetsQuery {
    /// Whose private conversations, if any.
    pub party: Option<Party>,
    /// These channels too.
    pub channels: Vec<ChannelName>,
    /// After this.
    pub after: UnixMicros,
    /// And before this.
    pub before: UnixMicros,
    /// The maximum number; those with the oldest newest line come first.
    pub limit: usize,
}

/// A conversation with lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRow {
    /// The channel, or the other party's name.
    pub name: String,
    /// When its newest line was taken.
    pub at: UnixMicros,
}

/// How far somebody has surely read one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMark {
    /// Who.
    pub party: Party,
    /// Under which nick (folded): a client on another machine has another nick, and has read other
    /// lines.
    pub nick: String,
    /// The channel (folded), or nothing for all private conversations together.
    pub place: String,
    /// The place of the newest line that was read; `None` forgets the mark.
    pub seq: Option<i64>,
    /// When the mark was made.
    pub at: UnixMicros,
}

/// Up to when somebody says that they have read a channel or a private conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Who.
    pub party: Party,
    /// The channel or nick, folded.
    pub target: String,
    /// The time of the newest line that was read.
    pub at: UnixMicros,
}

/// When marks and events are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// At once.
    Now,
    /// With the next lines, or at the closing: a crash before then loses them.
    WithNext,
}

/// All marks, and where the order of lines stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// The place of the newest line.
    pub newest: i64,
    /// The marks, in no order.
    pub marks: Vec<ReadMark>,
}

/// A question for what others said in a place while somebody was away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedQuery {
    /// Who was away; their own lines are left out.
    pub party: Party,
    /// The channel, or all their private conversations.
    pub channel: Option<ChannelName>,
    /// Behind this line.
    pub after: i64,
    /// Up to this line.
    pub upto: i64,
    /// The maximum number of lines of each conversation, the newest.
    pub limit: usize,
}

/// What was missed of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// The newest lines, in the order of saying.
    pub lines: Vec<StoredLine>,
    /// How many came before these.
    pub left_out: usize,
}

/// A question for a line that may have been kept before its sender was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindLine {
    /// Who said it.
    pub sender: Party,
    /// Under which key.
    pub key: String,
    /// To which target, folded.
    pub target: String,
}

/// A channel's topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The channel as first written.
    pub channel: ChannelName,
    /// The text; empty takes it away.
    pub text: String,
    /// Who set it (`nick!user@host`).
    pub by: String,
    /// When.
    pub at: UnixMicros,
}

/// Where lines, accounts and topics are kept. Calls are made one at a time, in order; a call
/// that has begun is finished even if its future is dropped.
pub trait HistoryStore: Send + Sync + 'static {
    /// Keeps all lines of the batch, in order, or none. The answer, one for each line, follows
    /// the commit.
    fn append(
        &self,
        batch: Vec<Arc<NewLine>>,
    ) -> BoxFuture<'_, Result<Vec<Appended>, HistoryError>>;

    /// Returns lines, oldest first.
    fn history(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<StoredLine>, HistoryError>>;

    /// Keeps events, each in the history of its room, if that has lines. They are in the order of
    /// happening.
    fn put_events(
        &self,
        events: Vec<NewEvent>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Returns lines and events, oldest first. Both count.
    fn playback(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<Entry>, HistoryError>>;

    /// Returns the kept line of that id.
    fn line(&self, msgid: String) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>>;

    /// Returns conversations with a newest line in the span.
    fn targets(&self, query: TargetsQuery) -> BoxFuture<'_, Result<Vec<TargetRow>, HistoryError>>;

    /// Returns the kept line of that sender, key and target.
    fn find(&self, query: FindLine) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>>;

    /// Returns what was missed, a conversation each, the one with the oldest newest line first.
    fn missed(&self, query: MissedQuery) -> BoxFuture<'_, Result<Vec<Missed>, HistoryError>>;

    /// Returns the newest [`MARKS_MAX`] marks.
    fn marks(&self) -> BoxFuture<'_, Result<Marks, HistoryError>>;

    /// Keeps marks, each in place of an older one of its party, nick and place.
    fn put_marks(
        &self,
        marks: Vec<ReadMark>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Returns the accounts as they are now and as they change.
    fn accounts(&self) -> watch::Receiver<Arc<Accounts>>;

    /// Keeps an account, in place of any of its name.
    fn put_account(&self, account: Account) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Returns all topics.
    fn topics(&self) -> BoxFuture<'_, Result<Vec<Topic>, HistoryError>>;

    /// Keeps a topic.
    fn put_topic(&self, topic: Topic) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Forgets a channel's topic.
    fn forget_topic(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Returns all markers of what was read.
    fn markers(&self) -> BoxFuture<'_, Result<Vec<Marker>, HistoryError>>;

    /// Keeps a marker, in place of its reader's former one.
    fn put_marker(&self, marker: Marker) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Takes a line back: its text and tags are gone, its place and its sender's key stay.
    fn redact(&self, seq: i64) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Returns all rooms of which something is kept.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomRow>, HistoryError>>;

    /// Keeps what is to be kept of a room, in place of what was.
    fn put_room(&self, room: RoomRow) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Forgets what is kept of a room.
    fn forget_room(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>>;

    /// Looks through all that is kept for damage. Does not wait for other calls, nor they for it.
    fn look(&self) -> BoxFuture<'_, Result<(), HistoryError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
