//! What `resume` and `abort` reply if something holds the agent that they do not end.

use gangline_api::status::ShownPause;
use gangline_core::{
    Redacted,
    finding::{Choice, ChoiceWord, FindingKind},
    pause::{Held, PauseReason},
};
use gangline_store::{FindingFilter, NewFinding};

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
    let refused =
        |number, word| format!("`{word}` is not a choice for finding {number}; choose dismiss");
    for (reasons, number, word, held) in [
        (&[Budget][..], budget, "resume", Some(spent("resume"))),
        (&[Budget], budget, "abort", Some(spent("abort"))),
        (&[Budget], budget, "retry", None),
        (&[], budget, "resume", None),
        // What holds another agent is not known here.
        (&[Budget], of_bob, "resume", None),
    ] {
        hold(&room, reasons, false);
        let held = held.map_or_else(String::new, |held| format!(". {held}"));
        let expect = format!("ori {}{held}", refused(number, word));
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
