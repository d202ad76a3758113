//! Room words and near misses, over a real store.

use gangline_core::{
    TurnId,
    approval::{Audience, Decision},
    outcome::OutcomeWord,
    redact::Redacted,
};
use gangline_store::{OpenApproval, Ruling, Take};

use super::*;
use crate::chat::tests::{Room, ada};

const ORI: (&str, Tier) = ("ori", Tier::Owner);
const BOB: (&str, Tier) = ("bob", Tier::Member);

fn turn(number: i64) -> TurnId {
    TurnId { epoch: gangline_core::Epoch(1), number }
}

/// A turn that has what waits.
async fn take(room: &Room, number: i64) {
    let waiting = room.rig.chat.pending().await.unwrap();
    let take = Take {
        agent: ada(),
        turn: turn(number),
        messages: waiting.iter().map(|row| row.id).collect(),
        prompt_uuid: "u".to_owned(),
        how: gangline_store::How::Woke,
        turns_per_cause: 30,
    };
    room.rig.chat.deps.store.take(take).await.unwrap();
}

/// An approval of that turn is open.
async fn ask(room: &Room, number: i64) -> ApprovalNumber {
    let open = OpenApproval {
        agent: ada(),
        turn: turn(number),
        message: None,
        request: format!("r{number}"),
        tool: "Bash".to_owned(),
        args_hash: "h".to_owned(),
        summary: Redacted::from_store("ls".to_owned()),
        detail: Redacted::from_store("ls".to_owned()),
        audience: Audience::Everybody,
        folder: Redacted::default(),
        said_before: Redacted::default(),
        offer: None,
        announce: None,
    };
    room.rig.chat.deps.store.open_approval(open).await.unwrap().number
}

/// That turn ends, and has answered its message.
async fn answered(room: &Room, number: i64) {
    let store = &room.rig.chat.deps.store;
    let asked = store.messages(MessageFilter::default(), 1).await.unwrap();
    let end = gangline_store::EndTurn {
        agent: ada(),
        turn: turn(number),
        outcome: OutcomeWord::Completed.into(),
        settle: vec![gangline_store::Settle {
            message: asked[0].id,
            state: MessageState::Answered,
            reason: None,
            answer: None,
            not_before: None,
            uncount_attempt: false,
        }],
        sends: Vec::new(),
        events: Vec::new(),
        withdraw_approvals: None,
    };
    store.end_turn(end).await.unwrap();
}

/// R0-36: what is no word reaches the agent, what nearly is one does not, and is answered.
#[tokio::test]
async fn near_misses_are_answered_and_are_no_prompts() {
    let mut room = Room::open().await;
    let told = room.says(BOB, "#lab", "@ada stpo").await;
    let expect = "#lab bob: I do not know `stpo`; did you mean `@ada stop`, which ends my turn? I have \
                  done nothing.";
    assert_eq!(told, [expect.to_owned(), format!("#lab {}", room_words::list())]);
    let told = room.says(BOB, "#lab", "@ada cancle m4").await;
    assert!(told[0].contains("did you mean `@ada cancel m4`?"), "{told:?}");
    let told = room.says(BOB, "oak-ada", "stop please").await;
    assert!(told[0].contains("did you mean `stop`, which ends my turn?"), "{told:?}");
    assert_eq!(room.prompts().await, [""; 0]);
    assert_eq!(room.says(BOB, "#lab", "@ada help me fix the build").await, [""; 0]);
    assert_eq!(room.prompts().await, ["@ada help me fix the build"]);
    // An agent's whole answer may look like anything.
    room.says(("oak-bob", Tier::Agent), "#lab", "@ada stauts").await;
    assert_eq!(room.prompts().await.len(), 2);
}

