//! The daily life of a fleet: started in the background, stopped, restarted, upgraded, looked at;
//! whatever is killed meanwhile, nothing that was said is lost and nothing is answered twice.
//!
//! Here are the stage and what all need; one module for each side of that life.

use std::{collections::BTreeMap, path::Path};

use gangline_testkit::{IrcPeer, Ran, Stage, World, eventually, irc};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

mod background;
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
        eventually(&format!("{nick} to be {standing}"), || {
            (self.standing(nick) == standing).then_some(())
        });
    }

    fn pid(&self, nick: &str) -> i32 {
        i32::try_from(self.ps()[nick]["pid"].as_i64().unwrap_or(0)).unwrap()
    }

    fn epoch(&self, nick: &str) -> i64 {
        self.ps()[nick]["epoch"].as_i64().unwrap_or(0)
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
        let count = eventually("an answer to everything", || {
            let history = judge.history("#general");
            let mut count: BTreeMap<String, usize> = BTreeMap::new();
            for said in history.iter().filter_map(|line| irc::said(line)) {
                if said.from.starts_with("oak-") {
                    *count.entry(said.text.to_owned()).or_default() += 1;
                }
            }
            tokens.iter().all(|token| count.contains_key(token)).then_some(count)
        });
        for token in tokens {
            assert_eq!(count[token], 1, "{token} in {count:?}");
        }
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

fn is_gone(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn gone(pid: i32) {
    eventually(&format!("the end of {pid}"), || is_gone(pid).then_some(()));
}
