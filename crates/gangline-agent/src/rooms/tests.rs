//! The task as its neighbours see it: a real store, real queues.

use std::time::Duration;

use gangline_core::Tier;
use gangline_os::clock::{self, UnixMicros};
use gangline_store::OpenOptions;
use tempfile::TempDir;

use super::*;

struct Fixture {
    _folder: TempDir,
    store: Store,
    told: mpsc::Sender<RoomsCommand>,
    ticks: watch::Sender<u64>,
    unread: watch::Receiver<Unread>,
    stop: CancellationToken,
    task: gangline_os::task::TaskGroup,
    ended: oneshot::Receiver<RoomsEnd>,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

impl Fixture {
    async fn open(lines: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let (told, end) = mpsc::channel(ROOMS_QUEUE);
        let (ticks, tick) = watch::channel(0);
        let (sender, unread) = watch::channel(Unread::new());
        let stop = CancellationToken::new();
        let rooms = Rooms {
            agent: ada(),
            network_id: "net".into(),
            store: store.clone(),
            redactor: Arc::new(Redactor::new(["hunter2-hunter2".to_owned()])),
            lines,
            unread: sender,
        };
        let mut task = gangline_os::task::TaskGroup::new("rooms");
        let (tell, ended) = oneshot::channel();
        let run = rooms.run(end, tick, stop.clone());
        task.spawn("rooms", async move { _ = tell.send(run.await) });
        Self { _folder: folder, store, told, ticks, unread, stop, task, ended }
    }

    async fn send(&self, told: RoomsCommand) {
        self.told.send(told).await.unwrap();
    }

    async fn line(&self, place: &str, number: i64) {
        let line = spoken(number);
        self.send(RoomsCommand::Line { place: place.parse().unwrap(), line }).await;
    }

    async fn read(&self, place: &str, limit: u32) -> ReadPage {
        let (reply, page) = oneshot::channel();
        let place = place.parse().unwrap();
        let wanted = Wanted { limit: limit as usize, order: Order::Oldest, by: By::Others };
        self.send(RoomsCommand::Read { place, wanted, reply }).await;
        page.await.unwrap()
    }

    async fn kept(&self) -> Vec<(String, String)> {
        self.store.cursors(&ada(), "net").await.unwrap()
    }
}

fn spoken(number: i64) -> Spoken {
    Spoken {
        nick: "alice".into(),
        text: format!("line {number}"),
        at: UnixMicros(1_795_296_828_000_000 + number * 1_000),
        msgid: Some(format!("id{number}")),
        cursor: format!("msgid=id{number}").parse().ok(),
        became: match number % 2 {
            0 => Became::Message(MessageId(number)),
            _ => Became::Nothing,
        },
        tier: Tier::Member,
        by: By::Others,
    }
}

/// R0-40, R1-07, R1-19, R1-27: lines of each place, with their times, and the messages among them.
#[tokio::test]
async fn each_place_is_read_by_itself() {
    let fixture = Fixture::open(500).await;
    fixture.line("#General", 1).await;
    fixture.line("#general", 2).await;
    fixture.line("alice", 3).await;
    let page = fixture.read("#GENERAL", 50).await;
    let line = |n: i64, timestamp| ChatLine {
        nick: "alice".into(),
        text: format!("line {n}"),
        timestamp,
        tier: None,
    };
    let expect = ReadPage {
        lines: vec![line(1, 1_795_296_828.001), line(2, 1_795_296_828.002)],
        messages: vec![MessageId(2)],
        remaining: 0,
        lost: 0,
    };
    assert_eq!(page, expect);
    assert_eq!(fixture.read("Alice", 50).await.lines.len(), 1);
    assert_eq!(fixture.read("#nowhere", 50).await, ReadPage::default());
}

/// Design §8: what a stranger said is read too, and marked.
#[tokio::test]
async fn a_strangers_line_is_marked() {
    let fixture = Fixture::open(500).await;
    for tier in [Tier::Stranger, Tier::Agent] {
        let line = Spoken { msgid: None, tier, ..spoken(1) };
        let place = tier.to_string().parse().unwrap();
        fixture.send(RoomsCommand::Line { place, line }).await;
    }
    assert_eq!(fixture.read("stranger", 9).await.lines[0].tier, Some(Tier::Stranger));
    assert_eq!(fixture.read("agent", 9).await.lines[0].tier, None);
}

#[tokio::test]
async fn what_was_not_read_is_counted_for_all_to_see() {
    let fixture = Fixture::open(500).await;
    for number in 1..6 {
        fixture.line("#general", number).await;
    }
    fixture.line("alice", 9).await;
    let page = fixture.read("#general", 1).await;
    assert_eq!((page.lines.len(), page.remaining), (1, 4));
    // Two of them are messages: they come by themselves.
    let counts = [("#general".to_owned(), 2), ("alice".to_owned(), 1)];
    assert_eq!(*fixture.unread.borrow(), Unread::from(counts));
    fixture.read("#general", 9).await;
    fixture.send(RoomsCommand::Leave { channel: "#general".parse().unwrap() }).await;
    assert_eq!(fixture.read("alice", 9).await.lines.len(), 1);
    assert_eq!(*fixture.unread.borrow(), Unread::new());
}

/// The store and the chat tell of a message in any order.
#[tokio::test]
async fn what_the_agent_was_given_is_not_read_whoever_tells_first() {
    let fixture = Fixture::open(500).await;
    let given = |number| {
        let place = "#general".parse().unwrap();
        RoomsCommand::Given { place, message: MessageId(number) }
    };
    fixture.send(given(2)).await;
    for number in 1..6 {
        fixture.line("#general", number).await;
    }
    fixture.send(given(4)).await;
    let page = fixture.read("#general", 50).await;
    let texts: Vec<_> = page.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!((texts, page.messages), (vec!["line 1", "line 3", "line 5"], vec![]));
    // So many are remembered, and no more.
    for number in 0..=GIVEN_MAX {
        fixture.send(given(1_000 + 2 * i64::try_from(number).unwrap())).await;
    }
    fixture.line("#general", 1_000).await;
    fixture.line("#general", 1_002).await;
    assert_eq!(fixture.read("#general", 50).await.messages, [MessageId(1_000)]);
}

/// R1-21: a channel that was left has no lines any more.
#[tokio::test]
async fn a_channel_that_was_left_is_forgotten() {
    let fixture = Fixture::open(500).await;
    fixture.line("#general", 1).await;
    fixture.send(RoomsCommand::Leave { channel: "#general".parse().unwrap() }).await;
    assert_eq!(fixture.read("#general", 9).await, ReadPage::default());
    fixture.send(RoomsCommand::Enter { channel: "#general".parse().unwrap() }).await;
    fixture.line("#general", 2).await;
    assert_eq!(fixture.read("#general", 9).await.lines.len(), 1);
}

/// C19: how far a channel was read is kept, at the tick and at the end; a nick's is not.
#[tokio::test]
async fn how_far_was_read_is_kept() {
    let fixture = Fixture::open(500).await;
    let place: Target = "#general".parse().unwrap();
    let cursor = "msgid=id0".parse().unwrap();
    fixture.send(RoomsCommand::ReadBefore { place, cursor }).await;
    for number in 1..4 {
        fixture.line("#general", number).await;
        fixture.line("alice", number).await;
    }
    fixture.read("alice", 1).await;
    fixture.ticks.send_modify(|tick| *tick += 1);
    assert_eq!(fixture.kept().await, [], "nothing was read");
    fixture.read("#general", 1).await;
    fixture.ticks.send_modify(|tick| *tick += 1);
    while fixture.kept().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.kept().await, [("read/#general".to_owned(), "msgid=id1".to_owned())]);
    fixture.read("#general", 1).await;
    fixture.stop.cancel();
    let (store, task) = (fixture.store.clone(), fixture.task);
    task.stop(Duration::from_secs(9)).await;
    let kept = store.cursors(&ada(), "net").await.unwrap();
    assert_eq!(kept, [("read/#general".to_owned(), "msgid=id2".to_owned())]);
}

