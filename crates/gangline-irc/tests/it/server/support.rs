//! A server on a free port, and peers that speak raw lines.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gangline_core::{ChannelName, Principal, Tier};
use gangline_irc::{
    server::{
        Server, ServerEnd,
        access::{Access, Guests},
        config::{Limits, ServerConfig},
        events::NewEvent,
        memory::MemoryStore,
        store::{
            Account, Accounts, Appended, BoxFuture, Commit, Entry, FindLine, HistoryError,
            HistoryQuery, HistoryStore, Marker, Marks, Missed, MissedQuery, NewLine, ReadMark,
            RoomRow, StoredLine, TargetRow, TargetsQuery, Topic,
        },
        trust::{End, Origin, Trust, Whose},
    },
    wire::{Message, sasl, scram::Keys},
};
use gangline_os::{CancellationToken, clock, task::TaskGroup};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpSocket,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{oneshot, watch},
};

/// Far longer than anything here takes.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// Who comes from this address is a process of our user that spark-ada started.
pub(super) const SHELL: u8 = 200;
/// Who comes from this one is of our user, and gone before it was found.
pub(super) const GONE: u8 = 201;

/// Accounts with the password `pw-<account>`. Whoever comes from 127.0.0.1 is what the test says,
/// whoever comes from 127.0.0.N is the user N ([`Room::dial_as`]), except [`SHELL`] and [`GONE`].
struct Passwords {
    accounts: watch::Receiver<Arc<Accounts>>,
    peers: Origin,
}

impl Trust for Passwords {
    fn authenticate(&self, _: Origin, account: &str, password: &str) -> Option<Principal> {
        let known = self.accounts.borrow().get(account).cloned()?;
        let right = password == format!("pw-{}", known.name);
        right.then(|| Principal { account: known.name.to_string(), tier: known.tier })
    }

    fn scram(&self, _: Origin, account: &str) -> Option<(Principal, Keys)> {
        let known = self.accounts.borrow().get(account).cloned()?;
        let (password, tier) = (format!("pw-{}", known.name), known.tier);
        let principal = Principal { account: known.name.to_string(), tier };
        (tier == Tier::Owner).then(|| (principal, Keys::derive(&password, b"salt", 16)))
    }

    fn origin(&self, _: SocketAddr, peer: SocketAddr) -> Origin {
        match last_octet(peer) {
            1 => self.peers,
            SHELL | GONE => Origin::Own,
            uid => Origin::User(uid.into()),
        }
    }

    fn whose(&self, end: End) -> Whose {
        let End::Tcp { peer, .. } = end else { return Whose::Nobodys };
        match last_octet(peer) {
            SHELL => Whose::Agents("spark-ada".parse().unwrap()),
            GONE => Whose::Unknown,
            _ => Whose::Nobodys,
        }
    }
}

fn last_octet(peer: SocketAddr) -> u8 {
    let IpAddr::V4(ip) = peer.ip() else { panic!("{peer} is not of IPv4") };
    ip.octets()[3]
}

/// A clock that stands still.
pub(super) struct Standing;

impl clock::Clock for Standing {
    fn now(&self) -> clock::UnixMicros {
        clock::UnixMicros(1_790_000_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(1_000)
    }
}

/// A store whose disk can be filled.
pub(super) struct Disk {
    store: MemoryStore,
    pub(super) full: AtomicBool,
    /// What a look through it finds.
    pub(super) damage: Option<String>,
    /// While true, appends wait.
    pub(super) slow: watch::Sender<bool>,
}

impl Disk {
    /// The times of all read markers.
    pub(super) async fn kept_markers(&self) -> Vec<String> {
        let markers = self.store.markers().await.unwrap();
        markers.into_iter().map(|marker| clock::rfc3339(marker.at)).collect()
    }

    /// The sum of all read positions.
    pub(super) async fn kept_marks(&self) -> i64 {
        let marks = self.store.marks().await.unwrap().marks;
        marks.iter().filter_map(|mark| mark.seq).sum()
    }

    pub(super) async fn kept_rooms(&self) -> Vec<RoomRow> {
        self.store.rooms().await.unwrap()
    }

