//! The server's loop: every event is made in a `select!` and handled in one place.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize},
    },
    time::Duration,
};

use gangline_core::Tier;
use gangline_os::{
    clock::UnixMicros,
    task::{HowEnded, TaskEnd, TaskGroup},
};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    ServerEnd,
    caps::Caps,
    client::{Client, Identity, Registering, SendQueue, Shared, Stage},
    client_id::ClientId,
    connection::{self, Called, FromClient, Reader},
    flight::Done,
    listeners::{Arrival, Listeners},
    outgoing::Outgoing,
    reading::Reading,
    state::State,
    store::{BoxFuture, HistoryError},
    trust::{End, Origin, Whose},
};

/// Lines that wait for the server's task, of all clients together.
const EVENTS: usize = 1024;
/// Lines that may wait for one writer; the bound in bytes is `Limits::send_queue`.
const QUEUED_LINES: usize = 16 * 1024;
/// Lines taken from the queue before the sockets are looked at again.
const LINES_A_TURN: usize = 256;

enum Event {
    Arrived(Arrival),
    Lines,
    Store(Done),
    /// What was kept was looked through for damage.
    Looked(Result<(), HistoryError>),
    Accounts,
    Access,
    /// The oldest one that has not registered has had its time.
    Late,
    Ended(TaskEnd),
    Tick,
    Stop,
}

/// Serves until stopped.
pub(super) async fn run(
    mut listeners: Listeners,
    mut state: State,
    stop: CancellationToken,
) -> ServerEnd {
    let (events, mut lines) = mpsc::channel(EVENTS);
    let mut tasks = TaskGroup::new("irc connections");
    let mut tick = tokio::time::interval(tick_every(&state));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut accounts = state.accounts.clone();
    let mut access = state.config.access.clone();
    load_topics(&mut state).await;
    load_modes(&mut state).await;
    load_markers(&mut state).await;
    state.load_marks().await;
    let store = Arc::clone(state.flights.store());
    let mut look = Some(store.look());
    let mut taken: Vec<FromClient> = Vec::new();
    loop {
        let late_in = state.late_in();
        let event = tokio::select! {
            () = stop.cancelled() => Event::Stop,
            done = state.flights.next() => Event::Store(done),
            found = ended(&mut look) => Event::Looked(found),
            _ = lines.recv_many(&mut taken, LINES_A_TURN) => Event::Lines,
            arrival = listeners.next() => Event::Arrived(arrival),
            Ok(()) = accounts.changed() => Event::Accounts,
            Ok(()) = access.changed() => Event::Access,
            () = tokio::time::sleep(late_in.unwrap_or_default()), if late_in.is_some() => Event::Late,
            Some(end) = tasks.next_end() => Event::Ended(end),
            _ = tick.tick() => Event::Tick,
        };
        match event {
            Event::Arrived(arrival) => admit(&mut state, &mut tasks, &events, arrival),
            Event::Lines => taken.drain(..).for_each(|line| hear(&mut state, line)),
            Event::Store(done) => state.finish(done),
            Event::Looked(found) => {
                look = None;
                if let Err(error) = found {
                    state.is_damaged(&error);
                }
            }
            Event::Accounts => state.evict_from_reserved_nicks(),
            Event::Access => state.apply_access(),
            Event::Late => state.close_the_late(),
            Event::Ended(end) => report(&end),
            Event::Tick => {
                state.tick();
                listeners.look();
            }
            Event::Stop => break,
        }
        state.close_doomed();
    }
    drop(listeners);
    shut_down(state, tasks).await
}

/// Waits for the end of the look; for ever once it has ended. Cancel-safe: yes.
async fn ended<T>(look: &mut Option<BoxFuture<'_, T>>) -> T {
    match look {
        Some(look) => look.await,
        None => std::future::pending().await,
    }
}

fn report(end: &TaskEnd) {
    match &end.how {
        HowEnded::Panicked(why) => tracing::error!(task = end.name, why, "a task panicked"),
        HowEnded::Finished | HowEnded::Cancelled => {}
    }
}

fn tick_every(state: &State) -> Duration {
    let limits = &state.config.limits;
    let least = limits.ping_every.min(limits.ping_timeout);
    (least / 2).clamp(Duration::from_millis(20), Duration::from_secs(15))
}

async fn load_topics(state: &mut State) {
    let store = Arc::clone(state.flights.store());
    match store.topics().await {
        Ok(topics) => {
            let rows = topics.into_iter().map(|topic| (topic.channel.folded().to_owned(), topic));
            state.topics = rows.collect();
        }
        Err(error) => tracing::error!(%error, "topics could not be read"),
    }
}

