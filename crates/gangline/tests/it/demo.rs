//! The main job, end to end: the demo as a new user runs it, over real IRC and real processes.

use gangline_testkit::{
    IrcPeer, Running, World, database, eventually, irc, stage::free_port, world,
};

mod deaths;
mod rules;
mod words;

const GUIDE: &str = "demo-guide";

struct Demo {
    world: World,
    hub: Running,
}

impl Demo {
    fn start() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let hub = start(&world);
        Self { world, hub }
    }

    /// Says something and waits until the guide is at it. It is until [`Self::model_goes_on`].
    fn at_work(&self, peer: &mut IrcPeer, word: &str) {
        world::hold(self.model());
        peer.say("#general", &format!("@demo-guide say exactly {word}"));
        self.sees("SELECT phase FROM agents", &["working"]);
    }

    /// Waits until the store answers so.
    fn sees(&self, sql: &'static str, expect: &[&str]) {
        eventually(sql, || (self.query(sql) == expect).then_some(()));
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&std::path::Path::new(&self.state()).join("gangline.db"), sql)
    }

    fn model_goes_on(&self) {
        world::go_on(self.model());
    }

    fn model(&self) -> i32 {
        self.world.processes_like("standin serve")[0]
    }

    fn irc(&self) -> String {
        self.hub.field("irc")
    }

    /// A person without an account: by the kernel's word the same user, so a member.
    fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect(&self.irc(), nick, None);
        peer.join("#general");
        peer
    }

    fn owner(&self, nick: &str) -> IrcPeer {
        let password = format!("owner:{}", self.hub.field("token"));
        let mut peer = IrcPeer::connect(&self.irc(), nick, Some(&password));
        peer.join("#general");
        peer
    }

    fn state(&self) -> String {
        self.hub.field("state")
    }

    fn kill_guide(&self) {
        let guide = self.world.processes_like(&format!("daemon {GUIDE}"));
        guide.into_iter().for_each(crate::claude::kill_hard);
    }

    fn run(&self, args: &[&str]) -> gangline_testkit::Ran {
        let state = self.state();
        let mut all = vec!["--state", &state];
        all.extend(args);
        self.world.run(&all)
    }
}

/// Starts a demo on ports that are nobody else's, also while it is down.
pub(crate) fn start(world: &World) -> Running {
    let ports = format!("{{\"irc\": {}, \"standin\": {}}}", free_port(), free_port());
    let _ = world.file("state/gangline/demo/ports.json", &ports);
    world.start_ready(&["demo"])
}

/// R0-01, R0-36, R1-10, R1-28, C12, C33: a mention wakes the agent, its final text is said in the
/// room, once.
#[test]
fn a_mention_is_answered_in_the_room() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide hello");
    let help = alice.hears(GUIDE, "#general", "hello");
    assert!(help.contains("say exactly"), "the help quotes the asker and says what works: {help}");
    alice.say("#general", "demo-guide: say exactly kumquat 7");
    alice.hears(GUIDE, "#general", "kumquat 7");
    alice.say("#general", "@guide say exactly by the short name");
    alice.hears(GUIDE, "#general", "by the short name");
    alice.say("#general", "nobody in particular: say exactly nothing");
    alice.say(GUIDE, "say exactly in private");
    alice.hears(GUIDE, "alice", "in private");
    let answers = alice.lines().iter().filter(|line| line.contains("kumquat 7")).count();
    assert_eq!(answers, 1, "the server does not echo to alice, so one line is the one answer");
    assert!(!alice.lines().iter().any(|line| line.contains("exactly nothing")));
}

/// C5: what only looks runs by itself; a shell command waits for the owner.
#[test]
fn a_shell_command_waits_for_the_owner_and_is_refused_to_others() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    alice.say("#general", "@demo-guide list files");
    alice.hears(GUIDE, "#general", "README.md");

    alice.say("#general", "@demo-guide run echo one-$((40+2))");
    let asked = alice.hears(GUIDE, "#general", "demo-guide wants to run (for alice, in ");
    assert!(asked.contains("`echo one-$((40+2))`. Owner: `@demo-guide yes 1` or"), "{asked}");
    alice.say("#general", "@demo-guide yes 1");
    let refused = "only an owner may decide approvals; you are alice, without a password";
    alice.hears(GUIDE, "#general", refused);
    boss.hears(GUIDE, "#general", refused);
    // What only begins like a decision decides nothing and is no prompt, and its author is told so.
    boss.say("#general", "@demo-guide yes, say exactly go on then");
    boss.hears(GUIDE, "#general", "decides nothing: approval");
    boss.say("#general", "@demo-guide yes 1");
    alice.hears(GUIDE, "#general", "approval 1: allowed by boss (owner)");
    alice.hears(GUIDE, "#general", "one-42");

    alice.say("#general", "@demo-guide run echo two");
    let asked = boss.hears(GUIDE, "#general", "echo two");
    let number = irc::approval(&asked).unwrap();
    boss.say("#general", &format!("@demo-guide no {number} use two hands"));
    let said = format!("approval {number}: denied by boss (owner): use two hands");
    alice.hears(GUIDE, "#general", &said);
    let refused = boss.hears(GUIDE, "#general", "a person refused this and said: use two hands");
    assert!(!refused.contains("exit code 0"), "{refused}");
    let all = demo.run(&["approvals", "--all", "--json"]).json();
    let states: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["allowed", "denied"]);
}

