//! Looks: reads waiting messages from the store for the agent loop.
//!
//! A change notice is a hint, the table is the truth: the loop asks for a look at every notice,
//! after every turn, when a message falls due, and at the tick. One look runs at a time, as a
//! future that the loop polls; it runs beside writes that are stuck.

use std::{pin::Pin, time::Duration};

use gangline_core::{AgentName, ApprovalNumber, Epoch, MessageId, TurnId, recovery::SentLine};
use gangline_os::clock::{SharedClock, Sleep};
use gangline_store::{AllowedBefore, Made, MessageRow, OutboxRow, Store, WhisperRow};
use tracing::warn;

use crate::bus::Ruled;

/// The most messages that one look returns; the loop holds no more, and looks again when these are
/// done.
const LOOK_LIMIT: u32 = 256;

/// A message that waits, with what an earlier attempt at it said already.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) row: MessageRow,
    pub(crate) said: Vec<SentLine>,
}

/// A decision that the backend does not have yet.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) number: ApprovalNumber,
    pub(crate) turn: TurnId,
    pub(crate) request: String,
    pub(crate) ruled: Ruled,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) messages: Vec<Waiting>,
    pub(crate) decided: Vec<Decided>,
    /// Turns that somebody ended, or whose cause somebody ended.
    pub(crate) ended: Vec<TurnId>,
    /// What people allowed in earlier attempts at a message that waits.
    pub(crate) allowed: Vec<(MessageId, Vec<AllowedBefore>)>,
    /// Whispers that were not delivered; `None` when that is not known.
    pub(crate) whispers: Option<Vec<WhisperRow>>,
    /// When the next message falls due.
    due_in: Option<Duration>,
}

/// What a look reads, and where.
#[derive(Clone)]
pub(crate) struct LookDeps {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
}

/// The look that runs, and whether another one is due after it.
pub(crate) struct Looks {
    deps: LookDeps,
    wanted: bool,
    /// The last look returned as much as one look may: more waits in the store.
    full: bool,
    running: Option<Pin<Box<dyn Future<Output = Found> + Send>>>,
    due: Option<Sleep>,
}

impl Looks {
    /// The first look is due at once.
    pub(crate) fn new(deps: LookDeps) -> Self {
        Self { deps, wanted: true, full: false, running: None, due: None }
    }

    /// Asks for a look that begins from now on.
    pub(crate) fn want(&mut self) {
        self.wanted = true;
    }

    /// Says whether the loop knows all that waits: no look is under way or due, and the last one
    /// left nothing behind.
    pub(crate) fn is_settled(&self) -> bool {
        !self.wanted && self.running.is_none() && !self.full
    }

    /// Waits until a look is due and returns what it found.
    ///
    /// Cancel-safe: yes; the look that runs is a field.
    pub(crate) async fn next(&mut self) -> Found {
        loop {
            if let Some(running) = &mut self.running {
                let found = running.await;
                self.running = None;
                self.full = found.messages.len() >= LOOK_LIMIT as usize;
                let clock = &self.deps.clock;
                self.due = found.due_in.map(|wait| clock.sleep_until(clock.monotonic() + wait));
                return found;
            }
            if std::mem::take(&mut self.wanted) {
                self.running = Some(Box::pin(look(self.deps.clone())));
                continue;
            }
            match &mut self.due {
                Some(due) => due.await,
                None => std::future::pending().await,
            }
            self.due = None;
            self.wanted = true;
        }
    }
}

async fn look(deps: LookDeps) -> Found {
    let now = deps.clock.now();
    let rows = match deps.store.pending(&deps.agent, now, LOOK_LIMIT).await {
        Ok(rows) => rows,
        Err(error) => {
            warn!(%error, "cannot read the inbox");
            return Found::default();
        }
    };
    let mut found = Found::default();
    for row in rows {
        let said = if row.takes > 0 { said(&deps.store, &row).await } else { Vec::new() };
        if row.takes > 0 {
            found.allowed.extend(allowed(&deps, row.id).await);
        }
        found.messages.push(Waiting { row, said });
    }
    found.decided = decided(&deps).await;
    found.whispers = whispers(&deps).await;
    found.ended = deps.store.turns_to_end(&deps.agent).await.unwrap_or_else(|error| {
        warn!(%error, "cannot read ended causes");
        Vec::new()
    });
    let next = deps.store.next_due(&deps.agent, now).await.ok().flatten();
    found.due_in = next.map(|at| at.since(now));
    found
}

/// Returns what people allowed in earlier attempts at this message; nothing if they allowed nothing.
async fn allowed(deps: &LookDeps, message: MessageId) -> Option<(MessageId, Vec<AllowedBefore>)> {
    let rows = deps.store.allowed_before(&deps.agent, message).await;
    let rows = rows.inspect_err(|error| warn!(%error, "cannot read what was allowed before"));
    rows.ok().filter(|rows| !rows.is_empty()).map(|rows| (message, rows))
}

async fn whispers(deps: &LookDeps) -> Option<Vec<WhisperRow>> {
    let rows = deps.store.undelivered_whispers(&deps.agent).await;
    rows.inspect_err(|error| warn!(%error, "cannot read whispers")).ok()
}

async fn decided(deps: &LookDeps) -> Vec<Decided> {
    let rows = match deps.store.undelivered_decisions(&deps.agent, deps.epoch).await {
        Ok(rows) => rows,
        Err(error) => {
            warn!(%error, "cannot read decisions");
            return Vec::new();
        }
    };
    let decided = rows.into_iter().filter_map(|approval| {
        let ruled = Ruled::of(&approval)?;
        let (number, turn, request) = (approval.number, approval.turn, approval.request);
        Some(Decided { number, turn, request, ruled })
    });
    decided.collect()
}

/// Returns what earlier turns of this message sent by tool, letters, questions and reminders too: the
/// agent must not do it again.
async fn said(store: &Store, row: &MessageRow) -> Vec<SentLine> {
    let Some(trace) = store.trace(row.id).await.ok().flatten() else { return Vec::new() };
    let lines = trace.outbox.into_iter().filter(|line| line.idem_key.turn().is_some());
    let line = |line: OutboxRow| SentLine { to: line.target, text: line.body.to_string() };
    let made = |made: Made| {
        let to = if made.to.is_empty() { String::new() } else { format!(" to {}", made.to) };
        let (kind, number) = made.what.split_once(' ').unwrap_or((&made.what, ""));
        SentLine { to: kind.to_owned(), text: format!("{number}{to}: {}", made.body) }
    };
    lines.map(line).chain(trace.made.into_iter().map(made)).collect()
}

#[cfg(test)]
mod tests;
