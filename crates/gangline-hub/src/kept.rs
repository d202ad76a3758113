//! The reconciler: compares the processes that should run with the locks that are held.
//!
//! A process that holds its lock runs, no matter who started it. It starts a missing one, with a
//! growing delay after each death, and asks an unwanted one to end, once; a second request
//! interrupts its turn. Start at [`Reconciler::look`]; one process is in `kept/slot.rs`.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_core::AgentName;
use gangline_os::{
    clock::{SharedClock, UnixMicros},
    kill::Signal,
    lock,
    process::{self, Spawn},
    task::TaskGroup,
};
use gangline_store::Order;
use tokio::sync::mpsc;
use tracing::{info, warn};

use slot::{Slot, Want};

mod orphans;
mod slot;
#[cfg(test)]
mod tests;

/// How long a daemon may take to end: its own budgets are 20 s for the turn and a kill policy.
pub const DRAIN_BUDGET: Duration = Duration::from_secs(75);
/// How often to look while something is about to change, while there are daemons that are not our
/// children, and else.
const LOOKS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_secs(2), Duration::from_secs(30)];
/// Room for exits that were not looked at yet.
const EXIT_QUEUE: usize = 256;

/// One process that should run.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its name, for people.
    pub name: String,
    /// The agent whose daemon it is, and whose orders it follows; none of anything else.
    pub agent: Option<AgentName>,
    /// How it is started; its group is [`process::Group::Session`].
    pub spawn: Spawn,
    /// The lock that it holds while it runs.
    pub lock: PathBuf,
    /// Differs when what it is configured with differs.
    pub settings: u64,
}

/// Where a kept process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// It was asked to end and still runs.
    Stopping,
    /// It should not run, and does not.
    Stopped,
    /// It ended in a way that no restart fixes, with this code.
    GivenUp {
        /// The exit code.
        code: i32,
    },
}

/// What is known of one kept process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<'a> {
    /// Its name.
    pub name: &'a str,
    /// The agent whose daemon it is.
    pub agent: Option<&'a AgentName>,
    /// Where it stands.
    pub standing: Standing,
    /// Whether it should run.
    pub wanted: bool,
    /// What the last one that died by itself ended with; none after a signal or if unknown.
    pub code: Option<i32>,
    /// Whether it was started with settings that are not the present ones.
    pub outdated: bool,
    /// When the order was given that it follows; 0 without one.
    pub ordered_at: UnixMicros,
}

/// What tells one state of a file from another, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the file's current stamp; none if it cannot be read.
    #[must_use]
    pub fn of(file: &Path) -> Option<Self> {
        let data = fs::metadata(file).ok()?;
        let changed = (data.ctime(), data.ctime_nsec());
        Some(Self { inode: data.ino(), bytes: data.len(), changed })
    }
}

/// What a child that we started ended with.
struct Exited {
    name: String,
    pid: u32,
    code: Option<i32>,
}

/// Keeps processes running.
pub struct Reconciler {
    clock: SharedClock,
    longest_delay: Duration,
    /// The id of the installation whose run ids daemons give to their programs.
    installation: String,
    slots: Vec<Slot>,
    tasks: TaskGroup,
    exits: mpsc::Receiver<Exited>,
    report: mpsc::Sender<Exited>,
    draining: bool,
    /// The configuration that daemons read when they start.
    config: Option<Stamp>,
}

impl Reconciler {
    /// Makes a reconciler of an installation with this id; starts nothing yet.
    #[must_use]
    pub fn new(
        clock: SharedClock,
        longest_delay: Duration,
        (installation, kept): (&str, Vec<Kept>),
    ) -> Self {
        let (report, exits) = mpsc::channel(EXIT_QUEUE);
        let mut reconciler = Self {
            clock,
            longest_delay,
            installation: installation.to_owned(),
            slots: Vec::new(),
            tasks: TaskGroup::new("kept"),
            exits,
            report,
            draining: false,
            config: None,
        };
        reconciler.replace(kept);
        reconciler
    }

    /// Takes other processes to keep: new ones are started by the next look, those that are
    /// missing are asked to end and then forgotten, those that were given up are tried again, and
    /// settings that changed take effect when their process starts the next time.
    pub fn replace(&mut self, kept: Vec<Kept>) {
        for slot in &mut self.slots {
            if kept.iter().all(|kept| kept.name != slot.kept.name) {
                info!(name = slot.kept.name, "no longer configured");
                slot.want = Want::Gone;
            }
        }
        let now = self.clock.monotonic();
        for kept in kept {
            match self.slots.iter_mut().find(|slot| slot.kept.name == kept.name) {
                Some(slot) => {
                    if slot.want == Want::Gone {
                        // Whatever was ordered holds again.
                        slot.order = None;
                        slot.want = Want::Up;
                        slot.try_now(now);
                    }
                    // What ended it may be mended now.
                    if matches!(slot.standing, Standing::GivenUp { .. }) && slot.wanted() {
                        slot.try_now(now);
                    }
                    slot.kept = kept;
                }
                None => self.slots.push(Slot::new(kept, self.longest_delay, now)),
            }
        }
    }

