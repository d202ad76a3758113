//! Everything the server knows, owned by its one task.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use gangline_core::{ChannelName, Nick};
use gangline_os::{clock::UnixMicros, secret::random_token};
use tokio::sync::watch;

use super::{
    access::Access,
    beat::Beat,
    caps::Caps,
    channel::Channel,
    client::{Client, Identity},
    client_id::ClientId,
    clients::Clients,
    config::ServerConfig,
    contest::Contest,
    crowd::{Crowd, Waiting},
    events::{Doing, EventKind},
    flight::Flights,
    outgoing::Outgoing,
    past::{Past, Was},
    reading::ReadMarks,
    store::{Accounts, HistoryStore, Party, RoomRow, TAGS_ID, Topic},
    throttle::Throttle,
    trouble::Trouble,
    trust::Trust,
};

/// The state of one server.
pub(super) struct State {
    pub(super) config: ServerConfig,
    /// Who may be there, as it was last applied to those who are.
    pub(super) applied: Arc<Access>,
    pub(super) trust: Arc<dyn Trust>,
    pub(super) accounts: watch::Receiver<Arc<Accounts>>,
    pub(super) clients: Clients<Client>,
    /// Folded nick → registered client.
    pub(super) nicks: HashMap<String, ClientId>,
    /// Folded nick → those who watch it (MONITOR).
    pub(super) watchers: HashMap<String, BTreeSet<ClientId>>,
    /// Folded account → its sessions.
    pub(super) sessions: HashMap<String, BTreeSet<ClientId>>,
    /// Folded channel → channel.
    pub(super) channels: BTreeMap<String, Channel>,
    /// Folded channel → topic, also of channels that are empty now.
    pub(super) topics: HashMap<String, Topic>,
    /// Folded channel → what is stored of it, also of channels that are empty now.
    pub(super) rooms: HashMap<String, RoomRow>,
    /// Folded channel → how many changes of it are on their way to the store, and what will be stored
    /// then.
    pub(super) asked_rooms: HashMap<String, (usize, RoomRow)>,
    /// Folded channel → the session without an account whose room it is.
    pub(super) founders: HashMap<String, ClientId>,
    /// Nicks that sessions wait for.
    pub(super) contests: Vec<Contest>,
    /// Who had which nick.
    pub(super) past: Past,
    /// Who has read up to when, each by the folded target.
    pub(super) markers: HashMap<(Party, String), UnixMicros>,
    pub(super) flights: Flights,
    pub(super) started_at: UnixMicros,
    /// How far people have surely read.
    pub(super) marks: ReadMarks,
    /// The place of the newest line that was shown.
    pub(super) newest: i64,
    /// Clients to be closed when the current event is done, and why.
    pub(super) doomed: Vec<(ClientId, String)>,
    pub(super) throttle: Throttle,
    pub(super) crowd: Crowd,
    pub(super) trouble: Trouble,
    /// Connections of users who have enough that have not registered: they wait to be read.
    pub(super) waiting: Waiting,
    /// Those that had not registered when last looked at, and until when they may take.
    pub(super) arrivals: BTreeSet<(Duration, ClientId)>,
    /// When people are asked whether they have read, and when it is stored what they have.
    pub(super) beat: Beat,
    /// The most that were registered at a time.
    pub(super) peak: usize,
    last_batch: u64,
    /// What stands in the id of every line that is not kept, and how many there were.
    run: String,
    last_tags: u64,
    last_at: UnixMicros,
}

impl State {
    pub(super) fn new(
        config: ServerConfig,
        store: Arc<dyn HistoryStore>,
        trust: Arc<dyn Trust>,
    ) -> Self {
        let now = config.clock.now();
        let applied = Arc::clone(&config.access.borrow());
        Self {
            accounts: store.accounts(),
            flights: Flights::new(store),
            applied,
            config,
            trust,
            clients: Clients::default(),
            nicks: HashMap::new(),
            watchers: HashMap::new(),
            sessions: HashMap::new(),
            channels: BTreeMap::new(),
            topics: HashMap::new(),
            rooms: HashMap::new(),
            asked_rooms: HashMap::new(),
            founders: HashMap::new(),
            contests: Vec::new(),
            past: Past::default(),
            markers: HashMap::new(),
            started_at: now,
            marks: ReadMarks::default(),
            newest: 0,
            doomed: Vec::new(),
            throttle: Throttle::default(),
            crowd: Crowd::default(),
            trouble: Trouble::default(),
            waiting: Waiting::default(),
            arrivals: BTreeSet::new(),
            beat: Beat::default(),
            peak: 0,
            last_batch: 0,
            run: random_token().expose().chars().take(12).collect(),
            last_tags: 0,
            last_at: now,
        }
    }

