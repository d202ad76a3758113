//! The daily life of a fleet: started in the background, stopped, restarted, upgraded, looked at;
//! whatever is killed meanwhile, nothing that was said is lost and nothing is answered twice.
//!
//! Here are the stage and what all need; one module for each side of that life.

use std::{collections::BTreeMap, path::Path};

use gangline_testkit::{
    IrcPeer, Ran, Running, Stage, World, eventually, eventually_seeing, irc, world::thread_states,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

mod background;
mod nameless;
mod orders;
mod parked;
mod service;
mod swap;
mod upgrade;
mod words;

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// A stage whose hub runs in the background, ended with its world.
struct Fleet {
    stage: Stage,
}

impl Fleet {
    fn new(agents: &[&str]) -> Self {
        Self::with(env!("CARGO_BIN_EXE_gangline"), agents, ("", ""))
    }

    fn with(binary: &str, agents: &[&str], yaml: (&str, &str)) -> Self {
        Self { stage: Stage::new(binary, agents, None, yaml) }
    }

    fn world(&self) -> &World {
        &self.stage.world
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut all = vec!["--config", &self.stage.config];
        all.extend(args);
        self.world().run(&all)
    }

    /// Starts a command whose words are followed.
    fn start(&self, args: &[&str]) -> Running {
        let mut all = vec!["--config", &self.stage.config];
        all.extend(args);
        self.world().start(&all)
    }

    fn up(&self) -> String {
        self.run(&["up", "-d", "--restart-delay-max", "1"]).ok()
    }

    /// Every agent of `ps --json`, by nick.
    fn ps(&self) -> BTreeMap<String, Value> {
        let Value::Array(all) = self.run(&["ps", "--json"]).json() else { panic!("no list") };
        all.into_iter().map(|one| (one["nick"].as_str().unwrap().to_owned(), one)).collect()
    }

    fn standing(&self, nick: &str) -> String {
        self.ps()[nick]["standing"].as_str().unwrap().to_owned()
    }

    fn becomes(&self, nick: &str, standing: &str) {
        self.world().eventually_seeing(&format!("{nick} to be {standing}"), || {
            let all = self.ps();
            if all[nick]["standing"] == standing { Ok(()) } else { Err(format!("{all:#?}")) }
        });
    }

    fn pid(&self, nick: &str) -> i32 {
        i32::try_from(self.ps()[nick]["pid"].as_i64().unwrap_or(0)).unwrap()
    }

    fn epoch(&self, nick: &str) -> i64 {
        self.ps()[nick]["epoch"].as_i64().unwrap_or(0)
    }

    /// Waits until a daemon of this epoch or a later one has begun.
    fn begins(&self, nick: &str, epoch: i64) {
        eventually(&format!("epoch {epoch} of {nick}"), || {
            let rows = self.stage.query("SELECT agent || ' ' || epoch FROM agents");
            let now = rows.iter().find_map(|row| row.strip_prefix(nick)?.trim().parse().ok());
            now.is_some_and(|now: i64| now >= epoch).then_some(())
        });
    }

    /// What the hub says of itself.
    fn about(&self) -> Value {
        let text = std::fs::read_to_string(self.world().state().join("hub.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn hub(&self) -> i32 {
        i32::try_from(self.about()["pid"].as_i64().unwrap()).unwrap()
    }

    fn hub_log(&self) -> String {
        std::fs::read_to_string(self.world().state().join("hub.log")).unwrap()
    }

    /// Why each turn was interrupted that was open at an end of this agent's daemons.
    fn interrupted(&self, nick: &str) -> Vec<String> {
        let log = self.world().state().join("agents").join(nick).join("daemon.log");
        let text = std::fs::read_to_string(log).unwrap();
        let why =
            text.lines().filter_map(|line| line.split_once("interrupting the open turn why=\""));
        why.map(|(_, why)| why.trim_end_matches('"').to_owned()).collect()
    }

    /// Somebody who hears themselves and can read history; a hub that is just back is waited for.
    fn person(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.stage.irc, (nick, None), CAPS);
        peer.join("#general");
        peer
    }

    /// Waits until everything that was accepted is answered, and each once.
    fn all_answered(&self, tokens: &[String]) {
        let mut judge = self.person("judge");
        let mut answers = || {
            let history = judge.history("#general");
            let mut count: BTreeMap<String, usize> = BTreeMap::new();
            for said in history.iter().filter_map(|line| irc::said(line)) {
                if said.from.starts_with("oak-") {
                    *count.entry(said.text.to_owned()).or_default() += 1;
                }
            }
            count
        };
        // Each has its time: they are answered one after the other.
        for token in tokens {
            eventually_seeing(&format!("an answer to {token}"), || {
                let count = answers();
                if count.contains_key(token) { Ok(()) } else { Err(format!("{count:#?}")) }
            });
        }
        let count = answers();
        for token in tokens {
            assert_eq!(count[token], 1, "{token} in {count:?}");
        }
    }

    /// Waits until no process of this world has such a command line. Whoever ends gives its lock
    /// back a moment before it is gone.
    fn none_left(&self, part: &str) {
        eventually_seeing(&format!("the end of all processes like `{part}`"), || {
            let mut left = self.world().processes();
            left.retain(|(_, line)| line.contains(part));
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        });
    }

    /// Adds an agent to the configuration, or another text.
    fn configure(&self, text: &str) {
        let file = Path::new(&self.stage.config);
        let before = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, format!("{before}{text}")).unwrap();
    }

    /// YAML of one more agent, as the stage's others are.
    fn another(&self, nick: &str) -> String {
        let text = std::fs::read_to_string(&self.stage.config).unwrap();
        let model = text.lines().find(|line| line.contains("base_url:")).unwrap().trim();
        let work = self.world().path("work").display().to_string();
        format!(
            "  - nick: {nick}\n    agent: native\n    directory: {work}\n    model: \
             standin-{nick}\n    {model}\n"
        )
    }
}

fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// Returns whether it has ended with every thread: the last one gives its files and locks back.
fn is_gone(pid: i32) -> bool {
    thread_states(pid).into_iter().all(|state| ['Z', 'X'].contains(&state))
}

/// Waits for the end of a process. Its lock is free a moment before that: whoever waits for the lock
/// may be back earlier.
fn gone(pid: i32) {
    eventually_seeing(&format!("the end of {pid}"), || {
        if is_gone(pid) { Ok(()) } else { Err(format!("threads: {:?}", thread_states(pid))) }
    });
}
