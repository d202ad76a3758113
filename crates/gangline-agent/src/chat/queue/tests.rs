//! The queue as people see it, and messages taken back.

use gangline_store::NewMessage;

use crate::chat::tests::Room;

use super::*;

const ORI: (&str, Tier) = ("ori", Tier::Owner);
const BOB: (&str, Tier) = ("bob", Tier::Member);
const CAT: (&str, Tier) = ("cat", Tier::Member);

#[tokio::test]
async fn the_queue_is_listed_and_private_words_stay_private() {
    let mut room = Room::open().await;
    assert_eq!(room.says(ORI, "#lab", "@ada queue").await, ["#lab ori: nothing waits"]);
    room.says(BOB, "#lab", "@ada run the tests").await;
    room.says(CAT, "oak-ada", "my password is a poem").await;
    room.rig.clock.forward(std::time::Duration::from_secs(125));
    let told = room.says(ORI, "#lab", "@ada queue").await;
    assert_eq!(
        told,
        [
            "#lab ori: 2 messages wait:",
            "#lab 1. m1 from bob in #lab, 2 min ago: `@ada run the tests`",
            "#lab 2. m2 from cat, 2 min ago: in private",
        ]
    );
    let told = room.says(CAT, "oak-ada", "queue").await;
    assert_eq!(told[2], "cat 2. m2 from cat, 2 min ago: `my password is a poem`");
    for number in 0..LISTED_MAX {
        room.says(BOB, "#lab", &format!("@ada number {number}")).await;
    }
    let told = room.says(ORI, "#lab", "@ada queue").await;
    assert_eq!(told.len(), LISTED_MAX + 2);
    assert_eq!(told.last().map(String::as_str), Some("#lab and 2 more"));
}

/// A read of the store ends after a page; the queue does not.
#[tokio::test]
async fn a_queue_of_more_than_a_page_begins_with_its_oldest() {
    let mut room = Room::open().await;
    room.says(BOB, "#lab", "@ada the first").await;
    let row = room.rig.chat.deps.store.message(MessageId(1)).await.unwrap().unwrap();
    for number in 0..PAGE_MAX {
        let more = NewMessage {
            agent: row.agent.clone(),
            network_id: "local".to_owned(),
            intake_key: Some(format!("more-{number}")),
            origin: row.origin,
            principal: row.principal.clone(),
            sender: row.sender.clone(),
            target: row.target.clone(),
            body: row.body.clone(),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        };
        room.rig.chat.deps.store.accept(more).await.unwrap();
    }
    let told = room.says(ORI, "#lab", "@ada queue").await;
    assert_eq!(told[0], format!("#lab ori: {} messages wait:", PAGE_MAX + 1));
    assert!(told[1].starts_with("#lab 1. m1 from bob"), "{}", told[1]);
}

#[tokio::test]
async fn a_waiting_message_is_cancelled_by_its_author_or_an_owner() {
    let mut room = Room::open().await;
    room.says(BOB, "#lab", "@ada first").await;
    room.says(BOB, "#lab", "@ada second").await;
    room.says(CAT, "oak-ada", "third").await;
    let refused = ["#lab cat: only bob or an owner can cancel m1"];
    assert_eq!(room.says(CAT, "#lab", "@ada cancel m1").await, refused);
    let done = ["#lab bob: m1 is cancelled: I will not work on it"];
    assert_eq!(room.says(BOB, "#lab", "@ada cancel m1").await, done);
    let again = ["#lab bob: m1 cannot be cancelled: it was cancelled already"];
    assert_eq!(room.says(BOB, "#lab", "@ada cancel m1").await, again);
    let unknown = ["#lab bob: I have no message m99; `queue` lists waiting messages"];
    assert_eq!(room.says(BOB, "#lab", "@ada cancel m99").await, unknown);
    // An owner takes back what somebody else asked in private: that one is told there.
    let told = room.says(ORI, "#lab", "@ada cancel 3").await;
    let expect = [
        "#lab ori: m3 is cancelled: I will not work on it",
        "cat cat: ori cancelled your message m3",
    ];
    assert_eq!(told, expect);
    assert_eq!(room.prompts().await, ["@ada second"]);
    let mut agent_loop = Vec::new();
    while let Ok(incoming) = room.rig.agent_loop.try_recv() {
        if let Incoming::Cancelled { message } = incoming {
            agent_loop.push(message);
        }
    }
    assert_eq!(agent_loop, [MessageId(1), MessageId(3)]);
}

#[test]
fn what_cannot_be_cancelled_says_what_to_do() {
    let turn = gangline_core::TurnId { epoch: gangline_core::Epoch(1), number: 1 };
    for (found, expect) in [
        (
            Cancel::InTurn(turn),
            "m4 is in my open turn, so it cannot be cancelled: `stop` ends the turn",
        ),
        (
            Cancel::Settled(MessageState::NoReply),
            "m4 cannot be cancelled: it was read already, and needed no reply",
        ),
        (Cancel::Unknown, "I have no message m4; `queue` lists waiting messages"),
    ] {
        assert_eq!(texts::not_cancelled(MessageId(4), found), expect);
    }
}
