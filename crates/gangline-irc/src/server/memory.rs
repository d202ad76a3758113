//! A store without a disk: for `--no-history` and for tests. Keeps the newest lines of each
//! conversation until the process ends.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gangline_core::ChannelName;
use gangline_os::{clock::UnixMicros, secret::random_token};
use tokio::sync::watch;

use super::{
    events::{Event, NewEvent, Place},
    store::{
        Account, Accounts, Appended, Bound, BoxFuture, Commit, Conversation, Entry, FindLine,
        HistoryError, HistoryQuery, HistoryStore, Marker, Marks, Missed, MissedQuery, NewLine,
        Party, Range, ReadMark, RoomRow, StoredLine, TargetRow, TargetsQuery, Topic,
    },
};

/// A store in memory.
pub struct MemoryStore {
    inner: Mutex<Inner>,
    accounts: watch::Sender<Arc<Accounts>>,
}

struct Inner {
    run: String,
    keep: usize,
    last: i64,
    lines: HashMap<String, VecDeque<StoredLine>>,
    /// The numbered events of each channel with lines, in their order.
    events: HashMap<String, VecDeque<(i64, Arc<Event>)>>,
    last_event: i64,
    /// (sender, key, conversation) → place.
    keys: HashMap<(String, String, String), i64>,
    topics: BTreeMap<String, Topic>,
    rooms: BTreeMap<String, RoomRow>,
    markers: HashMap<(Party, String), Marker>,
    marks: HashMap<(String, String, String), ReadMark>,
}

