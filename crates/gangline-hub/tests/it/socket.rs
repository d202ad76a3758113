//! The chat server's own socket, with the link of a daemon at the other end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::{io::ErrorKind, path::Path, time::Duration};

use gangline_core::{Principal, Tier};
use gangline_hub::{
    credentials,
    ircd::{Ircd, IrcdError, IrcdOptions, Keep, Tuning},
};
use gangline_irc::{
    client::{Address, Link, LinkConfig, LinkEvent, Timing},
    server::{
        config::{BindError, Limits},
        store::Account,
    },
};
use gangline_os::{CancellationToken, clock, paths::irc_socket, secret::Secret, task::TaskGroup};
use tokio::{
    net::{TcpStream, UnixStream},
    sync::mpsc,
};

use crate::ircd::{DEADLINE, talk};

const ADA: &str = "spark-ada";

/// A server with the agent Ada, which looks at its socket every tenth of a second.
struct Room {
    ircd: Ircd,
    password: Secret,
}

impl Room {
    async fn open(state: &Path) -> Self {
        let password = Secret::new("a-password-of-adas");
        let ircd = Ircd::open(options(state), tuning()).await.unwrap();
        let account = Account {
            name: ADA.parse().unwrap(),
            tier: Tier::Agent,
            credential_sha256: credentials::hash(&password),
            last_nick: None,
        };
        ircd.store().put_account(account).await.unwrap();
        std::fs::create_dir_all(state.join("agents").join(ADA)).unwrap();
        Self { ircd, password }
    }
}

fn options(state: &Path) -> IrcdOptions {
    IrcdOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        name: "spark".to_owned(),
        state: state.to_owned(),
        accounts: Vec::new(),
        clock: clock::system(),
    }
}

fn tuning() -> Tuning {
    let limits = Limits { ping_every: Duration::from_millis(200), ..Limits::default() };
    Tuning { limits, keep: Keep::InMemory(100), ..Tuning::default() }
}

/// Links of daemons, and what ends them.
struct Links {
    tasks: TaskGroup,
    stop: CancellationToken,
}

impl Links {
    fn new() -> Self {
        Self { tasks: TaskGroup::new("links"), stop: CancellationToken::new() }
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.stop(DEADLINE).await;
    }
}

/// The link of a daemon, and the events that it tells.
fn link(links: &mut Links, address: Address, password: &Secret) -> mpsc::Receiver<LinkEvent> {
    let (commands, taken) = mpsc::channel(8);
    let (tell, events) = mpsc::channel(64);
    let config = LinkConfig {
        sasl: Some((ADA.to_owned(), password.clone())),
        channels: vec!["#den".parse().unwrap()],
        timing: Timing { backoff_unit: Duration::from_millis(10), ..Timing::default() },
        ..LinkConfig::new(address, ADA.parse().unwrap(), clock::system())
    };
    let stop = links.stop.clone();
    links.tasks.spawn("link", async move {
        let _held = commands;
        Link::run(config, taken, tell, stop).await;
    });
    events
}

async fn until<T>(
    events: &mut mpsc::Receiver<LinkEvent>,
    mut pick: impl FnMut(LinkEvent) -> Option<T>,
) -> T {
    let found = async {
        loop {
            if let Some(found) = pick(events.recv().await.expect("the link has ended")) {
                return found;
            }
        }
    };
    tokio::time::timeout(DEADLINE, found).await.expect("no such event in time")
}

fn came_in(event: LinkEvent) -> Option<Result<(), String>> {
    match event {
        LinkEvent::Joined { .. } => Some(Ok(())),
        LinkEvent::NickProblem { why, .. } => Some(Err(why)),
        LinkEvent::Down { why, .. } => Some(Err(why)),
        _ => None,
    }
}

fn who(event: LinkEvent) -> Option<Option<Principal>> {
    match event {
        LinkEvent::Line(line) => Some(line.principal),
        _ => None,
    }
}

