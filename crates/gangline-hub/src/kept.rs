//! The reconciler: compares what shall run with the locks that are held.
//!
//! A process that holds its lock runs, whoever started it; one that does not is started, with a
//! growing wait after each death. Nothing here ends a process except [`Reconciler::drain`].

use std::{collections::HashMap, io, path::PathBuf, time::Duration};

use gangline_os::{
    clock::SharedClock,
    lock::{self, Holder},
    proc,
    process::{self, Signal, Spawn},
    task::TaskGroup,
};
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::restart::{After, Deaths};

/// How long a started process may take to hold its lock before it is called dead.
const START_BUDGET: Duration = Duration::from_secs(30);
/// Room for exits that were not looked at yet.
const EXIT_QUEUE: usize = 256;

/// One process that shall run.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its name, for people.
    pub name: String,
    /// How it is started; its group is [`process::Group::Session`].
    pub spawn: Spawn,
    /// The lock that it holds while it runs.
    pub lock: PathBuf,
}

/// Where a kept process stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It holds its lock.
    Up {
        /// Its process id, if the lock says so.
        pid: Option<u32>,
    },
    /// It was started and does not hold its lock yet.
    Starting,
    /// It is started again after a wait.
    Waiting,
    /// It ended in a way that no restart mends.
    GivenUp,
}

struct Slot {
    kept: Kept,
    standing: Standing,
    deaths: Deaths,
    /// Since when it stands so, or until when it waits: monotonic.
    since: Duration,
    until: Duration,
    child: Option<u32>,
}

/// What a child that we started ended with.
struct Exited {
    name: String,
    code: Option<i32>,
}

/// Keeps processes running.
pub struct Reconciler {
    clock: SharedClock,
    slots: Vec<Slot>,
    tasks: TaskGroup,
    exits: mpsc::Receiver<Exited>,
    report: mpsc::Sender<Exited>,
    draining: bool,
}

impl Reconciler {
    /// Makes a reconciler; starts nothing yet.
    #[must_use]
    pub fn new(clock: SharedClock, longest_delay: Duration, kept: Vec<Kept>) -> Self {
        let (report, exits) = mpsc::channel(EXIT_QUEUE);
        let now = clock.monotonic();
        let slots = kept
            .into_iter()
            .map(|kept| Slot {
                kept,
                standing: Standing::Waiting,
                deaths: Deaths::new(longest_delay),
                since: now,
                until: now,
                child: None,
            })
            .collect();
        Self { clock, slots, tasks: TaskGroup::new("kept"), exits, report, draining: false }
    }

    /// Returns where each process stands.
    #[must_use]
    pub fn standings(&self) -> HashMap<&str, &Standing> {
        self.slots.iter().map(|slot| (slot.kept.name.as_str(), &slot.standing)).collect()
    }

