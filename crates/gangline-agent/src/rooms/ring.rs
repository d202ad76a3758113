//! The last lines of one place, and how far the agent has read them. Pure.
//!
//! The agent's own lines are among them. They are no news: they count as unread nowhere, and only a
//! reader who asks for them gets them. A line that the agent was given as a prompt is no news either.
//!
//! Lines come live and from history, in any order and twice: each is kept once, in the order of
//! its time. One that comes late is not put before what was read already, so none is passed over.

use std::collections::VecDeque;

use gangline_api::ipc::ChatLine;
use gangline_core::{MessageId, Tier};
use gangline_irc::client::cursor::Cursor;
use gangline_os::clock::{UnixMicros, rfc3339};

#[cfg(test)]
mod tests;

/// One line as it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// Who said it.
    pub(crate) nick: String,
    /// What was said; not masked yet.
    pub(crate) text: String,
    /// When: the server's time, or ours if it told none.
    pub(crate) at: UnixMicros,
    /// The server's id of it.
    pub(crate) msgid: Option<String>,
    /// The place behind it in history, as the server counts places.
    pub(crate) cursor: Option<Cursor>,
    /// What it has become.
    pub(crate) became: Became,
    /// How far its speaker is trusted.
    pub(crate) tier: Tier,
    /// Whose it is.
    pub(crate) by: By,
}

/// What a line has become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Became {
    /// Nothing: it was only heard.
    Nothing,
    /// A message that the agent will be given as a prompt, if it does not read it before.
    Message(MessageId),
    /// A message that the agent was given, or that needs no answer any more.
    Given(MessageId),
}

/// Whose line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The agent's own.
    Agent,
    /// Anybody else's.
    Others,
}

impl Spoken {
    /// Returns the message that it is, while the agent has not been given it.
    pub(crate) fn message(&self) -> Option<MessageId> {
        match self.became {
            Became::Message(message) => Some(message),
            Became::Nothing | Became::Given(_) => None,
        }
    }

    fn was_given(&self) -> bool {
        matches!(self.became, Became::Given(_))
    }

    /// Returns whether it can be read as something new.
    fn is_news(&self) -> bool {
        self.by == By::Others && !self.was_given()
    }

    fn is(&self, other: &Self) -> bool {
        match (&self.msgid, &other.msgid) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, None) => {
                (self.at, &self.nick, &self.text) == (other.at, &other.nick, &other.text)
            }
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Returns the place right behind the line.
    fn place(&self) -> Option<Cursor> {
        self.cursor.clone().or_else(|| Cursor::timestamp(&rfc3339(self.at)).ok())
    }

    pub(super) fn chat_line(&self, text: String) -> ChatLine {
        #[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
        let timestamp = self.at.0 as f64 / 1e6;
        let tier = (self.tier == Tier::Stranger).then_some(Tier::Stranger);
        ChatLine { nick: self.nick.clone(), text, timestamp, tier }
    }
}

/// Which lines a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The oldest unread ones; the rest stays unread (C19).
    Oldest,
    /// The newest ones; all before them counts as read.
    Newest,
    /// The newest ones, read or not; nothing counts as read by it.
    Peek,
}

/// What a reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The maximum number of lines.
    pub(crate) limit: usize,
    pub(crate) order: Order,
    /// Whose lines: everybody's, with [`By::Agent`], or others' only.
    pub(crate) by: By,
}

impl Wanted {
    fn has(self, line: &Spoken) -> bool {
        let whose = match self.by {
            By::Agent => true,
            By::Others => line.by == By::Others,
        };
        whose && (self.order == Order::Peek || !line.was_given())
    }
}

/// The last lines of one place.
#[derive(Debug)]
pub(crate) struct Ring {
    lines: VecDeque<Spoken>,
    max: usize,
    /// The latest time of all that was heard.
    newest: Option<UnixMicros>,
    /// How many at the end were not read, own ones included.
    unread: usize,
    /// How many were dropped unread since the last read.
    lost: u64,
    /// Behind the last line that was read or dropped.
    place: Option<Cursor>,
    moved: bool,
}

impl Ring {
    /// Returns an empty ring for `max` lines, read up to `place`.
    pub(crate) fn new(max: usize, place: Option<Cursor>) -> Self {
        let lines = VecDeque::new();
        Self { lines, max: max.max(1), newest: None, unread: 0, lost: 0, place, moved: false }
    }

    /// Returns how many lines are there to be read, those among them that wait as messages.
    pub(crate) fn unread(&self) -> u64 {
        let unread = self.lines.iter().rev().take(self.unread);
        unread.filter(|line| line.is_news()).count() as u64
    }

    /// Returns how many of the unread lines the agent gets in no other way than by reading.
    pub(crate) fn heard_only(&self) -> u64 {
        let unread = self.lines.iter().rev().take(self.unread);
        let heard = unread.filter(|line| line.is_news() && line.message().is_none());
        heard.count() as u64
    }

