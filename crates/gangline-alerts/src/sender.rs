//! The sender: looks at the store for what is to be told, makes the deliveries, and sends them.
//!
//! Each target has one request under way at a time, so a slow one holds up nobody else. What gathers for
//! it meanwhile goes out as one message ([`MESSAGE_MAX`]). A delivery is claimed in the store before it is
//! sent: of two processes, one sends it. Start at [`Sender::run`].

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use gangline_config::TargetKind;
use gangline_core::{
    AgentName,
    alert::{self, AfterFailure, DeliveryState, Failure, Telling, next, text::told},
    redact::Redacted,
    time::WallMicros,
};
use gangline_os::{
    CancellationToken,
    clock::{SharedClock, UnixMicros, within},
};
use gangline_store::{AlertRow, DeliveryEnd, DeliveryRow, NewDelivery, Store, StoreError};
use tokio::sync::{Notify, watch};
use tracing::{info, warn};

use crate::{
    body::{DISCORD_MAX, body, lead},
    plan::{IRC, Plan, Where},
    post::{PostError, Request, post},
};

/// The longest time between two looks: another process may have raised an alert unheard.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The pause before a line for IRC that could not be said is tried again.
const ROOM_AGAIN: Duration = Duration::from_secs(5);
/// How often a line for IRC is tried that the server refuses.
const ROOM_ATTEMPTS: u32 = 5;

/// The most alerts that one message to a webhook holds.
pub const MESSAGE_MAX: usize = 20;
/// The most bytes of these alerts together; one longer alert goes alone. It fits into what Discord takes.
pub const MESSAGE_BYTES: usize = DISCORD_MAX;

/// What became of a line for IRC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Posted {
    /// The server, or a durable outbox, has it.
    Taken,
    /// Not now; the same line may be posted again.
    Later(String),
    /// The server refuses it.
    Refused(String),
}

/// The future of [`Room::post`].
pub type Posting = Pin<Box<dyn Future<Output = Posted> + Send>>;

/// Who posts in the alert channel on IRC.
pub trait Room: Send + Sync {
    /// Posts a line. The same row again is the same line. It takes less than [`alert::CLAIM`].
    fn post(&self, row: &DeliveryRow) -> Posting;
}

/// Whose alerts a sender tells and sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The hub's: all, but for the lines on IRC that agents post themselves.
    All,
    /// A daemon's: its own, while no hub runs; and its own lines on IRC where agents post themselves.
    Of(AgentName),
}

/// Why a sender has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderEnd {
    /// It was asked to.
    Stopped,
}

/// See the module.
pub struct Sender {
    /// The rows.
    pub store: Store,
    /// The time.
    pub clock: SharedClock,
    /// Where alerts go now; may change.
    pub plan: watch::Receiver<Arc<Plan>>,
    /// Whose alerts.
    pub whose: Whose,
    /// Names this process in a claim.
    pub by: String,
    /// Who posts on IRC; none = lines for IRC wait.
    pub room: Option<Arc<dyn Room>>,
    /// Returns whether a hub runs, which then sends.
    pub hub_runs: Box<dyn Fn() -> bool + Send + Sync>,
    /// Told when an alert was raised.
    pub raised: Arc<Notify>,
}

/// The requests under way that a stop waits for, at most for so long.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// One request to a target, which may ask for nothing more until then.
type Lane = Pin<Box<dyn Future<Output = (String, Result<Option<UnixMicros>, StoreError>)> + Send>>;

/// What is known of the targets.
#[derive(Default)]
struct Targets {
    /// Those with a request under way.
    busy: BTreeSet<String>,
    /// Those that have asked for patience, and until when.
    held: BTreeMap<String, UnixMicros>,
}

impl Targets {
    /// Returns whether something can be sent to a target.
    fn is_free(&self, target: &str, now: UnixMicros) -> bool {
        let held = self.held.get(target).is_some_and(|until| *until > now);
        !held && !self.busy.contains(target)
    }

