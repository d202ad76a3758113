//! How far each target's history was taken in.
//!
//! A cursor moves only with the lines before it in the store: by a page, in the intake's commit,
//! or, once a target is caught up, by its live lines. Lines that concern nobody move it in memory
//! only and are written at the next tick: reading them again after a crash changes nothing.

use std::collections::{HashMap, HashSet};

use gangline_broker::CursorMove;
use gangline_core::name::Target;
use gangline_irc::client::{Line, LinkCommand, cursor::Cursor};
use gangline_os::clock;
use tracing::warn;

use super::{Courier, intake};

/// The key under which the time of the last look for direct lines is kept.
const TARGETS: &str = "*";

#[derive(Default)]
struct Place {
    cursor: Option<Cursor>,
    caught_up: bool,
    /// When the last page was asked for: where a history without a line begins.
    asked_at: Option<String>,
    dirty: bool,
}

/// Whether a place is in the store already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    No,
}

/// The places, by folded target.
#[derive(Default)]
pub(super) struct Cursors {
    places: HashMap<String, Place>,
    failed: HashSet<Target>,
    looked_at: Option<String>,
}

impl Cursors {
    pub(super) fn forget_progress(&mut self) {
        for place in self.places.values_mut() {
            place.caught_up = false;
        }
    }

    pub(super) fn failed(&mut self, target: &Target) {
        self.failed.insert(target.clone());
    }

    /// Returns the move for a live line's commit, if the target is caught up. Changes nothing:
    /// only what is committed moves the place.
    pub(super) fn after(&self, conversation: &Target, line: &Line) -> Option<CursorMove> {
        let cursor = Cursor::msgid(line.msgid.as_deref()?).ok()?;
        let caught_up = self.places.get(conversation.folded())?.caught_up;
        caught_up.then(|| CursorMove {
            target: conversation.folded().to_owned(),
            cursor: cursor.as_str().to_owned(),
        })
    }

    /// Moves past a live line, which was committed with its cursor or concerns nobody.
    pub(super) fn pass(&mut self, conversation: &Target, line: &Line, written: Written) {
        let cursor = line.msgid.as_deref().and_then(|id| Cursor::msgid(id).ok());
        let place = self.places.get_mut(conversation.folded());
        if let (Some(cursor), Some(place)) = (cursor, place)
            && place.caught_up
        {
            place.cursor = Some(cursor);
            place.dirty = written == Written::No;
        }
    }

    /// A live line could not be committed: what follows is taken from history again.
    pub(super) fn lost(&mut self, conversation: &Target) {
        if let Some(place) = self.places.get_mut(conversation.folded()) {
            place.caught_up = false;
        }
        self.failed.insert(conversation.clone());
    }
}

impl Courier {
    pub(super) async fn load_cursors(&mut self) {
        match self.office.broker.cursors(&self.office.agent, &self.office.network_id).await {
            Ok(kept) => {
                for (target, text) in kept {
                    if target == TARGETS {
                        self.cursors.looked_at = Some(text);
                    } else if let Ok(cursor) = text.parse() {
                        let place = Place { cursor: Some(cursor), ..Place::default() };
                        self.cursors.places.insert(target, place);
                    }
                }
            }
            Err(error) => warn!(%error, "cannot read how far history was taken in"),
        }
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
            let office = &self.office;
            let moved = office
                .broker
                .move_cursor(&office.agent, &office.network_id, &target, cursor.as_str())
                .await;
            match moved {
                Ok(()) => {
                    if let Some(place) = self.cursors.places.get_mut(&target) {
                        place.dirty = false;
                    }
                }
                Err(error) => return warn!(%error, "cannot keep how far history was taken in"),
            }
        }
    }

    pub(super) fn catch_up(&mut self, target: Target) {
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        if place.caught_up {
            return;
        }
        place.asked_at = Some(clock::rfc3339(self.office.clock.now()));
        let after = place.cursor.clone();
        if !self.command(LinkCommand::CatchUp { target: target.clone(), after }) {
            self.cursors.failed.insert(target);
        }
    }

    /// There is nothing after the cursor. A history without any line has no newest one to stand
    /// at: then the place is the time at which it was asked for, or the first line ever said while
    /// we are away would be taken for an old one.
    pub(super) async fn caught_up(&mut self, target: &Target) {
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        place.caught_up = true;
        if place.cursor.is_none() {
            place.cursor = place.asked_at.as_deref().and_then(|at| Cursor::timestamp(at).ok());
            place.dirty = true;
            self.keep_cursors().await;
        }
    }

    pub(super) fn retry_catch_up(&mut self) {
        if self.up {
            for target in std::mem::take(&mut self.cursors.failed) {
                self.catch_up(target);
            }
        }
    }

    /// Asks who wrote directly while we were away; a first start begins with now, and keeps it.
    pub(super) async fn find_targets(&mut self) {
        if self.cursors.looked_at.is_none() {
            let now = clock::rfc3339(self.office.clock.now());
            self.looked(&now).await;
        }
        if let Some(after) = self.cursors.looked_at.clone() {
            self.command(LinkCommand::FindTargets { after });
        }
    }

    pub(super) fn found_targets(&mut self, targets: Vec<(Target, String)>) {
        let since = self.cursors.looked_at.clone();
        for (target, _) in targets {
            if let Target::Nick(_) = target {
                let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
                if place.cursor.is_none() {
                    let from = since.as_deref().and_then(|time| Cursor::timestamp(time).ok());
                    place.cursor = from;
                }
                self.catch_up(target);
            }
        }
    }

    /// Takes in a page of history; its last commit moves the cursor.
    pub(super) async fn page(&mut self, target: Target, lines: Vec<Line>, cursor: Cursor) {
        for line in lines {
            if let intake::Taken::NotNow = self.take_in(&line, None).await {
                return self.cursors.lost(&target);
            }
        }
        let office = &self.office;
        let moved = office
            .broker
            .move_cursor(&office.agent, &office.network_id, target.folded(), cursor.as_str())
            .await;
        if let Err(error) = moved {
            warn!(%error, "cannot keep how far history was taken in");
            return self.cursors.lost(&target);
        }
        let place = self.cursors.places.entry(target.folded().to_owned()).or_default();
        place.cursor = Some(cursor);
        self.catch_up(target);
    }

    /// Remembers that direct lines up to now were seen.
    pub(super) async fn looked(&mut self, time: &str) {
        let office = &self.office;
        let kept =
            office.broker.move_cursor(&office.agent, &office.network_id, TARGETS, time).await;
        if kept.is_ok() {
            self.cursors.looked_at = Some(time.to_owned());
        }
    }
}
