//! What the watchdogs say.

use std::time::Duration;

use gangline_api::status::RunningTool;
use gangline_core::{MessageId, finding::FindingKind, watchdog::Found};

use super::{Oldest, Told, watchdog};

/// The finding on one line: cause | evidence | choices, the recommended one with a star.
fn check(kind: FindingKind, after: u64, told: Told<'_>, expect: &str) {
    let found = watchdog(Found { kind, after: Duration::from_secs(after * 60) }, told);
    let choices: Vec<String> = found
        .choices
        .iter()
        .map(|it| {
            let star = if found.recommended == Some(it.word) { "*" } else { "" };
            format!("{}{star}", it.word)
        })
        .collect();
    let line = format!("{} | {} | {}", found.cause, found.evidence, choices.join(" "));
    assert_eq!(line, expect);
}

#[test]
fn each_says_what_holds_what_shows_it_and_what_can_be_done() {
    let tool =
        RunningTool { name: "Bash".to_owned(), what: "sleep 999".to_owned(), since: String::new() };
    let in_turn = Told {
        task: Some("do the tests pass?"),
        tool: Some(&tool),
        in_turn: true,
        ..Told::default()
    };
    check(
        FindingKind::SilentTurn,
        5,
        in_turn,
        "the turn has shown no output for 5 minutes | the tool Bash runs: sleep 999; works on: \
         do the tests pass? | abort* dismiss",
    );
    check(
        FindingKind::LongTurn,
        1,
        Told::default(),
        "the turn has taken 1 minute |  | abort dismiss",
    );
    let oldest = Some(Oldest { id: MessageId(12), sender: "otto" });
    let waits = Told { oldest, waiting: 3, needs_login: Some("run `claude`"), ..Told::default() };
    check(
        FindingKind::WaitingInbox,
        15,
        waits,
        "m12 from otto has waited 15 minutes for its turn, and 2 more behind it | needs a login: \
         run `claude` | resume* restart dismiss",
    );
    check(
        FindingKind::UnansweredApproval,
        10,
        in_turn,
        "an approval has waited 10 minutes, and its turn stands still | the tool Bash runs: sleep \
         999; works on: do the tests pass? | ",
    );
    check(
        FindingKind::BreakerOpen,
        0,
        Told { death: Some("exit code 1"), ..Told::default() },
        "the backend kept failing and is not started any more; messages are stored | exit code 1 \
         | resume* restart dismiss",
    );
}