    /// Notes the end of a request. `held` is the time until which the target wants no more requests. `None`
    /// means that the store failed: the target then waits a while too, since the store would fail again.
    fn done(&mut self, target: String, held: Option<Option<UnixMicros>>, now: UnixMicros) {
        self.busy.remove(&target);
        self.held.retain(|_, until| *until > now);
        if let Some(until) = held.unwrap_or(Some(now.plus(LOOK_EVERY))) {
            self.held.insert(target, until);
        }
    }
}

impl Sender {
    /// Sends until `stop`. Requests under way then have a few seconds; the rest is left to the next
    /// sender.
    ///
    /// Cancel-safe: no.
    pub async fn run(self, stop: CancellationToken) -> SenderEnd {
        let mut lanes: FuturesUnordered<Lane> = FuturesUnordered::new();
        let mut targets = Targets::default();
        loop {
            let mut begun = Vec::new();
            let wait = match self.look(&mut targets, &mut begun).await {
                Ok(wait) => wait,
                Err(error) => {
                    warn!(%error, "cannot look for alerts");
                    LOOK_EVERY
                }
            };
            // Also those of a look that failed half-way: they are claimed.
            lanes.extend(begun);
            let at = self.clock.monotonic() + wait;
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.raised.notified() => {}
                () = self.clock.sleep_until(at) => {}
                Some((target, done)) = lanes.next() => {
                    if let Err(error) = &done {
                        warn!(%error, target, "cannot record what became of an alert");
                    }
                    targets.done(target, done.ok(), self.clock.now());
                }
            }
        }
        let rest = async { while lanes.next().await.is_some() {} };
        if within(&self.clock, LEAVE_WITHIN, rest).await.is_none() {
            info!("requests to webhooks are left under way");
        }
        SenderEnd::Stopped
    }

    /// Tells what is to be told and begins to send what is to be sent. Returns how long to wait.
    async fn look(
        &self,
        targets: &mut Targets,
        lanes: &mut Vec<Lane>,
    ) -> Result<Duration, StoreError> {
        let plan = self.plan.borrow().clone();
        let hub_runs = (self.hub_runs)();
        let of = match &self.whose {
            Whose::All => None,
            Whose::Of(agent) if !hub_runs || plan.as_agent => Some(agent),
            Whose::Of(_) => return Ok(LOOK_EVERY),
        };
        let now = self.clock.now();
        if self.store.next_alert_due(of).await?.is_none_or(|at| at > now) {
            return self.patience(of).await;
        }
        if self.whose == Whose::All || !hub_runs {
            for row in self.store.alerts_due(of, now).await? {
                self.tell(&plan, row, now).await?;
            }
        }
        let mut due = self.store.deliveries_due(of, now).await?;
        due.retain(|row| {
            self.is_ours(&plan, hub_runs, row, now) && targets.is_free(&row.target, now)
        });
        while let Some(first) = due.first() {
            let target = first.target.clone();
            let (rows, others) = due.into_iter().partition(|row| row.target == target);
            due = others;
            targets.busy.insert(target.clone());
            let rows = as_one(&plan, rows);
            lanes.push(self.lane(Arc::clone(&plan), (target, rows)).await);
        }
        self.patience(of).await
    }

    async fn patience(&self, of: Option<&AgentName>) -> Result<Duration, StoreError> {
        let next = self.store.next_alert_due(of).await?;
        let now = self.clock.now();
        // What is due now is under way, or waits for somebody else.
        let wait = next.filter(|at| *at > now).map_or(LOOK_EVERY, |at| at.since(now));
        Ok(wait.min(LOOK_EVERY))
    }

    /// Returns whether this process sends it. The hub posts for an agent that does not post itself: its
    /// daemon may be down, or not know yet that it is to post.
    fn is_ours(&self, plan: &Plan, hub_runs: bool, row: &DeliveryRow, now: UnixMicros) -> bool {
        let by_agent = plan.as_agent && row.target == IRC;
        match &self.whose {
            Whose::All => !by_agent || now.since(row.made_at) > alert::CLAIM,
            Whose::Of(_) => by_agent || !hub_runs,
        }
    }

    async fn tell(&self, plan: &Plan, row: AlertRow, now: UnixMicros) -> Result<(), StoreError> {
        let step = next(&row.standing, WallMicros(now.0));
        let due = step.due.map(|at| UnixMicros(at.0));
        let deliveries = step.tell.map_or_else(Vec::new, |how| deliveries(plan, &row, how, now));
        self.store.tell_alert(row, deliveries, due).await.map(drop)
    }

    /// Claims deliveries to one target, or gives up claims that have lapsed, and returns what sends
    /// them as one message.
    async fn lane(&self, plan: Arc<Plan>, (target, rows): (String, Vec<DeliveryRow>)) -> Lane {
        let (mut claimed, mut trouble) = (Vec::new(), None);
        for row in rows {
            match self.claim(&plan, row).await {
                Ok(row) => claimed.extend(row),
                // What is claimed is sent all the same.
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            }
        }
        let (store, clock, room) = (self.store.clone(), self.clock.clone(), self.room.clone());
        async move {
            let sent = send(&store, &plan, (&target, claimed), (&clock, room.as_deref())).await;
            (target, trouble.map_or(sent, Err))
        }
        .boxed()
    }

    async fn claim(
        &self,
        plan: &Plan,
        row: DeliveryRow,
    ) -> Result<Option<DeliveryRow>, StoreError> {
        let Some(end) = without_sending(plan, &row, self.clock.now()) else {
            return self.store.claim_delivery(row, &self.by).await;
        };
        self.store.end_delivery(row, end).await?;
        Ok(None)
    }
}