/// Secrets are masked before they leave, and a page fits into a response that culture's clients
/// can read.
#[tokio::test]
async fn a_page_is_masked_and_bounded() {
    let fixture = Fixture::open(500).await;
    let place: Target = "#general".parse().unwrap();
    let line = Spoken { text: "key hunter2-hunter2".into(), ..spoken(0) };
    fixture.send(RoomsCommand::Line { place: place.clone(), line }).await;
    let page = fixture.read("#general", 9).await;
    assert_eq!(page.lines[0].text, "key [masked]");
    for number in 1..400 {
        let line = Spoken { text: "\u{1}".repeat(350), ..spoken(number) };
        fixture.send(RoomsCommand::Line { place: place.clone(), line }).await;
    }
    let mut read = 0;
    while read < 399 {
        let page = fixture.read("#general", 500).await;
        assert!(
            !page.lines.is_empty() && serde_json::to_vec(&page.lines).unwrap().len() < LINE_MAX
        );
        read += page.lines.len() as u64;
        assert_eq!(page.remaining, 399 - read);
    }
}

/// Nobody fills the memory by being many.
#[tokio::test]
async fn the_place_that_was_silent_longest_gives_way() {
    let fixture = Fixture::open(5).await;
    fixture.line("#kept", 0).await;
    for number in 0..PLACES_MAX as i64 {
        fixture.line(&format!("n{number}"), number).await;
        fixture.line("#kept", number + 1).await;
    }
    assert_eq!(fixture.read("n0", 9).await, ReadPage::default());
    assert_eq!(fixture.read("n1", 9).await.lines.len(), 1);
    assert_eq!(fixture.read("#kept", 9).await.lines.len(), 5);
    assert!(fixture.unread.borrow().len() <= PLACES_MAX);
}

/// Style, *Errors*: the loop says why it ended.
#[tokio::test]
async fn the_rooms_say_why_they_ended() {
    let fixture = Fixture::open(500).await;
    fixture.stop.cancel();
    assert_eq!(fixture.ended.await, Ok(RoomsEnd::Stopped));

    let Fixture { told, ended, task: _task, .. } = Fixture::open(500).await;
    drop(told);
    assert_eq!(ended.await, Ok(RoomsEnd::Deserted));
}