    /// Returns how long until [`Self::look`] should be called again at the latest.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let settled = self
            .slots
            .iter()
            .all(|slot| matches!(slot.standing, Standing::Up { .. } | Standing::GivenUp));
        // Adopted daemons are not our children: their death is seen by looking.
        if settled { Duration::from_secs(2) } else { Duration::from_millis(100) }
    }

    /// Waits until a child that we started ends; then [`Self::look`]. Cancel-safe.
    pub async fn child_ended(&mut self) {
        let Some(exited) = self.exits.recv().await else { return };
        let now = self.clock.monotonic();
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.kept.name == exited.name) {
            slot.child = None;
            if self.draining {
                info!(name = slot.kept.name, code = ?exited.code, "ended");
            } else {
                slot.died(exited.code, now);
            }
        }
        // The task that waited is done; collect it.
        let _ = self.tasks.next_end().await;
    }

    /// Looks at every lock once, and starts what is missing and due.
    pub fn look(&mut self) {
        let now = self.clock.monotonic();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            match lock::probe(&slot.kept.lock) {
                Ok(Some(holder)) => slot.is_up(&holder, now),
                Ok(None) => {
                    slot.is_not_up(now);
                    if slot.standing == Standing::Waiting && now >= slot.until {
                        self.start(index, now);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    slot.is_not_up(now);
                    if slot.standing == Standing::Waiting && now >= slot.until {
                        self.start(index, now);
                    }
                }
                Err(error) => warn!(name = slot.kept.name, %error, "cannot ask for a lock"),
            }
        }
    }

    fn start(&mut self, index: usize, now: Duration) {
        let slot = &mut self.slots[index];
        let name = slot.kept.name.clone();
        match process::spawn(slot.kept.spawn.clone()) {
            Ok(mut child) => {
                info!(name, pid = child.pid(), "started");
                slot.child = Some(child.pid());
                slot.standing = Standing::Starting;
                slot.since = now;
                let report = self.report.clone();
                self.tasks.spawn(name.clone(), async move {
                    let code = child.wait().await.ok().and_then(|exit| exit.code);
                    let _ = report.send(Exited { name, code }).await;
                });
            }
            Err(error) => {
                warn!(name, %error, "cannot start");
                slot.died(None, now);
            }
        }
    }

    /// Asks every process to end, waits, and kills what is left after the budget.
    pub async fn drain(&mut self, budget: Duration) {
        let begun = self.clock.monotonic();
        self.draining = true;
        let mut told = false;
        loop {
            let holders: Vec<Holder> = self.holders();
            if holders.is_empty() && self.slots.iter().all(|slot| slot.child.is_none()) {
                return;
            }
            let over = self.clock.monotonic().saturating_sub(begun) > budget;
            if !told || over {
                let signal = if over { Signal::Kill } else { Signal::Term };
                for holder in &holders {
                    if let (Some(pid), Some(start)) = (holder.pid, holder.start_time) {
                        let _ = proc::signal_exact(pid, start, signal);
                    }
                }
                self.signal_unlocked(signal, &holders);
                told = true;
            }
            let _ = tokio::time::timeout(Duration::from_millis(50), self.child_ended()).await;
        }
    }

    /// A child that does not hold its lock (yet, or any more) is signalled by its own id.
    /// One signal each: a second one means haste.
    fn signal_unlocked(&self, signal: Signal, holders: &[Holder]) {
        let told = |pid: u32| holders.iter().any(|holder| holder.pid == Some(pid));
        for pid in self.slots.iter().filter_map(|slot| slot.child).filter(|pid| !told(*pid)) {
            if let Some(start) = proc::start_time(pid) {
                let _ = proc::signal_exact(pid, start, signal);
            }
        }
    }

    fn holders(&self) -> Vec<Holder> {
        self.slots.iter().filter_map(|slot| lock::probe(&slot.kept.lock).ok().flatten()).collect()
    }
}

impl Slot {
    fn is_up(&mut self, holder: &Holder, now: Duration) {
        let up = Standing::Up { pid: holder.pid };
        if self.standing != up {
            if self.child.is_none() {
                info!(name = self.kept.name, pid = ?holder.pid, "adopted");
            }
            self.standing = up;
            self.since = now;
        }
    }

    fn is_not_up(&mut self, now: Duration) {
        match self.standing {
            // Our own children are told by their exit, which carries the code.
            Standing::Up { .. } if self.child.is_none() => self.died(None, now),
            Standing::Starting if now.saturating_sub(self.since) > START_BUDGET => {
                warn!(name = self.kept.name, "does not hold its lock");
                if let Some((pid, start)) =
                    self.child.and_then(|pid| proc::start_time(pid).map(|start| (pid, start)))
                {
                    let _ = proc::signal_exact(pid, start, Signal::Kill);
                }
                self.since = now;
            }
            Standing::Up { .. } | Standing::Starting | Standing::Waiting | Standing::GivenUp => {}
        }
    }

    fn died(&mut self, code: Option<i32>, now: Duration) {
        let lived = now.saturating_sub(self.since);
        match self.deaths.ended(code, lived) {
            After::Restart(wait) => {
                info!(name = self.kept.name, ?code, ?wait, "ended; starts again");
                self.standing = Standing::Waiting;
                self.until = now.saturating_add(wait);
            }
            After::GiveUp => {
                warn!(name = self.kept.name, "ended and is not started again: see its log");
                self.standing = Standing::GivenUp;
            }
        }
        self.since = now;
    }
}