/// Returns which of the deliveries to one target go out now, as one message. Attempts that failed
/// together are made together again, so their number stays the same.
fn as_one(plan: &Plan, rows: Vec<DeliveryRow>) -> Vec<DeliveryRow> {
    let target = rows.first().and_then(|row| plan.target(&row.target));
    let most = match target.map(|to| to.kind) {
        // A template has places for one alert, and IRC has a line for each.
        None | Some(TargetKind::Template) => 1,
        Some(_) => MESSAGE_MAX,
    };
    let attempts = rows.first().map(|row| row.attempts);
    let mut bytes = 0;
    let fits = |row: &DeliveryRow| {
        let is_first = bytes == 0;
        bytes += row.text.as_str().len() + 1;
        is_first || (bytes <= MESSAGE_BYTES && Some(row.attempts) == attempts)
    };
    rows.into_iter().take(most).take_while(fits).collect()
}

/// Sends claimed deliveries to one target, and records what became of each. Returns until when the
/// target wants nothing more.
async fn send(
    store: &Store,
    plan: &Plan,
    (target, rows): (&str, Vec<DeliveryRow>),
    (clock, room): (&SharedClock, Option<&dyn Room>),
) -> Result<Option<UnixMicros>, StoreError> {
    let Some(first) = rows.first() else { return Ok(None) };
    let posted = match (target, plan.target(target)) {
        (IRC, _) if plan.channel.is_none() => Err(gone()),
        (IRC, _) => Err(in_room(room, first, clock.now()).await),
        (_, Some(to)) => Ok(attempt(plan, to, &rows, clock).await.err()),
        (_, None) => Err(gone()),
    };
    // The same for all of them: what failed together is tried again together.
    let now = clock.now();
    let (mut held, mut recorded) = (None, Ok(()));
    if let Ok(Some(PostError { failure: Failure::Slower(Some(asked)), .. })) = &posted {
        // The target's other deliveries wait too.
        let until = now.plus((*asked).min(alert::RETRY_AFTER_MOST));
        recorded = store.hold_deliveries(target, until).await;
        held = Some(until);
    }
    for row in rows {
        let end = match &posted {
            Ok(None) => DeliveryEnd::Over(DeliveryState::Delivered, None),
            Ok(Some(error)) => after(plan, &row, error, now),
            Err(end) => end.clone(),
        };
        log(&row, &end);
        // The others are recorded all the same.
        recorded = store.end_delivery(row, end).await.map(drop).and(recorded);
    }
    recorded.map(|()| held)
}

