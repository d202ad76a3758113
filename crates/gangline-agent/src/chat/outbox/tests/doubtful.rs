//! Lines of which a server that is not ours may have had the first attempt.

use gangline_irc::client::LinkEvent;

use super::*;

/// In `#open` of such a server, where `a1` was said and its confirmation was lost with the connection.
async fn lost() -> (Post, u64) {
    let rig = Rig::open(false).await;
    rig.chat.deps.wanted.send_replace(rooms(&["#open"]));
    let mut post = Post(rig);
    comes_back(&mut post, 1).await;
    post.queue("a", "#open", 1).await;
    assert_eq!(post.given().await, [given("a.0", &["a1"])]);
    post.hears(LinkEvent::Unconfirmed { key: "a.0".to_owned() }).await;
    let (why, retry_in) = ("lost".to_owned(), std::time::Duration::ZERO);
    post.hears(LinkEvent::Down { why, retry_in }).await;
    let request = comes_back(&mut post, 2).await;
    (post, request)
}

/// Returns the number of the request for the history of `#open`.
async fn comes_back(post: &mut Post, connection: u64) -> u64 {
    post.hears(LinkEvent::Up {
        nick: "oak-ada".to_owned(),
        caps: vec!["batch".to_owned(), "draft/chathistory".to_owned()],
        network: "net".to_owned(),
        own_server: false,
        first: connection == 1,
        connection,
    })
    .await;
    post.hears(LinkEvent::Joined { channel: "#open".parse().unwrap() }).await;
    asked(post).expect("history is asked for")
}

fn asked(post: &mut Post) -> Option<u64> {
    let request = |command| match command {
        LinkCommand::CatchUp { request, .. } => Some(request),
        _ => None,
    };
    std::iter::from_fn(|| post.0.link.try_recv().ok()).filter_map(request).last()
}

impl Post {
    async fn hears(&mut self, event: LinkEvent) {
        self.0.chat.link_event(event).await;
    }
}

fn open() -> Target {
    "#open".parse().unwrap()
}

/// F5: the lines behind it wait with it until history has shown whether it is there.
#[tokio::test]
async fn a_room_keeps_its_order_while_a_line_is_doubtful() {
    let (mut post, request) = lost().await;
    post.queue("b", "#open", 2).await;
    post.queue("c", "zoe", 1).await;
    assert_eq!(post.given().await, [given("c.0", &["c1"])], "others do not wait");
    post.hears(LinkEvent::CaughtUp { target: open(), request }).await;
    let wanted = [given("a.0", &["a1"]), given("b.0", &["b1"]), given("b.1", &["b2"])];
    assert_eq!(post.0.link.len(), wanted.len());
    assert_eq!(post.given().await, wanted);
}

/// F5: where the server tells nothing of the room, the line does not wait for ever.
#[tokio::test]
async fn a_doubtful_line_is_said_again_where_history_cannot_be_had() {
    let (mut post, mut request) = lost().await;
    for _ in 0..3 {
        assert_eq!(post.given().await, []);
        let why = "refused".to_owned();
        post.hears(LinkEvent::CatchUpFailed { target: open(), request, why }).await;
        post.0.chat.retry_catch_up();
        request = asked(&mut post).expect("it is asked for again");
    }
    assert_eq!(post.given().await, [given("a.0", &["a1"])]);
    assert!(post.rows("a").await[0].may_be_doubled);
}

/// Nobody looks at the history of a room that the agent has left: the server says what becomes of the
/// line.
#[tokio::test]
async fn a_doubtful_line_does_not_wait_for_a_room_that_was_left() {
    let (mut post, _) = lost().await;
    post.0.chat.deps.wanted.send_replace(HashSet::new());
    assert_eq!(post.given().await, [given("a.0", &["a1"])]);
}

/// The link drops what is for another connection.
#[tokio::test]
async fn a_line_names_its_connection() {
    let (mut post, _) = lost().await;
    post.queue("c", "zoe", 1).await;
    post.0.chat.send_waiting().await;
    let Ok(LinkCommand::Say(say)) = post.0.link.try_recv() else { panic!("nothing is said") };
    assert_eq!(say.connection, Some(2));
}

/// The confirmation that history brings is recorded once the store takes it.
#[tokio::test]
async fn a_line_that_history_shows_is_not_said_again_where_the_store_fails_then() {
    let mut rig = Rig::hasty(false, std::time::Duration::from_millis(100)).await;
    rig.chat.up = true;
    let mut post = Post(rig);
    post.queue("a", "zoe", 1).await;
    assert_eq!(post.given().await, [given("a.0", &["a1"])]);
    post.die();
    let lock = std::fs::File::open(post.0.folder.path().join("gangline.db.wlock")).unwrap();
    lock.lock().unwrap();
    let (key, msgid) = ("a.0".to_owned(), Some("m.1".to_owned()));
    post.hears(LinkEvent::Confirmed { key, msgid, at: None }).await;
    drop(lock);
    assert_eq!(post.given().await, []);
    while post.rows("a").await[0].state != OutboxState::Confirmed {
        post.0.chat.record_confirmed().await;
    }
}
