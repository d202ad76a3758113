//! What `resume` and `abort` reply if something holds the agent that they do not end.

use gangline_api::status::ShownPause;
use gangline_core::{
    AgentName, FindingNumber, Redacted,
    attention::say_to,
    finding::{Choice, ChoiceWord, FindingKind},
    pause::{Held, PauseReason},
};
use gangline_store::{FindingFilter, NewFinding, NewPause, Whose};

use super::*;

/// Raises a finding about an agent, with one choice.
async fn raise(room: &Room, about: &str, (kind, choice): (FindingKind, ChoiceWord)) -> i64 {
    let cause = Redacted::from_store("it has a cause".to_owned());
    let new = NewFinding {
        choices: vec![Choice::new(choice, "does it")],
        ..NewFinding::new(about.parse().unwrap(), kind, cause)
    };
    room.rig.chat.deps.store.raise_finding(new).await.unwrap().number.0
}

fn hold(room: &Room, reasons: &[PauseReason], escalated: bool) {
    room.rig.showing.send_modify(|showing| {
        let held = |reason: &PauseReason| Held { reason: *reason, until: None };
        showing.view.pauses = reasons.iter().map(held).collect();
        showing.note.pauses = reasons
            .iter()
            .map(|reason| ShownPause { reason: (*reason).into(), until: None, note: None })
            .collect();
        showing.note.escalated = escalated.then(|| "stuck".to_owned());
    });
}

const RAISES: &str = "raise it with `gangline budget raise`, or wait until then";
const SPENT: &str = "I am held: my budget is spent";

/// Returns the end of a reply about a spent budget.
fn spent(word: &str) -> String {
    format!("{SPENT}. `{word}` does not end this: {RAISES}")
}

/// R1-35: a word that does not release the agent says what still holds it and what helps.
#[tokio::test]
async fn resume_and_abort_say_what_they_do_not_end() {
    use PauseReason::{Budget, Escalation, Fleet, Operator};
    let mut room = Room::open().await;
    let fleet = "I am held: the limit of the whole installation is reached. `abort` does not end this: \
                 `gangline budget release` ends it";
    let paused =
        "I am paused until my owner says `resume`. `abort` does not end this: `resume` ends it";
    for (reasons, escalated, said, expect) in [
        (&[Budget][..], false, "resume", spent("resume")),
        (&[], false, "abort", NO_TURN.to_owned()),
        (&[Budget], false, "abort", format!("{NO_TURN}. {}", spent("abort"))),
        (&[Escalation], true, "abort", "the escalation is over; I continue".to_owned()),
        (&[Escalation, Fleet], true, "abort", format!("the escalation is over. {fleet}")),
        (&[Operator], false, "abort", format!("{NO_TURN}. {paused}")),
    ] {
        hold(&room, reasons, escalated);
        assert_eq!(room.says(ORI, "oak-ada", said).await, [format!("ori {expect}")], "{said}");
    }
}

/// The same by the number of a finding, also of one that has no such choice: it is not decided by that.
#[tokio::test]
async fn the_number_of_a_finding_with_resume_or_abort_says_it_too() {
    use PauseReason::{Budget, Escalation};
    let mut room = Room::open().await;
    let budget = raise(&room, "oak-ada", (FindingKind::Budget, ChoiceWord::Dismiss)).await;
    let of_bob = raise(&room, "oak-bob", (FindingKind::Budget, ChoiceWord::Dismiss)).await;
    for (reasons, number, word, held) in [
        (&[Budget][..], budget, "resume", Some(spent("resume"))),
        (&[Budget], budget, "abort", Some(spent("abort"))),
        (&[Budget], budget, "retry", None),
        (&[], budget, "resume", None),
        // What holds this agent does not hold another one.
        (&[Budget], of_bob, "resume", None),
    ] {
        hold(&room, reasons, false);
        let held = held.map_or_else(String::new, |held| format!(". {held}"));
        let agent = if number == of_bob { "oak-bob" } else { "oak-ada" };
        let expect = format!(
            "ori `{word}` is not a choice for finding {number} of {agent}; choose dismiss{held}"
        );
        assert_eq!(room.says(ORI, "oak-ada", &format!("{number} {word}")).await, [expect]);
    }
    let stuck = raise(&room, "oak-ada", (FindingKind::Escalation, ChoiceWord::Abort)).await;
    hold(&room, &[Escalation, Budget], true);
    let told = room.says(ORI, "oak-ada", &format!("{stuck} abort")).await;
    let expect = format!("ori finding {stuck}: abort: the escalation is over. {}", spent("abort"));
    assert_eq!(told, [expect]);
    let left = room.rig.chat.deps.store.findings(FindingFilter::default(), 9).await.unwrap();
    let left: Vec<i64> = left.iter().map(|row| row.number.0).collect();
    assert_eq!(left, [of_bob, budget], "only the escalation is decided");
}

