//! Commands that people allow, and what must hold of them after the fire: one yes, one run.
//!
//! Each command leaves a line in a file. It may stand there twice only if somebody said yes twice, and was
//! told before the second time that the command may have run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use gangline_testkit::{IrcPeer, eventually_within, irc};

use super::{Fire, SETTLE};

/// The file, in the folder of all agents.
pub(super) const FILE: &str = "ran";
/// A yes that has not decided anything by then is said again.
const AGAIN: Duration = Duration::from_secs(2);

/// Says yes to everything that is asked, in the room and at the command line in turn, until `done`.
pub(super) fn decides(fire: &Fire, done: &AtomicBool) {
    let open = "SELECT number || ' ' || agent FROM approvals WHERE state = 'open'";
    let mut said: BTreeMap<String, Instant> = BTreeMap::new();
    let mut peer = None;
    while !done.load(Ordering::SeqCst) {
        for row in fire.query(open) {
            let (number, agent) = row.split_once(' ').unwrap();
            if said.get(number).is_some_and(|at| at.elapsed() < AGAIN) {
                continue;
            }
            said.insert(number.to_owned(), Instant::now());
            if said.len().is_multiple_of(2) {
                let _ = fire.world.run(&["--config", &fire.config, "approve", number]);
                continue;
            }
            let boss = peer.get_or_insert_with(|| comes_in(fire));
            boss.try_send(&format!("PRIVMSG #general :@{agent} yes {number}"));
            let echoed = |line: &str| {
                let said = irc::said(line)?;
                (said.from == "boss" && said.text.ends_with(&format!(" {number}"))).then_some(())
            };
            if boss.listen(Duration::from_secs(5), echoed).is_none() {
                peer = None;
            }
        }
        // sleep: people take a moment, so that kills fall between question and answer.
        thread::park_timeout(Duration::from_millis(30));
    }
}

/// Comes into the room as the owner, however often the server dies in between.
fn comes_in(fire: &Fire) -> IrcPeer {
    let token = std::fs::read_to_string(fire.world.state().join("owner.token")).unwrap();
    eventually_within(SETTLE, "the owner in the room", || {
        let mut peer = IrcPeer::open(&fire.irc, "boss");
        for line in [
            "CAP REQ :message-tags server-time echo-message",
            &format!("PASS owner:{}", token.trim()),
            "NICK boss",
            "USER boss 0 * :boss",
            "CAP END",
            "JOIN #general",
        ] {
            peer.try_send(line);
        }
        let joined = |line: &str| (irc::command(line) == "366").then_some(());
        peer.listen(Duration::from_secs(10), joined).map(|()| peer)
    })
}

/// Of each command: it ran if its question was answered, at most once for each yes; and each yes but the
/// first was asked for with the words that it may have run.
pub(super) fn check(fire: &Fire) {
    let file = fire.world.path("work").join(FILE);
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        *runs.entry(line).or_default() += 1;
    }
    let told: BTreeSet<i64> = fire
        .query("SELECT body FROM outbox WHERE body LIKE '%may have run%'")
        .iter()
        .filter_map(|body| irc::approval(body))
        .collect();
    // One that was opened again for the next attempt keeps its number, and has one decision.
    let allowed = fire.query(
        "SELECT number || ' ' || detail FROM approvals WHERE state = 'allowed' AND delivered = 1 \
         ORDER BY number",
    );
    let mut yeses: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for row in &allowed {
        let (number, detail) = row.split_once(' ').unwrap();
        let detail: serde_json::Value = serde_json::from_str(detail).unwrap();
        let command = detail["command"].as_str().unwrap();
        let token = command.split_whitespace().nth(1).unwrap();
        yeses.entry(token.to_owned()).or_default().push(number.parse().unwrap());
    }
    for (token, count) in &runs {
        let yes = yeses.get(*token).map_or(0, Vec::len);
        assert!(*count <= yes, "{token} ran {count} times by {yes} yes");
    }
    for (token, numbers) in &yeses {
        for number in &numbers[1..] {
            assert!(
                told.contains(number),
                "{token}: approval {number} of {numbers:?} said nothing"
            );
        }
    }
    let answered = fire.query(
        "SELECT body FROM messages WHERE state = 'answered' AND body LIKE '%run once tok-%'",
    );
    for body in &answered {
        let token = body.rsplit(' ').next().unwrap();
        assert!(runs.contains_key(token), "{body}: answered, and its command never ran");
    }
    let twice = runs.values().filter(|count| **count > 1).count();
    let asked_twice = yeses.values().filter(|numbers| numbers.len() > 1).count();
    println!(
        "{} commands ran; {asked_twice} were asked again with \"may have run\", {twice} ran twice",
        runs.len()
    );
}
