//! History that a server shows unasked to who joins: InspIRCd's `chanhistory`.
//!
//! With `batch` and `server-time` it is a batch of lines with times: it is kept until the caller
//! catches up, and only what is after the caller's cursor is told. Times are whole seconds there
//! while live lines have milliseconds, so seconds are compared, and lines of the cursor's own
//! second come once more. Without `batch` it is a notice and then lines like any others; a PING
//! goes out behind each JOIN, and its PONG is where they end.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use gangline_core::name::{ChannelName, fold};

use super::{Session, history::Of};
use crate::{
    client::{Line, LinkEvent, cursor::Cursor},
    wire::{Message, caps},
};

/// The most channels whose shown lines are kept.
const KEPT_MAX: usize = 64;
/// How InspIRCd begins the notice before lines that are not in a batch.
const ANNOUNCED: &str = "Replaying up to ";
/// The part of a time that such a server keeps: `2026-11-22T00:32:52`.
const SECONDS: usize = 19;

/// What one channel's last JOIN was shown.
#[derive(Debug)]
struct Replay {
    lines: Vec<Line>,
    newest: Option<Cursor>,
    /// The caller was told the lines last, and not yet that there are no more.
    told: bool,
}

/// What was shown and not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Replays {
    kept: HashMap<String, Replay>,
    /// The tokens of PINGs behind a JOIN, oldest first.
    behind_joins: VecDeque<String>,
    /// Channels whose lines are old ones until the PONG to the oldest of these.
    passing: HashSet<String>,
    count: u64,
}

impl Replays {
    pub(super) fn keep(
        &mut self,
        subject: Option<String>,
        lines: Vec<Line>,
        newest: Option<Cursor>,
    ) {
        let Some(subject) = subject else { return };
        if self.kept.len() < KEPT_MAX || self.kept.contains_key(&subject) {
            self.kept.insert(subject, Replay { lines, newest, told: false });
        }
    }

    /// We are no longer there: the next JOIN is shown the lines again.
    pub(super) fn forget(&mut self, channel: &ChannelName) {
        self.kept.remove(channel.folded());
        self.passing.remove(channel.folded());
    }
}

impl Session {
    /// Answers the caller's request for what is after the cursor.
    pub(super) fn shown(&mut self, (target, request): Of, after: Option<&Cursor>) {
        let page = self.replays.kept.get_mut(target.folded()).and_then(|replay| {
            let again = replay.told && replay.newest.as_ref() == after;
            // Who asks again from further back is told again.
            replay.told = !again;
            let newest = replay.newest.clone().filter(|_| !again)?;
            Some((since(&replay.lines, after), newest))
        });
        match page {
            Some((lines, cursor)) if after.is_none() || !lines.is_empty() => {
                self.tell(LinkEvent::HistoryPage { target, lines, cursor, more: false, request });
            }
            Some(_) | None => self.tell(LinkEvent::CaughtUp { target, request }),
        }
    }

    /// Returns the PING that goes out behind a JOIN, if the server may show lines that look like
    /// live ones.
    pub(super) fn ping_behind_join(&mut self) -> Option<Message> {
        if self.caps.has(caps::BATCH) || !self.server.shows_history {
            return None;
        }
        self.replays.count += 1;
        let token = format!("gangline-r{}", self.replays.count);
        self.replays.behind_joins.push_back(token.clone());
        Some(Message::new("PING").trailing(token))
    }

    /// Passes over a line that may be an old one; false if it is none. They begin with the
    /// server's own notice, and end with the PONG to the PING behind the JOIN.
    pub(super) fn replay_takes(&mut self, message: &Message) -> bool {
        let Some(Ok(channel)) = message.at(0).map(str::parse::<ChannelName>) else { return false };
        if self.replays.behind_joins.is_empty() {
            return false;
        }
        let by_server = message.source.as_deref().is_some_and(|source| !source.contains('!'));
        let announces = message.at(1).is_some_and(|text| text.starts_with(ANNOUNCED));
        if message.command == "NOTICE" && by_server && announces {
            self.replays.passing.insert(channel.folded().to_owned());
            return true;
        }
        let passed = self.replays.passing.contains(&fold(channel.as_str()));
        if passed {
            tracing::debug!(%channel, "a line of unknown age was passed over");
        }
        passed
    }

    /// Takes the PONG that ends what a JOIN was shown; false if it does not.
    pub(super) fn replay_ponged(&mut self, now: Duration, token: &str) -> bool {
        let Some(at) = self.replays.behind_joins.iter().position(|behind| behind == token) else {
            return self.shown_ponged(now, token);
        };
        self.replays.behind_joins.drain(..=at);
        self.replays.passing.clear();
        true
    }
}

/// Returns the lines that are not surely before the cursor. Lines without a time are of unknown
/// age, and left out.
fn since(lines: &[Line], after: Option<&Cursor>) -> Vec<Line> {
    let Some(after) = after else { return Vec::new() };
    if let Some(time) = after.as_str().strip_prefix("timestamp=") {
        let from = seconds(time);
        let late = |line: &&Line| line.server_time.as_deref().is_some_and(|t| seconds(t) >= from);
        return lines.iter().filter(late).cloned().collect();
    }
    let known = lines.iter().rposition(|line| {
        let place = line.msgid.as_deref().and_then(|id| Cursor::msgid(id).ok());
        place.as_ref() == Some(after)
    });
    let first = known.map_or(0, |at| at + 1);
    lines[first..].iter().filter(|line| line.server_time.is_some()).cloned().collect()
}

fn seconds(time: &str) -> &str {
    time.get(..SECONDS).unwrap_or(time)
}
