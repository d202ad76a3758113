//! A permission counts where its announcement stands; elsewhere the true one is shown first.

use gangline_store::ChangeState;

use super::{
    changes::asks_for,
    questions::{OWNERS, ZOES},
    *,
};

const OWNER: Who = ("owner", Tier::Owner);
const ZOE: Who = ("zoe", Tier::Member);

/// What a member asked in private: an owner who allows it in a room is shown it in private, and nothing of
/// it stands in the room.
#[tokio::test]
async fn a_yes_in_a_room_does_not_allow_what_was_announced_in_private() {
    let mut room = Room::open().await;
    room.says(ZOE, "oak-ada", "run it").await;
    let message = asked_in(&mut room, "#lab").await;
    let number = wants(&mut room, (message, "id > PROOF"), ZOES).await;
    let told = room.says(OWNER, "#lab", "@ada yes 1").await;
    assert_eq!(row(&room, number.0).await.state, ApprovalState::Open);
    let here = "#lab owner: approval 1 was not announced here, so nothing is decided: I show it to \
                you in private; say `yes 1` there if you allow it";
    assert_eq!(told[0], here);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with("owner oak-ada wants to run"), "{told:?}");
    assert!(told[1].contains("id > PROOF"), "{told:?}");
    // It is not decided in the room by saying it again, and is where it was shown.
    room.says(OWNER, "#lab", "@ada yes 1 always").await;
    assert_eq!(row(&room, number.0).await.state, ApprovalState::Open);
    room.says(OWNER, "oak-ada", "yes 1").await;
    assert_eq!(row(&room, number.0).await.state, ApprovalState::Allowed);
}

/// A refusal counts wherever it is said.
#[tokio::test]
async fn a_no_counts_anywhere() {
    for place in ["#lab", "oak-ada"] {
        let mut room = Room::open().await;
        let message = asked_in(&mut room, "#lab").await;
        let number = wants(&mut room, (message, "ls"), ZOES).await;
        let said = if place == "#lab" { "@ada no 1" } else { "no 1" };
        room.says(OWNER, place, said).await;
        assert_eq!(row(&room, number.0).await.state, ApprovalState::Denied, "{place}");
    }
}

/// What was asked in a room is shown in private to an owner who allows it there, and decided by the second
/// word.
#[tokio::test]
async fn a_yes_in_private_is_asked_for_again_behind_the_true_announcement() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    let number = wants(&mut room, (message, "ls"), ("#lab", "#lab")).await;
    let told = room.says(OWNER, "oak-ada", "yes 1").await;
    assert!(told[0].contains("read it, then say `yes 1` again"), "{told:?}");
    assert!(told[1].contains("`ls`. Say `yes 1` or `no 1 REASON` here"), "{told:?}");
    assert_eq!(row(&room, number.0).await.state, ApprovalState::Open);
    room.says(OWNER, "oak-ada", "yes 1").await;
    assert_eq!(row(&room, number.0).await.state, ApprovalState::Allowed);
}

/// The same of a change.
#[tokio::test]
async fn a_change_is_allowed_where_it_was_announced() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    let number = asks_for(&mut room, message).await;
    let state =
        async |room: &Room| room.rig.chat.deps.store.change(number).await.unwrap().unwrap().state;
    let told = room.says(OWNER, "#den", &format!("@ada yes {number}")).await;
    assert_eq!(state(&room).await, ChangeState::Requested, "{told:?}");
    assert!(told[0].contains("I show it to you in private"), "{told:?}");
    assert!(told[1].starts_with("owner approval 1: oak-ada asks for a new agent"), "{told:?}");
    room.says(OWNER, "oak-ada", &format!("yes {number}")).await;
    assert_eq!(state(&room).await, ChangeState::Approved);
    assert_eq!(OWNERS.1, "=owner");
}