    /// Takes a line in; returns whether it was not there yet.
    pub(crate) fn push(&mut self, line: Spoken) -> bool {
        // A line has the same time however often it comes, so a later one than all is new.
        if self.newest.is_some_and(|newest| line.at <= newest) && self.known(&line) {
            return false;
        }
        self.newest = self.newest.max(Some(line.at));
        if self.place.is_none() {
            let before = UnixMicros(line.at.0.saturating_sub(1_000));
            self.place = Cursor::timestamp(&rfc3339(before)).ok();
            self.moved = true;
        }
        let first_unread = self.lines.len() - self.unread;
        let later = self.lines.iter().skip(first_unread).rev().take_while(|k| k.at > line.at);
        let at = self.lines.len() - later.count();
        self.lines.insert(at, line);
        self.unread += 1;
        if self.lines.len() > self.max
            && let Some(dropped) = self.lines.pop_front()
            && self.unread > self.lines.len()
        {
            self.unread = self.lines.len();
            if dropped.is_news() {
                self.lost += 1;
            }
            if dropped.by == By::Others {
                self.go_to(dropped.place());
            }
        }
        self.pass_given();
        true
    }

    /// Takes what a line has become that is there already; returns whether it is.
    pub(crate) fn known(&mut self, line: &Spoken) -> bool {
        let Some(known) = self.lines.iter_mut().rev().find(|kept| kept.is(line)) else {
            return false;
        };
        if known.became == Became::Nothing || line.was_given() {
            known.became = line.became;
        }
        self.pass_given();
        true
    }

    /// The agent was given this message, perhaps once more; returns whether its line is here.
    pub(crate) fn given(&mut self, message: MessageId) -> bool {
        let mut lines = self.lines.iter_mut().rev();
        let became = [Became::Message(message), Became::Given(message)];
        let Some(line) = lines.find(|line| became.contains(&line.became)) else { return false };
        line.became = Became::Given(message);
        self.pass_given();
        true
    }

    /// What is no news at the front of the unread lines counts as read: a restart need not fetch it.
    fn pass_given(&mut self) {
        let first = self.lines.len() - self.unread;
        let front = self.lines.iter().skip(first).take_while(|line| !line.is_news());
        let to_given = front.enumerate().filter(|(_, line)| line.was_given());
        if let Some((at, _)) = to_given.last() {
            self.pass(at + 1);
        }
    }

    /// Returns lines, at most as many as are wanted and at most what `fits` says yes to one after
    /// the other, and moves past what is returned, if the order says so. The first is returned
    /// whether it fits or not.
    pub(crate) fn read(&mut self, wanted: Wanted, fits: impl FnMut(&Spoken) -> bool) -> Page {
        if wanted.limit == 0 {
            return Page { lines: Vec::new(), remaining: self.unread(), lost: 0 };
        }
        let first = self.lines.len() - self.unread;
        let unread = self.lines.iter().skip(first);
        match wanted.order {
            Order::Oldest => {
                let (lines, passed) = page(unread, wanted, fits);
                self.pass(passed);
                self.page(lines)
            }
            Order::Newest => {
                let (mut lines, _) = page(unread.rev(), wanted, fits);
                lines.reverse();
                self.pass(self.unread);
                self.page(lines)
            }
            Order::Peek => {
                let (mut lines, _) = page(self.lines.iter().rev(), wanted, fits);
                lines.reverse();
                Page { lines, remaining: self.unread(), lost: 0 }
            }
        }
    }

    fn page(&mut self, lines: Vec<Spoken>) -> Page {
        Page { lines, remaining: self.unread(), lost: std::mem::take(&mut self.lost) }
    }

    /// Marks the next `count` unread lines as read. History never brings own lines again, so the
    /// place is behind another's line.
    fn pass(&mut self, count: usize) {
        let first = self.lines.len() - self.unread;
        let passed = self.lines.iter().skip(first).take(count);
        let last = passed.rev().find(|line| line.by == By::Others).and_then(Spoken::place);
        self.unread -= count;
        self.go_to(last);
    }

    fn go_to(&mut self, place: Option<Cursor>) {
        if place.is_some() {
            self.place = place;
            self.moved = true;
        }
    }

    /// Returns the place behind what was read, if it has to be kept.
    pub(crate) fn moved_to(&self) -> Option<&Cursor> {
        self.place.as_ref().filter(|_| self.moved)
    }

    /// This place is kept.
    pub(crate) fn kept(&mut self, place: &Cursor) {
        if self.place.as_ref() == Some(place) {
            self.moved = false;
        }
    }
}

/// Returns the wanted ones of these lines, in their order, and how many were passed over or taken.
fn page<'a>(
    lines: impl Iterator<Item = &'a Spoken>,
    wanted: Wanted,
    mut fits: impl FnMut(&Spoken) -> bool,
) -> (Vec<Spoken>, usize) {
    let (mut taken, mut passed) = (Vec::new(), 0);
    for line in lines {
        if wanted.has(line) {
            let full = taken.len() >= wanted.limit;
            if full || (!fits(line) && !taken.is_empty()) {
                break;
            }
            taken.push(line.clone());
        }
        passed += 1;
    }
    (taken, passed)
}

/// What a reader gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Oldest first.
    pub(crate) lines: Vec<Spoken>,
    /// How many unread ones are left.
    pub(crate) remaining: u64,
    /// How many unread ones were dropped before these, because there were too many.
    pub(crate) lost: u64,
}
