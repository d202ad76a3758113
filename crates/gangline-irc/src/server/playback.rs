//! Playback: a client that does not ask for history is shown what it missed.
//!
//! That is what others said behind the newest line that the same party under the same nick has
//! surely read (`reading`): private lines after the greeting, a room's lines after the list of its
//! members. Start at [`State::catch_up`].

use std::collections::BTreeSet;

use gangline_core::Tier;
use gangline_os::clock::{UnixMicros, local_minute};

use super::{
    caps::Caps,
    client::Client,
    client_id::ClientId,
    flight::{Asker, Job},
    outgoing::Outgoing,
    reading::{Entry, PRIVATE, Reader, Reading},
    state::State,
    store::{HistoryError, Missed, MissedQuery, NewLine, ReadMark, StoredLine},
};
use crate::wire::{
    BODY_MAX, ctcp,
    multiline::{self, Follows},
    text::cut,
};

/// The most lines of one place that are played; those before them are counted.
const PLAYED_MAX: usize = 100;
/// The lines that were missed in one place take at most one part in this many of a client's queue.
const QUEUE_PARTS: usize = 2;
/// Bytes of a line beside its words and names: its tags, more or less.
const TAGS_BYTES: usize = 256;
/// The least bytes of a text that a line carries, however long the names are.
const TEXT_MIN: usize = 64;

/// What clients ask for that show when a line was said. irssi asks for `server-time` without either of
/// the others and shows its own clock; ZNC asks for it with the second.
const SHOW_TIME: [Caps; 2] =
    [Caps::TIME.with(Caps::TAGS), Caps::TIME.with(Caps::USERHOST_IN_NAMES)];

/// Returns who reads at this connection; `None` if nobody is followed there.
fn reader(client: &Client) -> Option<Reader> {
    let person = match client.tier() {
        Tier::Owner | Tier::Member => client.is_ready() && !client.bot,
        Tier::Agent | Tier::Stranger => false,
    };
    let nick = gangline_core::name::fold(client.name());
    person.then(|| Reader { party: client.party(), nick })
}

impl State {
    /// Reads the marks of an earlier run.
    pub(super) async fn load_marks(&mut self) {
        let store = std::sync::Arc::clone(self.flights.store());
        match store.marks().await {
            Ok(marks) => {
                self.newest = marks.newest;
                self.marks.load(marks.marks);
            }
            Err(error) => tracing::error!(%error, "read positions could not be read"),
        }
    }

    /// Has what was noted since the last commit of lines kept.
    pub(super) fn keep_marks(&mut self) {
        self.flights.keep_noted();
    }

    /// A client has come into a place: it is shown what it missed there.
    pub(super) fn catch_up(&mut self, id: ClientId, place: &str) {
        self.catch_up_to(id, place, self.newest);
    }

    fn catch_up_to(&mut self, id: ClientId, place: &str, upto: i64) {
        let Some(reader) = self.client(id).and_then(reader) else { return };
        let mark = self.marks.get(&reader, place);
        let after = mark.filter(|mark| *mark < upto);
        let entry = if after.is_some() { Entry::Behind } else { Entry::UpToDate };
        let Some(client) = self.client_mut(id) else { return };
        client.reading.enter(place, upto, entry);
        let Some(after) = after else {
            // Somebody new has missed nothing.
            return self.mark(id, place, upto);
        };
        // What it asks next is answered after this.
        client.in_flight += 1;
        let asker = Asker { id, label: None, credit: None };
        let query = MissedQuery {
            party: reader.party,
            channel: place.parse().ok(),
            after,
            upto,
            limit: PLAYED_MAX,
        };
        self.flights.push(Job::Missed { asker, place: place.to_owned(), query });
    }

    /// A client is another party now: what that one missed is shown. Of a room that is what was
    /// said before this session, which has seen the rest; in private it is everything.
    pub(super) fn is_somebody_else(&mut self, id: ClientId) {
        let Some(client) = self.client(id) else { return };
        let places = client.reading.places();
        self.catch_up(id, PRIVATE);
        for (place, since) in places.iter().filter(|(place, _)| place != PRIVATE) {
            self.catch_up_to(id, place, *since);
        }
    }

    /// A program wants nothing to be played, now or when it comes back.
    pub(super) fn forget_marks(&mut self, id: ClientId) {
        let now = self.now();
        let Some(client) = self.client_mut(id) else { return };
        client.reading = Reading::default();
        let nick = gangline_core::name::fold(client.name());
        let reader = Reader { party: client.party(), nick };
        let gone = self.marks.forget(&reader, now);
        self.note(gone);
    }

