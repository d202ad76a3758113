//! Cursors: how much of each target's history has been read.
//!
//! A cursor moves only with the lines before it in the store: by a page, in the intake's commit,
//! or, once a target is caught up, by its live lines. Lines that concern nobody move it in memory
//! only and are written at the next tick: reading them again after a crash changes nothing.

use std::collections::{HashMap, HashSet};

use gangline_core::{MessageState, name::Target};
use gangline_irc::client::{Line, LinkCommand, cursor::Cursor};
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{CursorMove, TakenIn};
use tracing::warn;

use super::{
    Chat,
    taken::{Taken, intake_key},
};
use crate::rooms::{self, Became, RoomsCommand};

/// The most pages of history with which a room is filled again.
const REFILL_PAGES: u32 = 20;
/// After this many failures in a row, no line waits for a place's history.
const FAILURES_MAX: u32 = 3;
/// The key under which the time of the last look for direct lines is kept.
const TARGETS: &str = "*";
/// The precision of the times of lines, in microseconds.
const MILLISECOND: i64 = 1000;

#[derive(Default)]
struct Place {
    cursor: Option<Cursor>,
    reached: Reached,
    /// From where the room is filled again before history is taken in: what was taken in and not
    /// read when the last daemon ended.
    refill: Option<Refill>,
    /// A page was asked for, and not all is taken in yet: lines may be missing.
    asked: bool,
    /// The number of the request whose answer counts. That of an earlier one, or of one made before
    /// a line was lost, says nothing about what has been said since.
    request: Option<u64>,
    /// How many requests in a row have failed on this connection.
    failures: u32,
    dirty: bool,
}

impl Place {
    fn is_caught_up(&self) -> bool {
        self.reached == Reached::Now
    }

    /// What is said is history's until it is asked for again.
    fn falls_behind(&mut self) {
        (self.reached, self.request, self.failures) = (Reached::Nothing, None, 0);
    }
}

/// How far this connection has read a place's history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Reached {
    /// It has not.
    #[default]
    Nothing,
    /// The room has all that was not read: what history tells now was read before, or is there.
    Unread,
    /// Lines come live.
    Now,
}

/// How far a room was filled again.
struct Refill {
    after: Cursor,
    /// Pages that may follow.
    pages: u32,
}

/// Whether a place is in the store already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    /// It is written next.
    Next,
    No,
}

/// The places, by folded target.
#[derive(Default)]
pub(super) struct Cursors {
    places: HashMap<String, Place>,
    failed: HashSet<Target>,
    /// Up to when direct lines were looked for; kept in the store.
    looked_at: Option<String>,
    /// From when the look under way began: a nick without a place begins there.
    since: Option<String>,
    /// From where its next page is asked for.
    looks_on: Option<String>,
    /// Whether this connection's look for direct lines was answered.
    targets_known: bool,
    /// How many pages were asked for.
    requests: u64,
}

impl Cursors {
    pub(super) fn forget_progress(&mut self) {
        self.targets_known = false;
        self.places.values_mut().for_each(Place::falls_behind);
    }

    /// We are no longer in the channel: what is said there now is history's when we come back.
    pub(super) fn left(&mut self, target: &Target) {
        if let Some(place) = self.places.get_mut(target.folded()) {
            place.falls_behind();
        }
    }

    /// Returns whether this is the answer to the newest request for the target's history.
    pub(super) fn waits_for(&self, target: &Target, request: u64) -> bool {
        self.places.get(target.folded()).is_some_and(|place| place.request == Some(request))
    }

    /// The agent enters a place by its own decision: what was said there before is not for it (R1-21).
    pub(super) fn begin_anew(&mut self, target: &Target, now: &str) {
        let place = Place { cursor: Cursor::timestamp(now).ok(), dirty: true, ..Place::default() };
        self.places.insert(target.folded().to_owned(), place);
    }

    /// Returns whether a line of history is to be ignored: the room was filled again with all
    /// that was not read, and what was said since then has come live.
    pub(super) fn is_refilled(&self, target: &Target) -> bool {
        self.places.get(target.folded()).is_some_and(|place| place.reached == Reached::Unread)
    }

    /// Returns whether history has shown what of ours stands there, or is not going to.
    pub(super) fn has_shown(&self, target: &Target) -> bool {
        let shown = |place: &Place| place.is_caught_up() || place.failures >= FAILURES_MAX;
        self.places.get(target.folded()).is_some_and(shown)
    }

