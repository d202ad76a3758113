//! Fire: hub, daemons and model are killed at random while agents ask, answer, remind, receive and
//! write letters.
//!
//! The oracle: every accepted line leads to its question, reminder, letter or answer once; each question
//! has the answer that was acknowledged, each answer and reminder is said once, and nothing is left open.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use gangline_testkit::{
    IrcPeer, Running, eventually_within, irc, wait::within, world::thread_states,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{ROOM, Scene};
use crate::{
    claude::kill_hard,
    fire::{Dice, until_nothing_is_open},
};

/// So long nothing may go on at all.
const SETTLE: Duration = Duration::from_secs(180);
/// At most one is killed for so many lines said: however slow the machine, somebody gets on.
const LINES_A_KILL: usize = 4;
/// So many lines are said before the next kill at most: what waits does not pile up.
const AHEAD: usize = 60;
/// While so much is open nobody says more: an agent may have 100 open questions, and those of this
/// test must be asked.
const OPEN_MAX: usize = 50;
/// So many reminders of an agent fire in an hour; those of this test must.
const REMINDERS: usize = 28;
const PEOPLE: usize = 2;
/// The agents that are told everything; the last one only receives.
const AGENTS: [&str; 3] = ["lab-a0", "lab-a1", "lab-rx"];

/// The model heeds nothing that it is told of earlier attempts, and makes each call again.
///
/// A context that was shortened is followed by a prompt that quotes what people said: each rule is for the line of the
/// prompt itself.
const SCRIPT: &str = r##"
rules:
  - when: {user: '(?m)^\[QUESTION (\d+)\] <[^>]+> (tok-[\d-]+)'}
    reply: [tool_use: {name: answer, input: {id: "$1", answer: "re-$2"}}]
  - when: {user: '(?m)^\[ANSWER \d+\] <[^>]+> (\S+)'}
    reply: [text: "got $1"]
  - when: {user: '(?m)^\[REMINDER \d+\] (tok-[\d-]+)'}
    reply: [text: "fired $1"]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ ask (tok-[\d-]+)'}
    reply: [tool_use: {name: ask, input: {question: "$1"}}]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ peer (tok-[\d-]+) (\S+)'}
    reply: [tool_use: {name: ask, input: {question: "$1", to: "$2"}}]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ remind (tok-[\d-]+)'}
    reply: [tool_use: {name: remind, input: {message: "$1", due: "in 1 s"}}]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ tell (tok-[\d-]+)'}
    reply: [tool_use: {name: send, input: {to: operator, body: "$1"}}]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ wait (tok-[\d-]+)'}
    reply: [tool_use: {name: recv, input: {wait_seconds: 2}}]
  - when: {user: '(?m)^\[IRC @mention[^\n]*> @\S+ say exactly (tok-[\d-]+)'}
    reply: [text: "$1"]
  - when: {tool: recv, tool_result: '(?s)exactly (tok-[\d-]+).*?(m\d+)\\?"'}
    reply: [tool_use: {name: send, input: {to: "#general", body: "$1", in_reply_to: "$2"}}]
  - when: {tool: answer}
    reply: [tool_use: {name: no_reply, input: {}}]
  - when: {tool_result: '.'}
    reply: [text: "done"]
  - reply: [tool_use: {name: no_reply, input: {}}]
"##;

/// What a person said and saw accepted: the kind of the line by its token.
type Accepted = Mutex<BTreeMap<String, &'static str>>;
/// The answers that were acknowledged, by the question's token.
type Answers = Mutex<BTreeMap<String, String>>;