    fn room(&self) -> Result<(), HistoryError> {
        let error = || HistoryError { why: "database or disk is full".to_owned() };
        if self.full.load(Ordering::SeqCst) { Err(error()) } else { Ok(()) }
    }
}

impl HistoryStore for Disk {
    fn append(
        &self,
        batch: Vec<Arc<NewLine>>,
    ) -> BoxFuture<'_, Result<Vec<Appended>, HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let mut slow = self.slow.subscribe();
        Box::pin(async move {
            slow.wait_for(|slow| !slow).await.unwrap();
            self.store.append(batch).await
        })
    }
    fn history(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<StoredLine>, HistoryError>> {
        self.store.history(query)
    }
    fn put_events(
        &self,
        events: Vec<NewEvent>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.put_events(events, when)
    }
    fn playback(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<Entry>, HistoryError>> {
        self.store.playback(query)
    }
    fn line(&self, msgid: String) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        self.store.line(msgid)
    }
    fn targets(&self, query: TargetsQuery) -> BoxFuture<'_, Result<Vec<TargetRow>, HistoryError>> {
        self.store.targets(query)
    }
    fn find(&self, query: FindLine) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        self.store.find(query)
    }
    fn missed(&self, query: MissedQuery) -> BoxFuture<'_, Result<Vec<Missed>, HistoryError>> {
        self.store.missed(query)
    }
    fn marks(&self) -> BoxFuture<'_, Result<Marks, HistoryError>> {
        self.store.marks()
    }
    fn put_marks(
        &self,
        marks: Vec<ReadMark>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.store.put_marks(marks, when)
    }
    fn accounts(&self) -> watch::Receiver<Arc<Accounts>> {
        self.store.accounts()
    }
    fn put_account(&self, account: Account) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.store.put_account(account)
    }
    fn topics(&self) -> BoxFuture<'_, Result<Vec<Topic>, HistoryError>> {
        self.store.topics()
    }
    fn put_topic(&self, topic: Topic) -> BoxFuture<'_, Result<(), HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.put_topic(topic)
    }
    fn forget_topic(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.store.forget_topic(channel)
    }
    fn look(&self) -> BoxFuture<'_, Result<(), HistoryError>> {
        let damage = self.damage.clone();
        Box::pin(std::future::ready(damage.map_or(Ok(()), |why| Err(HistoryError { why }))))
    }
    fn markers(&self) -> BoxFuture<'_, Result<Vec<Marker>, HistoryError>> {
        self.store.markers()
    }
    fn put_marker(&self, marker: Marker) -> BoxFuture<'_, Result<(), HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.put_marker(marker)
    }
    fn redact(&self, seq: i64) -> BoxFuture<'_, Result<(), HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.redact(seq)
    }
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomRow>, HistoryError>> {
        self.store.rooms()
    }
    fn put_room(&self, room: RoomRow) -> BoxFuture<'_, Result<(), HistoryError>> {
        if let Err(error) = self.room() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.put_room(room)
    }
    fn forget_room(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.store.forget_room(channel)
    }
}

/// A running server with the accounts `spark-ada`, `spark-bob` (agents) and `owner`.
pub(super) struct Room {
    pub(super) address: SocketAddr,
    pub(super) disk: Arc<Disk>,
    pub(super) access: watch::Sender<Arc<Access>>,
    stop: CancellationToken,
    tasks: TaskGroup,
    ended: oneshot::Receiver<ServerEnd>,
}

impl Room {
    pub(super) async fn open() -> Self {
        // Hundreds of one user come at once in some tests.
        let limits = Limits { flood: None, registering_each: 1000, ..Limits::default() };
        Self::with(limits, Origin::Own).await
    }

    /// A room whose guests talk.
    pub(super) async fn with(limits: Limits, peers: Origin) -> Self {
        Self::behind(Access { guests: Guests::Talk, ..Access::default() }, limits, peers).await
    }

    pub(super) async fn behind(access: Access, limits: Limits, peers: Origin) -> Self {
        Self::configured(access, peers, |config| config.limits = limits).await
    }

    pub(super) async fn configured(
        access: Access,
        peers: Origin,
        set: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let disk = Arc::new(Disk {
            store: MemoryStore::new(1000),
            full: AtomicBool::new(false),
            damage: None,
            slow: watch::Sender::new(false),
        });
        for (name, tier) in
            [("spark-ada", Tier::Agent), ("spark-bob", Tier::Agent), ("owner", Tier::Owner)]
        {
            let name = name.parse().unwrap();
            let credential_sha256 = String::new();
            let account = Account { name, tier, credential_sha256, last_nick: None };
            disk.put_account(account).await.unwrap();
        }
        Self::again(disk, access, peers, set).await
    }

    /// A room on a disk that has been used before.
    pub(super) async fn again(
        disk: Arc<Disk>,
        access: Access,
        peers: Origin,
        set: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let trust = Arc::new(Passwords { accounts: disk.accounts(), peers });
        let listen = "127.0.0.1:0".parse().unwrap();
        let mut config = ServerConfig::new(listen, "irctest", clock::system());
        let (access, looked_at) = watch::channel(Arc::new(access));
        config.access = looked_at;
        set(&mut config);
        // People's clients answer PINGs by themselves; peers of tests do not.
        let defaults = Limits::default();
        if config.limits.read_within == defaults.read_within {
            config.limits.read_within = DEADLINE;
            config.limits.hear_out = Duration::ZERO;
        }
        let server = Server::bind(config, disk.clone(), trust).unwrap();
        let address = server.address();
        let stop = CancellationToken::new();
        let mut tasks = TaskGroup::new("server under test");
        let (tell, ended) = oneshot::channel();
        let run = server.run(stop.clone());
        tasks.spawn("server", async move { _ = tell.send(run.await) });
        Self { address, disk, access, stop, tasks, ended }
    }

    /// A connection that has sent nothing.
    pub(super) async fn dial(&self) -> Peer {
        self.dial_as(1).await
    }

