//! Sessions as scripts: a line for each step, and the rules' findings as they are expected.
//!
//! `TOOL ARGUMENTS => RESULT` calls a tool that takes two seconds (`TOOL[SECONDS]`); `=!>` is an error.
//! `Edit FILE {OLD} {NEW}` and `Write FILE CONTENT` change files. `repeat N` … `done` puts the number of the
//! pass in place of `{n}` (`{m}`: of the pass around). `+SECONDS` before a step lets time pass. A tick comes
//! every half a minute. `quiet` says that nothing was found so far. `> KIND NTH: ACT` and `> over KIND` are what came since the last such line.

use std::collections::HashMap;

use serde_json::json;

use crate::watch::{Act, Detection, Noticed, Watch};

use super::*;

const TICK: u64 = 30;

/// Runs one script, and compares what it says is found.
pub(super) struct Session {
    now: u64,
    ticked: u64,
    inbox_waits: bool,
    ids: u64,
    detectors: Detectors,
    watch: Watch,
    keys: HashMap<String, String>,
    /// What was found and done since the last line that expects something.
    pub(super) found: Vec<String>,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            now: 0,
            ticked: 0,
            inbox_waits: false,
            ids: 0,
            detectors: Detectors::default(),
            watch: Watch::new(Limits::default()),
            keys: HashMap::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, script: &str) {
        let lines: Vec<&str> = script.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        self.block(&lines, &[]);
    }

    fn block(&mut self, lines: &[&str], passes: &[u32]) {
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            if let Some(times) = line.strip_prefix("repeat ") {
                let end = at + end_of(&lines[at..]);
                for pass in 0..times.parse().unwrap() {
                    self.block(&lines[at..end], &[&[pass], passes].concat());
                }
                at = end + 1;
            } else if line.starts_with("> ") {
                let expected = lines[at - 1..].iter().map_while(|it| it.strip_prefix("> "));
                let expected: Vec<&str> = expected.collect();
                assert_eq!(self.found, expected);
                at += expected.len() - 1;
                self.found.clear();
            } else {
                let inner = passes.first().map_or_else(String::new, u32::to_string);
                let outer = passes.get(1).map_or_else(String::new, u32::to_string);
                self.line(&line.replace("{n}", &inner).replace("{m}", &outer));
            }
        }
    }

    fn line(&mut self, line: &str) {
        let (wait, line) = match line.strip_prefix('+').and_then(|it| it.split_once(' ')) {
            Some((seconds, line)) => (seconds.parse().unwrap(), line),
            None => (1, line),
        };
        self.pass(wait);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = |text: &str| Redacted::from_store(text.to_owned());
        match word {
            "turn" => self.step(StepKind::TurnStarted { task: text(rest) }),
            "end" => self.step(StepKind::TurnEnded),
            "say" => self.step(StepKind::Text { text: text(rest) }),
            "think" => self.step(StepKind::Thinking),
            "wait" => self.step(StepKind::WaitStarted),
            "go" => self.step(StepKind::WaitEnded),
            "look" => self.step(StepKind::LookedAtInbox),
            "ctx" => self.step(StepKind::Context { percent: rest.parse().unwrap() }),
            "idle" => {}
            "quiet" => assert_eq!(self.found, Vec::<String>::new(), "{rest}"),
            "inbox" => self.inbox_waits = rest == "waits",
            "open" => {
                let (id, call) = rest.split_once(' ').unwrap();
                self.call(id, call);
            }
            "close" => {
                let (id, result) = rest.split_once(' ').unwrap();
                self.result(id, result);
            }
            "inbox-call" => self.whole_call(rest, true),
            "look-then-call" => {
                self.step(StepKind::LookedAtInbox);
                self.whole_call(rest, false);
            }
            _ => self.whole_call(line, false),
        }
    }

    fn whole_call(&mut self, line: &str, looks: bool) {
        self.ids += 1;
        let id = format!("call-{}", self.ids);
        let at = line.find("=>").or_else(|| line.find("=!>"));
        let (call, result) = line.split_at(at.unwrap_or(line.len()));
        let (tool, rest) = call.split_once(' ').unwrap();
        let (tool, seconds) = match tool.split_once('[') {
            Some((tool, seconds)) => (tool, seconds.trim_end_matches(']').parse().unwrap()),
            None => (tool, 2),
        };
        self.call(&id, &format!("{tool} {rest}"));
        if looks {
            self.step(StepKind::LookedAtInbox);
        }
        self.pass(seconds);
        self.result(&id, result);
    }

    fn call(&mut self, id: &str, call: &str) {
        let (tool, rest) = call.trim().split_once(' ').unwrap();
        let input = match tool {
            "Edit" => {
                let (file, texts) = rest.split_once(" {").unwrap();
                let (old, new) = texts.trim_end_matches('}').split_once("} {").unwrap();
                json!({ "file_path": file, "old_string": old, "new_string": new })
            }
            "Write" => {
                let (file, content) = rest.split_once(' ').unwrap();
                json!({ "file_path": file, "content": content })
            }
            _ => json!({ "argument": rest }),
        };
        self.step(StepKind::call(id, tool, (&input, &input), &Redactor::default()));
    }

    fn result(&mut self, id: &str, result: &str) {
        let text = |text: &str| Redacted::from_store(text.trim().to_owned());
        let step = match result.strip_prefix("=!>") {
            Some(error) => StepKind::failed(id, &text(error)),
            None => StepKind::succeeded(id, &text(result.strip_prefix("=>").unwrap_or("ok"))),
        };
        self.step(step);
    }

    fn pass(&mut self, seconds: u64) {
        self.now += seconds;
        while self.ticked + TICK <= self.now {
            self.ticked += TICK;
            let now = Now(Duration::from_secs(self.ticked));
            let noticed = self.detectors.tick(now, self.inbox_waits);
            self.notice(noticed);
            assert_eq!(self.detectors.tick(now, self.inbox_waits), [], "a tick too many");
        }
    }

    fn step(&mut self, what: StepKind) {
        let step = at(self.now, what);
        let noticed = self.detectors.observe(&step);
        self.notice(noticed);
        if let Some(due) = self.watch.observe(&step) {
            self.watch.judged_by_rules(due.number);
        }
        let most = super::REMEMBERED_MOST;
        assert!(self.detectors.remembered() <= most);
    }

    fn notice(&mut self, noticed: Vec<Noticed>) {
        for noticed in noticed {
            let found = match noticed {
                Noticed::Cleared { key } => format!("over {}", self.keys.remove(&key).unwrap()),
                Noticed::Raised(found) => {
                    self.keys.insert(found.key.clone(), found.kind.to_string());
                    format!("{} {}: {}", found.kind, found.nth, self.act(&found))
                }
            };
            self.found.push(found);
        }
    }

    fn act(&mut self, found: &Detection) -> String {
        match self.watch.detected(found) {
            Act::None => "nothing".to_owned(),
            Act::Whisper { firmer: true, .. } => "firmer whisper".to_owned(),
            Act::Whisper { .. } => "whisper".to_owned(),
            Act::Escalate { kind, retries, .. } => format!("escalate {kind}, {retries} retries"),
        }
    }
}