async fn load_modes(state: &mut State) {
    let store = Arc::clone(state.flights.store());
    match store.modes().await {
        Ok(modes) => {
            let rows = modes.into_iter().map(|modes| (modes.channel.folded().to_owned(), modes));
            state.modes = rows.collect();
        }
        Err(error) => tracing::error!(%error, "the modes of rooms could not be read"),
    }
}

async fn load_markers(state: &mut State) {
    let store = Arc::clone(state.flights.store());
    match store.markers().await {
        Ok(markers) => {
            let rows = markers.into_iter().map(|it| ((it.party, it.target), it.at));
            state.markers = rows.collect();
        }
        Err(error) => tracing::error!(%error, "read markers could not be read"),
    }
}

fn hear(state: &mut State, heard: FromClient) {
    match heard {
        FromClient::Line { id, framed, credit } => state.take(id, framed, credit),
        FromClient::Whose { id, whose } => state.is_whose(id, whose),
        FromClient::Low { id } => state.refill(id),
        FromClient::Gone { id, why } => state.depart(id, &why.to_string()),
    }
}

/// Takes a connection in: two subtasks and a client.
fn admit(
    state: &mut State,
    tasks: &mut TaskGroup,
    events: &mpsc::Sender<FromClient>,
    Arrival { stream, end }: Arrival,
) {
    let origin = match end {
        End::Tcp { local, peer } => state.trust.origin(local, peer),
        End::Socket { .. } => Origin::Socket,
    };
    if let Err(why) = state.room_for(origin) {
        let told = stream.try_write(format!("ERROR :{why}\r\n").as_bytes());
        tracing::debug!(told = told.is_ok(), ?origin, why, "connection refused");
        return;
    }
    let limits = &state.config.limits;
    let shared = Arc::new(Shared {
        queued: AtomicUsize::new(0),
        written: AtomicU64::new(0),
        proven: AtomicU64::new(0),
        wanted: AtomicBool::new(false),
        exempt: AtomicBool::new(false),
        credit: Arc::new(Semaphore::new(limits.in_flight.max(1))),
        closing: CancellationToken::new(),
        kill: CancellationToken::new(),
    });
    let (reading, writing) = stream.into_split();
    let (queue, queued) = mpsc::channel(QUEUED_LINES);
    let queue = SendQueue::new(queue, Arc::clone(&shared), limits.send_queue);
    let (flood, grace) = (limits.flood, limits.grace);
    let id = state.next_client();
    let (whose, asked) = ask_whose(state, tasks, (origin, end));
    let reader = Reader {
        id,
        half: reading,
        shared: Arc::clone(&shared),
        events: events.clone(),
        clock: state.config.clock.clone(),
        flood,
        grace,
        asked,
    };
    tasks.spawn(format!("read {}", id.0), async move {
        let end = reader.run().await;
        tracing::debug!(client = id.0, ?end, "a connection is no longer read");
    });
    let called = Called { id, shared, events: events.clone() };
    tasks.spawn(format!("write {}", id.0), async move {
        let end = connection::write(writing, queued, called).await;
        tracing::debug!(client = id.0, ?end, "a connection is no longer written");
    });
    let now = state.config.clock.monotonic();
    state.clients.insert(id, client(id, (origin, whose), queue, now));
    state.arrivals.push_back((id, now));
}

/// Finds whose process a connection of this user is: at once where that is quick, else by the answer to
/// wait for before it is read.
fn ask_whose(
    state: &State,
    tasks: &mut TaskGroup,
    (origin, end): (Origin, End),
) -> (Whose, Option<oneshot::Receiver<Whose>>) {
    match (origin, end) {
        // Another user's has less than an agent's in any case.
        (Origin::User(_) | Origin::Unknown(_), _) => (Whose::Nobodys, None),
        (Origin::Own | Origin::Socket, End::Socket { .. }) => (state.trust.whose(end), None),
        (Origin::Own | Origin::Socket, End::Tcp { .. }) => {
            let (tell, told) = oneshot::channel();
            let trust = Arc::clone(&state.trust);
            tasks.spawn_blocking("whose", move || {
                // The connection may be gone by now.
                let _ = tell.send(trust.whose(end));
            });
            (Whose::Unknown, Some(told))
        }
    }
}

fn client(
    id: ClientId,
    (origin, whose): (Origin, Whose),
    queue: SendQueue,
    now: Duration,
) -> Client {
    Client {
        id,
        origin,
        whose,
        queue,
        stage: Stage::Registering(Registering { negotiating: false, heard: false }),
        nick: None,
        named_at: UnixMicros(0),
        user: None,
        realname: String::new(),
        caps: Caps::default(),
        cap_version: 0,
        identity: Identity::Peer(Tier::Stranger),
        sasl: None,
        failures: 0,
        away: None,
        bot: false,
        invisible: false,
        channels: BTreeSet::new(),
        monitors: BTreeSet::new(),
        connected_at: now,
        heard_at: now,
        spoke_at: now,
        pinged_at: None,
        reading: Reading::default(),
        in_flight: 0,
        held: VecDeque::new(),
        scope: None,
        draft: None,
        paced: VecDeque::new(),
        leaving: None,
    }
}

