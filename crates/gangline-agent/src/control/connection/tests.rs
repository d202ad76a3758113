//! A connection as its client sees it: a real socket pair, a real store; the chat server never
//! answers here.

use std::collections::HashSet;

use gangline_api::ipc::LINE_MAX;
use gangline_core::{
    AgentName, Epoch, Target, Tier,
    agent::{Agent, AgentOptions},
    permission::{Permissions, Policy},
    reading::Bounds,
    redact::Redactor,
};
use gangline_os::{clock, fsio, paths::Paths, run_id::RunId, secret::Secret};
use gangline_runtime::Capabilities;
use gangline_store::{NewEvent, OpenOptions, Said, Store, Whose};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    sync::{Notify, oneshot},
};

use super::*;
use crate::{
    asking::Asker,
    bus::Incoming,
    carrying::Waiting,
    chat::{
        Counts,
        inquiries::{Answer, Inquiry, Question},
    },
    control::readable::Readable,
    identity::Identity,
    rooms::{Became, By, Rooms, RoomsCommand, Spoken, Unread},
    showing::Showing,
    speech::Speaker,
    tokens::{Proof, Tokens},
    tools::{About, AgentTools},
    whereabouts::Whereabouts,
    whispers::InTransit,
};

mod ends;
mod events;
mod orders;
mod tools;
mod whispers;

struct Fixture {
    folder: TempDir,
    requests: Arc<Requests>,
    agent_loop: mpsc::Receiver<Incoming>,
    inquiries: mpsc::Receiver<Inquiry>,
    members: watch::Sender<Counts>,
    committed: watch::Sender<u64>,
    /// How many whispers wait.
    whispers: watch::Sender<usize>,
    tasks: TaskGroup,
    /// Ends that are only held on to.
    _held: (watch::Sender<Option<Secret>>, mpsc::Sender<RoomsCommand>, watch::Sender<u64>),
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

impl Fixture {
    #[expect(clippy::too_many_lines, reason = "all parts of the fixture are made here")]
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        for agent in [ada(), "oak-bob".parse().unwrap()] {
            let whose = Whose { runtime: "claude", configured: "claude" };
            store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
        }
        std::fs::write(folder.path().join("owner.token"), "the owner\n").unwrap();
        let redactor = Arc::new(Redactor::default());
        let (loop_sender, agent_loop) = mpsc::channel(64);
        let (rooms, rooms_end) = mpsc::channel(64);
        let (asked, inquiries) = mpsc::channel(64);
        let members = watch::Sender::new(Counts::new());
        let (unread_sender, unread) = watch::channel(Unread::new());
        let (tick_sender, ticks) = watch::channel(0);
        let (token, agent) = watch::channel(Some(Secret::new("the agent")));
        let committed = watch::Sender::new(0);
        let channels: HashSet<_> = HashSet::from(["#general".parse().unwrap()]);
        let options = AgentOptions::default();
        let mut tasks = TaskGroup::new("test");
        let kept = Rooms {
            agent: ada(),
            network_id: "net".into(),
            store: store.clone(),
            redactor: Arc::clone(&redactor),
            lines: 500,
            unread: unread_sender,
        };
        let run = kept.run(rooms_end, ticks, CancellationToken::new());
        tasks.spawn("rooms", async move { _ = run.await });
        let speaker = Speaker {
            owners_only: Arc::default(),
            agent: ada(),
            store,
            paths: Paths {
                config_file: "/c".into(),
                state: folder.path().into(),
                runtime: folder.path().into(),
            },
            redactor: Arc::clone(&redactor),
            agent_loop: loop_sender.clone(),
            outbox: Arc::new(Notify::new()),
            committed: committed.clone(),
            max_hops: 8,
        };
        let whereabouts = Whereabouts {
            joined: watch::channel(channels.clone()).1,
            wanted: watch::channel(channels).1,
            kept_out: watch::channel(HashSet::new()).1,
            inquiries: asked,
        };
        let showing = watch::channel(Showing::new(Agent::new(options).view())).1;
        let asker = Asker {
            alerts: Default::default(),
            speaker: speaker.clone(),
            whereabouts: whereabouts.clone(),
            clock: clock::system(),
            alarm: Arc::default(),
            own: true,
            rooms: HashSet::new(),
            agent_answers: None,
            epoch: Epoch(1),
        };
        let (said, count) = watch::channel(0);
        let whispers = Waiting { count, agent_loop: loop_sender.clone() };
        let tools = AgentTools {
            server_key: "gangline",
            speaker: speaker.clone(),
            turn: watch::channel(None).1,
            asker: asker.clone(),
            whereabouts: whereabouts.clone(),
            clock: clock::system(),
            showing: showing.clone(),
            alarm: Arc::new(Notify::new()),
            about: About {
                role: gangline_config::Role::Agent,
                own_server: true,
                pronouns: "she/her".to_owned(),
                reminders: folder.path().join("reminders"),
            },
            whispers: whispers.clone(),
        };
        let requests = Requests {
            asker,
            calls: mpsc::channel(1).0,
            me: Arc::new(Identity {
                agent: ada(),
                epoch: Epoch(1),
                clock: clock::system(),
                redactor,
                everybody: Arc::new([ada()]),
            }),
            everybody: vec![ada()],
            speaker,
            context: watch::channel(None).1,
            showing,
            unread,
            whereabouts,
            members: members.subscribe(),
            agent_loop: loop_sender,
            rooms: rooms.clone(),
            committed: committed.subscribe(),
            model_owner: String::new(),
            can: Capabilities::default(),
            tokens: Tokens {
                proof: Proof::Token,
                agent,
                owner_file: folder.path().join("owner.token"),
                run_id: RunId { installation: "i".into(), agent: "oak-ada".into(), epoch: 1 },
            },
            tools,
            whispers,
            readable: Readable {
                policy: Policy::new(Permissions::Ask),
                bounds: Bounds {
                    open: vec![fsio::resolved(&folder.path().join("work"))],
                    closed: vec![fsio::resolved(&folder.path().join("closed"))],
                },
            },
            asked_to_end: CancellationToken::new(),
        };
        let _held = (token, rooms, tick_sender);
        Self {
            folder,
            requests: Arc::new(requests),
            agent_loop,
            inquiries,
            members,
            committed,
            whispers: said,
            tasks,
            _held,
        }
    }