/// A decision from the command line reaches the waiting tool; an agent's shell cannot make one.
#[test]
fn an_approval_is_decided_from_the_command_line_but_not_by_an_agent() {
    let mut demo = Demo::start();
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide run echo from-the-shell");
    alice.hears(GUIDE, "#general", "wants to run");
    let open = demo.run(&["approvals", "--json"]).json();
    let number = open[0]["number"].to_string();
    demo.world.set("GANGLINE_RUN", "x/demo-guide/1");
    let refused = demo.run(&["approve", &number]);
    assert_ne!(refused.code, 0, "an agent must not approve: {}", refused.stdout);
    demo.world.set("GANGLINE_RUN", "");
    let _ = demo.run(&["approve", &number]).ok();
    alice.hears(GUIDE, "#general", "from-the-shell");
    let again = demo.run(&["approve", &number]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("already"), "{}", again.stderr);
    let unknown = demo.run(&["deny", "999"]);
    assert!(unknown.stderr.contains("999"), "{}", unknown.stderr);
}

/// The answer rule (C12): what was sent by tool to the room is not relayed once more.
#[test]
fn an_answer_sent_by_tool_is_not_repeated() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide post tangerine 9");
    alice.hears(GUIDE, "#general", "tangerine 9");
    alice.say("#general", "@demo-guide say exactly and then this");
    alice.hears(GUIDE, "#general", "and then this");
    let from_guide: Vec<String> = alice
        .lines()
        .iter()
        .filter_map(|line| irc::said(line))
        .filter(|said| said.from == GUIDE && said.target == "#general")
        .map(|said| said.text.to_owned())
        .collect();
    assert_eq!(from_guide, ["tangerine 9", "and then this"]);
}

/// R2-41: each call of a tool stands in the log before it runs and after it, by its id: a tool of the
/// daemon, a command that was allowed, and one that was refused.
#[test]
fn each_tool_call_is_in_the_log_before_and_after() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide post tangerine 9");
    alice.hears(GUIDE, "#general", "tangerine 9");
    for (command, decision) in [("echo one", "approve"), ("echo two", "deny")] {
        alice.say("#general", &format!("@demo-guide run {command}"));
        let asked = alice.hears(GUIDE, "#general", command);
        let number = irc::approval(&asked).expect("an announcement").to_string();
        let _ = demo.run(&[decision, &number]).ok();
    }
    alice.hears(GUIDE, "#general", "refused");
    let events = demo.run(&["logs", GUIDE, "--json"]).json();
    let mut calls: Vec<(String, String, Option<bool>)> = Vec::new();
    for event in events.as_array().unwrap() {
        let data = &event["payload"];
        if event["kind"] == "tool_result" {
            let id = data["id"].as_str().unwrap();
            let call = calls.iter_mut().find(|call| call.0 == id).expect("asked for before");
            assert_eq!(call.2.replace(data["is_error"].as_bool().unwrap()), None, "told once");
        }
        for block in data["content"].as_array().into_iter().flatten() {
            if let Some(id) = block["id"].as_str() {
                calls.push((id.to_owned(), block["name"].as_str().unwrap().to_owned(), None));
            }
        }
    }
    let ended: Vec<(&str, Option<bool>)> =
        calls.iter().map(|(_, name, failed)| (name.as_str(), *failed)).collect();
    assert_eq!(
        ended,
        [("send", Some(false)), ("Bash", Some(false)), ("Bash", Some(true))],
        "{events:#}"
    );
}

/// Three people while it is busy: three answers, in order, none lost (R0-12, R0-14, R0-15, C3).
#[test]
fn what_comes_while_it_is_busy_is_answered_in_order() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut bob = demo.member("bob");
    demo.at_work(&mut alice, "at last");
    alice.say("#general", "@demo-guide say exactly first");
    bob.hears("alice", "#general", "first");
    bob.say("#general", "@demo-guide say exactly second");
    alice.hears("bob", "#general", "second");
    alice.say(GUIDE, "say exactly third");
    demo.model_goes_on();
    alice.hears(GUIDE, "#general", "at last");
    alice.hears(GUIDE, "#general", "first");
    alice.hears(GUIDE, "#general", "second");
    alice.hears(GUIDE, "alice", "third");
}

