//! Approvals over a real store: who decides what, where, with which words, and who hears of it.

use std::time::Duration;

use gangline_core::{
    Epoch, MessageId, Redacted, Tier, TurnId,
    approval::{
        Audience,
        remind::{AGAIN, ROOM_ALONE},
        view::Extent,
    },
    outcome::{By, Outcome},
};
use gangline_runtime::ApprovalAsk;
use gangline_store::{Announce, How, LineKind, OpenApproval as Asks, Send, Take, Whose};

use super::*;
use crate::{
    bus::Incoming,
    chat::tests::{EmptyStore, Room, ada},
    rules, shown_input,
};

mod changes;
mod first;
mod held;
mod matrix;
mod questions;
mod rights;
mod withheld;

type Who = (&'static str, Tier);
const ORI: Who = ("ori", Tier::Owner);
const BOB: Who = ("bob", Tier::Member);

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

/// Bob asks for something, and the turn for it is open.
async fn asked_in(room: &mut Room, place: &str) -> MessageId {
    let text = if place.starts_with('#') { "@ada run it" } else { "run it" };
    room.says(BOB, place, text).await;
    let waiting = room.rig.chat.pending().await.unwrap();
    let messages: Vec<MessageId> = waiting.iter().map(|row| row.id).collect();
    let message = messages[0];
    let (agent, prompt_uuid) = (ada(), "u".to_owned());
    let take = Take {
        agent,
        turn: TURN,
        messages: messages.clone(),
        prompt_uuid,
        how: How::Woke,
        turns_per_cause: 30,
    };
    room.rig.chat.deps.store.take(take).await.unwrap();
    room.rig.showing.send_modify(|showing| {
        showing.view.turn = Some(TURN);
        showing.view.messages = messages;
    });
    message
}

/// The turn wants to run a command, which is announced there.
async fn wants(room: &mut Room, asked: (MessageId, &str), place: (&str, &str)) -> ApprovalNumber {
    wants_by(room, asked, (place, Extent::Whole)).await
}

/// The same with an announcement that may be cut.
async fn wants_by(
    room: &mut Room,
    (message, command): (MessageId, &str),
    ((target, place), extent): ((&str, &str), Extent),
) -> ApprovalNumber {
    let text = |text: &str| Redacted::from_store(text.to_owned());
    let send = Send {
        agent: ada(),
        turn: Some(TURN),
        idem_key: format!("{}{command}", place::ANNOUNCES).into(),
        target: target.to_owned(),
        lines: vec![text("oak-ada wants to run it").into()],
        kind: LineKind::Privmsg,
        in_reply_to: None,
        deliver: None,
    };
    let store = room.rig.chat.deps.store.clone();
    let before = store.approvals(None, false).await.unwrap().len();
    let input = serde_json::json!({ "command": command });
    let asked = ApprovalAsk {
        request: command.to_owned(),
        tool: "Bash".to_owned(),
        input,
        presumed: false,
        files: Vec::new(),
    };
    let shown = shown_input::shown("Bash", &asked.input, &room.rig.chat.deps.redactor);
    let asks = Asks {
        offer: Some(rules::offer(&asked, "/srv", &room.rig.chat.deps.redactor)),
        agent: ada(),
        turn: TURN,
        message: Some(message),
        request: format!("{command} {before}"),
        tool: asked.tool,
        args_hash: command.to_owned(),
        summary: text(command),
        detail: text(&shown.input.to_string()),
        audience: shown.audience,
        folder: text("/srv"),
        said_before: text("I clean up first."),
        announce: Some(Announce { send, place: place.to_owned(), extent, question: None }),
    };
    let opened = store.open_approval(asks).await.unwrap();
    if opened.decided.is_none() {
        room.rig.showing.send_modify(|showing| showing.view.approvals += 1);
    }
    room.heard().await;
    opened.number
}

async fn row(room: &Room, number: i64) -> ApprovalRow {
    let row = room.rig.chat.deps.store.approval(ApprovalNumber(number)).await.unwrap();
    row.unwrap()
}

/// C5: the rule is shown before it is made, quoted when it is made, and what it covers is allowed
/// unasked. Only the owner makes one.
#[tokio::test]
async fn always_stores_the_rule_that_was_shown() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    wants(&mut room, (message, "npm test && ls"), ("#lab", "#lab")).await;
    let shown = room.says(ORI, "#lab", "@ada show 1").await;
    assert!(
        shown.contains(&"#lab always: Bash `npm test`, Bash `ls` in /srv".to_owned()),
        "{shown:?}"
    );
    let told = room.says(BOB, "#lab", "@ada yes 1 always").await;
    assert!(told[0].contains("only an owner"), "{told:?}");
    let told = room.says(ORI, "#lab", "@ada approve 1 always").await;
    let quoted = "#lab ori: from now on I do not ask for rule 1: Bash `npm test` in /srv; rule 2: \
                  Bash `ls` in /srv. To undo it: `gangline policy remove 1 2`";
    assert_eq!(told, ["#lab approval 1: allowed by ori", quoted]);
    // Said again, it decides nothing and stores nothing.
    let told = room.says(ORI, "#lab", "@ada yes 1 always").await;
    assert!(told[0].contains("already allowed by ori"), "{told:?}");
    let by_rule = wants(&mut room, (message, "ls; npm test"), ("#lab", "#lab")).await;
    let found = row(&room, by_rule.0).await;
    assert_eq!((found.state, found.is_by_rules()), (ApprovalState::Allowed, true));
    let told = room.says(ORI, "#lab", &format!("@ada no {by_rule}")).await;
    assert!(told[0].contains("already allowed by rule 1, 2"), "{told:?}");
    let asked = wants(&mut room, (message, "ls; rm x"), ("#lab", "#lab")).await;
    assert_eq!(row(&room, asked.0).await.state, ApprovalState::Open);
}

