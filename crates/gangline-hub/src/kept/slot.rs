//! One kept process: whether it should run, its state, and how it is asked to end.

use std::time::Duration;

use gangline_os::{clock::UnixMicros, kill::Signal, lock::Holder, proc};
use gangline_store::{Desired, Order};
use tracing::{info, warn};

use super::{DRAIN_BUDGET, Kept, Known, Stamp, Standing};
use crate::restart::{After, Deaths};

/// How long a started process may take to hold its lock before it is called dead.
const START_BUDGET: Duration = Duration::from_secs(30);

/// Whether a process should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Up,
    Down,
    /// As `Down`, without waiting for its turn.
    DownNow,
    /// As `Down`, and forgotten once it has ended.
    Gone,
}

/// A running process, by what names it for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    pid: u32,
    start: u64,
}

/// A request to end.
#[derive(Debug, Clone, Copy)]
struct Asked {
    who: Running,
    at: Duration,
    hurried: bool,
    killed: bool,
}

pub(super) struct Slot {
    pub(super) kept: Kept,
    pub(super) want: Want,
    pub(super) standing: Standing,
    /// Until when it waits, monotonic.
    pub(super) until: Duration,
    /// The child that we started and whose exit was not reported yet.
    pub(super) child: Option<u32>,
    deaths: Deaths,
    /// Since when it stands so, monotonic.
    since: Duration,
    holder: Option<Running>,
    asked: Option<Asked>,
    code: Option<i32>,
    /// The settings and the ordered backend that it was started with; none if we did not start it.
    started_with: Option<(u64, Option<String>)>,
    /// How the configuration stood when it was started.
    pub(super) config: Option<Stamp>,
    /// The order that was obeyed last.
    pub(super) order: Option<Order>,
}

impl Slot {
    pub(super) fn new(kept: Kept, longest_delay: Duration, now: Duration) -> Self {
        Self {
            kept,
            want: Want::Up,
            standing: Standing::Waiting,
            until: now,
            child: None,
            deaths: Deaths::new(longest_delay),
            since: now,
            holder: None,
            asked: None,
            code: None,
            started_with: None,
            config: None,
            order: None,
        }
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known {
            name: &self.kept.name,
            agent: self.kept.agent.as_ref(),
            standing: self.standing,
            wanted: self.wanted(),
            code: self.code,
            ordered_at: self.order.as_ref().map_or(UnixMicros(0), Order::given_at),
            outdated: self.runs()
                && self.started_with.as_ref().is_some_and(|(settings, runtime)| {
                    *settings != self.kept.settings || runtime.as_deref() != self.runtime()
                }),
        }
    }

    /// Returns the backend that was ordered in place of the configured one (R3-17).
    fn runtime(&self) -> Option<&str> {
        self.order.as_ref().and_then(|order| order.runtime.as_deref())
    }

    pub(super) fn wanted(&self) -> bool {
        match self.want {
            Want::Up => true,
            Want::Down | Want::DownNow | Want::Gone => false,
        }
    }