/// How far it is.
#[derive(Default)]
struct Progress {
    lines: AtomicUsize,
    kills: AtomicUsize,
    people_are_done: AtomicBool,
    done: AtomicBool,
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// R2-19 … R2-28, R2-32: nothing is lost and nothing is doubled. The seed is printed;
/// `GANGLINE_FIRE_SEED` repeats its choices, `GANGLINE_FIRE_KILLS` kills as often.
#[test]
fn random_kills_lose_and_double_no_question_answer_reminder_letter_or_message() {
    let scene = Scene::new(&AGENTS, SCRIPT);
    let seed = from_environment("GANGLINE_FIRE_SEED");
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 7919 + 1);
    let wanted = from_environment("GANGLINE_FIRE_KILLS").unwrap_or(40);
    let wanted = usize::try_from(wanted).unwrap();
    println!("seed {seed}");
    let [standin, hub] = scene.start();
    let running = Mutex::new([standin, hub]);
    let (accepted, answers) = (Accepted::default(), Answers::default());
    let progress = Progress::default();
    thread::scope(|scope| {
        let people: Vec<_> = (0..PEOPLE)
            .map(|n| {
                let (scene, accepted, progress) = (&scene, &accepted, &progress);
                scope.spawn(move || person(scene, n, (accepted, progress, wanted)))
            })
            .collect();
        scope.spawn(|| chaos(&scene, seed, &running, (&progress, wanted)));
        let operator = scope.spawn(|| operator(&scene, &answers, &progress));
        let all_said = people.into_iter().all(|person| person.join().is_ok());
        progress.people_are_done.store(true, Ordering::SeqCst);
        let is_settled = all_said && settled(&scene, &accepted);
        progress.done.store(true, Ordering::SeqCst);
        operator.join().unwrap();
        assert!(is_settled, "{:#?}", scene.query(OPEN));
    });
    let (accepted, answers) = (accepted.into_inner().unwrap(), answers.into_inner().unwrap());
    let kills = progress.kills.load(Ordering::SeqCst);
    println!("{kills} kills, {} accepted, {} answered", accepted.len(), answers.len());
    assert!(kills >= wanted && !answers.is_empty());
    check(&scene, &accepted, &answers);
    scene.put_away(running.into_inner().unwrap());
}

/// Says one thing after the other until enough were killed.
fn person(scene: &Scene, n: usize, (accepted, progress, wanted): (&Accepted, &Progress, usize)) {
    let nick = format!("person{n}");
    let mut peer = None;
    for count in 0.. {
        if progress.kills.load(Ordering::SeqCst) >= wanted {
            return;
        }
        let is_ahead = || {
            let kills = progress.kills.load(Ordering::SeqCst);
            progress.lines.load(Ordering::SeqCst) > kills * LINES_A_KILL + AHEAD
                || scene.query(OPEN).len() > OPEN_MAX
        };
        eventually_within(SETTLE, "less that waits", || (!is_ahead()).then_some(()));
        let token = format!("tok-{n}-{count}");
        let (agent, other) = match count % 2 {
            0 => (AGENTS[0], AGENTS[1]),
            _ => (AGENTS[1], AGENTS[0]),
        };
        let may_remind = count / 12 * PEOPLE < REMINDERS;
        let (kind, agent, text) = match count / 2 % 6 {
            0 => ("ask", agent, format!("ask {token}")),
            1 => ("peer", agent, format!("peer {token} {other}")),
            2 if may_remind => ("remind", agent, format!("remind {token}")),
            2 | 3 => ("tell", agent, format!("tell {token}")),
            4 => ("wait", AGENTS[2], format!("wait {token}")),
            _ => ("exactly", AGENTS[2], format!("say exactly {token}")),
        };
        let connection = peer.get_or_insert_with(|| come_in(scene, &nick));
        let line = format!("@{agent} {text}");
        connection.try_send(&format!("PRIVMSG {ROOM} :{line}"));
        let echoed = connection.listen(Duration::from_secs(10), |heard| {
            let said = irc::said(heard)?;
            (said.from == nick && said.text == line).then_some(())
        });
        match echoed {
            Some(()) => drop(accepted.lock().unwrap().insert(token, kind)),
            None => peer = None,
        }
        progress.lines.fetch_add(1, Ordering::SeqCst);
        // sleep: people pause between lines, so that the kills fall between them too.
        thread::park_timeout(Duration::from_millis(100));
    }
}

/// Comes into the room, however often the server dies in between.
fn come_in(scene: &Scene, nick: &str) -> IrcPeer {
    eventually_within(SETTLE, &format!("{nick} in the room"), || {
        let mut peer = IrcPeer::open(&scene.irc, nick);
        for line in [
            "CAP REQ :message-tags server-time echo-message",
            &format!("NICK {nick}"),
            &format!("USER {nick} 0 * :{nick}"),
            "CAP END",
            &format!("JOIN {ROOM}"),
        ] {
            peer.try_send(line);
        }
        let joined = |line: &str| (irc::command(line) == "366").then_some(());
        peer.listen(Duration::from_secs(10), joined).map(|()| peer)
    })
}