/// Returns the deliveries of one telling.
fn deliveries(plan: &Plan, row: &AlertRow, how: Telling, now: UnixMicros) -> Vec<NewDelivery> {
    // The row is masked. It may show what somebody decides on, or what ran: nothing more of it is hidden
    // but what is known here alone.
    let mask = |text: &str| plan.redactor.sourced(text);
    let text = mask(&told(row.text.as_str(), how));
    // Of a storm the newest is told, which has its words for all.
    let room_text = row.room_text.as_ref().filter(|_| !matches!(how, Telling::More(_)));
    let in_room = room_text.map(|it| mask(&told(it.as_str(), how)));
    let repeats = matches!(how, Telling::Again(_));
    let wants = |events: &[_]| row.event.known().is_none_or(|event| events.contains(&event));
    let mut all = Vec::new();
    if plan.channel.is_some() && wants(&plan.events) {
        let text = in_room.unwrap_or_else(|| text.clone());
        all.push(NewDelivery { target: IRC.to_owned(), text, at: now, repeats });
    }
    let quiet = plan.quiet_until(row.severity, now);
    for target in plan.targets.iter().filter(|target| wants(&target.events)) {
        let at = match (quiet, how) {
            // The first telling waits already.
            (Some(_), Telling::Again(_)) => continue,
            (Some(end), Telling::First | Telling::More(_)) => end,
            (None, _) => now,
        };
        all.push(NewDelivery { target: target.name.clone(), text: text.clone(), at, repeats });
    }
    all
}

/// Returns the end of a delivery that is not sent now: its sender died, nobody needs it any more, or it
/// became due in quiet hours, such as a retry or one that its target delayed.
fn without_sending(plan: &Plan, row: &DeliveryRow, now: UnixMicros) -> Option<DeliveryEnd> {
    if row.state == DeliveryState::Claimed {
        let died = Redacted::constant("the process that sent it has ended");
        // A line on IRC has a name of its own, so it is never there twice.
        let retries = if row.target == IRC { u32::MAX } else { plan.retries };
        let state = match row.target.as_str() {
            IRC => DeliveryState::Waiting,
            _ => alert::after_death(row.attempts, retries),
        };
        return Some(match state {
            DeliveryState::Waiting => DeliveryEnd::Again { at: now, trouble: died },
            state => DeliveryEnd::Over(state, Some(died)),
        });
    }
    // What was tried on IRC was not said.
    let held = (row.attempts == 0 || row.target == IRC) && now.since(row.made_at) > alert::CLAIM;
    let closed = row.about.is_some_and(|(_, closed)| closed);
    if held && closed {
        let why = Redacted::constant("it was settled before this could be sent");
        return Some(DeliveryEnd::Over(DeliveryState::NotNeeded, Some(why)));
    }
    let at = plan.quiet_until(row.severity, now).filter(|_| row.target != IRC)?;
    let waits = || Redacted::constant("waits for the end of the quiet hours");
    Some(DeliveryEnd::Again { at, trouble: row.trouble.clone().unwrap_or_else(waits) })
}

async fn in_room(room: Option<&dyn Room>, row: &DeliveryRow, now: UnixMicros) -> DeliveryEnd {
    let posted = match room {
        Some(room) => room.post(row).await,
        None => Posted::Later("nobody is on IRC".to_owned()),
    };
    match posted {
        Posted::Taken => DeliveryEnd::Over(DeliveryState::Delivered, None),
        Posted::Refused(why) if row.attempts >= ROOM_ATTEMPTS => {
            DeliveryEnd::Over(DeliveryState::Failed, Some(plain(&why)))
        }
        Posted::Later(why) | Posted::Refused(why) => {
            DeliveryEnd::Again { at: now.plus(ROOM_AGAIN), trouble: plain(&why) }
        }
    }
}

