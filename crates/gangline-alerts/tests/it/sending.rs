//! The sender and the store.

use std::{sync::Arc, time::Duration};

use gangline_alerts::{IRC, MESSAGE_MAX, Plan, Posted, Room, Sender, Where, Whose};
use gangline_config::TargetKind;
use gangline_core::{
    AgentName,
    alert::{DeliveryState, quiet::QuietHours},
    hook::WebhookEvent,
    redact::Redacted,
    time::WallMicros,
};
use gangline_os::{
    CancellationToken,
    clock::{self, Clock, SharedClock, UnixMicros},
    task::TaskGroup,
};
use gangline_store::{DeliveryEnd, DeliveryRow, NewAlert, NewDelivery, OpenOptions, Store};
use gangline_testkit::{HookReply, HookServer};
use tokio::sync::{Notify, mpsc, watch};

use crate::support::{SOON, plan, target};

fn ada() -> AgentName {
    "spark-ada".parse().unwrap()
}

struct Rig {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
    store: Store,
    tasks: TaskGroup,
    stop: CancellationToken,
}

impl Rig {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = open(&path).await;
        let (tasks, stop) = (TaskGroup::new("test"), CancellationToken::new());
        Self { _folder: folder, path, store, tasks, stop }
    }

    /// Starts a sender as another process would have it, with its own handle of the store.
    async fn sender(
        &mut self,
        plan: Plan,
        whose: Whose,
        hub_runs: bool,
        room: Arc<dyn Room>,
    ) -> Arc<Notify> {
        let raised = Arc::new(Notify::new());
        let hub = whose == Whose::All;
        let sender = Sender {
            store: open(&self.path).await,
            clock: clock::system(),
            plan: watch::channel(Arc::new(plan)).1,
            whose,
            by: if hub { "hub" } else { "daemon" }.to_owned(),
            room: Some(room),
            hub_runs: Box::new(move || hub_runs),
            raised: Arc::clone(&raised),
        };
        let stop = self.stop.clone();
        self.tasks.spawn("sender", async move {
            sender.run(stop).await;
        });
        raised
    }

    async fn raise(&self, event: WebhookEvent, text: &str) {
        let text = Redacted::from_store(text.to_owned());
        let new = NewAlert::new(ada(), event, text);
        self.store.alert(new).await.unwrap();
    }

    /// Waits until no delivery is under way, and returns them, the oldest first.
    async fn settled(&self, count: usize) -> Vec<DeliveryRow> {
        self.rows_when(|rows| rows.len() == count && rows.iter().all(|row| row.ended_at.is_some()))
            .await
    }

    /// Waits until the deliveries to a target stand so, the oldest first: their states and attempts.
    async fn sees(&self, target: &str, expect: &[(DeliveryState, u32)]) {
        let of = |rows: &[DeliveryRow]| {
            let rows = rows.iter().filter(|row| row.target == target);
            rows.map(|row| (row.state, row.attempts)).eq(expect.iter().copied())
        };
        self.rows_when(of).await;
    }

    /// Returns all deliveries, the oldest first, once they are so.
    async fn rows_when(&self, are: impl Fn(&[DeliveryRow]) -> bool) -> Vec<DeliveryRow> {
        let rows = async {
            loop {
                let mut rows = self.store.alert_deliveries(None, 50).await.unwrap();
                rows.reverse();
                if are(&rows) {
                    return rows;
                }
                // sleep: another process writes them, and says so to nobody; for at most `SOON`.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(SOON, rows).await.unwrap()
    }
}

async fn open(path: &std::path::Path) -> Store {
    Store::open(OpenOptions { path: path.to_owned(), clock: clock::system() }).await.unwrap()
}

/// Tells what was posted on IRC.
struct Lines(mpsc::UnboundedSender<String>);

impl Room for Lines {
    fn post(&self, row: &DeliveryRow) -> std::pin::Pin<Box<dyn Future<Output = Posted> + Send>> {
        self.0.send(row.text.as_str().to_owned()).ok();
        Box::pin(std::future::ready(Posted::Taken))
    }
}

#[allow(clippy::disallowed_methods, reason = "a test reads all of it")]
fn lines() -> (Arc<dyn Room>, mpsc::UnboundedReceiver<String>) {
    let (tell, told) = mpsc::unbounded_channel();
    (Arc::new(Lines(tell)), told)
}

/// R1-40: each alert goes both ways; R1-41, C17: one that fails is tried once, and holds up nothing.
#[tokio::test]
async fn an_alert_goes_to_every_target_once_and_a_failure_stays_alone() {
    let good = HookServer::start(vec![HookReply::status(200)]);
    let bad = HookServer::start(vec![HookReply::status(500)]);
    let slow = HookServer::start(vec![HookReply::Silent]);
    let targets = vec![
        target("slow", &slow.url("/")),
        target("bad", &bad.url("/secret-path")),
        target("good", &good.url("/")),
    ];
    let channel = "#alerts".parse().ok();
    let (room, mut told) = lines();
    let mut rig = Rig::new().await;
    rig.raise(WebhookEvent::AgentError, "[ERROR] spark-ada crashed").await;
    rig.sender(Plan { channel, ..plan(targets, 0) }, Whose::All, true, room).await;
    assert_eq!(told.recv().await.unwrap(), "[ERROR] spark-ada crashed");
    let rows = rig.settled(4).await;
    assert_eq!(good.next(SOON).unwrap().body, r#"{"content":"[ERROR] spark-ada crashed"}"#);
    let of = |name: &str| rows.iter().find(|row| row.target == name).unwrap();
    for (name, state, trouble) in [
        (IRC, DeliveryState::Delivered, None),
        ("good", DeliveryState::Delivered, None),
        ("bad", DeliveryState::Failed, Some("500 Internal Server Error")),
        ("slow", DeliveryState::Failed, Some("no answer within 10 seconds")),
    ] {
        let row = of(name);
        let found = (row.state, row.trouble.as_ref().map(Redacted::as_str), row.attempts);
        assert_eq!(found, (state, trouble, 1), "{name}");
    }
    assert!(bad.next(SOON).is_some());
    assert_eq!(bad.next(Duration::from_millis(50)), None, "without retries it is tried once");
}

/// R1-35 beside R1-42: an escalation has its own words in the channel.
#[tokio::test]
async fn the_channel_may_have_words_of_its_own() {
    let server = HookServer::start(vec![HookReply::status(200)]);
    let channel = "#alerts".parse().ok();
    let (room, mut told) = lines();
    let mut rig = Rig::new().await;
    let new = NewAlert {
        room_text: Some(Redacted::constant("[ESCALATION] long")),
        ..NewAlert::new(
            ada(),
            WebhookEvent::AgentSpiraling,
            Redacted::constant("[SPIRALING] short"),
        )
    };
    rig.store.alert(new).await.unwrap();
    let targets = vec![target("url", &server.url("/"))];
    rig.sender(Plan { channel, ..plan(targets, 0) }, Whose::All, true, room).await;
    assert_eq!(told.recv().await.unwrap(), "[ESCALATION] long");
    rig.settled(2).await;
    assert_eq!(server.next(SOON).unwrap().body, r#"{"content":"[SPIRALING] short"}"#);
}

#[tokio::test]
async fn with_retries_a_failed_delivery_is_sent_again() {
    let bad = HookServer::start(vec![HookReply::status(503), HookReply::status(200)]);
    let (room, _told) = lines();
    let mut rig = Rig::new().await;
    rig.raise(WebhookEvent::AgentError, "x").await;
    rig.sender(plan(vec![target("url", &bad.url("/"))], 1), Whose::All, true, room).await;
    let row = rig.settled(1).await.remove(0);
    assert_eq!((row.state, row.attempts), (DeliveryState::Delivered, 2));
    let ids: Vec<_> = (0..2)
        .map(|_| bad.next(SOON).unwrap().header("x-gangline-delivery").unwrap().to_owned())
        .collect();
    assert_eq!(ids[0], ids[1], "both attempts have one number");
}

/// Quiet hours that began a minute ago and end in an hour.
fn quiet_now(now: UnixMicros) -> QuietHours {
    let minute = |at: UnixMicros| clock::local_minute(at).1;
    let (from, to) = (now.before(Duration::from_secs(60)), now.plus(Duration::from_secs(3600)));
    format!("{}-{}", minute(from), minute(to)).parse().unwrap()
}

/// R1-39: like a first attempt, a retry and a delayed delivery wait for the end of the quiet hours; an error is
/// sent at once.
#[tokio::test]
async fn what_becomes_due_in_quiet_hours_waits_for_their_end() {
    let server = HookServer::start(vec![HookReply::status(200)]);
    let mut rig = Rig::new().await;
    let now = clock::system().now();
    let at = UnixMicros(1);
    for (event, said) in [(WebhookEvent::AgentStuck, "stuck"), (WebhookEvent::AgentError, "crash")]
    {
        rig.raise(event, said).await;
        let seen = rig.store.alerts_due(None, UnixMicros(i64::MAX)).await.unwrap().pop().unwrap();
        let text = Redacted::from_store(said.to_owned());
        let new = NewDelivery { target: "url".to_owned(), text, at, repeats: false };
        rig.store.tell_alert(seen, vec![new], None).await.unwrap();
    }
    // The first attempts were made before the quiet hours, and failed.
    for row in rig.store.deliveries_due(None, now).await.unwrap() {
        let row = rig.store.claim_delivery(row, "hub").await.unwrap().unwrap();
        let end = DeliveryEnd::Again { at, trouble: Redacted::constant("503") };
        rig.store.end_delivery(row, end).await.unwrap();
    }
    let (room, _told) = lines();
    let quiet = quiet_now(now);
    let plan = Plan { quiet: Some(quiet), ..plan(vec![target("url", &server.url("/"))], 3) };
    rig.sender(plan, Whose::All, true, room).await;
    let rows = rig
        .rows_when(|rows| rows[0].next_at != Some(at) && rows[1].state == DeliveryState::Delivered)
        .await;
    let ends = quiet.end(WallMicros(now.0), &jiff::tz::TimeZone::system()).unwrap();
    let stuck = &rows[0];
    assert_eq!((stuck.state, stuck.attempts), (DeliveryState::Waiting, 1));
    assert_eq!(stuck.next_at, Some(UnixMicros(ends.0)));
    assert_eq!(stuck.trouble.as_ref().map(Redacted::as_str), Some("503"), "why it is tried again");
    assert!(server.next(SOON).unwrap().body.contains("crash"));
    assert_eq!(server.next(Duration::from_millis(50)), None);
}

/// What has gathered for a target is one message, up to its bound; a template is filled for each.
#[tokio::test]
async fn what_gathers_for_a_target_is_one_message() {
    let all = HookServer::start(vec![HookReply::status(200)]);
    let each = HookServer::start(vec![HookReply::status(200)]);
    let filled = Where {
        kind: TargetKind::Template,
        template: Some("{{text}}".to_owned()),
        ..target("each", &each.url("/"))
    };
    let mut rig = Rig::new().await;
    for (number, event) in (0..25).map(|it| (it, WebhookEvent::AgentError)) {
        let text = Redacted::from_store(format!("crash {number}"));
        let new = NewAlert::new(ada(), event, text).about(1_000 + number);
        rig.store.alert(new).await.unwrap();
    }
    let (room, _told) = lines();
    let plan = plan(vec![target("all", &all.url("/")), filled], 0);
    rig.sender(plan, Whose::All, true, room).await;
    let rows = rig.settled(50).await;
    assert!(rows.iter().all(|row| row.state == DeliveryState::Delivered), "{rows:?}");
    let bodies: Vec<_> = std::iter::from_fn(|| all.next(Duration::from_millis(50)))
        .map(|it| it.body.matches("crash").count())
        .collect();
    assert_eq!(bodies, [MESSAGE_MAX, 5]);
    assert_eq!(std::iter::from_fn(|| each.next(Duration::from_millis(50))).count(), 25);
}

/// A target that asks for patience gets nothing meanwhile, also no new alert.
#[tokio::test]
async fn a_target_that_asks_for_patience_gets_nothing_meanwhile() {
    let patience = vec![("retry-after".to_owned(), "70".to_owned())];
    let slow = HookServer::start(vec![HookReply::Status(429, patience, String::new())]);
    let other = HookServer::start(vec![HookReply::status(200)]);
    let (room, _told) = lines();
    let mut rig = Rig::new().await;
    let targets = vec![target("slow", &slow.url("/")), target("other", &other.url("/"))];
    let raised = rig.sender(plan(targets, 1), Whose::All, true, room).await;
    rig.raise(WebhookEvent::AgentComplete, "one").await;
    raised.notify_one();
    rig.sees("slow", &[(DeliveryState::Waiting, 1)]).await;
    rig.raise(WebhookEvent::AgentComplete, "two").await;
    raised.notify_one();
    // The look that has sent it here has left it there.
    rig.sees("other", &[(DeliveryState::Delivered, 1), (DeliveryState::Delivered, 1)]).await;
    rig.sees("slow", &[(DeliveryState::Waiting, 1), (DeliveryState::Waiting, 0)]).await;
    assert!(slow.next(SOON).is_some());
    assert_eq!(slow.next(Duration::from_millis(50)), None);
}

/// The hub posts for an agent that is to post itself and does not.
#[tokio::test]
async fn the_hub_posts_for_an_agent_that_does_not() {
    let channel: Option<gangline_core::name::ChannelName> = "#alerts".parse().ok();
    let (room, mut told) = lines();
    let mut rig = Rig::new().await;
    let behind: SharedClock = Arc::new(Behind(clock::system()));
    let earlier = OpenOptions { path: rig.path.clone(), clock: behind };
    let earlier = Store::open(earlier).await.unwrap();
    let new = NewAlert::new(ada(), WebhookEvent::AgentError, Redacted::constant("x"));
    earlier.alert(new).await.unwrap();
    let seen = earlier.alerts_due(None, UnixMicros(i64::MAX)).await.unwrap().remove(0);
    let text = Redacted::constant("x");
    let new = NewDelivery { target: IRC.to_owned(), text, at: UnixMicros(1), repeats: false };
    earlier.tell_alert(seen, vec![new], None).await.unwrap();
    rig.sender(Plan { channel, as_agent: true, ..plan(vec![], 0) }, Whose::All, true, room).await;
    assert_eq!(told.recv().await.unwrap(), "x");
}

/// Two senders, as while a hub begins: each delivery is sent once.
#[tokio::test]
async fn two_senders_send_nothing_twice() {
    let server = HookServer::start(vec![HookReply::status(200)]);
    let mut rig = Rig::new().await;
    let events = [
        WebhookEvent::AgentError,
        WebhookEvent::AgentComplete,
        WebhookEvent::AgentTimeout,
        WebhookEvent::AgentStuck,
    ];
    for event in events {
        rig.raise(event, event.as_str()).await;
    }
    for whose in [Whose::All, Whose::Of(ada())] {
        let (room, _told) = lines();
        rig.sender(plan(vec![target("url", &server.url("/"))], 3), whose, false, room).await;
    }
    rig.settled(4).await;
    let requests = std::iter::from_fn(|| server.next(Duration::from_millis(50)));
    let all: String = requests.map(|it| it.body).collect();
    for event in events {
        assert_eq!(all.matches(event.as_str()).count(), 1, "{event}: {all}");
    }
}

/// The daemon sends its own alerts only while no hub runs; on IRC always, where agents post themselves.
#[tokio::test]
async fn a_daemon_leaves_the_sending_to_the_hub() {
    let server = HookServer::start(vec![HookReply::status(200)]);
    let channel = "#alerts".parse().ok();
    let plan = Plan { channel, ..plan(vec![target("url", &server.url("/"))], 0) };
    let by_agent = Plan { as_agent: true, ..plan.clone() };
    let ((room, mut hub_told), (own, mut daemon_told)) = (lines(), lines());
    let mut rig = Rig::new().await;
    rig.sender(by_agent.clone(), Whose::Of(ada()), true, own).await;
    rig.raise(WebhookEvent::AgentError, "x").await;
    rig.sender(by_agent, Whose::All, true, room).await;
    assert_eq!(daemon_told.recv().await.unwrap(), "x");
    let rows = rig.settled(2).await;
    assert!(rows.iter().all(|row| row.state == DeliveryState::Delivered), "{rows:?}");
    assert!(hub_told.try_recv().is_err(), "the agent posts it itself");
    let by = |target| rows.iter().find(|row| row.target == target).unwrap().claimed_by.clone();
    assert_eq!((by(IRC).as_deref(), by("url").as_deref()), (Some("daemon"), Some("hub")));
}

/// A clock that is two minutes behind: what it claims has lapsed for everybody else.
struct Behind(SharedClock);

impl Clock for Behind {
    fn now(&self) -> UnixMicros {
        self.0.now().before(Duration::from_secs(120))
    }

    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    fn sleep_until(&self, deadline: Duration) -> clock::Sleep {
        self.0.sleep_until(deadline)
    }
}

/// Nobody knows whether a delivery has arrived whose sender was killed: it is tried again only if a
/// retry is left.
#[tokio::test]
async fn a_delivery_whose_sender_was_killed_is_sent_again_only_with_retries() {
    for (retries, state, requests) in
        [(0, DeliveryState::Unknown, 0), (1, DeliveryState::Delivered, 1)]
    {
        let server = HookServer::start(vec![HookReply::status(200)]);
        let mut rig = Rig::new().await;
        rig.raise(WebhookEvent::AgentError, "x").await;
        let behind: SharedClock = Arc::new(Behind(clock::system()));
        let dead = OpenOptions { path: rig.path.clone(), clock: behind };
        let dead = Store::open(dead).await.unwrap();
        let seen = dead.alerts_due(None, UnixMicros(i64::MAX)).await.unwrap().remove(0);
        let text = Redacted::constant("x");
        let new = NewDelivery { target: "url".to_owned(), text, at: UnixMicros(1), repeats: false };
        dead.tell_alert(seen, vec![new], None).await.unwrap();
        let waiting = dead.deliveries_due(None, UnixMicros(1)).await.unwrap().remove(0);
        dead.claim_delivery(waiting, "dead").await.unwrap().unwrap();
        let (room, _told) = lines();
        let own = plan(vec![target("url", &server.url("/"))], retries);
        rig.sender(own, Whose::All, true, room).await;
        let row = rig.settled(1).await.remove(0);
        assert_eq!((row.state, row.claimed_by.is_some()), (state, true), "{retries}");
        let count = std::iter::from_fn(|| server.next(Duration::from_millis(50))).count();
        assert_eq!(count, requests, "{retries}");
    }
}
