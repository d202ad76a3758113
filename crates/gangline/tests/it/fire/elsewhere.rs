//! What a turn does elsewhere, and what must hold of it after the fire: a line in another room, a line to
//! another agent, a letter, a reminder. What commands do is in [`super::commands`].

use std::collections::BTreeMap;

use gangline_testkit::database;

use super::Fire;

/// The model's script. The last words come late, so that kills fall between them and what was done. An
/// error ends a row of calls: the one who writes to itself does that last, and who is not back in the room
/// begins anew.
pub(super) const SCRIPT: &str = r##"
rules:
  - when: {user: 'say exactly (\S+)'}
    reply: [text: "$1"]
  - when: {user: 'run once (\S+)'}
    reply: [tool_use: {name: Bash, input: {command: "echo $1 >> ran"}}]
  - when: {user: 'run once (\S+)', tool: Bash}
    reply: [delay_ms: 150, text: "$1"]
  - when: {user: 'spread (\S+)'}
    reply:
      - tool_use: {name: send, input: {to: "#others", body: "$1-there"}}
      - tool_use: {name: send, input: {to: "operator", body: "$1-letter"}}
      - tool_use: {name: remind, input: {message: "$1-reminder", due: "in 3 days"}}
      - tool_use: {name: send, input: {to: "fire-a4", body: "$1-agent"}}
  - when: {user: 'spread (\S+)', tool_result: 'you are not in'}
    reply:
      - delay_ms: 300
      - tool_use: {name: send, input: {to: "#others", body: "$1-there"}}
      - tool_use: {name: send, input: {to: "operator", body: "$1-letter"}}
      - tool_use: {name: remind, input: {message: "$1-reminder", due: "in 3 days"}}
      - tool_use: {name: send, input: {to: "fire-a4", body: "$1-agent"}}
  - when: {user: 'spread (\S+)', tool: send}
    reply: [delay_ms: 150, text: "$1"]
  - reply: [text: "NO_REPLY"]
"##;

/// The one that the others write to.
const READER: &str = "fire-a4";

/// Returns what is asked with a token: every third question does something elsewhere, every sixth in the room runs a
/// command.
pub(super) fn asks(count: usize, token: &str) -> String {
    match count % 3 {
        0 => format!("spread {token}"),
        1 if count % 4 < 2 => format!("run once {token}"),
        _ => format!("say exactly {token}"),
    }
}

/// Each is there once if its question was answered, and never twice.
pub(super) fn check(fire: &Fire, accepted: &[String]) {
    let count = |rows: Vec<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in rows {
            *counts.entry(row).or_default() += 1;
        }
        counts
    };
    let there = database::query(
        &fire.world.state().join("irc.db"),
        "SELECT text FROM lines WHERE target = '#others'",
    );
    let places = [
        ("there", count(there)),
        ("agent", count(fire.query("SELECT body FROM messages WHERE origin = 'agent'"))),
        ("letter", count(fire.query("SELECT body FROM letters"))),
        ("reminder", count(fire.query("SELECT body FROM reminders"))),
    ];
    for (place, counts) in &places {
        for (text, count) in counts {
            assert!(!text.starts_with("tok-") || *count == 1, "{place}: {text}: {count} times");
        }
    }
    let asked = "SELECT agent || ' ' || body FROM messages WHERE state = 'answered' \
                 AND body LIKE '%spread tok-%'";
    let asked = fire.query(asked);
    for row in &asked {
        let (agent, body) = row.split_once(' ').unwrap();
        let token = body.rsplit(' ').next().unwrap();
        for (place, counts) in &places {
            // Nobody writes to itself.
            let wanted = usize::from(*place != "agent" || agent != READER);
            let found = counts.get(&format!("{token}-{place}")).copied().unwrap_or(0);
            assert_eq!(found, wanted, "{place} of {row}");
        }
    }
    assert!(asked.len() * 5 >= accepted.len(), "{} of {}", asked.len(), accepted.len());
    let again = &fire.query("SELECT count(*) FROM acts WHERE repeats IS NOT NULL")[0];
    println!("{} questions did something elsewhere; {again} calls were made again", asked.len());
}