/// Returns what becomes of a delivery whose attempt failed.
fn after(plan: &Plan, row: &DeliveryRow, error: &PostError, now: UnixMicros) -> DeliveryEnd {
    let trouble = plan.answers.redact(&error.why);
    match alert::after_failure(row.attempts, plan.retries, error.failure) {
        AfterFailure::Again(wait) => DeliveryEnd::Again { at: now.plus(wait), trouble },
        AfterFailure::GiveUp => DeliveryEnd::Over(DeliveryState::Failed, Some(trouble)),
    }
}

async fn attempt(
    plan: &Plan,
    to: &Where,
    rows: &[DeliveryRow],
    clock: &SharedClock,
) -> Result<(), PostError> {
    let (Some(first), Some(lead)) = (rows.first(), lead(rows)) else { return Ok(()) };
    let body = body(to, rows);
    let request = Request {
        url: &to.url,
        body: &body,
        secret: to.secret.as_ref(),
        event: lead.event.as_str(),
        delivery: first.id,
        allow_hosts: &plan.allow_hosts,
    };
    post(&request, clock).await
}

/// What a test of one target has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetTest {
    /// The target's name.
    pub target: String,
    /// Its scheme and host.
    pub address: String,
    /// Why it did not take the test.
    pub trouble: Option<String>,
}

/// Posts a test to every address, one after the other, and stores nothing.
pub async fn test_targets(plan: &Plan, row: &DeliveryRow, clock: &SharedClock) -> Vec<TargetTest> {
    let mut tests = Vec::new();
    for to in &plan.targets {
        let trouble = attempt(plan, to, std::slice::from_ref(row), clock).await.err();
        let trouble = trouble.map(|error| plan.answers.redact(&error.why).into_string());
        tests.push(TargetTest { target: to.name.clone(), address: to.shown(), trouble });
    }
    tests
}

fn gone() -> DeliveryEnd {
    let why = Redacted::constant("the target is not configured any more");
    DeliveryEnd::Over(DeliveryState::Failed, Some(why))
}

/// IRC's answers hold no secret of ours.
fn plain(text: &str) -> Redacted {
    gangline_core::redact::Redactor::new([]).redact(text)
}

/// R1-41: a failure is logged; nothing else waits for it.
fn log(row: &DeliveryRow, end: &DeliveryEnd) {
    let (target, alert, attempts) = (&row.target, row.alert, row.attempts);
    match end {
        DeliveryEnd::Over(DeliveryState::Delivered, _) => info!(target, alert, "an alert was sent"),
        DeliveryEnd::Over(state, why) => {
            let why = why.as_ref().map_or("", Redacted::as_str);
            warn!(target, alert, attempts, %state, why, "an alert was not delivered");
        }
        DeliveryEnd::Again { trouble, .. } => {
            info!(target, alert, attempts, why = trouble.as_str(), "an alert is sent again later");
        }
    }
}

#[cfg(test)]
mod tests {
    //! When a target may be sent something again.

    use super::*;

    #[test]
    fn a_target_is_left_alone_while_it_is_busy_or_asks_for_patience_or_the_store_fails() {
        let now = UnixMicros(1_000_000);
        let after = |held: Option<Option<UnixMicros>>| {
            let mut targets = Targets::default();
            targets.busy.insert("url".to_owned());
            assert!(!targets.is_free("url", now) && targets.is_free("other", now));
            targets.done("url".to_owned(), held, now);
            let until = |wait| targets.is_free("url", now.plus(wait));
            (targets.is_free("url", now), until(LOOK_EVERY / 2), until(LOOK_EVERY))
        };
        assert_eq!(after(Some(None)), (true, true, true));
        assert_eq!(after(Some(Some(now.plus(LOOK_EVERY / 2)))), (false, true, true));
        assert_eq!(after(None), (false, false, true), "no loop without a pause");
    }
}