impl MemoryStore {
    /// Returns an empty store that keeps `keep` lines of each conversation.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        let run: String = random_token().expose().chars().take(12).collect();
        let inner = Inner {
            run,
            keep: keep.max(1),
            last: 0,
            lines: HashMap::new(),
            events: HashMap::new(),
            last_event: 0,
            keys: HashMap::new(),
            topics: BTreeMap::new(),
            rooms: BTreeMap::new(),
            markers: HashMap::new(),
            marks: HashMap::new(),
        };
        Self { inner: Mutex::new(inner), accounts: watch::Sender::new(Arc::default()) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(line: &NewLine) -> Option<(String, String, String)> {
    Some((line.sender.key(), line.key.clone()?, line.conversation.key()))
}

impl Inner {
    fn append(&mut self, line: Arc<NewLine>) -> Appended {
        let key = key_of(&line);
        if let Some(kept) = key.as_ref().and_then(|key| self.kept(key)) {
            return Appended::Duplicate(Box::new(kept));
        }
        self.last += 1;
        let (seq, msgid) = (self.last, format!("{}.{}", self.run, self.last));
        if let Some(key) = key {
            self.keys.insert(key, seq);
        }
        let lines = self.lines.entry(line.conversation.key()).or_default();
        lines.push_back(StoredLine { seq, msgid: msgid.clone(), line });
        let gone = if lines.len() > self.keep { lines.pop_front() } else { None };
        if let Some(key) = gone.as_ref().and_then(|gone| key_of(&gone.line)) {
            self.keys.remove(&key);
        }
        Appended::Stored { seq, msgid }
    }

    fn kept(&self, key: &(String, String, String)) -> Option<StoredLine> {
        let seq = *self.keys.get(key)?;
        let lines = self.lines.get(&key.2)?;
        let at = lines.binary_search_by_key(&seq, |line| line.seq).ok()?;
        lines.get(at).cloned()
    }

    fn seq_of(&self, msgid: &str) -> i64 {
        match msgid.split_once('.') {
            Some((run, seq)) if run == self.run => seq.parse().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns (index of the first entry at or after the bound, index of the first one after it).
    fn place(&self, entries: &[Kept<'_>], bound: &Bound) -> (usize, usize) {
        let at = |place: Place| entries.partition_point(|entry| entry.place() < place);
        match bound {
            Bound::Msgid(msgid) => {
                let seq = self.seq_of(msgid);
                (at((seq, 0)), at((seq, 1)))
            }
            Bound::Event { behind, msgid } => {
                let is_it = |entry: &Kept<'_>| match entry {
                    Kept::Event(_, event) => event.msgid == *msgid,
                    Kept::Line(_) => false,
                };
                match entries.iter().position(is_it) {
                    Some(found) => (found, found + 1),
                    None => (at((behind + 1, 0)), at((behind + 1, 0))),
                }
            }
            Bound::At(time) => {
                let ms = millis(*time);
                let from = entries.partition_point(|entry| millis(entry.at()) < ms);
                (from, entries.partition_point(|entry| millis(entry.at()) <= ms))
            }
        }
    }

    /// Returns the lines of a range, and with `events` what happened among them.
    fn entries(&self, query: &HistoryQuery, events: bool) -> Vec<Entry> {
        let key = query.conversation.key();
        let lines = self.lines.get(&key).into_iter().flatten();
        let lines = lines.filter(|stored| !stored.line.is_redacted()).map(Kept::Line);
        let happened = self.events.get(&key).filter(|_| events).into_iter().flatten();
        let happened = happened.map(|(number, event)| Kept::Event(*number, event));
        let mut entries: Vec<Kept<'_>> = lines.chain(happened).collect();
        entries.sort_by_key(Kept::place);
        let limit = query.limit;
        let newest = |low: usize, high: usize| (high.saturating_sub(limit).max(low), high);
        let oldest = |low: usize, high: usize| (low, high.min(low.saturating_add(limit)));
        let place = |bound| self.place(&entries, bound);
        let (low, high) = match &query.range {
            Range::Latest => newest(0, entries.len()),
            Range::LatestAfter(bound) => newest(place(bound).1, entries.len()),
            Range::Before(bound) => newest(0, place(bound).0),
            Range::After(bound) => oldest(place(bound).1, entries.len()),
            Range::Around(bound) => {
                let middle = place(bound).0;
                let low = middle.saturating_sub(limit / 2);
                (low, entries.len().min(low + limit))
            }
            Range::Between(one, other) => {
                let (one, other) = (place(one), place(other));
                if one.0 <= other.0 { oldest(one.1, other.0) } else { newest(other.1, one.0) }
            }
        };
        let found = entries.get(low..high).unwrap_or_default();
        found.iter().map(Kept::to_entry).collect()
    }

    fn put_events(&mut self, events: Vec<NewEvent>) {
        for NewEvent { room, event } in events {
            let key = room.folded();
            if !self.lines.contains_key(key) {
                continue;
            }
            self.last_event += 1;
            let kept = self.events.entry(key.to_owned()).or_default();
            kept.push_back((self.last_event, event));
            if kept.len() > self.keep {
                kept.pop_front();
            }
        }
    }

    fn missed(&self, query: &MissedQuery) -> Vec<Missed> {
        let is_it = |lines: &&VecDeque<StoredLine>| {
            let conversation = lines.back().map(|line| &line.line.conversation);
            match (conversation, &query.channel) {
                (Some(Conversation::Channel(name)), Some(wanted)) => name == wanted,
                (Some(Conversation::Direct(one, other)), None) => {
                    *one == query.party || *other == query.party
                }
                (Some(Conversation::Channel(_)), None)
                | (Some(Conversation::Direct(..)), Some(_))
                | (None, _) => false,
            }
        };
        let mut found: Vec<Missed> =
            self.lines.values().filter(is_it).filter_map(|lines| missed_of(lines, query)).collect();
        found.sort_by_key(|missed| missed.lines.last().map(|line| line.seq));
        found
    }

    fn targets(&self, query: &TargetsQuery) -> Vec<TargetRow> {
        let newest = |key: &String| self.lines.get(key).and_then(|lines| lines.back());
        let mut rows: Vec<TargetRow> = Vec::new();
        for channel in &query.channels {
            if let Some(line) = newest(&Conversation::Channel(channel.clone()).key()) {
                rows.push(TargetRow { name: channel.as_str().to_owned(), at: line.line.at });
            }
        }
        for lines in self.lines.values() {
            let Some(line) = lines.back() else { continue };
            let (Conversation::Direct(one, other), Some(me)) =
                (&line.line.conversation, &query.party)
            else {
                continue;
            };
            let name = if one == me { other.name() } else { one.name() };
            if one == me || other == me {
                rows.push(TargetRow { name: name.to_owned(), at: line.line.at });
            }
        }
        rows.retain(|row| {
            millis(row.at) > millis(query.after) && millis(row.at) < millis(query.before)
        });
        rows.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
        rows.truncate(query.limit);
        rows
    }
}

/// What is kept of one conversation, by its place.
enum Kept<'a> {
    Line(&'a StoredLine),
    Event(i64, &'a Arc<Event>),
}

impl Kept<'_> {
    fn place(&self) -> Place {
        match self {
            Self::Line(stored) => (stored.seq, 0),
            Self::Event(number, event) => (event.behind, *number),
        }
    }

    fn at(&self) -> UnixMicros {
        match self {
            Self::Line(stored) => stored.line.at,
            Self::Event(_, event) => event.at,
        }
    }

    fn to_entry(&self) -> Entry {
        match self {
            Self::Line(stored) => Entry::Line((*stored).clone()),
            Self::Event(_, event) => Entry::Event(Arc::clone(event)),
        }
    }
}

/// Returns what one conversation has for somebody who was away, if anything.
fn missed_of(lines: &VecDeque<StoredLine>, query: &MissedQuery) -> Option<Missed> {
    let is_new = |line: &&StoredLine| line.seq > query.after && line.seq <= query.upto;
    let mut found: Vec<StoredLine> = lines
        .iter()
        .filter(is_new)
        .filter(|line| line.line.sender != query.party && !line.line.is_redacted())
        .cloned()
        .collect();
    let left_out = found.len().saturating_sub(query.limit);
    found.drain(..left_out);
    (!found.is_empty()).then_some(Missed { lines: found, left_out })
}

fn millis(at: UnixMicros) -> i64 {
    at.0.div_euclid(1000)
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, HistoryError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl HistoryStore for MemoryStore {
    fn append(
        &self,
        batch: Vec<Arc<NewLine>>,
    ) -> BoxFuture<'_, Result<Vec<Appended>, HistoryError>> {
        let mut inner = self.lock();
        ready(batch.into_iter().map(|line| inner.append(line)).collect())
    }

    fn history(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<StoredLine>, HistoryError>> {
        let found = self.lock().entries(&query, false);
        let line = |entry| match entry {
            Entry::Line(stored) => Some(stored),
            Entry::Event(_) => None,
        };
        ready(found.into_iter().filter_map(line).collect())
    }

    fn put_events(
        &self,
        events: Vec<NewEvent>,
        _: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.lock().put_events(events);
        ready(())
    }

    fn playback(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<Entry>, HistoryError>> {
        ready(self.lock().entries(&query, true))
    }

    fn line(&self, msgid: String) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        let inner = self.lock();
        let found = inner.lines.values().flatten().find(|kept| kept.msgid == msgid);
        ready(found.cloned())
    }

    fn targets(&self, query: TargetsQuery) -> BoxFuture<'_, Result<Vec<TargetRow>, HistoryError>> {
        ready(self.lock().targets(&query))
    }

    fn find(&self, query: FindLine) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        let inner = self.lock();
        let found = inner.lines.values().flatten().find(|kept| {
            kept.line.sender == query.sender
                && kept.line.key.as_ref() == Some(&query.key)
                && gangline_core::name::fold(&kept.line.target) == query.target
        });
        ready(found.cloned())
    }

    fn missed(&self, query: MissedQuery) -> BoxFuture<'_, Result<Vec<Missed>, HistoryError>> {
        ready(self.lock().missed(&query))
    }

    fn marks(&self) -> BoxFuture<'_, Result<Marks, HistoryError>> {
        let inner = self.lock();
        ready(Marks { newest: inner.last, marks: inner.marks.values().cloned().collect() })
    }

    fn put_marks(
        &self,
        marks: Vec<ReadMark>,
        _: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        let mut inner = self.lock();
        for mark in marks {
            let key = (mark.party.key(), mark.nick.clone(), mark.place.clone());
            if mark.seq.is_some() {
                inner.marks.insert(key, mark);
            } else {
                inner.marks.remove(&key);
            }
        }
        ready(())
    }

    fn accounts(&self) -> watch::Receiver<Arc<Accounts>> {
        self.accounts.subscribe()
    }

    fn put_account(&self, account: Account) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.accounts.send_modify(|accounts| Arc::make_mut(accounts).put(account));
        ready(())
    }