/// The same server is believed by the socket and not by TCP, where anybody could listen. An agent
/// that has come by the socket is not let in by TCP any more.
#[tokio::test]
async fn a_daemon_comes_by_the_socket_and_believes_what_is_said_there_alone() {
    let folder = tempfile::tempdir().unwrap();
    let room = Room::open(folder.path()).await;
    let (address, stop) = (room.ircd.address(), CancellationToken::new());
    let mut tasks = TaskGroup::new("socket");
    let run = room.ircd.run(stop.clone());
    tasks.spawn("ircd", async move { _ = run.await });
    let mut links = Links::new();

    let tcp = Address::Tcp(address.to_string());
    let mut older = link(&mut links, tcp.clone(), &room.password);
    assert_eq!(until(&mut older, came_in).await, Ok(()), "a daemon of an older version");
    let mut ann = TcpStream::connect(address).await.unwrap();
    talk(&mut ann, "NICK ann\r\nUSER a 0 * :A\r\nJOIN #den\r\n", " 366 ").await;
    talk(&mut ann, "PRIVMSG #den :hello\r\nPING x\r\n", "PONG").await;
    assert_eq!(until(&mut older, who).await, None, "TCP proves nobody");
    links.end().await;

    let mut links = Links::new();
    let own = Address::Own(irc_socket(folder.path()));
    let mut ada = link(&mut links, own, &room.password);
    assert_eq!(until(&mut ada, came_in).await, Ok(()));
    let seen = talk(&mut ann, "WHOIS spark-ada\r\n", " 318 ").await;
    assert!(seen.contains("localhost") && seen.contains("is trusted as: agent"), "{seen}");
    talk(&mut ann, "PRIVMSG #den :hello again\r\nPING x\r\n", "PONG").await;
    let ann_is = Principal { account: "~ann".to_owned(), tier: Tier::Member };
    assert_eq!(until(&mut ada, who).await, Some(ann_is));

    let mut thief = link(&mut links, tcp, &room.password);
    let refused = until(&mut thief, came_in).await;
    assert!(refused.is_err(), "{refused:?}");
    stop.cancel();
    tasks.stop(DEADLINE).await;
    links.end().await;
    assert!(!irc_socket(folder.path()).exists(), "the socket goes with its server");
}

/// Cleaning programs remove sockets that nobody has touched for long.
#[tokio::test]
async fn a_socket_whose_file_was_removed_comes_back_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let room = Room::open(folder.path()).await;
    let path = irc_socket(folder.path());
    let stop = CancellationToken::new();
    let mut tasks = TaskGroup::new("socket");
    let run = room.ircd.run(stop.clone());
    tasks.spawn("ircd", async move { _ = run.await });
    let hello = "NICK ann\r\nUSER a 0 * :A\r\n";
    let mut before = UnixStream::connect(&path).await.unwrap();
    talk(&mut before, hello, " 376 ").await;
    std::fs::remove_file(&path).unwrap();
    let come_back = async {
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => break stream,
                // sleep: looks at a fact of the system again and again, within a deadline
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    let mut after = tokio::time::timeout(DEADLINE, come_back).await.expect("no socket in time");
    talk(&mut after, "NICK bob\r\nUSER b 0 * :B\r\n", " 376 ").await;
    talk(&mut before, "PING still-here\r\n", "still-here").await;
    stop.cancel();
    tasks.stop(DEADLINE).await;
}

/// Two servers on one state folder: the second one leaves the first one's socket alone.
#[tokio::test]
async fn a_socket_in_use_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = Room::open(folder.path()).await;
    let second = Ircd::open(options(folder.path()), tuning()).await.map(drop).unwrap_err();
    let IrcdError::Bind(BindError::Socket { path, source }) = second else {
        panic!("{second}");
    };
    assert_eq!((path, source.kind()), (irc_socket(folder.path()), ErrorKind::AddrInUse));
    assert!(irc_socket(folder.path()).exists());
    drop(first);
    Room::open(folder.path()).await;
}