    /// A connection of another user, above 1, that has sent nothing.
    pub(super) async fn dial_as(&self, uid: u8) -> Peer {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, uid], 0))).unwrap();
        let (read, write) = socket.connect(self.address).await.unwrap().into_split();
        Peer { read: BufReader::new(read), write, nick: String::new(), seen: Vec::new() }
    }

    /// A plain client without capabilities.
    pub(super) async fn plain(&self, nick: &str) -> Peer {
        let mut peer = self.dial().await;
        peer.nick = nick.to_owned();
        peer.send(&format!("NICK {nick}")).await;
        peer.send(&format!("USER {nick} 0 * :{nick} the tester")).await;
        peer.until("422").await;
        peer
    }

    /// A client with everything that agents use.
    pub(super) async fn modern(&self, nick: &str) -> Peer {
        self.negotiated(nick, None).await
    }

    /// An agent or the owner, logged in by SASL.
    pub(super) async fn account(&self, nick: &str, account: &str) -> Peer {
        self.negotiated(nick, Some(account)).await
    }

    async fn negotiated(&self, nick: &str, account: Option<&str>) -> Peer {
        let mut peer = self.dial().await;
        peer.nick = nick.to_owned();
        peer.send("CAP LS 302").await;
        peer.send(&format!("NICK {nick}")).await;
        peer.send(&format!("USER {nick} 0 * :{nick}")).await;
        peer.send(
            "CAP REQ :message-tags server-time echo-message labeled-response batch account-tag \
             draft/chathistory standard-replies sasl",
        )
        .await;
        let ack = peer.until("CAP").await;
        assert_eq!(ack.at(1), Some("LS"));
        assert_eq!(peer.until("CAP").await.at(1), Some("ACK"));
        if let Some(account) = account {
            let number = peer.authenticate(account, &format!("pw-{account}")).await;
            assert_eq!(number, "903");
        }
        peer.send("CAP END").await;
        peer.until("422").await;
        peer
    }

    pub(super) async fn shut(self) {
        assert_eq!(self.stop().await, ServerEnd::Stopped);
    }

    /// Stops it; returns why it says that it ended.
    pub(super) async fn stop(self) -> ServerEnd {
        self.stop.cancel();
        for end in self.tasks.stop(DEADLINE).await {
            assert_eq!(end.how, gangline_os::task::HowEnded::Finished);
        }
        self.ended.await.unwrap()
    }
}

/// One end of a connection.
pub(super) struct Peer {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
    pub(super) nick: String,
    /// Everything received, for messages of failed tests.
    pub(super) seen: Vec<String>,
}

impl Peer {
    pub(super) async fn send(&mut self, line: &str) {
        self.raw(format!("{line}\r\n").as_bytes()).await;
    }

    /// Sends a line; returns whether the connection took it.
    pub(super) async fn try_send(&mut self, line: &str) -> bool {
        self.write.write_all(format!("{line}\r\n").as_bytes()).await.is_ok()
    }

    pub(super) async fn raw(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
    }

    /// The next line, or `None` at the end.
    pub(super) async fn line(&mut self) -> Option<Message> {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(DEADLINE, self.read.read_until(b'\n', &mut bytes)).await;
        let read = read.unwrap_or_else(|_| panic!("{} waited; saw {:#?}", self.nick, self.seen));
        match read {
            Ok(0) | Err(_) => None,
            Ok(_) => {
                self.seen.push(String::from_utf8(bytes.clone()).unwrap());
                // Half a line is none.
                bytes.ends_with(b"\n").then_some(())?;
                Some(Message::parse(&bytes).unwrap())
            }
        }
    }

    /// Reads up to a line with this command.
    pub(super) async fn until(&mut self, command: &str) -> Message {
        loop {
            match self.line().await {
                Some(message) if message.command == command => return message,
                Some(_) => {}
                None => panic!("{} was closed; saw {:#?}", self.nick, self.seen),
            }
        }
    }

    /// Reads to the end of the connection and returns the last line.
    pub(super) async fn until_closed(&mut self) -> String {
        while self.line().await.is_some() {}
        self.seen.last().cloned().unwrap_or_default()
    }

    /// Everything that the server had for us up to now.
    pub(super) async fn caught_up(&mut self) -> Vec<Message> {
        self.send("PING :are-you-there").await;
        let mut lines = Vec::new();
        loop {
            let line = self.line().await.expect("the server closed the connection");
            if line.command == "PONG" && line.at(1) == Some("are-you-there") {
                return lines;
            }
            lines.push(line);
        }
    }

    /// Returns the numeric that ends SASL PLAIN.
    pub(super) async fn authenticate(&mut self, account: &str, password: &str) -> String {
        self.send("AUTHENTICATE PLAIN").await;
        self.until("AUTHENTICATE").await;
        for chunk in sasl::plain(account, password) {
            self.send(&format!("AUTHENTICATE {chunk}")).await;
        }
        loop {
            let line = self.line().await.expect("closed during SASL");
            if matches!(&*line.command, "903" | "904" | "905" | "906") {
                return line.command;
            }
        }
    }

    pub(super) async fn join(&mut self, channel: &str) {
        self.send(&format!("JOIN {channel}")).await;
        self.until("366").await;
    }
}
