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
    crowd::Entry,
    flight::Done,
    listeners::{Arrival, Listeners},
    outbox::Outbox,
    outgoing::Outgoing,
    reading::Reading,
    state::State,
    store::{BoxFuture, HistoryError},
    trust::{End, Origin, Whose},
};

/// Lines that wait for the server's task, of all clients together.
const EVENTS: usize = 1024;
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
    /// Something's time has come.
    Due,
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
    load_rooms(&mut state).await;
    load_markers(&mut state).await;
    state.load_marks().await;
    let store = Arc::clone(state.flights.store());
    let mut look = Some(store.look());
    let mut taken: Vec<FromClient> = Vec::new();
    loop {
        let due_in = state.due_in();
        let event = tokio::select! {
            () = stop.cancelled() => Event::Stop,
            done = state.flights.next() => Event::Store(done),
            found = ended(&mut look) => Event::Looked(found),
            _ = lines.recv_many(&mut taken, LINES_A_TURN) => Event::Lines,
            arrival = listeners.next() => Event::Arrived(arrival),
            Ok(()) = accounts.changed() => Event::Accounts,
            Ok(()) = access.changed() => Event::Access,
            () = tokio::time::sleep(due_in.unwrap_or_default()), if due_in.is_some() => Event::Due,
            Some(end) = tasks.next_end() => Event::Ended(end),
            _ = tick.tick() => Event::Tick,
        };
        match event {
            Event::Arrived(arrival) => arrive(&mut state, &mut tasks, &events, arrival),
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
            Event::Due => state.do_due(),
            Event::Ended(end) => report(&end),
            Event::Tick => {
                state.tick();
                listeners.look();
            }
            Event::Stop => break,
        }
        state.close_doomed();
        while let Some((origin, arrival)) = state.next_waiting() {
            admit(&mut state, &mut tasks, &events, (origin, arrival));
        }
    }
    drop(listeners);
    hear_out(&mut state, &mut lines).await;
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

async fn load_rooms(state: &mut State) {
    let store = Arc::clone(state.flights.store());
    match store.rooms().await {
        Ok(rooms) => {
            let rows = rooms.into_iter().map(|row| (row.channel.folded().to_owned(), row));
            state.rooms = rows.collect();
        }
        Err(error) => tracing::error!(%error, "what is stored of rooms could not be read"),
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

/// Takes a connection in, has it wait, or refuses it.
fn arrive(
    state: &mut State,
    tasks: &mut TaskGroup,
    events: &mpsc::Sender<FromClient>,
    arrival: Arrival,
) {
    let origin = match arrival.end {
        End::Tcp { local, peer } => state.trust.origin(local, peer),
        End::Socket { .. } => Origin::Socket,
    };
    match state.room_for(origin) {
        Ok(Entry::Now) => admit(state, tasks, events, (origin, arrival)),
        Ok(Entry::Waits) => state.waiting.add(origin, arrival),
        Err(why) => {
            let told = arrival.stream.try_write(format!("ERROR :{why}\r\n").as_bytes());
            tracing::debug!(told = told.is_ok(), ?origin, why, "connection refused");
        }
    }
}

/// Begins with a connection: two subtasks and a client.
fn admit(
    state: &mut State,
    tasks: &mut TaskGroup,
    events: &mpsc::Sender<FromClient>,
    (origin, Arrival { stream, end }): (Origin, Arrival),
) {
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
    let queued = Arc::new(Outbox::default());
    let queue = SendQueue::new(Arc::clone(&queued), Arc::clone(&shared), limits.send_queue);
    let (flood, grace) = (limits.flood, limits.grace);
    let id = state.clients.next_id();
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
    let due = now + state.config.limits.register_within;
    state.clients.insert(id, client(id, (origin, whose), queue, now));
    state.arrivals.insert((due, id));
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
        oper: false,
        wallops: false,
        founded: BTreeSet::new(),
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

/// Asks who has read what they were shown, and waits a moment for the answers: it is not shown again
/// after the restart then. What is asked meanwhile is not done.
async fn hear_out(state: &mut State, lines: &mut mpsc::Receiver<FromClient>) {
    let (readers, wait) = (state.readers(), state.config.limits.hear_out);
    if readers.is_empty() || wait.is_zero() {
        return;
    }
    state.ping(readers);
    let heard = async {
        while !state.readers().is_empty()
            && let Some(heard) = lines.recv().await
        {
            match heard {
                FromClient::Line { id, .. } => state.has_read(id),
                FromClient::Gone { id, .. } => state.stops_reading(id),
                FromClient::Whose { id, whose } => state.is_whose(id, whose),
                FromClient::Low { .. } => {}
            }
        }
    };
    let all = tokio::time::timeout(wait, heard).await.is_ok();
    tracing::debug!(all, "asked who has read");
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
    for client in state.clients.take() {
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
    fn room_for(&mut self, origin: Origin) -> Result<Entry, String> {
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

    /// Returns a connection that has waited and may register now.
    fn next_waiting(&mut self) -> Option<(Origin, Arrival)> {
        self.waiting.next(&mut self.crowd, &self.config.limits)
    }

    /// Returns how long it is until something is due.
    fn due_in(&mut self) -> Option<Duration> {
        let others = self.contest_in().into_iter().chain(self.beat_in());
        self.late_in().into_iter().chain(others).min()
    }

    fn do_due(&mut self) {
        self.close_the_late();
        self.end_contests();
        self.beat();
    }

    /// Returns how long the first connection that has not registered may still take. Each line gives
    /// it more time, up to a limit.
    fn late_in(&mut self) -> Option<Duration> {
        let limits = &self.config.limits;
        while let Some((noted, id)) = self.arrivals.first().copied() {
            let client = self.clients.get(id).filter(|client| !client.is_ready());
            let due = client.map(|client| {
                let silent = client.heard_at + limits.register_within;
                silent.min(client.connected_at + limits.register_at_most)
            });
            match due {
                Some(due) if due == noted => {
                    return Some(due.saturating_sub(self.config.clock.monotonic()));
                }
                due => {
                    self.arrivals.pop_first();
                    self.arrivals.extend(due.map(|due| (due, id)));
                }
            }
        }
        None
    }

    fn close_the_late(&mut self) {
        if self.late_in().is_some_and(|left| left.is_zero())
            && let Some((_, id)) = self.arrivals.pop_first()
        {
            self.doom(id, "Registration timed out");
        }
    }

    /// A client that is gone will not say that it has read.
    fn stops_reading(&mut self, id: ClientId) {
        if let Some(client) = self.client_mut(id) {
            client.reading = Reading::default();
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
            } else if client.is_ready() && waited.is_none() && silent > limits.ping_every {
                ping.push(client.id);
            }
        }
        self.ping(ping);
        for (id, why) in dead {
            self.doom(id, why);
        }
    }
}
