//! Orders that were confirmed, and daemons that die around them.

use std::time::{Duration, Instant};

use gangline_testkit::{IrcPeer, Running, eventually_within, irc};

use super::{Fire, SETTLE};

/// How often a daemon dies right behind the word.
const ROUNDS: usize = 12;

/// The number of the open approval of what was asked last.
pub(super) fn approval(boss: &mut IrcPeer, nick: &str) -> i64 {
    boss.wait("the approval", |line| {
        let said = irc::said(line).filter(|said| said.from == nick)?;
        irc::approval(said.text)
    })
}

pub(super) fn joined(boss: &mut IrcPeer, (nick, channel): (&str, &str), daemon: &Running) {
    let begun = Instant::now();
    let in_room = format!(" JOIN {channel}");
    let is_it = |line: &str| line.contains(&format!(":{nick}!")) && line.ends_with(&in_room);
    while boss.listen(Duration::from_millis(50), |line| is_it(line).then_some(())).is_none() {
        assert!(begun.elapsed() < SETTLE, "never joined\n{}", daemon.output());
    }
}

fn dies(daemon: &mut Running, why: &str) {
    eventually_within(SETTLE, why, || daemon.ended());
}

/// R0-45: a turn that a person ended is not taken again, wherever in it its daemon dies: behind the order,
/// before the turn's end is written, and behind that.
#[test]
fn an_ended_turn_is_not_taken_again_wherever_its_daemon_dies() {
    let points = ["order_turn.after_sync", "end_turn.before_commit", "end_turn.after_sync"];
    let agents: Vec<(String, String)> =
        (0..2 * points.len()).map(|n| (format!("fire-o{n}"), format!("#o{n}"))).collect();
    let quoted = |(nick, channel): &(String, String)| (nick.clone(), format!("\"{channel}\""));
    let fire = Fire::new(&agents.iter().map(quoted).collect::<Vec<_>>());
    let standin = fire.standin();
    let hub = fire.world.start_ready(&["--config", &fire.config, "up", "--no-agents"]);
    for (n, (nick, channel)) in agents.iter().enumerate() {
        let point = points[n / 2];
        let mut boss = fire.owner(&format!("boss{n}"), channel);
        let mut daemon = fire.daemon(nick, &format!("{point}=kill"));
        joined(&mut boss, (nick, channel), &daemon);
        boss.say(channel, &format!("@{nick} run echo secret-{n}"));
        approval(&mut boss, nick);
        match n % 2 {
            0 => boss.say(channel, &format!("@{nick} stop")),
            // Whether it hears back depends on the point.
            _ => drop(fire.world.run(&["--config", &fire.config, "interrupt", nick])),
        }
        dies(&mut daemon, point);
        let mut daemon = fire.daemon(nick, "");
        boss.say(channel, &format!("@{nick} say exactly tok-{n}"));
        boss.wait("the next answer", |line| {
            let said = irc::said(line).filter(|said| said.from == *nick)?;
            (said.text == format!("tok-{n}")).then_some(())
        });
        assert_eq!(daemon.terminate(), 0, "{point}: {}", daemon.output());
    }
    let ended = "SELECT agent || ' ' || state || ' ' || coalesce(reason, '') || ' ' || takes \
                 FROM messages WHERE body LIKE '%run echo%' ORDER BY id";
    let expect: Vec<String> =
        agents.iter().map(|(nick, _)| format!("{nick} failed interrupted:operator 1")).collect();
    assert_eq!(fire.query(ended), expect);
    assert_eq!(fire.query("SELECT outcome FROM turn_orders GROUP BY outcome"), ["done"]);
    fire.stop_all(hub, standin);
}

/// The daemon dies as soon as the command has confirmed the order, again and again: each order holds.
#[test]
fn orders_hold_when_the_daemon_dies_right_behind_the_word() {
    let agents = [("fire-w".to_owned(), "\"#w\"".to_owned())];
    let fire = Fire::new(&agents);
    let standin = fire.standin();
    let hub = fire.world.start_ready(&["--config", &fire.config, "up", "--no-agents"]);
    let (nick, channel) = ("fire-w", "#w");
    let mut boss = fire.owner("boss", channel);
    let mut daemon = fire.daemon(nick, "");
    joined(&mut boss, (nick, channel), &daemon);
    for round in 0..ROUNDS {
        boss.say(channel, &format!("@{nick} run echo round-{round}"));
        approval(&mut boss, nick);
        let word = if round % 2 == 0 { "interrupt" } else { "abort" };
        let _ = fire.world.run(&["--config", &fire.config, word, nick]).ok();
        daemon.kill();
        daemon = fire.daemon(nick, "");
    }
    // It has begun by then, and can be asked to end.
    boss.say(channel, &format!("@{nick} say exactly all-ended"));
    boss.wait("an answer", |line| {
        let said = irc::said(line).filter(|said| said.from == nick)?;
        (said.text == "all-ended").then_some(())
    });
    let states = "SELECT state || ' ' || coalesce(reason, '') || ' ' || takes FROM messages \
                  WHERE body LIKE '%run echo%' ORDER BY id";
    let held = vec!["failed interrupted:operator 1".to_owned(); ROUNDS];
    eventually_within(SETTLE, "every order to hold", || (fire.query(states) == held).then_some(()));
    let ran = "SELECT count(*) FROM approvals WHERE state = 'allowed'";
    assert_eq!(fire.query(ran), ["0"]);
    assert_eq!(daemon.terminate(), 0, "{}", daemon.output());
    fire.stop_all(hub, standin);
}
