//! A command that does not parse: for owners, in private, and never by a bare word.

use super::*;

const COMMAND: &str = "echo \"--token=abcdef123456";

#[tokio::test]
async fn what_does_not_parse_is_shown_to_owners_in_private_and_needs_its_number() {
    let mut room = Room::open().await;
    room.accounts.push("owner");
    let message = asked_in(&mut room, "#lab").await;
    wants_by(&mut room, (message, COMMAND), (("#lab", "#lab"), Extent::Cut)).await;
    // The owner is in the room too, and still gets it in private at once.
    let told = room.reminds(Duration::ZERO).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("owner ") && told[0].contains(COMMAND), "{told:?}");
    for (who, place, text, sees) in [
        (ORI, "#lab", "@ada show 1", false),
        (BOB, "#lab", "@ada show 1", false),
        (BOB, "oak-ada", "show 1", false),
        (ORI, "oak-ada", "show 1", true),
    ] {
        let told = room.says(who, place, text).await;
        assert_eq!(told.iter().any(|line| line.contains(COMMAND)), sees, "{who:?}: {told:?}");
    }
    room.rig.clock.forward(Duration::from_secs(2));
    let told = room.says(ORI, "oak-ada", "yes").await;
    assert_eq!(row(&room, 1).await.state, ApprovalState::Open, "{told:?}");
    assert!(told.concat().contains("`yes 1`"), "{told:?}");
    // The room has not seen what would run.
    let told = room.says(ORI, "#lab", "@ada yes 1").await;
    assert_eq!(row(&room, 1).await.state, ApprovalState::Open, "{told:?}");
    let told = room.says(ORI, "oak-ada", "yes 1").await;
    assert_eq!(row(&room, 1).await.state, ApprovalState::Allowed, "{told:?}");
}

/// What was hidden is hidden in the same way wherever it is shown, and nothing else is.
#[tokio::test]
async fn what_is_shown_is_what_was_stored() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "oak-ada").await;
    let command = "login --password=hunter2hunter2 -H \"Authorization: Bearer abcdef0123456789\"";
    wants_by(&mut room, (message, command), (("bob", "=bob"), Extent::Cut)).await;
    let expect = command.replace("hunter2hunter2", "hunt…‹14 characters›");
    let told = room.says(ORI, "oak-ada", "show 1").await;
    assert!(told.contains(&format!("ori command: {expect}")), "{told:?}");
    assert!(told.contains(&"ori note: 10 characters are hidden".to_owned()), "{told:?}");
    room.accounts.push("owner");
    let told = room.reminds(Duration::ZERO).await;
    assert!(told[0].contains(&format!("`{expect}` (10 characters are hidden)")), "{told:?}");
    room.rig.clock.forward(Duration::from_secs(2));
    room.says(ORI, "oak-ada", "yes").await;
    assert_eq!(row(&room, 1).await.state, ApprovalState::Open, "nobody has seen all of it");
}
