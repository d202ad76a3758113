//! Recordings of the real programs, put through the rules and the watch: what is found, exactly.
//!
//! The recordings are made by the example `record_sessions` of gangline-runtime, one file for each program:
//! `cargo run --package gangline-runtime --example record_sessions -- claude > …/recorded/claude.jsonl`. The
//! session `hang` is recorded by its name, and takes eleven minutes.

use std::{collections::HashMap, num::NonZeroU32, time::Duration};

use gangline_core::{
    Epoch,
    redact::{Redacted, Redactor},
    watch::{Act, Limits, Step, Watch},
};
use gangline_runtime::{AssistantMessage, RuntimeEvent};
use serde::Deserialize;

use super::{
    feed::{Fed, Feed, Seen},
    *,
};

const RECORDINGS: [(&str, &str); 4] = [
    ("claude", include_str!("recorded/claude.jsonl")),
    ("codex", include_str!("recorded/codex.jsonl")),
    ("opencode", include_str!("recorded/opencode.jsonl")),
    ("native", include_str!("recorded/native.jsonl")),
];

/// The sessions with trouble, and what the rules find in each, with every program.
const TROUBLE: &[(&str, &[&str])] = &[
    (
        "the same call, again and again",
        &["repeated_call 1: whisper", "repeated_call 2: firmer whisper", "over repeated_call"],
    ),
    (
        "the same failing command, again and again",
        &["repeated_error 1: whisper", "repeated_error 2: firmer whisper", "over repeated_error"],
    ),
    (
        "edits that undo each other",
        &["undone_edits 1: whisper", "undone_edits 2: firmer whisper", "over undone_edits"],
    ),
    ("many ways to one refusal", &["repeated_error 1: whisper", "over repeated_error"]),
    (
        "a spiral in three turns",
        &[
            "repeated_error 1: whisper",
            "over repeated_error",
            "repeated_error 1: firmer whisper",
            "over repeated_error",
            "repeated_error 1: escalate spiraling, 3 retries",
            "over repeated_error",
        ],
    ),
    ("hang", &["silent_turn 1: whisper", "over silent_turn"]),
];

/// Trouble that rules cannot see; what of it the supervisor's model is shown, and what that says.
const JUDGED: &[(&str, &str, (Verdict, &str))] = &[
    ("drift", "logo-2.txt", (Verdict::Correction, "DRIFT: nobody asked for a logo")),
    ("stalling", "I will look into it soon.", (Verdict::Correction, "STALLING: nothing is done")),
    ("shallow", "decision.txt", (Verdict::ThinkDeeper, "SHALLOW: look for the cause first")),
];

/// How often the daemon looks at the time.
const TICK: Duration = Duration::from_secs(30);

/// One line of a recording.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Session { session: String },
    Prompt { at: f64, prompt: String },
    Message { at: f64, message: AssistantMessage },
    Result { at: f64, result: ToolResult },
    Usage { at: f64, usage: Usage },
    Finished { at: f64, finished: String },
}

#[derive(Debug, Deserialize)]
struct ToolResult {
    id: String,
    name: String,
    is_error: bool,
    content: String,
}

impl Line {
    fn at(&self) -> Duration {
        match self {
            Self::Session { .. } => Duration::ZERO,
            Self::Prompt { at, .. }
            | Self::Message { at, .. }
            | Self::Result { at, .. }
            | Self::Usage { at, .. }
            | Self::Finished { at, .. } => Duration::from_secs_f64(*at),
        }
    }
}

