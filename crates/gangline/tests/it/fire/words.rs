//! No word before its commit: a daemon is stopped where it is about to store an order, and then killed. Whoever
//! gave the order has heard nothing by then.

use std::thread;

use gangline_testkit::{IrcPeer, Running, database, eventually_within, irc};

use super::{Fire, SETTLE, orders};

/// The room in which a person speaks, or the command line.
#[derive(Clone, Copy)]
enum Surface {
    Room,
    CommandLine,
}

/// What the agent does when the order comes.
#[derive(Clone, Copy)]
enum Does {
    Nothing,
    /// It waits for an approval.
    Works,
    Rests,
    /// It works, and a finding about that waits for a person under the number 900.
    IsLooked,
}

/// The order, where it is given, what the agent does then, and where its daemon stops.
const ORDERS: &[(&str, Surface, Does, &str)] = &[
    ("interrupt", Surface::CommandLine, Does::Works, "order_turn.before_commit"),
    ("abort", Surface::CommandLine, Does::Works, "order_turn.before_commit"),
    ("stop", Surface::Room, Does::Works, "order_turn.before_commit"),
    ("clear", Surface::CommandLine, Does::Nothing, "order_turn.before_commit"),
    ("new session", Surface::Room, Does::Nothing, "order_turn.before_commit"),
    ("compact", Surface::CommandLine, Does::Nothing, "order_turn.before_commit"),
    ("compact", Surface::Room, Does::Works, "order_turn.before_commit"),
    ("pause", Surface::CommandLine, Does::Nothing, "pause.before_commit"),
    ("pause", Surface::Room, Does::Nothing, "pause.before_commit"),
    ("resume", Surface::CommandLine, Does::Rests, "pause.before_commit"),
    ("resume", Surface::Room, Does::Rests, "pause.before_commit"),
    ("900 abort", Surface::Room, Does::IsLooked, "decide_finding.before_commit"),
];

/// A finding that offers to end the turn, as a watchdog raises it.
const FINDING: &str = "INSERT INTO findings (number, installation_id, agent, key, kind, severity, cause, evidence, \
     choices, affects, state, raised_at, changed_at) SELECT 900, installation_id, agent, 'long_turn', 'long_turn', \
     'warning', 'it works for long', '', '[{\"word\":\"abort\",\"what\":\"ends the turn\"}]', '', 'open', 1, 1 \
     FROM agents WHERE agent = 'fire-l11'";

/// R0-45, R1-35, R0-43, R1-25: an order is confirmed on no surface before it is on disk.
#[test]
fn no_order_is_confirmed_before_its_commit() {
    let agents: Vec<(String, String)> =
        (0..ORDERS.len()).map(|n| (format!("fire-l{n}"), format!("\"#l{n}\""))).collect();
    let fire = Fire::new(&agents);
    let standin = fire.standin();
    let hub = fire.world.start_ready(&["--config", &fire.config, "up", "--no-agents"]);
    for (n, order) in ORDERS.iter().enumerate() {
        one(&fire, n, *order);
    }
    let stored = "SELECT (SELECT count(*) FROM turn_orders) || ' ' || (SELECT count(*) FROM findings \
                  WHERE number = 900 AND state <> 'open')";
    assert_eq!(fire.query(stored), ["0 0"], "each died before its commit");
    fire.stop_all(hub, standin);
}

fn one(fire: &Fire, n: usize, (order, surface, does, point): (&str, Surface, Does, &str)) {
    let (nick, channel) = (format!("fire-l{n}"), format!("#l{n}"));
    let mut boss = fire.owner(&format!("boss{n}"), &channel);
    let at = if matches!(does, Does::Rests) { 2 } else { 1 };
    let mut daemon = fire.daemon(&nick, &format!("{point}=stop@{at}"));
    orders::joined(&mut boss, (&nick, &channel), &daemon);
    boss.say(&channel, &format!("@{nick} say exactly ready-{n}"));
    hears(&mut boss, &nick, &format!("ready-{n}"));
    match does {
        Does::Nothing => {}
        Does::Works | Does::IsLooked => {
            boss.say(&channel, &format!("@{nick} run echo l{n}"));
            orders::approval(&mut boss, &nick);
        }
        Does::Rests => {
            let _ = fire.world.run(&["--config", &fire.config, "pause", &nick]).ok();
        }
    }
    if matches!(does, Does::IsLooked) {
        let _ = database::query(&fire.world.state().join("gangline.db"), FINDING);
    }
    let before = boss.lines().len();
    thread::scope(|scope| {
        let typed = match surface {
            Surface::Room => {
                boss.say(&channel, &format!("@{nick} {order}"));
                None
            }
            Surface::CommandLine => {
                Some(scope.spawn(|| fire.world.run(&["--config", &fire.config, order, &nick])))
            }
        };
        stops(&daemon, order);
        daemon.kill();
        if let Some(typed) = typed {
            let ran = typed.join().unwrap();
            assert_ne!(ran.code, 0, "{order} was confirmed: {}", ran.stdout);
        }
    });
    // Its connection ends behind all that it said.
    boss.wait("its end", |line| {
        (line.starts_with(&format!(":{nick}!")) || line.contains(&format!(" :{nick}!")))
            .then_some(())
            .filter(|()| irc::command(line) == "QUIT")
    });
    let lines = boss.lines();
    let said = lines[before..].iter().filter_map(|line| irc::said(line));
    let told: Vec<&str> = said.filter(|said| said.from == nick).map(|said| said.text).collect();
    assert!(told.is_empty(), "{order} was confirmed: {told:?}");
}

fn hears(boss: &mut IrcPeer, nick: &str, text: &str) {
    boss.wait(text, |line| {
        let said = irc::said(line).filter(|said| said.from == nick)?;
        (said.text == text).then_some(())
    });
}

/// Waits until the daemon has stopped itself.
fn stops(daemon: &Running, order: &str) {
    let stat = format!("/proc/{}/stat", daemon.pid());
    eventually_within(SETTLE, &format!("a daemon that stops before it stores `{order}`"), || {
        let stat = std::fs::read_to_string(&stat).ok()?;
        // Behind the name, which may hold anything.
        stat.rsplit_once(") ")?.1.starts_with('T').then_some(())
    });
}