    /// Returns whether all that was said there before now is taken in: history told it, or the look
    /// for direct lines has found none of this nick.
    pub(super) fn is_live(&self, conversation: &Target) -> bool {
        let nothing_found = self.targets_known && matches!(conversation, Target::Nick(_));
        match self.places.get(conversation.folded()) {
            Some(place) => place.is_caught_up() || (nothing_found && !place.asked),
            None => nothing_found,
        }
    }

    /// Returns whether everything said directly before now is taken in.
    fn direct_is_caught_up(&self) -> bool {
        self.targets_known && self.direct_and_behind().next().is_none()
    }

    /// Returns the nicks of which lines may be missing.
    fn direct_and_behind(&self) -> impl Iterator<Item = (&String, &Place)> {
        let direct = self.places.iter().filter(|(target, _)| !target.starts_with('#'));
        direct.filter(|(_, place)| place.asked && !place.is_caught_up())
    }

    pub(super) fn failed(&mut self, target: &Target) {
        self.failed.insert(target.clone());
    }

    /// Returns the move for a live line's commit, if the target is caught up. Changes nothing:
    /// only what is committed moves the place.
    pub(super) fn after(&self, conversation: &Target, line: &Line) -> Option<CursorMove> {
        let cursor = line.cursor.clone()?;
        let moves = self.is_live(conversation) && !line.from_history;
        moves.then(|| CursorMove {
            target: conversation.folded().to_owned(),
            cursor: cursor.as_str().to_owned(),
        })
    }

    /// Moves past a live line, which was committed with its cursor or concerns nobody. History that
    /// comes late, or unasked, moves nothing: it is from before.
    pub(super) fn pass(&mut self, conversation: &Target, line: &Line, written: Written) {
        if !self.is_live(conversation) || line.from_history {
            return;
        }
        // Who only ever notes something, or is a stranger, gets no place.
        if written == Written::No && !self.places.contains_key(conversation.folded()) {
            return;
        }
        if let Some(cursor) = line.cursor.clone() {
            let place = self.places.entry(conversation.folded().to_owned()).or_default();
            place.cursor = Some(cursor);
            place.dirty = written != Written::Yes;
        }
    }

    /// A live line could not be committed: what follows is taken from history again.
    pub(super) fn lost(&mut self, conversation: &Target) {
        let place = self.places.entry(conversation.folded().to_owned()).or_default();
        place.falls_behind();
        place.asked = true;
        self.failed.insert(conversation.clone());
    }
}

impl Chat {
    /// Reads the places, and gives what has none the present as its place; returns whether it
    /// could. Before the link is up: what is said from the first JOIN on is ours to take in,
    /// whenever we die.
    pub(super) async fn load_cursors(&mut self) -> bool {
        let deps = &self.deps;
        let kept = match deps.store.cursors(&deps.agent, &deps.network_id).await {
            Ok(kept) => kept,
            Err(error) => {
                warn!(%error, "cannot load how far history was read");
                return false;
            }
        };
        let mut read = HashMap::new();
        for (target, text) in kept {
            if target == TARGETS {
                self.cursors.looked_at = Some(text);
            } else if let Some(place) = rooms::target_of_key(&target) {
                if let Ok(cursor) = text.parse::<Cursor>() {
                    read.insert(place, cursor);
                }
            } else if let Ok(cursor) = text.parse() {
                let place = Place { cursor: Some(cursor), ..Place::default() };
                self.cursors.places.insert(target, place);
            }
        }
        let now = clock::rfc3339(self.deps.clock.now());
        if self.cursors.looked_at.is_none() {
            self.looked(&now).await;
        }
        for channel in self.deps.home.iter().map(|channel| channel.folded().to_owned()) {
            let place = self.cursors.places.entry(channel).or_default();
            if place.cursor.is_none() {
                place.cursor = Cursor::timestamp(&now).ok();
                place.dirty = true;
            }
        }
        self.keep_cursors().await;
        let kept = self.cursors.places.values().all(|place| !place.dirty);
        kept && self.cursors.looked_at.is_some() && self.enter_rooms(&read).await
    }