/// Commits and delivers what is on its way, says goodbye, lets the writers finish.
async fn shut_down(mut state: State, tasks: TaskGroup) -> ServerEnd {
    let grace = state.config.limits.grace;
    state.keep_marks();
    let landing = async {
        while !state.flights.is_empty() {
            let done = state.flights.next().await;
            state.finish(done);
        }
    };
    let end = match tokio::time::timeout(grace, landing).await {
        Ok(()) => ServerEnd::Stopped,
        Err(_) => {
            tracing::error!("the store did not answer; lines on their way were not confirmed");
            ServerEnd::StoreSilent
        }
    };
    let name = state.config.name.clone();
    for client in std::mem::take(&mut state.clients).into_values() {
        let bye = Outgoing::new(&name, "ERROR", &[], Some("Server is shutting down"));
        if client.queue.push(bye.unsourced().render(client.caps, Default::default())).is_err() {
            client.queue.shared().kill.cancel();
        }
        client.queue.shared().closing.cancel();
    }
    for end in tasks.stop(grace + Duration::from_secs(1)).await {
        report(&end);
    }
    end
}

impl State {
    /// Closes those who were found wanting while an event was handled, and those found so by that.
    pub(super) fn close_doomed(&mut self) {
        while !self.doomed.is_empty() {
            for (id, why) in std::mem::take(&mut self.doomed) {
                self.close(id, &why);
            }
        }
    }

    /// Takes whose process a client is.
    fn is_whose(&mut self, id: ClientId, whose: Whose) {
        if let Some(client) = self.client_mut(id) {
            client.whose = whose;
        }
    }

    /// The peer is gone. What it asked before is still done, in order, and only then is it closed:
    /// a line that was sent counts, whether or not its sender waited.
    fn depart(&mut self, id: ClientId, why: &str) {
        let Some(client) = self.client_mut(id) else { return };
        if client.in_flight == 0 && client.held.is_empty() {
            return self.close(id, why);
        }
        client.leaving = Some(why.to_owned());
    }

    /// Counts one more connection of this user, or says why there is no room for it.
    fn room_for(&mut self, origin: Origin) -> Result<(), String> {
        let accounts = self.accounts.borrow();
        let agents = accounts.iter().filter(|account| account.tier == Tier::Agent).count();
        let counted = self.crowd.comes(origin, &self.config.limits, agents);
        if let Err(why) = &counted
            && let Some(count) = self.crowd.refused(self.config.clock.monotonic())
        {
            tracing::warn!(count, ?origin, why, "connections were refused: there are too many");
        }
        counted
    }

    /// Returns how long the oldest connection that has not registered may still take.
    fn late_in(&mut self) -> Option<Duration> {
        while let Some((id, came)) = self.arrivals.front().copied() {
            if self.client(id).is_some_and(|client| !client.is_ready()) {
                let due = came + self.config.limits.register_within;
                return Some(due.saturating_sub(self.config.clock.monotonic()));
            }
            self.arrivals.pop_front();
        }
        None
    }

    fn close_the_late(&mut self) {
        if self.late_in().is_some_and(|left| left.is_zero())
            && let Some((id, _)) = self.arrivals.pop_front()
        {
            self.doom(id, "Registration timed out");
        }
    }

    /// Pings the silent and closes the dead.
    fn tick(&mut self) {
        self.keep_marks();
        let now = self.config.clock.monotonic();
        let limits = self.config.limits.clone();
        let mut ping = Vec::new();
        let mut dead = Vec::new();
        for client in self.clients.values() {
            let silent = now.saturating_sub(client.heard_at);
            let waited = client.pinged_at.map(|at| now.saturating_sub(at));
            if waited.is_some_and(|waited| waited > limits.ping_timeout) {
                dead.push((client.id, "Ping timeout"));
            } else if client.is_ready()
                && waited.is_none()
                && (silent > limits.ping_every || client.reading.waits())
            {
                ping.push(client.id);
            }
        }
        let line = Outgoing::new("-", "PING", &[], Some(&self.config.name)).unsourced();
        for id in &ping {
            if let Some(client) = self.client_mut(*id) {
                client.pinged_at = Some(now);
            }
        }
        self.send_all(ping, &line);
        for (id, why) in dead {
            self.doom(id, why);
        }
    }
}