    fn connect(&mut self) -> (Client, CancellationToken) {
        let (client, end, _ended) = self.connect_and_follow();
        (client, end)
    }

    /// The same; why the connection ended comes by the receiver.
    fn connect_and_follow(
        &mut self,
    ) -> (Client, CancellationToken, oneshot::Receiver<ConnectionEnd>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let activity = Activity { busy: false.into(), idle_since: 0.into() };
        let connection = Connection::new(theirs, Arc::clone(&self.requests), Arc::new(activity));
        let end = CancellationToken::new();
        let (tell, ended) = oneshot::channel();
        let run = connection.run(end.clone());
        self.tasks.spawn("connection", async move { _ = tell.send(run.await) });
        (Client { stream: BufReader::new(ours) }, end, ended)
    }
}

struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(60), self.stream.read_line(&mut line));
        read.await.unwrap().unwrap();
        line
    }

    /// Asks and returns the response without its id.
    async fn ask(&mut self, request: &str) -> String {
        self.send(&format!("{{\"id\":\"x\",{request}}}\n")).await;
        let line = self.line().await;
        let told = line.strip_prefix("{\"type\":\"response\",\"id\":\"x\",");
        told.unwrap_or_else(|| panic!("{line}")).trim_end().to_owned()
    }
}

const BROKEN: &str = "{\"type\":\"response\",\"id\":null,\"ok\":false,\"error\":\"the request is not a JSON object\"}\n";