/// The finding of another agent, to which this one cannot speak: the exact line to send, for those who may
/// decide. What needs no daemon is done by whoever is told.
#[tokio::test]
async fn a_choice_for_another_agent_is_done_here_or_answered_with_the_line_to_send() {
    let mut room = Room::open().await;
    let store = room.rig.chat.deps.store.clone();
    let bob: AgentName = "oak-bob".parse().unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    store.begin_epoch(&bob, (1, "test"), whose).await.unwrap();
    let stuck = raise(&room, "oak-bob", (FindingKind::Escalation, ChoiceWord::Resume)).await;
    let slow = raise(&room, "oak-bob", (FindingKind::LongTurn, ChoiceWord::Abort)).await;
    let budget = raise(&room, "oak-bob", (FindingKind::Budget, ChoiceWord::Dismiss)).await;
    for (number, choice) in [(stuck, ChoiceWord::Resume), (slow, ChoiceWord::Abort)] {
        let expect = say_to(&bob, FindingNumber(number), choice);
        for said in [format!("{number} {choice}"), format!("answer {number} {choice}")] {
            assert_eq!(room.says(ORI, "oak-ada", &said).await, [format!("ori {expect}")]);
        }
    }
    // What holds that agent is in its row.
    let pause = NewPause::new(bob.clone(), PauseReason::Fleet, None);
    store.begin_pause(pause).await.unwrap();
    let expect = format!(
        "ori `resume` is not a choice for finding {budget} of oak-bob; choose dismiss. oak-bob is still \
         held: the limit of the whole installation is reached. `resume` does not end this: `gangline \
         budget release` ends it"
    );
    assert_eq!(room.says(ORI, "oak-ada", &format!("{budget} resume")).await, [expect]);
    let told = room.says(ORI, "oak-ada", &format!("{budget} dismiss")).await;
    assert_eq!(told, [format!("ori finding {budget}: dismiss: put away")]);
    let left = store.findings(FindingFilter::default(), 9).await.unwrap();
    let left: Vec<i64> = left.iter().map(|row| row.number.0).collect();
    assert_eq!(left, [slow, stuck], "only what could be done is decided");
}

/// What was asked in private is not quoted elsewhere, by the pause and by the finding neither.
#[tokio::test]
async fn status_in_a_room_does_not_quote_what_a_private_turn_is_held_for() {
    let mut room = Room::open().await;
    room.says(BOB, "#lab", "@ada run it").await;
    room.says(ORI, "oak-ada", "write to the bank").await;
    let waiting = room.rig.chat.pending().await.unwrap();
    let asked: Vec<_> = waiting.iter().map(|row| Some(row.id)).collect();
    let [public, private] = asked[..] else { panic!("{waiting:?}") };
    let causes = [(None, "cause one"), (public, "cause two"), (private, "cause three")];
    for (message, cause) in causes {
        let new = NewFinding {
            choices: vec![Choice::new(ChoiceWord::Resume, "does it")],
            message,
            key: cause.to_owned(),
            ..NewFinding::new(ada(), FindingKind::Escalation, Redacted::constant(cause))
        };
        room.rig.chat.deps.store.raise_finding(new).await.unwrap();
    }
    hold(&room, &[PauseReason::Escalation], true);
    room.rig.showing.send_modify(|showing| {
        showing.note.pauses[0].note = Some("cause three".to_owned());
    });
    for (place, said, quoted) in
        [("#lab", "@ada status", [false, true, false]), ("oak-ada", "status", [false, true, true])]
    {
        let told = room.says(ORI, place, said).await.join(" ");
        assert_eq!(causes.map(|(_, cause)| told.contains(cause)), quoted, "{place}: {told}");
        assert_eq!(told.matches("(say `").count(), 3, "{told}");
    }
}
