//! A scripted IRC server for one link: a test says, line by line, what it expects and answers.
#![expect(clippy::expect_used, reason = "in a test a failure is the message")]

use std::{future::Future, time::Duration};

use gangline_irc::client::{Link, LinkCommand, LinkConfig, LinkEnd, LinkEvent, Timing};
use gangline_os::{CancellationToken, clock, task::TaskGroup};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot},
};

/// How long a test waits for any single fact.
const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) async fn soon<T>(what: &str, fact: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, fact).await.unwrap_or_else(|_| panic!("no {what} in time"))
}

/// The listening side.
pub(crate) struct Peer {
    listener: TcpListener,
}

impl Peer {
    pub(crate) async fn bind() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.expect("a free port") }
    }

    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().expect("an address").to_string()
    }

    pub(crate) async fn accept(&self) -> Conversation {
        let (stream, _) = soon("connection", self.listener.accept()).await.expect("accept");
        Conversation::new(stream)
    }

    /// Accepts, and lets a link in that asks for nothing and gets no capabilities.
    pub(crate) async fn accept_plain(&self) -> Conversation {
        let mut peer = self.accept().await;
        peer.expect_hello().await;
        peer.send(":irc 001 ada :Welcome").await;
        peer.expect("PING gangline-up").await;
        peer.send(":irc PONG irc :gangline-up").await;
        peer
    }

    /// Accepts, and lets a link in that gets these capabilities.
    pub(crate) async fn accept_with(&self, caps: &str) -> Conversation {
        let mut peer = self.accept().await;
        peer.expect_hello().await;
        peer.send(&format!(":irc CAP * LS :{caps}")).await;
        peer.expect_start("CAP REQ ").await;
        peer.send(&format!(":irc CAP * ACK :{caps}")).await;
        peer.expect("CAP END").await;
        peer.send(":irc 001 ada :Welcome").await;
        peer.expect("PING gangline-up").await;
        peer.send(":irc 376 ada :End of MOTD").await;
        peer
    }
}

/// One accepted connection.
pub(crate) struct Conversation {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Conversation {
    fn new(stream: TcpStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { lines: BufReader::new(reader).lines(), writer }
    }

    /// The next line; `None` when the link has hung up.
    pub(crate) async fn line(&mut self) -> Option<String> {
        soon("line", self.lines.next_line()).await.unwrap_or(None)
    }

    pub(crate) async fn expect(&mut self, expect: &str) {
        assert_eq!(self.line().await.as_deref(), Some(expect));
    }

    pub(crate) async fn expect_start(&mut self, expect: &str) -> String {
        let line = self.line().await.unwrap_or_default();
        assert!(line.starts_with(expect), "{line:?} does not begin with {expect:?}");
        line
    }

    pub(crate) async fn expect_hello(&mut self) {
        self.expect("CAP LS 302").await;
        self.expect("NICK ada").await;
        self.expect_start("USER ").await;
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\r\n").as_bytes()).await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        soon("room to write", self.writer.write_all(bytes)).await.expect("write");
    }

    /// Whether the bytes can be written before so much time has gone by.
    pub(crate) async fn takes(&mut self, bytes: &[u8], within: Duration) -> bool {
        tokio::time::timeout(within, self.writer.write_all(bytes)).await.is_ok()
    }

    /// Closes with a RST.
    pub(crate) fn reset(self) {
        let stream = self.lines.into_inner().into_inner().reunite(self.writer).expect("one socket");
        stream.set_zero_linger().expect("linger");
    }
}

/// A link under test.
pub(crate) struct Rig {
    commands: mpsc::Sender<LinkCommand>,
    events: mpsc::Receiver<LinkEvent>,
    ended: oneshot::Receiver<LinkEnd>,
    pub(crate) stop: CancellationToken,
    _tasks: TaskGroup,
}

impl Rig {
    pub(crate) fn start(config: LinkConfig) -> Self {
        Self::start_with_room(config, 64)
    }

    /// Starts the link with room for so many events.
    pub(crate) fn start_with_room(config: LinkConfig, room: usize) -> Self {
        let (commands, commands_in) = mpsc::channel(64);
        let (events_out, events) = mpsc::channel(room);
        let (tell_end, ended) = oneshot::channel();
        let stop = CancellationToken::new();
        let token = stop.clone();
        let mut tasks = TaskGroup::new("link under test");
        tasks.spawn("link", async move {
            tell_end.send(Link::run(config, commands_in, events_out, token).await).ok();
        });
        Self { commands, events, ended, stop, _tasks: tasks }
    }

    pub(crate) async fn command(&self, command: LinkCommand) {
        soon("room for a command", self.commands.send(command)).await.expect("a link");
    }

    pub(crate) async fn event(&mut self) -> LinkEvent {
        soon("event", self.events.recv()).await.expect("a link")
    }

    pub(crate) async fn up(&mut self) -> LinkEvent {
        let event = self.event().await;
        assert!(matches!(event, LinkEvent::Up { .. }), "{event:?}");
        event
    }

    /// The next event is `Down`; returns why and the wait.
    pub(crate) async fn down(&mut self) -> (String, Duration) {
        match self.event().await {
            LinkEvent::Down { why, retry_in } => (why, retry_in),
            other => panic!("{other:?}"),
        }
    }

    /// All events until the link has ended, and how it ended.
    pub(crate) async fn rest(mut self) -> (Vec<LinkEvent>, LinkEnd) {
        let mut events = Vec::new();
        while let Some(event) = soon("end of events", self.events.recv()).await {
            events.push(event);
        }
        (events, soon("end", self.ended).await.expect("an end"))
    }

    /// The caller goes away.
    pub(crate) async fn drop_events(self) -> LinkEnd {
        drop(self.events);
        soon("end", self.ended).await.expect("an end")
    }

    /// The caller's commands end.
    pub(crate) async fn drop_commands(self) -> LinkEnd {
        drop(self.commands);
        soon("end", self.ended).await.expect("an end")
    }
}

/// A configuration whose waits are short enough for a test.
pub(crate) fn quick(address: String) -> LinkConfig {
    let millis = Duration::from_millis;
    LinkConfig {
        channels: vec!["#den".parse().expect("a channel")],
        timing: Timing {
            rejoin_after: millis(20),
            regain_every: millis(30),
            backoff_unit: millis(10),
            ..Timing::default()
        },
        ..LinkConfig::new(address, "ada".parse().expect("a nick"), clock::system())
    }
}

impl From<TcpListener> for Peer {
    fn from(listener: TcpListener) -> Self {
        Self { listener }
    }
}
