//! A loop of two: agents with real programs that mention each other for ever.

use crate::rig::{ADA, BOB, ROOM, Real, Rig};

/// Each agent answers everything by mentioning the other with the tool `send`, unless a person asks for a word.
const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - when: {tool: send}
    reply: [text: NO_REPLY]
  - when: {model: 'ADA'}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@lab-bob over to you'}}]
  - when: {model: 'BOB'}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@lab-ada no, to you'}}]
"#;

const ROWS: &str = "SELECT agent || ' ' || hops || ' ' || state FROM messages ORDER BY id";
const HELD: &str = "SELECT reason FROM messages WHERE state = 'held'";
const TURNS: &str = "SELECT turns FROM causes WHERE root = 1";
const FINDINGS: &str = "SELECT kind || ' ' || state FROM findings ORDER BY number";

/// Where the loop is stopped: after `turns` turns of one request, with `held` as the reason and `told` as the line
/// to people. `again` is the same for the second stop, after the owner has let it continue.
struct Limits {
    turns: usize,
    held: &'static str,
    told: &'static str,
    again: (&'static str, &'static str, &'static str),
}

const HOPS: Limits = Limits {
    turns: 9,
    held: "9 hops from agent to agent, more than the limit",
    told: "alice: m1 was passed on 9 times from agent to agent (9 turns of 2 agents in ",
    again: (
        "18",
        "alice: m1 was passed on 18 times from agent to agent (18 turns of 2 agents in ",
        "18 hops from agent to agent, more than the limit",
    ),
};

const BUDGET: Limits = Limits {
    turns: 4,
    held: "the 4 turns of m1 are used up",
    told: "alice: m1 has used its 4 turns (4 turns of 2 agents in ",
    again: (
        "8",
        "alice: m1 has used its 8 turns (8 turns of 2 agents in ",
        "the 8 turns of m1 are used up",
    ),
};

fn story((ada, bob): (Real, Real), limits: &Limits) {
    let Limits { turns, held, told, again } = *limits;
    let script = SCRIPT.replace("ADA", ada.model()).replace("BOB", bob.model());
    let keys = (&*format!("turns_per_cause: {turns}"), "permissions: bypass\n");
    let rig = Rig::pair((ada, bob), &script, keys);
    let (of_ada, of_bob) = (rig.start(), rig.start_bob());
    let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
    alice.say(ROOM, "@lab-ada begin");
    let row = |hops: usize| {
        let state = if hops < turns { "answered" } else { "held" };
        format!("{} {hops} {state}", if hops.is_multiple_of(2) { ADA } else { BOB })
    };
    let rows: Vec<String> = (0..=turns).map(row).collect();
    rig.sees(ROWS, &rows.iter().map(String::as_str).collect::<Vec<_>>());
    rig.sees(HELD, &[held]);
    alice.hears(ADA, ROOM, told);
    rig.sees(FINDINGS, &["held_messages open"]);
    // The owner lets it continue, and it is stopped again.
    boss.say(ROOM, "@lab-bob go on m1");
    boss.hears(BOB, ROOM, &format!("m1 may take up to {turns} more turns"));
    rig.sees(TURNS, &[again.0]);
    alice.hears(ADA, ROOM, again.1);
    rig.sees(FINDINGS, &["held_messages resolved", "held_messages open"]);
    rig.sees(HELD, &[again.2]);
    // Both agents answer a new request: the limit is on the old request, not on the agents.
    for (nick, word) in [(ADA, "pear"), (BOB, "plum")] {
        alice.say(ROOM, &format!("@{nick} say exactly {word}"));
        alice.hears(nick, ROOM, word);
    }
    assert_eq!(rig.query(TURNS), [again.0]);
    assert_eq!((of_ada.stop().code, of_bob.stop().code), (0, 0));
}

/// Design §5: one message of a person is passed on between Claude Code and Codex for ever. It is stopped at the hop
/// limit, people are told once, and each agent takes other requests.
#[test]
fn claude_code_and_codex_that_mention_each_other_stop_at_the_hop_limit() {
    story((Real::Claude, Real::Codex), &HOPS);
}

/// As before, with OpenCode and the native loop, and a limit of turns that is reached first.
#[test]
fn opencode_and_the_native_loop_that_mention_each_other_stop_when_their_turns_are_used() {
    story((Real::OpenCode, Real::Native), &BUDGET);
}