    fn topics(&self) -> BoxFuture<'_, Result<Vec<Topic>, HistoryError>> {
        ready(self.lock().topics.values().cloned().collect())
    }

    fn put_topic(&self, topic: Topic) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.lock().topics.insert(topic.channel.folded().to_owned(), topic);
        ready(())
    }

    fn forget_topic(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.lock().topics.remove(channel.folded());
        ready(())
    }

    fn markers(&self) -> BoxFuture<'_, Result<Vec<Marker>, HistoryError>> {
        ready(self.lock().markers.values().cloned().collect())
    }

    fn put_marker(&self, marker: Marker) -> BoxFuture<'_, Result<(), HistoryError>> {
        let key = (marker.party.clone(), marker.target.clone());
        self.lock().markers.insert(key, marker);
        ready(())
    }

    fn redact(&self, seq: i64) -> BoxFuture<'_, Result<(), HistoryError>> {
        let mut inner = self.lock();
        let found = inner.lines.values_mut().flatten().find(|kept| kept.seq == seq);
        if let Some(kept) = found {
            let line = Arc::make_mut(&mut kept.line);
            line.text.clear();
            line.tags.clear();
        }
        ready(())
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomRow>, HistoryError>> {
        ready(self.lock().rooms.values().cloned().collect())
    }

    fn put_room(&self, room: RoomRow) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.lock().rooms.insert(room.channel.folded().to_owned(), room);
        ready(())
    }

    fn forget_room(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.lock().rooms.remove(channel.folded());
        ready(())
    }
}