    /// Returns the time to stamp on a line: never before that of an earlier line.
    pub(super) fn now(&mut self) -> UnixMicros {
        self.last_at = self.last_at.max(self.config.clock.now());
        self.last_at
    }

    /// Returns the time at which a nick is taken: after that of every earlier line, also where the
    /// clock stands still, so that no line of an earlier bearer counts as the new one's.
    pub(super) fn named_now(&mut self) -> UnixMicros {
        self.last_at = self.now().plus(Duration::from_micros(1));
        self.last_at
    }

    /// Returns a new batch reference.
    pub(super) fn next_batch(&mut self) -> String {
        self.last_batch += 1;
        format!("b{}", self.last_batch)
    }

    /// Returns the id of what is shown and is not among the kept lines: its place is behind the newest
    /// line.
    pub(super) fn next_tags_id(&mut self) -> String {
        self.last_tags += 1;
        format!("{TAGS_ID}{}.{}-{}", self.newest, self.run, self.last_tags)
    }

    pub(super) fn client(&self, id: ClientId) -> Option<&Client> {
        self.clients.get(id)
    }

    pub(super) fn client_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        self.clients.get_mut(id)
    }

    pub(super) fn by_nick(&self, nick: &str) -> Option<&Client> {
        let id = self.nicks.get(&gangline_core::name::fold(nick))?;
        self.clients.get(*id)
    }

    pub(super) fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.get(&gangline_core::name::fold(name))
    }

    pub(super) fn channel_mut(&mut self, name: &str) -> Option<&mut Channel> {
        self.channels.get_mut(&gangline_core::name::fold(name))
    }

    /// Returns whether somebody who is not in the channel may know of it.
    pub(super) fn sees(&self, id: ClientId, channel: &Channel) -> bool {
        !channel.modes.has('s') || channel.member(id).is_some()
    }

    /// Returns who a private line to this nick would reach: an account (also while nobody is
    /// logged in to it), somebody who is here, or the account that last used the nick.
    pub(super) fn party_of(&self, nick: &Nick) -> Option<Party> {
        let accounts = self.accounts.borrow();
        let party = |name: &Nick| Party::Account(name.folded().to_owned());
        if let Some(account) = accounts.get(nick.as_str()) {
            return Some(party(&account.name));
        }
        if let Some(client) = self.by_nick(nick.as_str()) {
            return Some(client.party());
        }
        accounts.by_last_nick(nick).map(|account| party(&account.name))
    }

    /// Returns the connections that a private line to this party goes to: all sessions of an
    /// account, else whoever has the nick and is that party.
    pub(super) fn receivers(&self, party: &Party) -> Vec<ClientId> {
        match party {
            Party::Account(account) => {
                self.sessions.get(account).into_iter().flatten().copied().collect()
            }
            Party::Member(nick) | Party::Stranger(nick) => {
                let holder = self.by_nick(nick).filter(|client| client.party() == *party);
                holder.map(|client| client.id).into_iter().collect()
            }
        }
    }

    /// Returns everybody who shares a channel with the client, the client itself left out.
    pub(super) fn peers(&self, id: ClientId) -> BTreeSet<ClientId> {
        let Some(client) = self.client(id) else { return BTreeSet::new() };
        let channels = client.channels.iter().filter_map(|name| self.channels.get(name));
        let mut peers: BTreeSet<ClientId> =
            channels.flat_map(|channel| channel.members.keys().copied()).collect();
        peers.remove(&id);
        peers
    }

    /// Returns whom a change of a client is shown to: its peers, and those with `extended-monitor`
    /// who watch its nick.
    pub(super) fn audience(&self, id: ClientId) -> BTreeSet<ClientId> {
        let mut audience = self.peers(id);
        let nick = self.client(id).and_then(|client| client.nick.as_ref());
        let watching = nick.and_then(|nick| self.watchers.get(nick.folded()));
        let extended = |id: &ClientId| {
            self.client(*id).is_some_and(|client| client.caps.has(Caps::EXTENDED_MONITOR))
        };
        audience.extend(watching.into_iter().flatten().copied().filter(extended));
        audience.remove(&id);
        audience
    }

    /// Notes that a client watches a nick (folded).
    pub(super) fn watch(&mut self, id: ClientId, nick: String) {
        if let Some(client) = self.clients.get_mut(id) {
            client.monitors.insert(nick.clone());
            self.watchers.entry(nick).or_default().insert(id);
        }
    }

    /// Notes that a client no longer watches a nick (folded).
    pub(super) fn unwatch(&mut self, id: ClientId, nick: &str) {
        if let Some(client) = self.clients.get_mut(id) {
            client.monitors.remove(nick);
        }
        if let Some(watching) = self.watchers.get_mut(nick) {
            watching.remove(&id);
            if watching.is_empty() {
                self.watchers.remove(nick);
            }
        }
    }

    /// Returns the members of a channel but one.
    pub(super) fn members(&self, channel: &str, but: Option<ClientId>) -> Vec<ClientId> {
        let Some(channel) = self.channel(channel) else { return Vec::new() };
        channel.members.keys().copied().filter(|id| Some(*id) != but).collect()
    }

    /// Puts the client into an account, or takes it out.
    pub(super) fn identify(&mut self, id: ClientId, identity: Identity) {
        self.forget_session(id);
        let Some(client) = self.clients.get_mut(id) else { return };
        client.identity = identity;
        if client.is_ready() {
            self.remember_session(id);
        }
    }

    /// Makes private lines to the client's account reach it.
    pub(super) fn remember_session(&mut self, id: ClientId) {
        let Some(Party::Account(account)) = self.client(id).map(Client::party) else { return };
        self.sessions.entry(account).or_default().insert(id);
    }

    fn forget_session(&mut self, id: ClientId) {
        let Some(Party::Account(account)) = self.client(id).map(Client::party) else { return };
        if let Some(sessions) = self.sessions.get_mut(&account) {
            sessions.remove(&id);
            if sessions.is_empty() {
                self.sessions.remove(&account);
            }
        }
    }

    /// Takes a client out of a channel; an empty channel is no more.
    pub(super) fn leave(&mut self, id: ClientId, name: &ChannelName) {
        if let Some(client) = self.clients.get_mut(id) {
            client.channels.remove(name.folded());
            client.reading.leave(name.folded());
        }
        if let Some(channel) = self.channels.get_mut(name.folded()) {
            channel.members.remove(&id);
            if channel.members.is_empty() {
                self.channels.remove(name.folded());
            }
        }
    }

    /// Notes that the client no longer has its nick.
    pub(super) fn note_past(&mut self, id: ClientId) {
        let at = self.now();
        let Some(client) = self.client(id).filter(|client| client.is_ready()) else { return };
        let (user, realname) = (client.shown_user().to_owned(), client.realname.clone());
        let (nick, host) = (client.name().to_owned(), client.host());
        self.past.add(Was { nick, user, host, realname, at });
    }

    /// Returns how many operators of the server are here.
    pub(super) fn operators(&self) -> usize {
        self.clients.values().filter(|client| client.oper && client.is_ready()).count()
    }

    /// Ends a connection: its peers are told, it is told, what is queued for it may still go.
    pub(super) fn close(&mut self, id: ClientId, why: &str) {
        let Some(client) = self.client(id) else { return };
        let (source, host) = (client.source(), client.host());
        let (ready, nick) = (client.is_ready(), client.nick.clone());
        if ready {
            let account = client.account().map(str::to_owned);
            let quit = self.event(&Doing {
                kind: EventKind::Quit,
                source: &source,
                account: account.as_deref(),
                words: &[],
                text: Some(why),
            });
            self.send_all(self.peers(id), &Outgoing::happened(&quit, false));
            self.keep_event(self.rooms_of(id), quit);
        }
        let error = format!("Closing link: {host} ({why})");
        let error = Outgoing::new(&self.config.name, "ERROR", &[], Some(&error));
        self.forget_session(id);
        let watched = self.client(id).map(|client| client.monitors.clone()).unwrap_or_default();
        watched.iter().for_each(|nick| self.unwatch(id, nick));
        self.note_past(id);
        let Some(client) = self.clients.remove(id) else { return };
        self.give_up(&client);
        self.contender_left(id);
        self.crowd.leaves(client.origin, ready);
        for channel in &client.channels {
            if let Some(found) = self.channels.get_mut(channel) {
                found.members.remove(&id);
                if found.members.is_empty() {
                    self.channels.remove(channel);
                }
            }
        }
        if let Some(nick) = nick.filter(|_| ready) {
            self.nicks.remove(nick.folded());
            self.notify_monitors(&nick, None);
        }
        // A full queue has no room for this, and nobody who reads it.
        let told = client.queue.push(error.unsourced().render(client.caps, Default::default()));
        if told.is_err() {
            client.queue.shared().kill.cancel();
        }
        client.queue.shared().closing.cancel();
        tracing::debug!(client = id.0, why, "connection closed");
    }
}
