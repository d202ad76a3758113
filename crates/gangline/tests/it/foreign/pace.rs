//! Long answers: no server throws the agent out for flooding, and every line arrives, in order,
//! once.

use gangline_testkit::wait::PATIENCE;

use super::*;

/// The lines of a long answer.
pub(super) fn lines(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("L{number:02}")).collect()
}

/// An agent that answers everything by so many lines, in two texts.
pub(super) fn talkative(count: usize) -> Stage {
    let all = lines(count);
    let (first, second) = all.split_at(count / 2);
    let send = |text: &[String]| {
        let text = text.join("\\n");
        format!("tool_use: {{name: send, input: {{to: '#general', text: \"{text}\"}}}}")
    };
    let script = format!(
        "rules:\n  - when: {{tool: send}}\n    reply: [text: NO_REPLY]\n  - reply:\n      - {}\n      \
         - {}\n",
        send(first),
        send(second)
    );
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], Some(&script), (FOREIGN, ""))
}

fn a_long_answer_arrives(server: impl FnOnce(&Stage) -> Ircd) {
    let stage = talkative(20);
    let _server = server(&stage);
    let mut alice = person(&stage, "alice");
    let mut hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada tell me all");
    alice.hears(ADA, "#general", "L20");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), lines(20));
    let left = alice.lines().into_iter().find(|line| {
        line.starts_with(&format!(":{ADA}!")) && ["QUIT", "PART"].contains(&irc::command(line))
    });
    assert_eq!(left, None, "the server threw it out");
    let doubted = "SELECT body FROM outbox WHERE may_be_doubled <> 0 OR attempts <> 1";
    assert_eq!(stage.query(doubted), [""; 0]);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// ngIRCd as it is without a configuration slows clients down.
#[test]
fn ngircd_with_its_penalties_takes_twenty_lines() {
    if !Kind::Ngircd.is_missing("pace::ngircd") {
        a_long_answer_arrives(|stage| {
            Ngircd { penalty: -1, ..Ngircd::default() }.start(&stage.world, &stage.irc)
        });
    }
}

/// InspIRCd as it is without a configuration slows clients down.
#[test]
fn inspircd_with_fake_lag_takes_twenty_lines() {
    if !Kind::Inspircd.is_missing("pace::inspircd_with_fake_lag") {
        a_long_answer_arrives(|stage| Kind::Inspircd.start(stage));
    }
}

/// With `fakelag` off InspIRCd kills who is too fast ("Excess Flood").
const KILLS: &str = r#"fakelag="no" threshold="10" commandrate="1000""#;

#[test]
fn inspircd_that_kills_for_flooding_takes_twenty_lines() {
    if !Kind::Inspircd.is_missing("pace::inspircd_that_kills") {
        a_long_answer_arrives(|stage| {
            let server = Inspircd { connect: KILLS, ..Inspircd::default() };
            server.start(&stage.world, &stage.irc)
        });
    }
}

#[test]
fn inspircd_with_extensions_that_kills_for_flooding_takes_twenty_lines() {
    if !Kind::Ircv3.is_missing("pace::inspircd_with_extensions_that_kills") {
        a_long_answer_arrives(|stage| {
            let server = Inspircd { modules: ircd::IRCV3, connect: KILLS, ..Inspircd::default() };
            server.start(&stage.world, &stage.irc)
        });
    }
}

/// A server that bears less than any we know of: thrown out once or twice, the agent becomes slow
/// enough, and nothing is missing in the end.
#[test]
fn an_agent_that_was_thrown_out_for_flooding_becomes_slower() {
    if Kind::Ircv3.is_missing("pace::an_agent_that_was_thrown_out") {
        return;
    }
    let stage = talkative(20);
    let connect = r#"fakelag="no" threshold="6" commandrate="500""#;
    let server = Inspircd { modules: ircd::IRCV3, connect, ..Inspircd::default() };
    let _server = server.start(&stage.world, &stage.irc);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada tell me all");
    let flooded = |line: &str| line.contains("QUIT :Excess Flood").then_some(());
    alice.wait("the agent to be thrown out", flooded);
    alice.wait_within(PATIENCE * 2, "the last line", |line| {
        irc::said(line).filter(|said| said.from == ADA && said.text == "L20").map(|_| ())
    });
    all_confirmed(&stage);
    let mut heard = said_by(&alice, ADA, "#general");
    heard.sort();
    heard.dedup();
    assert_eq!(heard, lines(20));
}
