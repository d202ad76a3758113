//! Who decides what a manager asked for, by which words, and when: only an owner, only by number, once. And
//! when owners hear of it again.

use gangline_store::{ChangeKind, ChangeState, ChangeTold, NewChange};

use super::{matrix::ACTORS, *};

/// Ada is a manager and has asked for another agent, in a turn of this room.
async fn asks(room: &mut Room) -> ApprovalNumber {
    let message = asked_in(room, "#lab").await;
    asks_for(room, message).await
}

/// The same in the turn of this message.
pub(super) async fn asks_for(room: &mut Room, message: MessageId) -> ApprovalNumber {
    let text = |text: &str| Redacted::from_store(text.to_owned());
    let new = NewChange {
        agent: ada(),
        turn: TURN,
        request: "first".to_owned(),
        kind: ChangeKind::Spawn,
        subject: "oak-new".parse().unwrap(),
        commit: None,
        entry: Some("- nick: oak-new".to_owned()),
        summary: text("a new agent oak-new"),
        detail: text("- nick: oak-new"),
        reason: text(""),
        message: Some(message),
        reply_target: "#lab".to_owned(),
    };
    let store = &room.rig.chat.deps.store;
    let asked = store.request_change(new, |_| ChangeTold::default()).await.unwrap();
    asked.number
}

async fn state(room: &Room) -> ChangeState {
    let row = room.rig.chat.deps.store.change(ApprovalNumber(1)).await.unwrap();
    row.unwrap().state
}

const WORDS: [(&str, Option<ChangeState>); 8] = [
    ("yes", None),
    ("no", None),
    ("yes 1", Some(ChangeState::Approved)),
    ("approve 1", Some(ChangeState::Approved)),
    ("no 1 not today", Some(ChangeState::Denied)),
    ("yes 9", None),
    ("yes 1 always", None),
    ("show 1", None),
];

/// R2-35, R2-37, R2-39: an owner's word with the number decides, a permission where the change was
/// announced; nobody else's, and an agent's least of all.
#[tokio::test]
async fn only_an_owner_decides_a_change_and_only_by_its_number() {
    let empty = EmptyStore::make().await;
    for who in ACTORS {
        for place in ["#lab", "oak-ada"] {
            for (words, decides) in WORDS {
                let case = format!("{who:?} {place} {words}");
                let mut room = Room::with(&empty).await;
                asks(&mut room).await;
                room.rig.clock.forward(Duration::from_secs(2));
                let before = room.prompts().await;
                let principal = Principal { account: who.account.to_owned(), tier: who.tier };
                let said = if place == "#lab" { format!("@ada {words}") } else { words.to_owned() };
                let told = room.says_as((who.nick, principal), place, &said).await;
                // Owners without the account are in another conversation.
                let announced = place == "#lab" || who.account == "owner";
                let counts = |it: &ChangeState| announced || *it == ChangeState::Denied;
                let expect = decides.filter(|_| who.tier == Tier::Owner).filter(counts);
                let expect = expect.unwrap_or(ChangeState::Requested);
                assert_eq!(state(&room).await, expect, "{case}: {told:?}");
                let person = [Tier::Owner, Tier::Member].contains(&who.tier);
                assert!(!person || !told.is_empty(), "{case}: met with silence");
                let wakes = expect == ChangeState::Denied;
                assert!(!person || wakes || room.prompts().await == before, "{case}: no prompt");
                let shown = told.iter().any(|line| line.contains("nick: oak-new"));
                let may_see = words == "show 1" && who.tier == Tier::Owner && place == "oak-ada";
                assert_eq!(shown, may_see, "{case}: {told:?}");
            }
        }
    }
}

/// The first decision stands, wherever the second one is said.
#[tokio::test]
async fn a_change_is_decided_once() {
    for (first, second) in [("yes 1", "no 1"), ("no 1", "yes 1"), ("yes 1", "yes 1")] {
        let mut room = Room::open().await;
        let number = asks(&mut room).await;
        room.says(ORI, "#lab", &format!("@ada {first}")).await;
        let stands = state(&room).await;
        let told = room.says(ORI, "#lab", &format!("@ada {second}")).await;
        assert!(told[0].contains("approval 1 was already "), "{told:?}");
        let decision = if second == "yes 1" { Decision::Allow } else { Decision::Deny };
        let ruling = Ruling {
            decision,
            by: Principal { account: "owner".to_owned(), tier: Tier::Owner },
            known_as: "root at the command line".to_owned(),
            note: None,
            say: None,
        };
        let store = &room.rig.chat.deps.store;
        let refused = store.decide_change(number, ruling).await;
        assert!(matches!(refused, Err(DecideError::Closed { .. })), "{refused:?}");
        assert_eq!(state(&room).await, stands, "{first}, then {second}");
        let row = store.change(number).await.unwrap().unwrap();
        assert_eq!(row.decided_as.as_deref(), Some("ori"));
    }
}

/// Owners are told again in private while it waits, no pile of it while they are away, and not once
/// it is decided.
#[tokio::test]
async fn owners_hear_again_of_a_change_that_waits() {
    let mut room = Room::open().await;
    room.accounts.push("owner");
    asks(&mut room).await;
    let soon = AGAIN[0].checked_sub(Duration::from_secs(1)).unwrap();
    assert_eq!(room.reminds(soon).await, [""; 0], "the request itself was the first time");
    let told = room.reminds(Duration::from_secs(2)).await;
    let text = "owner approval 1: oak-ada asks for a new agent oak-new. Say `yes 1` or `no 1 REASON`; \
                `gangline approvals 1` shows all of it; it has waited for 10 min";
    assert_eq!(told, [text]);
    assert_eq!(room.reminds(Duration::from_secs(60)).await, [""; 0], "once");
    room.accounts.truncate(1);
    assert_eq!(room.reminds(AGAIN[1]).await, [""; 0], "nobody is there");
    room.accounts.push("owner");
    let told = room.reminds(Duration::from_secs(60)).await;
    assert!(told.len() == 1 && told[0].ends_with("waited for 42 min"), "{told:?}");
    room.says(ORI, "#lab", "@ada no 1").await;
    assert_eq!(room.reminds(Duration::from_secs(3600)).await, [""; 0], "it is decided");
}