#[tokio::test]
async fn help_is_answered_where_it_was_asked_for() {
    let mut room = Room::open().await;
    let told = room.says(BOB, "#lab", "@ada help").await;
    assert_eq!(told.len(), room_words::help("ada").len());
    assert!(told[0].starts_with("#lab bob: Say `@ada` and what"), "{told:?}");
    let private = room.says(BOB, "oak-ada", "help").await;
    assert!(private[0].starts_with("bob Say `@ada` and what"), "{private:?}");
    assert_eq!(room.prompts().await, [""; 0]);
}

/// While an approval is open, and for ten minutes after, what begins like a decision is answered.
#[tokio::test]
async fn a_line_that_begins_like_a_decision_is_no_prompt_while_one_is_asked() {
    let mut room = Room::open().await;
    assert_eq!(room.says(ORI, "#lab", "@ada ok, list the files").await, [""; 0]);
    take(&room, 1).await;
    let number = ask(&room, 1).await;
    let told = room.says(ORI, "#lab", "@ada ok, do it").await;
    let expect = format!("#lab ori: `ok, do it` decides nothing: approval {number} is open. ");
    assert!(told[0].starts_with(&expect), "{told:?}");
    let who = Principal { account: "ori".to_owned(), tier: Tier::Owner };
    let ruling = Ruling {
        decision: Decision::Allow,
        by: who,
        known_as: "ori".to_owned(),
        note: None,
        say: None,
    };
    room.rig.chat.deps.store.decide(number, ruling).await.unwrap();
    let told = room.says(ORI, "#lab", "@ada no, wait").await;
    let expect = format!(
        "#lab ori: approval {number} was already allowed by ori, 0 s ago; nothing else is open, so \
         `no, wait` decides nothing."
    );
    assert!(told[0].starts_with(&expect), "{told:?}");
    assert_eq!(room.prompts().await, [""; 0]);
    room.rig.clock.forward(LATELY);
    assert_eq!(room.says(ORI, "#lab", "@ada no, wait").await, [""; 0]);
    assert_eq!(room.prompts().await, ["@ada no, wait"]);
}

/// A bare `yes` with nothing open replies to what the agent said last, or is answered.
#[tokio::test]
async fn a_bare_yes_is_a_prompt_only_where_the_last_turn_answered_its_author() {
    let mut room = Room::open().await;
    let nothing = "#lab ori: no approval is open, so `yes` decides nothing.";
    let told = room.says(ORI, "#lab", "@ada yes").await;
    assert!(told[0].starts_with(nothing), "{told:?}");
    room.says(ORI, "#lab", "@ada shall we?").await;
    take(&room, 1).await;
    let told = room.says(ORI, "#lab", "@ada yes").await;
    assert!(told[0].starts_with(nothing), "the turn has not answered yet: {told:?}");
    answered(&room, 1).await;
    for (who, place, is_prompt) in
        [(BOB, "#lab", false), (ORI, "oak-ada", false), (ORI, "#lab", true)]
    {
        let told = room.says(who, place, if place == "#lab" { "@ada yes" } else { "yes" }).await;
        assert_eq!(told.is_empty(), is_prompt, "{who:?} {place}: {told:?}");
    }
    assert_eq!(room.prompts().await, ["@ada yes"]);
}

/// A bare `yes` that comes after its approval was closed starts nothing, though the last turn
/// answered its author: the agent must not take it for another permission.
#[tokio::test]
async fn a_bare_yes_shortly_after_an_approval_is_no_prompt() {
    let mut room = Room::open().await;
    room.says(ORI, "#lab", "@ada clean up").await;
    take(&room, 1).await;
    ask(&room, 1).await;
    answered(&room, 1).await;
    room.rig.clock.forward(std::time::Duration::from_secs(12));
    for words in ["yes", "no", "y", "ok", "yes!"] {
        let told = room.says(ORI, "#lab", &format!("@ada {words}")).await;
        let expect = "#lab ori: approval 1 was closed without a decision (the turn ended), 12 s \
                      ago; nothing else is open, so `";
        assert!(told.len() == 1 && told[0].starts_with(expect), "{words}: {told:?}");
    }
    assert_eq!(room.prompts().await, [""; 0]);
    room.rig.clock.forward(LATELY);
    assert_eq!(room.says(ORI, "#lab", "@ada yes").await, [""; 0]);
    assert_eq!(room.prompts().await, ["@ada yes"]);
}