/// R0-38, R0-50, R0-54: one bad line costs nothing but itself.
#[tokio::test]
async fn broken_json_is_answered_and_the_connection_goes_on() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    client.send("{\"type\":\n\n  \nnot json\n").await;
    assert_eq!((client.line().await, client.line().await), (BROKEN.to_owned(), BROKEN.to_owned()));
    let hello = client.ask(r#""type":"hello","version":1,"client":"t""#).await;
    let version = env!("CARGO_PKG_VERSION");
    let expect =
        format!(r#""ok":true,"data":{{"agent":"oak-ada","gangline":"{version}","version":1}}}}"#);
    assert_eq!(hello, expect);
    // The last line needs no line end.
    client.send("{\"type\":\"dance\",\"id\":\"z\"}").await;
    client.stream.get_mut().shutdown().await.unwrap();
    let unknown = "{\"type\":\"response\",\"id\":\"z\",\"ok\":false,\"error\":\"Unknown message \
                   type: 'dance'\"}\n";
    assert_eq!((client.line().await.as_str(), client.line().await.as_str()), (unknown, ""));
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_the_connection() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    let fits = format!("{{\"type\":\"dance\",\"id\":\"{}\"", "x".repeat(9));
    let fits = format!("{fits}{}}}\n", " ".repeat(LINE_MAX - fits.len() - 1));
    client.send(&fits).await;
    assert!(client.line().await.contains("Unknown message type"));
    client.send(&"x".repeat(LINE_MAX + 1)).await;
    let error = "{\"type\":\"response\",\"id\":null,\"ok\":false,\"error\":\"the request is longer \
                 than 65536 bytes\"}\n";
    assert_eq!((client.line().await.as_str(), client.line().await.as_str()), (error, ""));
}

/// A line that comes byte by byte has its time, whatever else is asked meanwhile.
#[tokio::test]
async fn a_line_that_is_not_completed_in_time_ends_the_connection() {
    let mut fixture = Fixture::open().await;
    let (mut slow, _end) = fixture.connect();
    let (mut quick, _end) = fixture.connect();
    slow.send("{\"type\":\"hello\"}\n{\"type\":").await;
    assert!(slow.line().await.contains("\"ok\":true"));
    assert!(quick.ask("\"type\":\"hello\"").await.contains("\"ok\":true"));
    let error = "{\"type\":\"response\",\"id\":null,\"ok\":false,\"error\":\"the line was \
         incomplete after 10 s\"}\n";
    assert_eq!((slow.line().await.as_str(), slow.line().await.as_str()), (error, ""));
    assert!(
        quick.ask("\"type\":\"hello\"").await.contains("\"ok\":true"),
        "it asks in whole lines"
    );
}

/// R1-22: how many are in a channel is known, and the chat server is asked only where it is not.
#[tokio::test]
async fn members_are_counted_without_the_server_where_that_is_possible() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    let general = || "#general".parse().unwrap();
    for count in [3, 4] {
        fixture.members.send_modify(|members| {
            members.insert(general(), count);
        });
        let answer = client.ask(r#""type":"irc_channels""#).await;
        let expect = format!(
            r##""ok":true,"data":{{"channels":["#general"],"members":{{"#general":{count}}}}}}}"##
        );
        assert_eq!(answer, expect);
    }
    assert!(fixture.inquiries.try_recv().is_err(), "nobody was asked");
    fixture.members.send_replace(Counts::new());
    client.send("{\"type\":\"irc_channels\",\"id\":\"1\"}\n").await;
    let inquiry = fixture.inquiries.recv().await.unwrap();
    assert_eq!(inquiry.question, Question::Names(general()));
    inquiry.reply.send(Ok(Answer::Names(vec!["oak-ada".into(), "bob".into()]))).unwrap();
    assert!(client.line().await.contains(r##""members":{"#general":2}"##));
}

/// So many requests are under way; then nothing more is read, and all are answered in the end.
#[tokio::test]
async fn a_connection_has_a_bounded_number_of_requests_under_way() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    for number in 0..IN_FLIGHT_MAX {
        let who = format!("{{\"type\":\"irc_who\",\"id\":\"{number}\",\"target\":\"alice\"}}\n");
        client.send(&who).await;
    }
    client.send("{\"type\":\"hello\",\"id\":\"last\"}\n").await;
    let mut asked = Vec::new();
    for _ in 0..IN_FLIGHT_MAX {
        asked.push(fixture.inquiries.recv().await.unwrap());
    }
    let early = tokio::time::timeout(Duration::from_millis(300), client.line()).await;
    assert!(early.is_err(), "answered although too much was under way: {early:?}");
    let first = asked.remove(3);
    first.reply.send(Ok(Answer::Users(vec![]))).unwrap();
    let answer = "{\"type\":\"response\",\"id\":\"3\",\"ok\":true,\"data\":{\"users\":[]}}\n";
    assert_eq!(client.line().await, answer);
    assert!(client.line().await.contains("\"id\":\"last\""));
    for inquiry in asked {
        inquiry.reply.send(Ok(Answer::Users(vec![]))).unwrap();
    }
    for _ in 1..IN_FLIGHT_MAX {
        assert!(client.line().await.contains("\"ok\":true"));
    }
}

/// What is said and read on one connection keeps its order, whatever else is under way.
#[tokio::test]
async fn what_is_said_on_a_connection_keeps_its_order() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    let mut lines = String::new();
    for number in 0..20 {
        // Whether a nick is a colleague's is looked up first, which takes longer.
        let to = if number % 2 == 0 { "oak-bob" } else { "#general" };
        lines.push_str(&format!(
            "{{\"type\":\"irc_send\",\"id\":\"{number}\",\"channel\":\"{to}\",\"message\":\"line \
             {number}\"}}\n"
        ));
    }
    client.send(&lines).await;
    for number in 0..20 {
        assert!(client.line().await.contains(&format!("\"id\":\"{number}\"")));
    }
    let rows = fixture.requests.speaker.store.outbox_pending(&ada(), 500).await.unwrap();
    let said: Vec<String> = rows.iter().map(|row| row.body.to_string()).collect();
    let expect: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    assert_eq!(said, expect);
}

/// A read right after the `ok` of a line finds it, however long the chat server takes. If the
/// server never takes the line, the read is answered all the same.
#[tokio::test]
async fn an_own_line_is_there_when_it_is_read_right_after_it_was_said() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    let send = r##""type":"irc_send","channel":"#general","message":"mine""##;
    assert!(client.ask(send).await.contains("\"ok\":true"));
    let read = r##""type":"irc_read","channel":"#general","peek":true,"own":true"##;
    let clock = fixture.requests.me.clock.clone();
    let asked = clock.monotonic();
    client.send(&format!("{{\"id\":\"x\",{read}}}\n")).await;
    for _ in 0..10_000 {
        // The request is taken meanwhile.
        tokio::task::yield_now().await;
    }
    // What the chat task does once the server has it.
    let store = fixture.requests.speaker.store.clone();
    let row = store.outbox_pending(&ada(), 9).await.unwrap().remove(0);
    let place: Target = "#general".parse().unwrap();
    let line = Spoken {
        nick: "oak-ada".into(),
        text: row.body.as_str().to_owned(),
        at: fixture.requests.me.clock.now(),
        msgid: Some("id1".into()),
        cursor: None,
        became: Became::Nothing,
        tier: Tier::Agent,
        by: By::Agent,
    };
    fixture.requests.rooms.send(RoomsCommand::Line { place, line }).await.unwrap();
    store.confirm(&[row.id], Said { msgid: Some("id1".into()), at: None }).await.unwrap();
    let page = client.line().await;
    let waited = clock.monotonic().saturating_sub(asked);
    // On a machine that is too busy for that, it has waited as long as it waits at most.
    let in_vain = waited >= Duration::from_secs(1);
    assert!(page.contains(r#""text":"mine""#) || in_vain, "{page} after {waited:?}");
    // One that nobody takes: without `own` nothing is waited for, with it not for ever.
    assert!(client.ask(send).await.contains("\"ok\":true"));
    let others = r##""type":"irc_read","channel":"#general","peek":true"##;
    assert!(client.ask(others).await.contains(r#""messages":[]"#));
    let page = client.ask(read).await;
    assert_eq!(page.matches(r#""text":"mine""#).count(), 1, "{page}");
}

/// R0-54: a request that is repeated with the same UUID says nothing twice; another id may be any
/// client's constant.
#[tokio::test]
async fn a_repeated_request_says_it_once() {
    let mut fixture = Fixture::open().await;
    let send = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"irc_send\",\"id\":\"{id}\",\"channel\":\"#general\",\"message\":\"{text}\"}}\n"
        )
    };
    let uuid = "8d3f2f64-52a1-4b2c-9d3e-0b6f3f1c2a77";
    let (mut client, _end) = fixture.connect();
    for (id, text) in [(uuid, "a"), (uuid, "a"), (uuid, "b"), ("1", "c"), ("1", "c")] {
        client.send(&send(id, text)).await;
        assert!(client.line().await.contains("\"ok\":true"));
    }
    let rows = fixture.requests.speaker.store.outbox_pending(&ada(), 500).await.unwrap();
    let said: Vec<String> = rows.iter().map(|row| row.body.to_string()).collect();
    assert_eq!(said, ["a", "b", "c", "c"]);
}

/// What is under way when the daemon ends is answered, if that is quick.
#[tokio::test]
async fn requests_under_way_are_answered_at_the_end() {
    let mut fixture = Fixture::open().await;
    let (mut client, end) = fixture.connect();
    client.send("{\"type\":\"irc_who\",\"id\":\"1\",\"target\":\"alice\"}\n").await;
    let inquiry = fixture.inquiries.recv().await.unwrap();
    end.cancel();
    tokio::task::yield_now().await;
    inquiry.reply.send(Ok(Answer::Users(vec![]))).unwrap();
    assert!(client.line().await.contains("\"id\":\"1\",\"ok\":true"));
    assert_eq!(client.line().await, "");
}