    /// Tells the rooms how far they were read; returns whether it is known for each. One without a
    /// place was read up to now.
    async fn enter_rooms(&mut self, read: &HashMap<Target, Cursor>) -> bool {
        for channel in self.deps.home.clone() {
            let target = Target::Channel(channel);
            let Some(place) = self.cursors.places.get_mut(target.folded()) else { continue };
            let Some(taken) = place.cursor.clone() else { continue };
            let cursor = match read.get(&target) {
                Some(cursor) => cursor.clone(),
                None => {
                    let (deps, key) = (&self.deps, rooms::read_key(&target));
                    let kept =
                        deps.store.move_cursor(&deps.agent, &deps.network_id, &key, taken.as_str());
                    if let Err(error) = kept.await {
                        warn!(%error, "cannot store how far lines were read");
                        return false;
                    }
                    taken.clone()
                }
            };
            if cursor != taken {
                place.refill = Some(Refill { after: cursor.clone(), pages: REFILL_PAGES });
            }
            let _ = self.deps.rooms.send(RoomsCommand::ReadBefore { place: target, cursor }).await;
        }
        true
    }

    /// Writes the places that moved in memory only.
    pub(super) async fn keep_cursors(&mut self) {
        let dirty: Vec<(String, Cursor)> = self
            .cursors
            .places
            .iter()
            .filter(|(_, place)| place.dirty)
            .filter_map(|(target, place)| Some((target.clone(), place.cursor.clone()?)))
            .collect();
        for (target, cursor) in dirty {
            let deps = &self.deps;
            let moved = deps
                .store
                .move_cursor(&deps.agent, &deps.network_id, &target, cursor.as_str())
                .await;
            match moved {
                Ok(()) => {
                    if let Some(place) = self.cursors.places.get_mut(&target) {
                        place.dirty = false;
                    }
                }
                Err(error) => return warn!(%error, "cannot store how far history was read"),
            }
        }
    }

    pub(super) fn catch_up(&mut self, target: Target) {
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        if place.is_caught_up() {
            return;
        }
        place.asked = true;
        // A nick without a place begins where the look for direct lines began, never at its
        // newest line: that one may be unread.
        if place.cursor.is_none() && matches!(target, Target::Nick(_)) {
            let since = self.cursors.since.as_deref();
            place.cursor = since.and_then(|time| Cursor::timestamp(time).ok());
        }
        let refill = place.refill.as_ref().map(|refill| refill.after.clone());
        let after = refill.or_else(|| place.cursor.clone());
        self.cursors.requests += 1;
        let request = self.cursors.requests;
        place.request = Some(request);
        if !self.command(LinkCommand::CatchUp { target: target.clone(), after, request }) {
            self.cursors.failed.insert(target);
        }
    }

    /// There is nothing after the cursor.
    pub(super) async fn nothing_follows(&mut self, target: &Target, request: u64) {
        if self.cursors.waits_for(target, request) {
            self.caught_up(target);
            self.send_waiting().await;
        }
    }

    fn caught_up(&mut self, target: &Target) {
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        if place.refill.take().is_some() {
            place.reached = Reached::Unread;
            return self.catch_up(target.clone());
        }
        (place.reached, place.asked) = (Reached::Now, false);
    }

    /// The page could not be had. A room that cannot be filled again holds up nothing.
    pub(super) fn catch_up_failed(&mut self, (target, request): (&Target, u64), why: &str) {
        if !self.cursors.waits_for(target, request) {
            return;
        }
        warn!(%target, why, "cannot catch up; trying again at the next tick");
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        place.failures += 1;
        if self.up && place.refill.take().is_some() {
            return self.catch_up(target.clone());
        }
        self.cursors.failed(target);
    }

    pub(super) fn retry_catch_up(&mut self) {
        if self.up {
            if !self.cursors.targets_known {
                self.look_for_targets();
            }
            for target in std::mem::take(&mut self.cursors.failed) {
                // That of a room is asked for when the agent comes in.
                match &target {
                    Target::Channel(room) if !self.deps.joined.borrow().contains(room) => {}
                    Target::Channel(_) | Target::Nick(_) => self.catch_up(target),
                }
            }
        }
    }

    /// Asks who wrote directly while we were away.
    pub(super) fn find_targets(&mut self) {
        // Of the same millisecond as the line that was looked past there may be others.
        let after = self.cursors.looked_at.as_deref().map(just_before);
        self.cursors.since.clone_from(&after);
        self.cursors.looks_on = after;
        self.look_for_targets();
    }

    fn look_for_targets(&self) {
        if let Some(after) = self.cursors.looks_on.clone() {
            self.command(LinkCommand::FindTargets { after });
        }
    }

