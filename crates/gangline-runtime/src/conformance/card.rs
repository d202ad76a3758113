//! Where verdicts are noted, each cell's once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use gangline_os::clock::{self, SharedClock};

use super::{
    Outcome, Report, Subject, Verdict,
    cells::{self, CELLS},
};

/// The verdicts so far; several sessions write to it at once.
pub(super) struct Card<'a> {
    subject: &'a Subject,
    progress: &'a (dyn Fn(&Outcome) + Send + Sync),
    clock: SharedClock,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    outcomes: HashMap<&'static str, Outcome>,
    faults: Vec<String>,
}

impl<'a> Card<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        progress: &'a (dyn Fn(&Outcome) + Send + Sync),
    ) -> Self {
        Self { subject, progress, clock: clock::system(), noted: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time for [`Self::judge`].
    pub(super) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Notes a verdict; the first one of a cell counts.
    pub(super) fn note(&self, id: &'static str, verdict: Verdict) {
        self.note_since(id, verdict, self.now());
    }

    /// Notes what came of trying it, begun at `since`. What the dialect knows to be impossible with
    /// this program is hidden, not failed.
    pub(super) fn judge(&self, id: &'static str, tried: &Result<(), String>, since: Duration) {
        let known = self.subject.dialect.known.iter().find(|(cell, _)| *cell == id);
        let verdict = match (tried, known) {
            (Ok(()), _) => Verdict::Yes,
            (Err(_), Some((_, why))) => Verdict::Hidden((*why).to_owned()),
            (Err(why), None) => Verdict::No(why.clone()),
        };
        self.note_since(id, verdict, since);
    }

    fn note_since(&self, id: &'static str, verdict: Verdict, since: Duration) {
        let Some(cell) = cells::find(id) else {
            tracing::error!(cell = id, "the suite has no such cell");
            return;
        };
        let took = self.now().saturating_sub(since);
        let outcome = Outcome { cell, verdict, took };
        let mut noted = self.lock();
        if noted.outcomes.contains_key(id) {
            return;
        }
        noted.outcomes.insert(id, outcome.clone());
        drop(noted);
        (self.progress)(&outcome);
    }

    /// Returns whether the cell still has to be tried.
    pub(super) fn wants(&self, id: &str) -> bool {
        !self.lock().outcomes.contains_key(id)
    }

    /// Notes what was wrong with the order of a session's events.
    pub(super) fn faults(&self, faults: Vec<String>) {
        self.lock().faults.extend(faults);
    }

    /// Returns the report; what nobody noted was skipped.
    pub(super) fn report(&self, took: Duration) -> Report {
        let faults = std::mem::take(&mut self.lock().faults);
        let tried = faults.first().map_or(Ok(()), |first| Err(first.clone()));
        self.judge("contract", &tried, self.now());
        for cell in CELLS {
            self.note(cell.id, Verdict::Skipped("it was not come to".to_owned()));
        }
        let noted = self.lock();
        Report {
            backend: self.subject.dialect.backend,
            version: self.subject.version.clone(),
            outcomes: CELLS.iter().filter_map(|it| noted.outcomes.get(it.id).cloned()).collect(),
            took,
        }
    }
}