/// What a rule allowed, nobody was asked: a line that begins like a decision is a prompt soon
/// after.
#[tokio::test]
async fn what_a_rule_allowed_keeps_no_line_from_being_a_prompt() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    wants(&mut room, (message, "ls"), ("#lab", "#lab")).await;
    room.says(ORI, "#lab", "@ada yes 1 always").await;
    let told = room.says(ORI, "#lab", "@ada ok, go").await;
    assert!(told[0].contains("`ok, go` decides nothing"), "a person has just decided: {told:?}");
    room.rig.clock.forward(Duration::from_secs(600));
    let by_rule = wants(&mut room, (message, "ls"), ("#lab", "#lab")).await;
    assert!(row(&room, by_rule.0).await.is_by_rules());
    assert_eq!(room.says(ORI, "#lab", "@ada ok, go").await, [""; 0]);
    assert_eq!(room.prompts().await, ["@ada ok, go"]);
}

#[tokio::test]
async fn always_allows_once_what_can_have_no_rule() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    wants(&mut room, (message, "rm *"), ("#lab", "#lab")).await;
    let shown = room.says(ORI, "#lab", "@ada show 1").await;
    let why = "it expands something when it runs";
    assert!(shown.contains(&format!("#lab always: no rule: {why}")), "{shown:?}");
    let told = room.says(ORI, "#lab", "@ada yes 1 always").await;
    let once = format!(
        "#lab ori: approval 1 is allowed this once, and I will ask again: no rule is stored, because \
         {why}"
    );
    assert!(told.contains(&once), "{told:?}");
    assert_eq!(row(&room, 1).await.state, ApprovalState::Allowed);
    assert_eq!(room.rig.chat.deps.store.rules(None).await.unwrap(), []);
}

/// A bare word in haste names the number, and one in private decides nothing of a room.
#[tokio::test]
async fn a_bare_yes_in_haste_or_elsewhere_is_answered_with_the_exact_words() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    wants(&mut room, (message, "ls"), ("#lab", "#lab")).await;
    let told = room.says(ORI, "#lab", "@ada yes").await;
    assert!(told[0].contains("less than a second") && told[0].contains("`yes 1`"), "{told:?}");
    room.rig.clock.forward(Duration::from_secs(2));
    let told = room.says(ORI, "oak-ada", "yes").await;
    assert!(told[0].contains("it was not shown here"), "{told:?}");
    let prompts = room.prompts().await.len();
    let told = room.says(ORI, "#lab", "@ada no 9 use the trash").await;
    assert!(told[0].contains("no open approval 9"), "{told:?}");
    assert_eq!(room.prompts().await.len(), prompts, "a refusal with a wrong number is no prompt");
    assert_eq!(row(&room, 1).await.state, ApprovalState::Open);
    let told = room.says(ORI, "#lab", "@ada no 1 use the trash").await;
    assert_eq!(told, ["#lab approval 1: denied by ori: use the trash"]);
    let row = row(&room, 1).await;
    assert_eq!(row.note, Some(Redacted::constant("use the trash")));
    assert_eq!(row.decided_as.as_deref(), Some("ori"));
}