#[tokio::test]
async fn pause_and_resume_say_whether_anything_changes() {
    let mut room = Room::open().await;
    let told = room.says(ORI, "#lab", "@ada resume").await;
    assert!(told[0].contains("I am not paused, so nothing changes"), "{told:?}");
    let told = room.says(ORI, "#lab", "@ada pause").await;
    assert!(told[0].contains("paused: I store new messages"), "{told:?}");
    room.rig.showing.send_modify(|showing| showing.view.paused = true);
    let told = room.says(ORI, "#lab", "@ada pause").await;
    assert!(told[0].contains("I am paused already"), "{told:?}");
    let told = room.says(ORI, "#lab", "@ada pause 90x").await;
    assert!(told[0].contains("ori: nothing changes: `90x` does not say when"), "{told:?}");
    assert_eq!(room.says(ORI, "#lab", "@ada resume").await, ["#lab ori: resumed"]);
}

/// A number that names no finding, before a word that answers findings, is not a prompt: the reply says what waits.
#[tokio::test]
async fn an_unknown_number_before_a_word_gets_a_reply() {
    let mut room = Room::open().await;
    let nothing =
        "#lab ori: nothing waits under 99; `status` lists my open items with their numbers";
    for said in ["99 resume", "#99 abort!", "99 dismiss"] {
        assert_eq!(room.says(ORI, "#lab", &format!("@ada {said}")).await, [nothing], "{said}");
    }
    assert_eq!(room.prompts().await, [""; 0]);
    room.says(ORI, "#lab", "@ada clean up").await;
    take(&room, 1).await;
    ask(&room, 1).await;
    let told = room.says(ORI, "#lab", "@ada 1 resume").await;
    assert_eq!(told, ["#lab ori: 1 is an approval: say `yes 1` or `no 1`"]);
    for (who, said) in [(ORI, "@ada release 2"), (("oak-bob", Tier::Agent), "@ada 99 resume")] {
        assert_eq!(room.says(who, "#lab", said).await, [""; 0], "{said}");
    }
    assert_eq!(room.prompts().await, ["@ada release 2", "@ada 99 resume"]);
}

/// Agents start nothing where the agent stands down, over a restart, until a person mentions it.
#[tokio::test]
async fn a_room_stands_down_until_a_person_mentions_the_agent_there() {
    let mut room = Room::open().await;
    let agent = ("oak-bob", Tier::Agent);
    room.says(agent, "#lab", "@ada one").await;
    assert_eq!(room.prompts().await.len(), 1);
    let told = room.says(BOB, "#lab", "@ada stand down").await;
    assert!(
        told[0].contains("that needs an owner") || told[0].contains("only an owner"),
        "{told:?}"
    );
    let told = room.says(ORI, "#lab", "@ada stand down").await;
    assert!(told[0].contains("I ignore agents in #lab until"), "{told:?}");
    assert_eq!(room.prompts().await, [""; 0], "what waited there of agents is taken back");
    room.says(agent, "#lab", "@ada two").await;
    assert_eq!(room.prompts().await, [""; 0]);
    let paths = room.rig.chat.deps.paths.clone();
    let kept = crate::stood_down::StoodDown::read(&paths, &ada());
    assert!(kept.is(&"#lab".parse().unwrap()));
    // Asking how it is starts nothing.
    room.says(BOB, "#lab", "@ada status").await;
    room.says(agent, "#lab", "@ada three").await;
    assert_eq!(room.prompts().await, [""; 0]);
    room.says(BOB, "#lab", "@ada hello again").await;
    room.says(agent, "#lab", "@ada four").await;
    assert_eq!(room.prompts().await, ["@ada hello again", "@ada four"]);
}