    /// Returns whether a process is there: with its lock, or a child that has not ended.
    pub(super) fn runs(&self) -> bool {
        self.child.is_some() || matches!(self.standing, Standing::Up { .. } | Standing::Stopping)
    }

    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.wanted()
            && self.child.is_none()
            && self.standing == Standing::Waiting
            && now >= self.until
    }

    /// Takes the present order. A new one wakes a process that waits or was given up.
    pub(super) fn obey(&mut self, order: Option<&Order>, now: Duration) {
        if self.order.as_ref() == order || self.want == Want::Gone {
            return;
        }
        self.order = order.cloned();
        self.want = match order.map_or(Desired::Up, |order| order.desired) {
            Desired::Up => Want::Up,
            Desired::Down => Want::Down,
            Desired::DownNow => Want::DownNow,
        };
        if self.wanted() {
            self.try_now(now);
        }
    }

    /// Lets a process that does not run be started by the next look.
    pub(super) fn try_now(&mut self, now: Duration) {
        match self.standing {
            Standing::Waiting | Standing::Stopped | Standing::GivenUp { .. } => {
                self.deaths.forget();
                self.standing = Standing::Waiting;
                self.until = now;
            }
            Standing::Up { .. } | Standing::Starting | Standing::Stopping => {}
        }
    }

    pub(super) fn started(&mut self, pid: u32, now: Duration) {
        self.child = Some(pid);
        self.started_with = Some((self.kept.settings, self.runtime().map(str::to_owned)));
        self.set(Standing::Starting, now);
    }

    /// Takes what the lock says.
    pub(super) fn seen(&mut self, holder: Option<Holder>, now: Duration) {
        match holder {
            Some(holder) => self.is_up(&holder, now),
            None => self.is_not_up(now),
        }
    }

    fn is_up(&mut self, holder: &Holder, now: Duration) {
        self.holder = match (holder.pid, holder.start_time) {
            (Some(pid), Some(start)) => Some(Running { pid, start }),
            _ => None,
        };
        // Another one than was asked has the lock now: a new start by somebody else.
        if self.asked.is_some_and(|asked| self.holder.is_some_and(|it| it != asked.who)) {
            self.asked = None;
        }
        let standing = match self.asked {
            Some(_) => Standing::Stopping,
            None => Standing::Up { pid: holder.pid },
        };
        if self.child.is_none() && !self.runs() {
            info!(name = self.kept.name, pid = ?holder.pid, "adopted");
            self.started_with = None;
        }
        self.set(standing, now);
    }

    fn is_not_up(&mut self, now: Duration) {
        self.holder = None;
        match self.standing {
            // Our own children are told by their exit, which carries the code.
            Standing::Up { .. } | Standing::Stopping if self.child.is_none() => {
                self.ended(None, now);
            }
            Standing::Starting if now.saturating_sub(self.since) > START_BUDGET => {
                warn!(name = self.kept.name, "does not hold its lock");
                self.signal(Signal::Kill);
                self.since = now;
            }
            Standing::Waiting | Standing::GivenUp { .. } if !self.wanted() => {
                self.set(Standing::Stopped, now);
            }
            Standing::Up { .. }
            | Standing::Starting
            | Standing::Waiting
            | Standing::Stopping
            | Standing::Stopped
            | Standing::GivenUp { .. } => {}
        }
    }

    /// The process has ended, with this code if that is known.
    pub(super) fn ended(&mut self, code: Option<i32>, now: Duration) {
        let name = &self.kept.name;
        self.holder = None;
        if self.asked.take().is_some() || !self.wanted() {
            info!(name, ?code, "ended as asked");
            self.until = now;
            let next = if self.wanted() { Standing::Waiting } else { Standing::Stopped };
            return self.set(next, now);
        }
        self.code = code;
        let lived = now.saturating_sub(self.since);
        match self.deaths.ended(code, lived) {
            After::Restart(wait) => {
                info!(name, ?code, ?wait, "ended; starts again");
                self.until = now.saturating_add(wait);
                self.set(Standing::Waiting, now);
            }
            After::GiveUp(code) => {
                warn!(name, code, "ended and is not started again: see its log");
                self.set(Standing::GivenUp { code }, now);
            }
        }
    }

    /// Asks the process to end: once, then again to interrupt its turn if that is wanted. Kills it
    /// if it takes too long.
    pub(super) fn ask_to_end(&mut self, now: Duration) {
        match self.asked {
            None => {
                let Some(who) = self.who() else { return };
                self.signal(Signal::Term);
                self.asked = Some(Asked { who, at: now, hurried: false, killed: false });
                self.set(Standing::Stopping, now);
                if self.want == Want::DownNow {
                    self.hurry();
                }
            }
            Some(asked) if now.saturating_sub(asked.at) > DRAIN_BUDGET && !asked.killed => {
                warn!(name = self.kept.name, "does not end: killed");
                self.signal(Signal::Kill);
                self.asked = Some(Asked { killed: true, ..asked });
            }
            Some(asked) if self.want == Want::DownNow && !asked.hurried => self.hurry(),
            Some(_) => {}
        }
    }

    /// The second request, which means haste. Another signal than the first one: two equal ones
    /// that follow quickly could count as one.
    pub(super) fn hurry(&mut self) {
        if let Some(asked) = &mut self.asked
            && !asked.hurried
        {
            asked.hurried = true;
            self.signal(Signal::Int);
        }
    }

    /// The holder of the lock; else our child, which may not hold it yet or not any more.
    fn who(&self) -> Option<Running> {
        let child = || {
            let pid = self.child?;
            proc::start_time(pid).map(|start| Running { pid, start })
        };
        self.holder.or_else(child)
    }

    pub(super) fn signal(&self, signal: Signal) {
        let Some(Running { pid, start }) = self.who() else { return };
        if let Err(error) = proc::signal_exact(pid, start, signal) {
            warn!(name = self.kept.name, pid, %error, "cannot signal a process");
        }
    }

    #[cfg(test)]
    pub(super) fn was_killed(&self) -> bool {
        self.asked.is_some_and(|asked| asked.killed)
    }

    fn set(&mut self, standing: Standing, now: Duration) {
        if self.standing != standing {
            self.standing = standing;
            self.since = now;
        }
    }
}