/// What a member asked in private is told to the owner at once, whose bare answer then counts.
#[tokio::test]
async fn owners_hear_of_what_was_asked_in_private_and_again_while_it_waits() {
    let mut room = Room::open().await;
    room.accounts.push("owner");
    let message = asked_in(&mut room, "oak-ada").await;
    wants(&mut room, (message, "id"), ("bob", "=bob")).await;
    let told = room.reminds(Duration::ZERO).await;
    let text = "owner oak-ada wants to run (for bob in private, in /srv): `id`. Say `yes 1` or \
                `no 1 REASON` here";
    assert_eq!(told, [text]);
    assert_eq!(room.reminds(Duration::ZERO).await, [""; 0], "once");
    for (wait, said) in [(AGAIN[0], "10 min"), (AGAIN[1].checked_sub(AGAIN[0]).unwrap(), "30 min")]
    {
        let told = room.reminds(wait + Duration::from_secs(1)).await;
        assert!(told.len() == 1 && told[0].ends_with(&format!("waited for {said}")), "{told:?}");
    }
    room.rig.clock.forward(Duration::from_secs(2));
    // The owner's account is where it was told, whatever the nick.
    let told = room.says(("owner", Tier::Owner), "oak-ada", "yes").await;
    assert_eq!(row(&room, 1).await.state, ApprovalState::Allowed, "{told:?}");
    let said = "approval 1: allowed by owner";
    assert_eq!(told, [format!("bob {said}"), format!("owner {said}")]);
}

#[tokio::test]
async fn owners_hear_in_private_of_what_waits_in_a_room_after_a_minute_unless_they_are_there() {
    for (present, told) in [(false, 1), (true, 0)] {
        let mut room = Room::open().await;
        if present {
            room.accounts.push("Owner");
        }
        let message = asked_in(&mut room, "#lab").await;
        wants(&mut room, (message, "id"), ("#lab", "#lab")).await;
        assert_eq!(room.reminds(Duration::ZERO).await, [""; 0], "the room has just been told");
        let next = room.rig.chat.remind_in().unwrap();
        assert!(next <= ROOM_ALONE, "not at some later tick: {next:?}");
        let said = room.reminds(ROOM_ALONE + Duration::from_secs(1)).await;
        assert_eq!(said.len(), told, "{said:?}");
        assert!(said.iter().all(|it| it.contains("(for bob in #lab, in /srv)")), "{said:?}");
        // An owner who has left the room meanwhile gets the private reminder now.
        room.accounts.truncate(1);
        let said = room.reminds(Duration::from_secs(60)).await;
        assert_eq!(said.len(), 1 - told, "{said:?}");
    }
}

/// A night leaves one line; who comes back, or says something, reads how long it has waited.
#[tokio::test]
async fn reminders_do_not_stack_up_while_no_owner_is_there() {
    let night = Duration::from_secs(9 * 3600);
    for comes_back in ["into the room", "by a word in private"] {
        let mut room = Room::open().await;
        let message = asked_in(&mut room, "oak-ada").await;
        wants(&mut room, (message, "id"), ("bob", "=bob")).await;
        assert_eq!(room.reminds(Duration::ZERO).await.len(), 1);
        for _ in 0..9 {
            assert_eq!(room.reminds(night / 9).await, [""; 0], "nobody is there");
        }
        match comes_back {
            "into the room" => room.accounts.push("owner"),
            _ => {
                room.says(ORI, "oak-ada", "queue").await;
            }
        }
        let told = room.reminds(Duration::from_secs(30)).await;
        assert!(told.len() == 1 && told[0].ends_with("waited for 9 h"), "{comes_back}: {told:?}");
    }
}

#[tokio::test]
async fn all_of_an_approval_is_shown_in_pages() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    let lines: Vec<String> = (0..60).map(|number| format!("echo {number}")).collect();
    wants(&mut room, (message, &lines.join("\n")), ("#lab", "#lab")).await;
    let told = room.says(ORI, "oak-ada", "show 1").await;
    assert_eq!(told.len(), 41);
    assert!(told[0].starts_with("ori approval 1: open; say `yes 1`"), "{told:?}");
    assert!(told.contains(&"ori command (60 lines):".to_owned()), "{told:?}");
    assert!(told[40].ends_with("more lines: say `more`"), "{told:?}");
    let more = room.says(ORI, "oak-ada", "more").await;
    assert!(more.contains(&"ori   echo 59".to_owned()), "{more:?}");
    assert_eq!(more[more.len() - 2], "ori said before: I clean up first.");
    assert_eq!(more[more.len() - 1], "ori always: no rule: it has too many commands");
    let told = room.says(ORI, "oak-ada", "more").await;
    let expect = "ori there is no next page here; `show 1` shows approval 1";
    assert_eq!(told, [expect]);
    let told = room.says(BOB, "#lab", "@ada show 1").await;
    assert_eq!(told.len(), 21);
    assert!(told[20].contains("show 1` to me in private"), "{told:?}");
}