/// Answers what the operator is asked, each question by two commands at once: one of them wins.
fn operator(scene: &Scene, answers: &Answers, progress: &Progress) {
    while !progress.done.load(Ordering::SeqCst) {
        let listed = scene.world.run(&["questions", "--json"]);
        let open: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        let open: Vec<_> = open.as_array().into_iter().flatten().collect();
        for question in open.iter().filter(|it| it["to"] == "operator") {
            let (number, token) = (question["number"].to_string(), question["question"].as_str());
            let token = token.unwrap();
            let won: Vec<String> = thread::scope(|scope| {
                let both = ["x", "y"].map(|by| format!("{by}-{token}"));
                let both = both.map(|answer| {
                    let number = number.trim_matches('"').to_owned();
                    scope.spawn(move || {
                        let ran = scene.world.run(&["answer", &number, &answer]);
                        (ran.code == 0).then_some(answer)
                    })
                });
                both.into_iter().filter_map(|one| one.join().unwrap()).collect()
            });
            let [one] = &won[..] else { panic!("question {number}: {won:?} were acknowledged") };
            let before = answers.lock().unwrap().insert(token.to_owned(), one.clone());
            assert_eq!(before, None, "{token} was asked twice");
        }
        // sleep: a person reads before answering.
        thread::park_timeout(Duration::from_millis(200));
    }
}