    /// Asks for what those nicks said; `more`: there may be further ones, with newer lines.
    pub(super) fn found_targets(&mut self, targets: Vec<(Target, String)>, more: bool) {
        let times = || targets.iter().map(|(_, time)| time.as_str());
        // Others may have written in the same millisecond.
        let on = times().max().map(|newest| match times().min() == Some(newest) {
            true => newest.to_owned(),
            false => just_before(newest),
        });
        for (target, _) in targets {
            if let Target::Nick(_) = target {
                self.catch_up(target);
            }
        }
        if !more {
            return self.all_targets_found();
        }
        // The answer to a request that was made twice leads no further.
        if on > self.cursors.looks_on {
            self.cursors.looks_on = on;
            self.look_for_targets();
        }
    }

    fn all_targets_found(&mut self) {
        self.cursors.targets_known = true;
        // What the last connection did not show, this one shows.
        let unasked = self.cursors.direct_and_behind().filter(|(_, place)| place.request.is_none());
        let unasked: Vec<Target> = unasked.filter_map(|(nick, _)| nick.parse().ok()).collect();
        unasked.into_iter().for_each(|nick| self.catch_up(nick));
    }

    /// Takes in a page of history; its last commit moves the cursor.
    pub(super) async fn page(&mut self, target: Target, lines: Vec<Line>, cursor: Cursor) {
        if self.is_refilling(&target) {
            return self.refill(target, &lines, cursor).await;
        }
        for line in lines {
            if let Taken::NotNow = self.take_in(&line, None).await {
                return self.cursors.lost(&target);
            }
        }
        let deps = &self.deps;
        let moved = deps
            .store
            .move_cursor(&deps.agent, &deps.network_id, target.folded(), cursor.as_str())
            .await;
        if let Err(error) = moved {
            warn!(%error, "cannot store how far history was read");
            return self.cursors.lost(&target);
        }
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        (place.cursor, place.failures) = (Some(cursor), 0);
        self.catch_up(target);
    }

    fn is_refilling(&self, target: &Target) -> bool {
        self.cursors.places.get(target.folded()).is_some_and(|place| place.refill.is_some())
    }

    /// Keeps a page's lines to be read, and does nothing else about them: they were taken in
    /// before, or will be. Those that became messages are known by their ids.
    async fn refill(&mut self, target: Target, lines: &[Line], cursor: Cursor) {
        let keys = lines.iter().map(intake_key).collect();
        let (store, deps) = (&self.deps.store, &self.deps);
        let known = store.taken_in(&deps.agent, &deps.network_id, keys).await;
        // Without an answer a line is read once more.
        let known = known.unwrap_or_default().into_iter();
        let known: HashMap<String, Became> =
            known.map(|it| (it.key.clone(), became(&it))).collect();
        for line in lines {
            let became = known.get(&intake_key(line)).copied().unwrap_or(Became::Nothing);
            let tier = self.deps.principal(line).await.tier;
            self.hand_to_rooms(line, became, tier).await;
        }
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        let left = place.refill.take().map_or(0, |refill| refill.pages.saturating_sub(1));
        place.refill = (left > 0).then_some(Refill { after: cursor, pages: left });
        self.catch_up(target);
    }

    /// A direct line was taken in: the next look begins behind it, if nothing before it is open.
    pub(super) async fn looked_past(&mut self, time: &str) {
        if self.cursors.direct_is_caught_up() {
            self.looked(time).await;
        }
    }

    async fn looked(&mut self, time: &str) {
        let deps = &self.deps;
        let kept = deps.store.move_cursor(&deps.agent, &deps.network_id, TARGETS, time).await;
        if kept.is_ok() {
            self.cursors.looked_at = Some(time.to_owned());
        }
    }
}

/// Returns the time a millisecond before.
fn just_before(time: &str) -> String {
    let before = |at: UnixMicros| clock::rfc3339(UnixMicros(at.0.saturating_sub(MILLISECOND)));
    clock::parse_rfc3339(time).map_or_else(|| time.to_owned(), before)
}

/// Returns what an earlier daemon has made of a line.
fn became(taken: &TakenIn) -> Became {
    match taken.state {
        MessageState::Accepted | MessageState::InTurn => Became::Message(taken.id),
        // The agent gets it by reading only.
        MessageState::Held | MessageState::Refused => Became::Nothing,
        MessageState::Answered
        | MessageState::NoReply
        | MessageState::Failed
        | MessageState::Expired
        | MessageState::Cancelled
        | MessageState::DeadLetter => Became::Given(taken.id),
    }
}

#[cfg(test)]
mod tests;