/// The approval of another agent, which nobody here is asked about.
async fn asked_of_bob(room: &Room) -> ApprovalNumber {
    let store = &room.rig.chat.deps.store;
    let agent: gangline_core::AgentName = "oak-bob".parse().unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    store.begin_epoch(&agent, (2, "test"), whose).await.unwrap();
    let (turn, text) = (TURN, |text: &str| Redacted::from_store(text.to_owned()));
    let take = Take {
        agent: agent.clone(),
        turn,
        messages: Vec::new(),
        prompt_uuid: "b".to_owned(),
        how: How::Woke,
        turns_per_cause: 30,
    };
    store.take(take).await.unwrap();
    let asks = Asks {
        offer: None,
        agent,
        turn,
        message: None,
        request: "r".to_owned(),
        tool: "Bash".to_owned(),
        args_hash: "h".to_owned(),
        summary: text("ls"),
        detail: text("ls"),
        audience: Audience::Everybody,
        folder: text("/srv"),
        said_before: text(""),
        announce: None,
    };
    store.open_approval(asks).await.unwrap().number
}

/// A decision that was said to the wrong agent decides nothing, is no prompt, and names the right
/// one.
#[tokio::test]
async fn a_number_of_another_agent_is_answered_with_that_agent() {
    let mut room = Room::open().await;
    let number = asked_of_bob(&room).await;
    assert_eq!(number, ApprovalNumber(1));
    for (said, word) in
        [("yes 1", "yes"), ("approve 1", "yes"), ("no 1 use the trash", "no"), ("show 1", "show")]
    {
        let told = room.says(ORI, "#lab", &format!("@ada {said}")).await;
        let expect = format!(
            "#lab ori: approval 1 is oak-bob's, not mine: say `@oak-bob {word} 1` in its room, or \
             `/msg oak-bob {word} 1`"
        );
        assert_eq!(told, [expect], "{said}");
    }
    let told = room.says(BOB, "#lab", "@ada show 1").await;
    assert_eq!(told, ["#lab bob: I have no open approval 1; `status` shows what I wait for"]);
    let told = room.says(ORI, "#lab", "@ada more").await;
    assert_eq!(told, ["#lab ori: there is no next page, and no approval of mine is open"]);
    assert_eq!(room.prompts().await, [""; 0]);
    assert_eq!(row(&room, 1).await.state, ApprovalState::Open);
    let ruling = Ruling {
        decision: Decision::Allow,
        by: Principal { account: "ori".to_owned(), tier: Tier::Owner },
        known_as: "ori".to_owned(),
        note: None,
        say: None,
    };
    room.rig.chat.deps.store.decide(number, ruling).await.unwrap();
    let told = room.says(ORI, "#lab", "@ada yes 1").await;
    assert_eq!(told, ["#lab ori: approval 1 was oak-bob's, not mine, and is allowed by ori"]);
}

/// The word that somebody said comes back to them, not another one for the same decision.
#[tokio::test]
async fn a_bare_word_is_quoted_as_it_was_said() {
    let mut room = Room::open().await;
    let told = room.says(ORI, "#lab", "@ada approve").await;
    assert!(told[0].contains("so `approve` decides nothing"), "{told:?}");
    let message = asked_in(&mut room, "#lab").await;
    wants(&mut room, (message, "make one"), ("#lab", "#lab")).await;
    wants(&mut room, (message, "make two"), ("#lab", "#lab")).await;
    let told = room.says(ORI, "#lab", "@ada deny").await;
    let expect =
        "#lab ori: 2 approvals are open, so `deny` alone decides none: say `no 1` or `no 2`";
    assert_eq!(told, [expect]);
}

const NO_TURN: &str = "there is no turn to end";