fn chaos(
    scene: &Scene,
    seed: u64,
    running: &Mutex<[Running; 2]>,
    (progress, wanted): (&Progress, usize),
) {
    let mut dice = Dice(seed);
    while !progress.people_are_done.load(Ordering::SeqCst) {
        // sleep: the random moment of the kill is what is tested.
        thread::park_timeout(Duration::from_millis(100 + dice.roll(500)));
        let kills = progress.kills.load(Ordering::SeqCst);
        let early = kills > progress.lines.load(Ordering::SeqCst) / LINES_A_KILL;
        if kills >= wanted || early {
            continue;
        }
        if kill_one(scene, &mut dice, &mut running.lock().unwrap()) {
            progress.kills.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Kills hub, model or an agent's daemon; returns whether it was there and died of that. A hub that
/// ended by itself is started anew.
fn kill_one(scene: &Scene, dice: &mut Dice, [standin, hub]: &mut [Running; 2]) -> bool {
    let again = |one: &mut Running, start: &dyn Fn() -> Running| {
        let died = one.ended().is_none() && dies(one.pid());
        one.kill();
        *one = start();
        died
    };
    let start_hub = || scene.world.start(&scene.up_args());
    match dice.roll(10) {
        0 => again(hub, &start_hub),
        1 => again(standin, &|| scene.standin()),
        _ if hub.ended().is_some() => again(hub, &start_hub),
        _ => {
            let agent = AGENTS[usize::try_from(dice.roll(3)).unwrap()];
            let daemons = scene.world.processes_like(&format!("daemon {agent}"));
            // Each one is killed, so all are looked at.
            daemons.into_iter().filter(|pid| dies(*pid)).count() > 0
        }
    }
}

/// Kills a process; returns whether it died of that: one that stands still does not end by itself.
fn dies(pid: i32) -> bool {
    if kill(Pid::from_raw(pid), Signal::SIGSTOP).is_err() {
        return false;
    }
    let stood = within(Duration::from_secs(10), || {
        let states = thread_states(pid);
        let is_over = states.is_empty() || states.contains(&'Z') || states.contains(&'X');
        let is_still = states.iter().all(|state| *state == 'T');
        (is_over || is_still).then_some(!is_over)
    });
    kill_hard(pid);
    stood == Some(true)
}

/// Everything that still has to come to its end.
const OPEN: &str = "SELECT 'm' || id || ' ' || agent || ' ' || state || ' ' || body FROM messages \
                    WHERE state IN ('accepted', 'in_turn', 'held') AND origin <> 'system' \
                    UNION ALL SELECT 'question ' || id || ' ' || body FROM questions WHERE state = 'open' \
                    UNION ALL SELECT 'reminder ' || id || ' ' || body FROM reminders WHERE state = 'waiting' \
                    UNION ALL SELECT 'line ' || id || ' ' || body FROM outbox WHERE state IN ('queued', 'sent')";
const BODIES: &str = "SELECT body FROM messages";

/// Waits until every accepted line is in the store and nothing is open.
fn settled(scene: &Scene, accepted: &Accepted) -> bool {
    let accepted: Vec<String> = accepted.lock().unwrap().keys().cloned().collect();
    until_nothing_is_open(SETTLE, || {
        let bodies = scene.query(BODIES).join(" \n") + " ";
        let unknown = accepted.iter().filter(|token| !bodies.contains(&format!("{token} ")));
        unknown.count() + scene.query(OPEN).len()
    })
}

/// How often each text stands in rows.
fn counted(rows: Vec<String>) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for row in rows {
        *count.entry(row).or_default() += 1;
    }
    count
}

const MESSAGES: &str = "SELECT id || ' ' || agent || ' ' || state || ' ' || attempt || ': ' || body \
                        FROM messages ORDER BY id";
const TURNS: &str = "SELECT t.message || ' in t' || t.epoch || '.' || t.number || ' (' || t.how || ', ' || \
                     t.attempt || '): ' || e.kind || ' ' || e.payload FROM turn_messages t JOIN events e \
                     ON e.agent = t.agent AND e.turn_epoch = t.epoch AND e.turn_number = t.number \
                     ORDER BY e.seq";
const ASKED: &str = "SELECT 'question ' || id || ' of ' || agent || ' to ' || target || ' ' || state || \
                     ' by ' || coalesce(answered_by, '') || ': ' || body || ' → ' || coalesce(answer, '') \
                     FROM questions ORDER BY id";

/// What is known of a token: its messages, what their turns did, its question.
fn story(scene: &Scene, token: &str) -> String {
    let is_of = |row: &String| {
        row.split(|c: char| c != '-' && !c.is_alphanumeric()).any(|word| word == token)
    };
    let id = |row: &String| row.split(' ').next().unwrap_or_default().to_owned();
    let messages: Vec<String> = scene.query(MESSAGES).into_iter().filter(is_of).collect();
    let ids: Vec<String> = messages.iter().map(id).collect();
    let turns = scene.query(TURNS).into_iter().filter(|row| ids.contains(&id(row)));
    let asked = scene.query(ASKED).into_iter().filter(is_of);
    messages.iter().cloned().chain(turns).chain(asked).collect::<Vec<_>>().join("\n")
}

fn check(
    scene: &Scene,
    accepted: &BTreeMap<String, &'static str>,
    answers: &BTreeMap<String, String>,
) {
    let once = |count: &BTreeMap<String, usize>, text: &str, (what, token): (&str, &str)| {
        let times = count.get(text).copied().unwrap_or(0);
        assert_eq!(times, 1, "{what} `{text}` {times} times:\n{}", story(scene, token));
    };
    let mut judge = scene.owner("judge");
    let history = judge.history(ROOM);
    let said = history.iter().filter_map(|line| irc::said(line));
    let said = said.filter(|said| said.from.starts_with("lab-"));
    let said = counted(said.map(|said| said.text.to_owned()).collect());
    let questions = counted(scene.query("SELECT body || ' ' || answer FROM questions"));
    let asked = counted(scene.query("SELECT 'question ' || id || ' from ' || agent || ' to the owners: ' || body FROM questions WHERE target = 'operator'"));
    let reminders = counted(scene.query("SELECT body || ' ' || fired FROM reminders"));
    let letters = counted(scene.query("SELECT body FROM letters"));
    for (token, kind) in accepted {
        match *kind {
            "ask" => {
                let Some(answer) = answers.get(token) else {
                    panic!("`{token}` has no answer:\n{}", story(scene, token));
                };
                once(&questions, &format!("{token} {answer}"), ("the question", token));
                once(&said, &format!("got {answer}"), ("the answer was told", token));
            }
            "peer" => {
                once(&questions, &format!("{token} re-{token}"), ("the question to a peer", token));
                once(&said, &format!("got re-{token}"), ("the peer's answer was told", token));
            }
            "remind" => {
                once(&reminders, &format!("{token} 1"), ("the reminder", token));
                once(&said, &format!("fired {token}"), ("the reminder was told", token));
            }
            "tell" => once(&letters, token, ("the letter", token)),
            "exactly" => once(&said, token, ("the message was answered", token)),
            _ => {}
        }
    }
    // Also of what was said without being seen to be accepted, nothing is doubled.
    for (count, what) in [(&questions, "question"), (&reminders, "reminder"), (&letters, "letter")]
    {
        assert!(count.values().all(|times| *times == 1), "a {what} is doubled: {count:#?}");
    }
    for announcement in asked.keys() {
        once(&said, announcement, ("the announcement", announcement));
    }
    let told = |text: &str| ["tok-", "got ", "fired "].iter().any(|it| text.starts_with(it));
    let doubled: Vec<_> = said.iter().filter(|(text, times)| told(text) && **times > 1).collect();
    assert!(doubled.is_empty(), "said twice: {doubled:?}");
    let states = counted(
        scene.query("SELECT origin || ' ' || state FROM messages WHERE origin <> 'system'"),
    );
    println!("{states:?}");
    let ended = |state: &str| state.ends_with(" answered") || state.ends_with(" no_reply");
    assert!(states.keys().all(|state| ended(state)), "{states:?}");
}