/// A session is replayed as the agent loop and the supervisor's task would have heard of it.
struct Replay {
    feed: Feed,
    fed: mpsc::Receiver<Fed>,
    detectors: Detectors,
    watch: Watch,
    ticked: Duration,
    turn: i64,
    keys: HashMap<String, String>,
    found: Vec<String>,
    /// What a model says whenever it is asked; without one the rules watch alone.
    verdict: Option<(Verdict, &'static str)>,
    /// What it was asked.
    asked: Vec<String>,
}

impl Replay {
    fn of(lines: &[Line], verdict: Option<(Verdict, &'static str)>) -> Self {
        let (feed, fed) = Feed::new();
        let each_turn = Limits { eval_interval: NonZeroU32::MIN, ..Limits::default() };
        let limits = if verdict.is_some() { each_turn } else { Limits::default() };
        let mut replay = Self {
            feed,
            fed,
            detectors: Detectors::default(),
            watch: Watch::new(limits),
            ticked: Duration::ZERO,
            turn: 0,
            keys: HashMap::new(),
            found: Vec::new(),
            verdict,
            asked: Vec::new(),
        };
        for line in lines {
            replay.pass(line.at());
            replay.hear(line);
        }
        replay
    }

    /// Lets time pass.
    fn pass(&mut self, until: Duration) {
        while self.ticked + TICK <= until {
            self.ticked += TICK;
            let noticed = self.detectors.tick(Now(self.ticked), false);
            self.notice(noticed);
        }
    }

    fn hear(&mut self, line: &Line) {
        let now = Now(line.at());
        let turn = TurnId { epoch: Epoch(1), number: self.turn };
        match line {
            Line::Session { .. } => {}
            Line::Prompt { prompt, .. } => {
                self.turn += 1;
                let (turn, task) = (TurnId { number: self.turn, ..turn }, prompt.clone());
                let task = Redacted::from_store(task);
                self.feed.tell(now, || Seen::TurnStarted { turn, task });
            }
            Line::Message { message, .. } => {
                self.feed.hear(now, &RuntimeEvent::Message { turn, message: message.clone() });
            }
            Line::Result { result, .. } => {
                let ToolResult { id, name, is_error, content } = result;
                let (id, name, content) = (id.clone(), name.clone(), content.clone());
                let is_error = *is_error;
                self.feed
                    .hear(now, &RuntimeEvent::ToolResult { turn, id, name, is_error, content });
            }
            Line::Usage { usage, .. } => {
                self.feed.context(now, (usage.context_tokens, usage.context_window));
            }
            Line::Finished { finished, .. } => {
                assert!(["completed", "interrupted"].contains(&finished.as_str()), "{finished}");
                self.feed.tell(now, || Seen::TurnEnded);
            }
        }
        while let Ok(fed) = self.fed.try_recv() {
            assert_eq!(fed.skipped, 0);
            self.step(&fed.step(&Redactor::default()));
        }
    }

    fn step(&mut self, step: &Step) {
        let noticed = self.detectors.observe(step);
        self.notice(noticed);
        let Some(due) = self.watch.observe(step) else { return };
        self.asked.push(due.prompt.into_string());
        match self.verdict {
            Some((verdict, text)) => {
                let act = self.watch.judged(due.number, verdict, &Redacted::constant(text));
                self.found.push(format!("judged: {}", shown(&act)));
            }
            None => self.watch.judged_by_rules(due.number),
        }
    }

    fn notice(&mut self, noticed: Vec<Noticed>) {
        for noticed in noticed {
            let found = match noticed {
                Noticed::Cleared { key } => format!("over {}", self.keys.remove(&key).unwrap()),
                Noticed::Raised(found) => {
                    self.keys.insert(found.key.clone(), found.kind.to_string());
                    let act = self.watch.detected(&found);
                    format!("{} {}: {}", found.kind, found.nth, shown(&act))
                }
            };
            self.found.push(found);
        }
    }
}

fn shown(act: &Act) -> String {
    match act {
        Act::None => "nothing".to_owned(),
        Act::Whisper { firmer: true, .. } => "firmer whisper".to_owned(),
        Act::Whisper { .. } => "whisper".to_owned(),
        Act::Escalate { kind, retries, .. } => format!("escalate {kind}, {retries} retries"),
    }
}

/// Returns the sessions of a recording by name.
fn sessions(recording: &str) -> Vec<(String, Vec<Line>)> {
    let mut all: Vec<(String, Vec<Line>)> = Vec::new();
    for line in recording.lines() {
        match serde_json::from_str(line).unwrap() {
            Line::Session { session } => all.push((session, Vec::new())),
            line => all.last_mut().unwrap().1.push(line),
        }
    }
    all
}

/// R1-30, R1-36, C10: what the rules find is the same with every real program, and it is nothing where the
/// agent behaves well, although its commands fail, its calls repeat and its edits come back.
#[test]
fn the_rules_find_what_is_there_in_recordings_of_the_real_programs() {
    let mut well_behaved = 0;
    for (program, recording) in RECORDINGS {
        let sessions = sessions(recording);
        for (name, _) in TROUBLE.iter().copied() {
            assert!(sessions.iter().any(|(known, _)| known == name), "{program}: {name}");
        }
        for (name, lines) in &sessions {
            let expected = TROUBLE.iter().find(|(known, _)| known == name);
            let expected = expected.map_or(&[][..], |(_, found)| found);
            assert_eq!(Replay::of(lines, None).found, expected, "{program}: {name}");
            well_behaved += usize::from(expected.is_empty());
        }
    }
    assert!(well_behaved >= 20, "{well_behaved}");
}

/// R0-25 … R0-28, R1-06, R1-36: drift, stalling and shallow decisions are for the model. It is shown the task
/// and what the program did, whichever that is, and each of its verdicts leads on.
#[test]
fn the_model_is_shown_what_only_it_can_judge_with_every_real_program() {
    for (program, recording) in RECORDINGS {
        let sessions = sessions(recording);
        for (name, shown, verdict) in JUDGED {
            let (_, lines) = sessions.iter().find(|(known, _)| known == name).unwrap();
            let replay = Replay::of(lines, Some(*verdict));
            let task = lines.iter().find_map(|line| match line {
                Line::Prompt { prompt, .. } => Some(prompt.as_str()),
                _ => None,
            });
            let prompt = replay.asked.last().unwrap();
            assert!(
                prompt.contains(task.unwrap()) && prompt.contains(shown),
                "{program}: {prompt}"
            );
            let last = format!("judged: escalate {name}, 0 retries");
            let expected = ["judged: whisper", "judged: firmer whisper", &last];
            assert_eq!(replay.found, expected, "{program}: {name}");
        }
    }
}