/// `gangline prompt --wait` prints the answer; `trace` shows the message's life; the steps of the
/// start are recorded (R0-35, R1-45, C6).
#[test]
fn a_prompt_from_the_command_line_is_answered_there_and_can_be_traced() {
    let demo = Demo::start();
    let answer = demo.run(&["prompt", GUIDE, "say exactly from the shell", "--wait"]).ok();
    assert!(answer.contains("from the shell"), "{answer}");
    let trace = demo.run(&["trace", "m1"]).ok();
    for part in ["m1", "answered", "from the shell", "t1.1"] {
        assert!(trace.contains(part), "no `{part}` in:\n{trace}");
    }
    let logs = demo.run(&["logs", GUIDE, "--json"]).ok();
    for step in ["buffer", "irc", "webhook", "socket", "supervisor", "runner"] {
        assert!(logs.contains(&format!("\"{step}\"")), "the start's step {step} is recorded");
    }
    let ps = demo.run(&["ps"]).ok();
    assert!(ps.contains(GUIDE), "{ps}");
}

/// Who waits in a shell for an answer is told what has to be decided first: no room hears of it.
#[test]
fn a_prompt_that_waits_says_which_approval_it_waits_for() {
    let demo = Demo::start();
    let mut prompt = demo.world.start(&["prompt", GUIDE, "run echo sled", "--wait"]);
    let number = eventually("the approval to be told of", || {
        assert!(prompt.ended().is_none(), "{}", prompt.output());
        let said = prompt.output();
        let (_, rest) = said.split_once("`gangline approve ")?;
        Some(rest.split_once('`')?.0.to_owned())
    });
    assert!(prompt.output().contains("echo sled"), "{}", prompt.output());
    let _ = demo.run(&["approve", &number]).ok();
    assert_eq!(prompt.wait(), 0, "{}", prompt.output());
    assert_eq!(prompt.output().matches("is open (").count(), 1, "{}", prompt.output());
}

/// F27: a secret that a model says leaves neither on IRC nor into the files of the state.
#[test]
fn a_secret_is_masked_before_it_leaves_or_is_written() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let canary = concat!("sk-ant-", "api03-CanaryCanaryCanaryCanaryCanary1234567890");
    alice.say("#general", &format!("@demo-guide say exactly key {canary} end"));
    let said = alice.hears(GUIDE, "#general", "key ");
    assert!(said.contains("[masked]") && !said.contains("Canary"), "{said}");
    let token = demo.hub.field("token");
    alice.say("#general", "@demo-guide say exactly done");
    alice.hears(GUIDE, "#general", "done");
    let state = std::path::PathBuf::from(demo.state());
    let mut looked = 0;
    for file in files_below(&state) {
        let name = file.strip_prefix(&state).unwrap().display().to_string();
        let bytes = std::fs::read(&file).unwrap_or_default();
        // What a person said in the room is the room's history; sessions are the model's memory.
        let mine = name.starts_with("gangline.db") || name.ends_with(".log");
        if mine {
            looked += 1;
            assert!(!find(&bytes, b"CanaryCanary"), "the canary lies in {name}");
            assert!(!find(&bytes, token.as_bytes()), "the owner's token lies in {name}");
        }
    }
    assert!(looked >= 2, "looked into {looked} files");
}

/// Long answers come in short lines, and what is left out can be found (IRC's line budget).
#[test]
fn a_long_answer_is_cut_with_a_pointer_to_the_whole() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let long = "ä".repeat(180);
    alice.say("#general", &format!("@demo-guide say exactly {long}"));
    alice.hears(GUIDE, "#general", "ää");
    alice.hears(GUIDE, "#general", "ä");
    let answer = demo.run(&["trace", "m1", "--json"]).json();
    assert!(answer.to_string().contains(&long), "the whole is kept");
    for line in alice.lines() {
        assert!(line.len() < 512 + 1024, "a line of {} bytes", line.len());
    }
}

/// F9: the second daemon for a nick ends at once and names the first, which is untouched.
#[test]
fn a_second_daemon_for_a_nick_is_refused() {
    let demo = Demo::start();
    let config = format!("{}/agents.yaml", demo.state());
    let second = demo.run(&["--config", &config, "daemon", GUIDE]);
    assert_eq!(second.code, 3, "{}{}", second.stdout, second.stderr);
    let first = demo.world.processes_like(&format!("daemon {GUIDE}"))[0].to_string();
    assert!(second.stderr.contains("another daemon"), "{}", second.stderr);
    assert!(second.stderr.contains(&first), "names the holder {first}: {}", second.stderr);
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide say exactly untouched");
    alice.hears(GUIDE, "#general", "untouched");
}

/// What the demo prints tells a newcomer what to type, and that the model is a stand-in.
#[test]
fn the_demo_says_what_it_is_and_how_to_join() {
    let demo = Demo::start();
    let text = eventually("the demo to say that it is ready", || {
        let text = demo.hub.output();
        text.contains("ready").then_some(text)
    });
    let port = demo.irc().rsplit_once(':').unwrap().1.to_owned();
    for part in ["stand-in", "#general", "@demo-guide hello", &port, "owner:"] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found
}

fn find(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