    /// Something was heard from a client: what was written to it before is read.
    pub(super) fn has_read(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let proven = client.queue.shared().proven.load(std::sync::atomic::Ordering::Relaxed);
        let channels = &self.channels;
        let newest = |room: &str| channels.get(room).map_or(0, |channel| channel.newest);
        for (place, seq) in client.reading.read(proven, newest) {
            self.mark(id, &place, seq);
        }
    }

    fn mark(&mut self, id: ClientId, place: &str, seq: i64) {
        let Some(reader) = self.client(id).and_then(reader) else { return };
        let now = self.now();
        let changed = self.marks.set(&reader, (place, seq), now);
        self.note(changed);
    }

    fn note(&mut self, marks: Vec<ReadMark>) {
        if !marks.is_empty() {
            self.keep_soon();
        }
        marks.into_iter().for_each(|mark| self.flights.note(mark));
    }

    /// Shows what was missed in a place.
    pub(super) fn finish_missed(
        &mut self,
        id: ClientId,
        place: &str,
        found: Result<Vec<Missed>, HistoryError>,
    ) {
        let Some(since) = self.client(id).and_then(|client| client.reading.since(place)) else {
            return;
        };
        let mut missed = match found {
            Ok(missed) => missed,
            Err(error) => return self.playback_failed(id, place, &error),
        };
        if self.client(id).is_some_and(|client| client.caps.has(Caps::CHATHISTORY)) {
            return self.must_ask(id, place, &missed);
        }
        fit(&mut missed, self.config.limits.send_queue / QUEUE_PARTS);
        let now = self.now();
        let lines: Vec<Outgoing> =
            missed.iter().flat_map(|missed| self.played(id, place, missed, now)).collect();
        if lines.is_empty() {
            self.open(id, place);
            return self.mark(id, place, since);
        }
        for line in lines {
            self.tell(id, line);
        }
        self.open(id, place);
    }

    /// What was missed in a place is queued.
    fn open(&mut self, id: ClientId, place: &str) {
        let Some(client) = self.client_mut(id) else { return };
        let bytes = client.queue.pushed();
        client.reading.opened(place, bytes);
        self.somebody_reads();
    }

    /// A client that asks for history itself has missed something: its mark moves once it was given
    /// all of that, so that a client which does not ask is shown the rest.
    fn must_ask(&mut self, id: ClientId, place: &str, missed: &[Missed]) {
        let lines: BTreeSet<i64> =
            missed.iter().flat_map(|missed| &missed.lines).map(|stored| stored.seq).collect();
        if lines.is_empty() {
            return self.open(id, place);
        }
        // It would have to be followed line by line: the next client is shown it again.
        if missed.iter().any(|missed| missed.left_out > 0) {
            return;
        }
        if let Some(client) = self.client_mut(id) {
            client.reading.has_to_ask_for(place, lines);
        }
    }

    /// A client was given lines of history.
    pub(super) fn gave_history(&mut self, id: ClientId, target: &str, lines: &[StoredLine]) {
        let folded = gangline_core::name::fold(target);
        let place = if target.starts_with('#') { &folded } else { PRIVATE };
        let seqs = lines.iter().map(|stored| stored.seq);
        if self.client_mut(id).is_some_and(|client| client.reading.given(place, seqs)) {
            self.open(id, place);
        }
    }

    fn playback_failed(&mut self, id: ClientId, place: &str, error: &HistoryError) {
        tracing::error!(%error, "what a client missed could not be read");
        let Some(nick) = self.client(id).map(|client| client.name().to_owned()) else { return };
        let target = if place == PRIVATE { &nick } else { place };
        let text = format!(
            "What was said while you were away could not be read: {}. Connect again to try it \
             again",
            error.why
        );
        let notice = Outgoing::new(&self.config.name, "NOTICE", &[target], Some(&text));
        self.tell(id, notice);
    }