/// Returns where the `done` is that ends a block.
fn end_of(lines: &[&str]) -> usize {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate() {
        match *line {
            "done" if depth == 0 => return at,
            "done" => depth -= 1,
            line if line.starts_with("repeat ") => depth += 1,
            _ => {}
        }
    }
    panic!("a repeat without done")
}

fn each(file: &str) -> Vec<(&str, &str)> {
    let parts = file.split("== ").filter(|part| !part.trim().is_empty());
    parts.map(|part| part.split_once('\n').unwrap()).collect()
}

/// R1-36: conservative.
#[test]
fn well_behaved_sessions_raise_nothing() {
    let sessions = each(include_str!("well_behaved.txt"));
    assert!(sessions.len() >= 30, "{}", sessions.len());
    for (name, script) in sessions {
        println!("{name}");
        let mut session = Session::new();
        session.run(script);
        assert_eq!(session.found, Vec::<String>::new(), "{name}");
    }
}

/// C10, R1-30, R1-34, R1-36, R1-38, R0-32: by the rules alone.
#[test]
fn misbehaving_sessions_raise_exactly_what_is_expected() {
    for (name, script) in each(include_str!("misbehaving.txt")) {
        println!("{name}");
        let mut session = Session::new();
        session.run(script);
        assert_eq!(session.found, Vec::<String>::new(), "{name}: more than expected");
    }
}

/// R1-30: the seed's words, after twelve minutes.
#[test]
fn an_unread_inbox_is_told_in_the_seeds_words() {
    let minutes = |minutes: u64| Now(Duration::from_secs(60 * minutes));
    let mut detectors = Detectors::default();
    let task = Redacted::constant("write");
    let _ = detectors.observe(&at(0, StepKind::TurnStarted { task }));
    let _ = detectors.observe(&at(11 * 60, StepKind::Thinking));
    assert_eq!(detectors.tick(minutes(11), true), []);
    let told = detectors.tick(minutes(12), true);
    let [Noticed::Raised(found)] = &told[..] else { panic!("{told:?}") };
    let text = "You haven't checked your channels in 12 minutes. Consider doing an irc_read() to see if \
                there's relevant input";
    assert!(found.text.as_str().starts_with(text), "{}", found.text);
    assert!(!found.counts);
    // Nothing waits, nothing is told.
    assert_eq!(detectors.tick(minutes(13), false), [Noticed::Cleared { key: found.key.clone() }]);
    assert_eq!(detectors.tick(minutes(15), false), []);
}
