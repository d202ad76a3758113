//! Fire with the real Claude Code program among the victims: hub, daemons and programs are killed
//! at random while people ask.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use gangline_testkit::{IrcPeer, Running, eventually_within, irc};

use crate::{
    claude::{Rig, kill_hard},
    fire::{Dice, until_nothing_is_open},
};

/// What people and agents asked, without the news of starts, which nobody waits for.
const ROWS: &str = "SELECT body || ' = ' || state FROM messages WHERE origin <> 'system'";
/// So long nothing may go on at all.
const SETTLE: Duration = Duration::from_secs(180);
/// At most one is killed for so many lines said: however slow the machine, somebody gets on.
const LINES_A_KILL: usize = 4;
const SENDERS: usize = 2;
const EACH: usize = 24;

/// R0-20, R0-21, R0-22: nothing that was accepted is lost, and no answer stands twice. The seed is
/// printed; `GANGLINE_FIRE_SEED` repeats its choices.
#[test]
fn random_kills_of_hub_daemons_and_programs_lose_and_double_nothing() {
    let rig = Rig::new(&["lab-ada", "lab-bob"], None, "permissions: bypass\nmax_attempts: 100");
    let seed = std::env::var("GANGLINE_FIRE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 7919 + 1);
    println!("seed {seed}");
    let hub = Mutex::new(rig.up());
    let accepted = Mutex::new(Vec::new());
    let done = AtomicBool::new(false);
    let (lines, kills) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|n| {
                let (rig, accepted, lines) = (&rig, &accepted, &lines);
                scope.spawn(move || ask(rig, n, (accepted, lines)))
            })
            .collect();
        scope.spawn(|| burn(&rig, seed, &hub, (&done, &lines, &kills)));
        for sender in senders {
            let _ = sender.join();
        }
        done.store(true, Ordering::SeqCst);
    });
    let accepted = accepted.into_inner().unwrap();
    println!("{} kills, {} accepted", kills.load(Ordering::SeqCst), accepted.len());
    assert!(accepted.len() > SENDERS * EACH / 2, "{} accepted", accepted.len());
    settled(&rig, &accepted);
    let mut judge = rig.member("judge");
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for line in judge.history("#general") {
        if let Some(said) = irc::said(&line).filter(|said| said.from.starts_with("lab-")) {
            *answers.entry(said.text.to_owned()).or_default() += 1;
        }
    }
    let rows = rig.query(ROWS);
    for token in &accepted {
        let row = rows.iter().find(|row| row.contains(&format!("{token} ="))).unwrap();
        let expect = usize::from(row.ends_with("= answered"));
        assert_eq!(answers.get(token).copied().unwrap_or(0), expect, "{row}");
        // A program that was killed is no answer; nothing else may end a message here.
        assert!(expect == 1, "{row}");
    }
    rig.put_away(hub.into_inner().unwrap());
}

fn ask(rig: &Rig, n: usize, (accepted, lines): (&Mutex<Vec<String>>, &AtomicUsize)) {
    let nick = format!("asker{n}");
    let mut peer = None;
    for count in 0..EACH {
        let token = format!("tok-{n}-{count}");
        let agent = ["ada", "bob"][(n + count) % 2];
        let connection = peer.get_or_insert_with(|| come_in(rig, &nick));
        connection.try_send(&format!("PRIVMSG #general :@lab-{agent} say exactly {token}"));
        let echoed = connection.listen(Duration::from_secs(10), |line| {
            let said = irc::said(line)?;
            (said.from == nick && said.text.ends_with(&token)).then_some(())
        });
        match echoed {
            Some(()) => accepted.lock().unwrap().push(token),
            None => peer = None,
        }
        lines.fetch_add(1, Ordering::SeqCst);
        // sleep: people pause between lines, so that the kills fall between them too.
        thread::park_timeout(Duration::from_millis(400));
    }
}

/// Comes into the room, however often the server dies in between.
fn come_in(rig: &Rig, nick: &str) -> IrcPeer {
    eventually_within(SETTLE, &format!("{nick} in the room"), || {
        let mut peer = IrcPeer::open(&rig.irc, nick);
        for line in [
            "CAP REQ :message-tags server-time echo-message",
            &format!("NICK {nick}"),
            &format!("USER {nick} 0 * :{nick}"),
            "CAP END",
            "JOIN #general",
        ] {
            peer.try_send(line);
        }
        let joined = |line: &str| (irc::command(line) == "366").then_some(());
        peer.listen(Duration::from_secs(10), joined).map(|()| peer)
    })
}

fn burn(
    rig: &Rig,
    seed: u64,
    hub: &Mutex<Running>,
    (done, lines, kills): (&AtomicBool, &AtomicUsize, &AtomicUsize),
) {
    let mut dice = Dice(seed);
    while !done.load(Ordering::SeqCst) {
        // sleep: the random moment of the kill is what is tested.
        thread::park_timeout(Duration::from_millis(700 + dice.roll(1500)));
        if kills.load(Ordering::SeqCst) > lines.load(Ordering::SeqCst) / LINES_A_KILL {
            continue;
        }
        let agent = ["lab-ada", "lab-bob"][usize::from(dice.roll(2) == 1)];
        match dice.roll(10) {
            0 => {
                let mut hub = hub.lock().unwrap();
                hub.kill();
                *hub = rig.world.start(&rig.up_args());
            }
            1..5 => {
                let daemons = rig.world.processes_like(&format!("daemon {agent}"));
                daemons.into_iter().for_each(kill_hard);
            }
            _ => {
                // Three deaths of a program within 300 s would park its agent: a daemon's death
                // begins the count anew, so each program dies at most once between two of them.
                let programs = rig.world.processes_like("stream-json");
                let daemons = rig.world.processes_like(&format!("daemon {agent}"));
                programs.into_iter().chain(daemons).for_each(kill_hard);
            }
        }
        kills.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waits until every accepted line is in the store, nothing is open and everything is said.
fn settled(rig: &Rig, accepted: &[String]) {
    let is_settled = until_nothing_is_open(SETTLE, || {
        let rows = rig.query(ROWS);
        let unknown = |token: &&String| !rows.iter().any(|row| row.contains(&format!("{token} =")));
        let open = |row: &&String| row.ends_with("= accepted") || row.ends_with("= in_turn");
        let queued = rig.query("SELECT 1 FROM outbox WHERE state IN ('queued', 'sent')").len();
        let parked = rig.query("SELECT agent FROM agents WHERE phase = 'parked'");
        for agent in parked {
            let _ = rig.world.run(&["resume", &agent]);
        }
        let unknown = accepted.iter().filter(unknown).count();
        unknown + rows.iter().filter(open).count() + queued
    });
    assert!(is_settled, "{:?}", rig.query(ROWS));
}
