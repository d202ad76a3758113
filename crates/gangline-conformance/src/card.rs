//! Where scores are noted, each cell's once.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gangline_os::clock::{self, SharedClock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    Outcome, Progress, Report, Score, Subject,
    cells::{self, CELLS},
};
use gangline_runtime::{
    SessionId,
    registry::dialect::{How, Known},
};

/// How many programs start at the same time: a start is work, what comes later is waiting.
const STARTS: usize = 2;
/// What is judged once everything is over.
const LAST: [&str; 2] = ["apart", "contract"];

/// The scores so far; several sessions write to it at once.
pub(super) struct Card<'a> {
    pub(super) subject: &'a Subject,
    progress: &'a (dyn Fn(Progress<'_>) + Send + Sync),
    clock: SharedClock,
    starts: Arc<Semaphore>,
    /// None has started yet.
    first: AtomicBool,
    noted: Mutex<Noted>,
}

/// A program that starts; it has started when this is dropped.
pub(super) struct Starting {
    _permit: Option<OwnedSemaphorePermit>,
    /// The first one makes room for the others.
    first: Option<Arc<Semaphore>>,
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(starts) = &self.first {
            starts.add_permits(STARTS - 1);
        }
    }
}

#[derive(Default)]
struct Noted {
    outcomes: HashMap<&'static str, Outcome>,
    faults: Vec<String>,
    met: Vec<Met>,
}

/// A session that was open beside others.
struct Met {
    session: Option<SessionId>,
    /// What was said to it and to no other.
    word: String,
}

impl<'a> Card<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        progress: &'a (dyn Fn(Progress<'_>) + Send + Sync),
    ) -> Self {
        let (starts, first) = (Arc::new(Semaphore::new(1)), AtomicBool::new(true));
        Self { subject, progress, clock: clock::system(), starts, first, noted: Mutex::default() }
    }

    /// Waits until one more program may start. The first one does so alone: it finds an empty home
    /// and makes its database there, and of two that do so at once one gives up. Cancel-safe: yes.
    pub(super) async fn may_start(&self) -> Starting {
        // It is never closed.
        let permit = Arc::clone(&self.starts).acquire_owned().await.ok();
        let first = self.first.swap(false, Ordering::SeqCst).then(|| Arc::clone(&self.starts));
        Starting { _permit: permit, first }
    }

    /// Tells what is about to be tried.
    pub(super) fn trying(&self, cells: &[&'static str]) {
        let wanted = cells.iter().filter(|id| self.wants(id)).filter_map(|id| cells::find(id));
        if let Some(first) = wanted.into_iter().next() {
            (self.progress)(Progress::Trying(first));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time for [`Self::judge`].
    pub(super) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Notes a score; the first one of a cell counts.
    pub(super) fn note(&self, id: &'static str, score: Score) {
        self.note_since(id, score, self.now());
    }

    /// Notes that it was not tried.
    pub(super) fn skip(&self, id: &'static str, why: &str) {
        if !LAST.contains(&id) {
            self.note(id, Score::Skipped(why.to_owned()));
        }
    }

    /// Notes what came of trying it, begun at `since`. What the dialect knows to be impossible with
    /// this program is hidden, not failed. What can be judged at the end only is left out.
    pub(super) fn judge(&self, id: &'static str, tried: &Result<(), String>, since: Duration) {
        if !LAST.contains(&id) {
            self.judge_at_last(id, tried, since);
        }
    }

    fn judge_at_last(&self, id: &'static str, tried: &Result<(), String>, since: Duration) {
        let known = self.known(id).map(|known| (known.how, known.why));
        let score = match (tried, known) {
            (_, Some((How::AtTimes, why))) | (Err(_), Some((How::Otherwise, why))) => {
                Score::Hidden(why.to_owned())
            }
            (Ok(()), _) => Score::Yes,
            (Err(why), Some((How::Silent, _)) | None) => Score::No(why.clone()),
        };
        self.note_since(id, score, since);
    }

    /// Returns what the dialect knows of a cell.
    pub(super) fn known(&self, id: &str) -> Option<&'static Known> {
        self.subject.dialect.known.iter().find(|known| known.cell == id)
    }

    /// Notes that nothing was said for so long, which the dialect knows of.
    pub(super) fn silent(&self, known: &Known, waited: Duration, since: Duration) {
        let Some(cell) = cells::find(known.cell) else { return };
        let why = format!("nothing within {} s: {}", waited.as_secs(), known.why);
        self.note_since(cell.id, Score::Hidden(why), since);
    }

    /// Notes a session that is open beside others, and a word that only it was told.
    pub(super) fn met(&self, session: Option<SessionId>, word: String) {
        self.lock().met.push(Met { session, word });
    }

    /// Says whether the sessions that were open at once had anything of each other.
    fn apart(&self) -> Result<(), String> {
        let noted = self.lock();
        if noted.met.len() < 2 {
            return Err("no two sessions were open at once".to_owned());
        }
        for (at, one) in noted.met.iter().enumerate() {
            for other in &noted.met[at + 1..] {
                if one.session == other.session {
                    return Err(format!("both have the session {:?}", one.session));
                }
                if self.subject.model.newest_with(&[&one.word, &other.word]).is_some() {
                    return Err("a request of one holds what was said to the other".to_owned());
                }
            }
        }
        Ok(())
    }

    fn note_since(&self, id: &'static str, score: Score, since: Duration) {
        let Some(cell) = cells::find(id) else {
            tracing::error!(cell = id, "the suite has no such cell");
            return;
        };
        let took = self.now().saturating_sub(since);
        let outcome = Outcome { cell, score, took };
        let mut noted = self.lock();
        if noted.outcomes.contains_key(id) {
            return;
        }
        noted.outcomes.insert(id, outcome.clone());
        drop(noted);
        (self.progress)(Progress::Found(&outcome));
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
        self.judge_at_last("contract", &tried, self.now());
        self.judge_at_last("apart", &self.apart(), self.now());
        for cell in CELLS {
            self.note(cell.id, Score::Skipped("it was not come to".to_owned()));
        }
        let noted = self.lock();
        Report {
            backend: self.subject.dialect.name(),
            version: self.subject.version.clone(),
            outcomes: CELLS.iter().filter_map(|it| noted.outcomes.get(it.id).cloned()).collect(),
            took,
        }
    }
}
