//! Agents that mention each other for ever are stopped, however slow they are.

use std::time::Duration;

use super::Three;
use crate::rig::{ADA, BOB, Daemon, ROOM};

const HOUR: Duration = Duration::from_secs(3600);

/// Each agent mentions the other by tool, for ever.
const FOR_EVER: &str = "rules:
  - when: {tool: send}
    reply: [text: NO_REPLY]
  - when: {model: standin-ADA}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@BOB over to you'}}]
  - when: {model: standin-BOB}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@ADA no, to you'}}]
";

/// Agents that mention each other by tool for ever are stopped at the hop limit, and what was
/// refused is held and told.
#[test]
fn two_agents_that_mention_each_other_stop_at_the_hop_limit() {
    let mut three = Three::meet(FOR_EVER);
    three.alice.say(ROOM, "@lab-ada begin");
    let mut wanted: Vec<String> = (0..=8)
        .map(|hops| format!("{} {hops} answered", if hops % 2 == 0 { ADA } else { BOB }))
        .collect();
    wanted.push(format!("{BOB} 9 held"));
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    three
        .rig
        .sees("SELECT agent || ' ' || hops || ' ' || state FROM messages ORDER BY id", &wanted);
    let roots = "SELECT DISTINCT cause_root FROM messages WHERE hops > 0";
    assert_eq!(three.rig.query(roots), ["1"], "all come from what alice said");
    let why = three.rig.query("SELECT reason FROM messages WHERE state = 'held'");
    assert!(why[0].contains("9 hops from agent to agent, more than the limit"), "{why:?}");
    let finding = "SELECT agent || ' ' || kind || ' ' || state FROM findings";
    three.rig.sees(finding, &["lab-bob held_messages open"]);
    let told = "alice: m1 was passed on 9 times from agent to agent (9 turns of 2";
    three.alice.hears(ADA, ROOM, told);
    // The limit is on what alice began, not on the agents.
    three.alice.say(ROOM, "@lab-bob begin anew");
    let anew = "SELECT state FROM messages WHERE hops = 0 AND agent = 'lab-bob'";
    three.rig.sees(anew, &["answered"]);
}

/// The limit of hops has no time in it: agents that take an hour for each step stop where fast ones do, and
/// `stand down` holds for as long.
#[test]
fn two_agents_that_answer_each_other_once_an_hour_stop_too() {
    let mut three = Three::meet(FOR_EVER);
    let mut boss = three.rig.owner("boss");
    let ended = "SELECT count(*) FROM turns WHERE ended_at IS NOT NULL";
    let step = |turns: usize, who: &Daemon| {
        three.rig.clock.forward(HOUR);
        who.owner("resume");
        three.rig.sees(ended, &[turns.to_string().as_str()]);
        who.owner("pause");
    };
    for daemon in [&three._ada, &three._bob] {
        daemon.owner("pause");
    }
    three.alice.say(ROOM, "@lab-ada begin");
    three.rig.sees("SELECT state FROM messages", &["accepted"]);
    for hop in 0..=8 {
        step(hop + 1, if hop % 2 == 0 { &three._ada } else { &three._bob });
        let next = if hop < 8 { "accepted" } else { "held" };
        three.rig.sees("SELECT state FROM messages ORDER BY id DESC LIMIT 1", &[next]);
    }
    let span = three.rig.query("SELECT (max(ended_at) - min(started_at)) / 3600000000 FROM turns");
    assert_eq!(span, ["8"], "hours");
    // Another loop is ended by a word in between.
    three.alice.say(ROOM, "@lab-ada begin anew");
    three
        .rig
        .sees("SELECT state FROM messages WHERE hops = 0 ORDER BY id", &["answered", "accepted"]);
    step(10, &three._ada);
    boss.say(ROOM, "@lab-bob stand down");
    boss.hears(BOB, ROOM, "until");
    three.rig.clock.forward(HOUR);
    three._bob.owner("resume");
    let left =
        three.rig.query("SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn')");
    assert_eq!((three.rig.query(ended), left), (vec!["10".to_owned()], vec!["0".to_owned()]));
}

/// The final text of an agent that mentions the asking agent is an answer: it may wake, and owes
/// none.
#[test]
fn two_agents_whose_answers_mention_each_other_stop_after_one_answer() {
    let mut three = Three::meet(
        "rules:
  - when: {model: standin-ADA}
    reply: [text: '@BOB over to you']
  - when: {model: standin-BOB}
    reply: [text: '@ADA no, to you']
",
    );
    three.alice.say(ROOM, "@lab-ada begin");
    three.alice.hears(ADA, ROOM, "over to you");
    three.alice.hears(BOB, ROOM, "no, to you");
    let settled = "SELECT count(*) FROM messages WHERE state NOT IN ('accepted', 'in_turn')";
    three.rig.sees(settled, &["3"]);
    // Whatever was owed would be in the store before bob's next answer.
    three.alice.say(ROOM, "@lab-bob and you");
    three.alice.hears(BOB, ROOM, "no, to you");
    assert_eq!(three.said_by(ADA), ["@lab-bob over to you"]);
}