    /// Takes how the file stands that daemons are configured by: one that was given up is tried
    /// again once the file is another than the one that it began with, since that may be mended now.
    pub fn configured(&mut self, config: Option<Stamp>) {
        self.config = config;
        let now = self.clock.monotonic();
        for slot in &mut self.slots {
            let given_up = matches!(slot.standing, Standing::GivenUp { .. }) && slot.wanted();
            if given_up && slot.config != config {
                info!(name = slot.kept.name, "the configuration has changed: tried again");
                slot.try_now(now);
            }
        }
    }

    /// Takes the operator's orders; an agent without one should run. After a new order, a process
    /// that waits or was given up starts at once.
    pub fn order(&mut self, orders: &[Order]) {
        let now = self.clock.monotonic();
        for slot in &mut self.slots {
            let Some(agent) = &slot.kept.agent else { continue };
            let order = orders.iter().find(|order| order.agent == *agent);
            slot.obey(order, now);
        }
    }

    /// Returns what is known of each process.
    pub fn known(&self) -> impl Iterator<Item = Known<'_>> {
        self.slots.iter().map(Slot::known)
    }

    /// Returns how long until [`Self::look`] should be called again at the latest.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let now = self.clock.monotonic();
        let of = |slot: &Slot| match slot.standing {
            Standing::Starting | Standing::Stopping => LOOKS[0],
            Standing::Waiting => slot.until.saturating_sub(now).clamp(LOOKS[0], LOOKS[1]),
            // Adopted daemons are not our children: their death is seen by looking.
            Standing::Up { .. } if slot.child.is_none() => LOOKS[1],
            // Whoever mends the configuration waits for it.
            Standing::GivenUp { .. } => LOOKS[1],
            Standing::Up { .. } | Standing::Stopped => LOOKS[2],
        };
        self.slots.iter().map(of).min().unwrap_or(LOOKS[2])
    }

    /// Waits until a child that we started ends; then [`Self::look`]. Cancel-safe.
    pub async fn child_ended(&mut self) {
        let Some(exited) = self.exits.recv().await else { return };
        let now = self.clock.monotonic();
        let of = |slot: &&mut Slot| slot.kept.name == exited.name;
        if let Some(slot) = self.slots.iter_mut().find(of)
            && slot.child == Some(exited.pid)
        {
            slot.child = None;
            slot.ended(exited.code, now);
        }
        // The task that waited is done; collect it.
        let _ = self.tasks.next_end().await;
    }

    /// Looks at every lock once, starts missing processes that are due, and asks unwanted ones to
    /// end.
    pub fn look(&mut self) {
        let now = self.clock.monotonic();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            match lock::probe(&slot.kept.lock) {
                Ok(holder) => slot.seen(holder, now),
                Err(error) => {
                    warn!(name = slot.kept.name, %error, "cannot ask for a lock");
                    continue;
                }
            }
            if self.draining || !slot.wanted() {
                slot.ask_to_end(now);
            } else if matches!(slot.standing, Standing::Stopped) {
                slot.try_now(now);
            }
            if !self.draining && slot.is_due(now) {
                self.start(index, now);
            }
        }
        self.slots.retain(|slot| slot.want != Want::Gone || slot.runs());
    }

    fn start(&mut self, index: usize, now: Duration) {
        let slot = &mut self.slots[index];
        // Before it reads the file: a change from now on is news to it.
        slot.config = self.config;
        let name = slot.kept.name.clone();
        match process::spawn(slot.kept.spawn.clone()) {
            Ok(mut child) => {
                let pid = child.pid();
                info!(name, pid, "started");
                slot.started(pid, now);
                let (report, installation) = (self.report.clone(), self.installation.clone());
                self.tasks.spawn(name.clone(), async move {
                    let code = child.wait().await.ok().and_then(|exit| exit.code);
                    if code != Some(0) {
                        // Before its successor is started, which goes on with its session.
                        orphans::end(&installation).await;
                    }
                    let _ = report.send(Exited { name, pid, code }).await;
                });
            }
            Err(error) => {
                warn!(name, error = %whole(&error), "cannot start");
                slot.ended(None, now);
            }
        }
    }

    /// Asks the daemon of an agent to end although it should run, so that it is restarted. Returns
    /// whether one ran.
    pub fn end(&mut self, agent: &AgentName) -> bool {
        let now = self.clock.monotonic();
        let of = |slot: &&mut Slot| slot.kept.agent.as_ref() == Some(agent);
        match self.slots.iter_mut().find(of) {
            Some(slot) if matches!(slot.standing, Standing::Up { .. }) => {
                slot.ask_to_end(now);
                true
            }
            Some(_) | None => false,
        }
    }

    /// From now on starts nothing, and every look asks what runs to end.
    pub fn drain(&mut self) {
        self.draining = true;
        self.look();
    }

    /// Asks those that were asked to end once more, which they take as haste.
    pub fn hurry(&mut self) {
        self.slots.iter_mut().for_each(Slot::hurry);
    }

    /// Kills what still runs.
    pub fn kill(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.signal(Signal::Kill));
    }

    /// Returns those that run.
    pub fn left(&self) -> impl Iterator<Item = Known<'_>> {
        self.slots.iter().filter(|slot| slot.runs()).map(Slot::known)
    }
}

/// Returns an error with its causes.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