/// What was cut where it was announced can be decided by a bare word once all of it was shown in
/// that place, a second after its last line; a page that was read elsewhere does not count.
#[tokio::test]
async fn what_was_shown_whole_is_decided_by_a_bare_word_there() {
    let long = (0..60).map(|number| format!("echo {number}\n")).collect::<String>();
    let (short, long) = ("make all", long.trim_end());
    for (command, said, allows) in [
        (short, &[("oak-ada", "show 1")][..], true),
        (long, &[("oak-ada", "show 1"), ("oak-ada", "more")], true),
        (long, &[("oak-ada", "show 1")], false),
        (long, &[("#lab", "@ada show 1"), ("#lab", "@ada show 1")], false),
        (long, &[("oak-ada", "show 1"), ("#lab", "@ada more")], false),
        (short, &[("#lab", "@ada show 1")], true),
    ] {
        let mut room = Room::open().await;
        let message = asked_in(&mut room, "#lab").await;
        wants_by(&mut room, (message, command), (("#lab", "#lab"), Extent::Cut)).await;
        let (place, _) = *said.last().unwrap();
        for (place, words) in said {
            room.says(ORI, place, words).await;
        }
        let yes = if place == "#lab" { "@ada yes" } else { "yes" };
        let told = room.says(ORI, place, yes).await;
        assert_eq!(row(&room, 1).await.state, ApprovalState::Open, "at once: {told:?}");
        room.rig.clock.forward(Duration::from_secs(2));
        let told = room.says(ORI, place, yes).await;
        let state = if allows { ApprovalState::Allowed } else { ApprovalState::Open };
        assert_eq!(row(&room, 1).await.state, state, "{said:?}: {told:?}");
    }
}

#[tokio::test]
async fn a_long_line_of_what_is_shown_says_that_it_continues() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "#lab").await;
    let command = format!("echo {}", "x".repeat(400));
    wants(&mut room, (message, &command), ("#lab", "#lab")).await;
    let told = room.says(ORI, "oak-ada", "show 1").await;
    let at = told.iter().position(|line| line.starts_with("ori command: echo x")).unwrap();
    assert!(told[at + 1].starts_with("ori ↪ xxx"), "{told:?}");
}

/// The end of a turn closes what nobody decided, and every place that was asked hears of it.
#[tokio::test]
async fn a_turn_that_ends_first_is_told_wherever_it_was_asked() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "oak-ada").await;
    wants(&mut room, (message, "id"), ("bob", "=bob")).await;
    room.reminds(Duration::ZERO).await;
    let end = gangline_store::EndTurn {
        agent: ada(),
        turn: TURN,
        outcome: (&Outcome::Interrupted(By::Operator)).into(),
        settle: Vec::new(),
        sends: Vec::new(),
        events: Vec::new(),
        withdraw_approvals: Some("a person stopped the turn".to_owned()),
    };
    room.rig.chat.deps.store.end_turn(end).await.unwrap();
    let text = "approval 1 is closed without a decision: a person stopped the turn";
    assert_eq!(room.heard().await, [format!("bob {text}"), format!("owner {text}")]);
    let told = room.says(ORI, "oak-ada", "show 1").await;
    let title = "ori approval 1: closed without a decision (a person stopped the turn)";
    assert_eq!(told[0], title);
}

#[tokio::test]
async fn what_was_asked_in_private_is_shown_to_its_asker_and_owners_alone() {
    let mut room = Room::open().await;
    let message = asked_in(&mut room, "oak-ada").await;
    wants(&mut room, (message, "id"), ("bob", "=bob")).await;
    for (who, place, sees) in [
        (BOB, "oak-ada", true),
        (ORI, "oak-ada", true),
        (("gus", Tier::Member), "oak-ada", false),
        (ORI, "#lab", false),
    ] {
        let text = if place == "#lab" { "@ada show 1" } else { "show 1" };
        let told = room.says(who, place, text).await;
        assert_eq!(told.iter().any(|line| line.contains("command: id")), sees, "{told:?}");
    }
}

#[tokio::test]
async fn the_author_of_all_of_a_turn_may_end_it() {
    let mut room = Room::open().await;
    asked_in(&mut room, "#lab").await;
    let told = room.says(("gus", Tier::Member), "#lab", "@ada stop").await;
    assert!(told[0].contains("only an owner may end this turn"), "{told:?}");
    let told = room.says(BOB, "#lab", "@ada stop").await;
    assert!(told[0].contains("ending the turn"), "{told:?}");
    // That turn and no other, should another one have begun meanwhile.
    let ended = std::iter::from_fn(|| room.rig.agent_loop.try_recv().ok());
    let ended = ended.filter(|it| matches!(it, Incoming::EndTurn { turn } if *turn == TURN));
    assert_eq!(ended.count(), 1);
    room.rig.showing.send_modify(|showing| {
        showing.view.turn = None;
        showing.view.messages.clear();
    });
    for who in [ORI, BOB] {
        assert_eq!(room.says(who, "oak-ada", "stop").await, [format!("{} {NO_TURN}", who.0)]);
    }
}