    /// Returns the lines of one conversation as this client can read them.
    fn played(&self, id: ClientId, place: &str, missed: &Missed, now: UnixMicros) -> Vec<Outgoing> {
        let Some(client) = self.client(id) else { return Vec::new() };
        let mut out = Vec::new();
        if let Some(first) = missed.lines.first().filter(|_| missed.left_out > 0) {
            let of = first.line.source.split('!').next().unwrap_or("");
            let (to, of) = if place == PRIVATE { (client.name(), of) } else { (place, place) };
            let left = missed.left_out;
            let text = format!(
                "{left} earlier lines of {of} are not shown; `/quote CHATHISTORY BEFORE {of} \
                 msgid={} {}` shows the last of them",
                first.msgid,
                left.min(PLAYED_MAX)
            );
            let notice = Outgoing::new(&self.config.name, "NOTICE", &[to], Some(&text));
            out.push(notice.at(first.line.at));
        }
        for stored in missed.lines.iter().filter(|stored| may_be_played(&stored.line.text)) {
            let line = &stored.line;
            let target = if place == PRIVATE { client.name() } else { &line.target };
            let shows = SHOW_TIME.iter().any(|caps| client.caps.has(*caps));
            let stamp = if shows { String::new() } else { stamp(line.at, now) };
            let texts = texts(line, target, &stamp);
            let said = texts.iter().map(|text| Outgoing::said(target, text, &stored.msgid, line));
            // The time is there once: in the tag or in the text.
            out.extend(said.map(|said| if shows { said } else { said.untimed() }));
        }
        out
    }
}

/// Leaves out the oldest lines of each conversation until all of them fit into `bytes`: a client
/// whose queue overflows is closed, and would be closed at each return.
fn fit(missed: &mut [Missed], bytes: usize) {
    let mut most = PLAYED_MAX;
    while most > 1 && missed.iter().flat_map(|it| &it.lines).map(size).sum::<usize>() > bytes {
        most /= 2;
        for it in &mut *missed {
            let extra = it.lines.len().saturating_sub(most);
            it.lines.drain(..extra);
            it.left_out += extra;
        }
    }
}

/// Returns about how many bytes a message takes; behind a time each of its lines may become two.
fn size(stored: &StoredLine) -> usize {
    let line = &stored.line;
    let lines = multiline::lines(&line.text).count();
    line.text.len() + 2 * lines * (line.source.len() + line.target.len() + TAGS_BYTES)
}

/// Returns whether a text is something that was said: a program would answer the other requests
/// of CTCP as if they were new.
fn may_be_played(text: &str) -> bool {
    match ctcp::split(text) {
        Some((verb, _)) => verb == "ACTION",
        None => true,
    }
}

/// Returns what stands before a line that carries no time: `[17:36] `, with the day if that is
/// another.
fn stamp(at: UnixMicros, now: UnixMicros) -> String {
    let ((day, time), (today, _)) = (local_minute(at), local_minute(now));
    match day == today {
        true => format!("[{time}] "),
        false => format!("[{} {time}] ", day.get(5..).unwrap_or(&day)),
    }
}

/// Returns the text in as many pieces as lines need. A message of several lines stays one.
fn texts(line: &NewLine, target: &str, stamp: &str) -> Vec<String> {
    if multiline::is_several(&line.text) {
        return vec![several(line, target, stamp)];
    }
    let (before, mut rest, after) = match ctcp::split(&line.text) {
        Some((_, said)) => ("\u{1}ACTION ", said, "\u{1}"),
        None => ("", line.text.as_str(), ""),
    };
    let room = room(line, target, before.len() + stamp.len() + after.len());
    let mut texts = Vec::new();
    loop {
        let piece = cut(rest, room);
        texts.push(format!("{before}{stamp}{piece}{after}"));
        rest = rest.get(piece.len()..).unwrap_or("");
        if rest.is_empty() {
            return texts;
        }
    }
}

/// Returns a message with the time before each of its lines. Where there is a time, a line that was
/// cut does not go on: its parts would have the time between them.
fn several(line: &NewLine, target: &str, stamp: &str) -> String {
    let room = room(line, target, stamp.len());
    let mut text = String::new();
    for (at, (mut rest, mut follows)) in multiline::lines(&line.text).enumerate() {
        let mut first = at == 0;
        loop {
            let piece = cut(rest, room);
            let stamped = if piece.is_empty() { String::new() } else { format!("{stamp}{piece}") };
            let joint = if stamp.is_empty() { follows } else { Follows::Anew };
            multiline::push(&mut text, first, &stamped, joint);
            rest = rest.get(piece.len()..).unwrap_or("");
            if rest.is_empty() {
                break;
            }
            (first, follows) = (false, Follows::On);
        }
    }
    text
}

/// Returns the bytes that are left for a text, if `taken` others are used.
fn room(line: &NewLine, target: &str, taken: usize) -> usize {
    let names = line.source.len() + line.kind.as_str().len() + target.len();
    BODY_MAX.saturating_sub(names + taken + ": :\r\n".len() + 2).max(TEXT_MIN)
}

#[cfg(test)]
mod tests;
