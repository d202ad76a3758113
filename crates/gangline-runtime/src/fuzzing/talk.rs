//! One talk: the daemon's side of it, and what must hold.

use std::{
    collections::BTreeSet, pin::pin, task::Context, task::Poll, task::Waker, time::Duration,
};

use gangline_core::{Epoch, TurnId, effort::Effort};
use gangline_os::lines::{Line, LineReader};
use serde_json::Value;

use crate::{
    Answer, ApprovalReply, Prompt, RuntimeEvent,
    program::protocol::{Action, Actions, Now, Odd, Protocol},
};

/// The longest line, in bytes.
const LINE_MAX: usize = 2048;
/// Between two lines.
const STEP: Duration = Duration::from_millis(300);

/// Which request a line of the program makes.
type Asks = fn(&str) -> Option<Value>;
/// Which one a line of ours answers.
type Answers = fn(&Value) -> Value;

/// The daemon, as far as it matters.
pub(super) struct Talk<P: Protocol> {
    program: P,
    asks: Asks,
    answers: Answers,
    /// The turn that is open.
    open: Option<TurnId>,
    /// A turn began by itself and waits to be adopted.
    began: bool,
    turns: i64,
    /// The approvals that wait.
    waiting: BTreeSet<String>,
    answered: Vec<Value>,
    now: Duration,
    over: bool,
}

impl<P: Protocol> Talk<P> {
    pub(super) fn new(program: P, asks: Asks, answers: Answers) -> Self {
        Self {
            program,
            asks,
            answers,
            open: None,
            began: false,
            turns: 0,
            waiting: BTreeSet::new(),
            answered: Vec::new(),
            now: Duration::ZERO,
            over: false,
        }
    }

    /// Holds the talk.
    pub(super) fn hold(mut self, bytes: &[u8]) {
        let actions = self.program.hello();
        self.see(actions);
        let mut lines = LineReader::new(bytes, LINE_MAX);
        while !self.over {
            let Some(line) = ready(lines.next()).unwrap() else { break };
            self.now += STEP;
            match line {
                Line::Text(text) if text.starts_with('!') => self.order(&text),
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) => self.text(&text),
                Line::Oversize { kept, .. } => self.unread(&kept, "it is too long"),
            }
        }
        // Whoever still waits gets an answer.
        for request in self.waiting.clone() {
            self.decide(request, Answer::Deny { reason: "no".to_owned() });
        }
    }

    fn text(&mut self, line: &str) {
        let now = Now { mono: self.now, unix: 0 };
        match self.program.read(line, now) {
            Ok(actions) => {
                let is_told = actions.iter().any(|action| match action {
                    Action::Report(event) => !matches!(event, RuntimeEvent::Alive { .. }),
                    _ => true,
                });
                let was_open = self.open.is_some();
                self.see(actions);
                if let Some(id) = (self.asks)(line).filter(|_| was_open) {
                    assert!(is_told, "{id} is neither answered nor told: {line}");
                }
            }
            Err(Odd::Unknown { .. }) => {
                let actions = self.program.sign_of_life(now);
                self.see(actions);
            }
            Err(odd) => self.unread(line, &odd.to_string()),
        }
    }

    /// What cannot be read is refused, if it asks for something.
    fn unread(&mut self, line: &str, why: &str) {
        let asks = (self.asks)(line);
        self.answered.clear();
        match self.program.unread(line, why) {
            Some(unread) => {
                assert!(!unread.what.is_empty());
                self.see(unread.actions);
                if let Some(id) = asks {
                    assert!(self.answered.contains(&id), "{id} is not answered: {line}");
                }
            }
            None => {
                assert_eq!(asks, None, "a request gets no answer: {line}");
                let actions = self.program.sign_of_life(Now { mono: self.now, unix: 0 });
                self.see(actions);
            }
        }
    }

    fn order(&mut self, order: &str) {
        let (word, rest) = order.split_once(' ').unwrap_or((order, ""));
        let actions = match (word, self.open) {
            ("!prompt", None) => {
                self.began = false;
                let prompt = self.prompt();
                self.program.prompt(prompt)
            }
            ("!adopt", None) if self.began => {
                self.began = false;
                let turn = self.prompt().turn;
                self.program.adopt(turn)
            }
            ("!steer", Some(turn)) => {
                let prompt = Prompt { turn, ..self.text_of(99) };
                self.program.steer(prompt)
            }
            ("!interrupt", _) => self.program.interrupt(),
            ("!compact", _) => self.program.compact(),
            ("!clear", _) => self.program.clear(),
            ("!model", _) => self.program.set_model("another"),
            ("!raise", _) => self.program.set_effort(Effort::Raised),
            ("!lower", _) => self.program.set_effort(Effort::Ground),
            ("!again", _) => self.program.try_again(),
            ("!quiet", _) if self.program.holds_back().is_some() => self.program.let_go(),
            ("!allow", _) => return self.decide(self.asked(rest), Answer::Allow),
            ("!deny", _) => {
                let reason = "no".to_owned();
                return self.decide(self.asked(rest), Answer::Deny { reason });
            }
            _ => return,
        };
        self.see(actions);
    }

    /// Returns the id of an approval: the one that is named, or one that waits.
    fn asked(&self, named: &str) -> String {
        match named {
            "" => self.waiting.first().cloned().unwrap_or_default(),
            named => named.to_owned(),
        }
    }

    fn prompt(&mut self) -> Prompt {
        self.turns += 1;
        let prompt = self.text_of(self.turns);
        self.open = Some(prompt.turn);
        prompt
    }

    fn text_of(&self, number: i64) -> Prompt {
        let turn = TurnId { epoch: Epoch(1), number };
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        Prompt { turn, text: format!("text {number}"), uuid }
    }

    /// Decides an approval, if it was told and waits.
    fn decide(&mut self, request: String, answer: Answer) {
        if self.waiting.remove(&request) {
            let actions = self.program.decide(&ApprovalReply { request, answer });
            assert!(!actions.is_empty(), "a decision is lost");
            self.see(actions);
        }
    }

    fn see(&mut self, actions: Actions<P>) {
        for action in actions {
            match action {
                Action::Write(line) => self.written(&line),
                Action::Report(event) => self.told(&event),
                Action::Call { call, caller } => {
                    assert_eq!(Some(call.turn), self.open, "a call of a turn that is not open");
                    self.written(&P::answer(&caller, &Ok("done".to_owned())));
                }
                Action::Aside { turn, caller } => {
                    assert_eq!(Some(turn), self.open, "a hook of a turn that is not open");
                    self.written(&P::answer(&caller, &Ok(String::new())));
                }
                Action::Relaunch => {
                    let actions = self.program.hello();
                    self.see(actions);
                }
                Action::GiveUp => self.over = true,
                Action::Turn(_) | Action::Free | Action::WatchLogin => {}
            }
        }
    }

    /// What is written is one line of JSON.
    fn written(&mut self, line: &str) {
        let inner = line.strip_suffix('\n').expect("a line ends");
        assert!(!inner.contains('\n'), "two lines: {line:?}");
        let line: Value = serde_json::from_str(inner).expect("JSON is written");
        let id = (self.answers)(&line);
        if !id.is_null() {
            self.answered.push(id);
        }
    }

    /// Nothing is told of a turn that is not open, and every turn has one end.
    fn told(&mut self, event: &RuntimeEvent) {
        if let Some(turn) = event.turn() {
            assert_eq!(Some(turn), self.open, "an event of a turn that is not open: {event:?}");
        }
        match event {
            RuntimeEvent::Finished { .. } => {
                self.open = None;
                // Whoever asked in it is answered by the end of it, or asks no more.
                self.waiting.clear();
            }
            RuntimeEvent::Began => self.began = true,
            RuntimeEvent::ApprovalAsked { ask, .. } => {
                self.waiting.insert(ask.request.clone());
            }
            RuntimeEvent::ApprovalWithdrawn { request, .. } => {
                self.waiting.remove(request);
            }
            _ => {}
        }
    }
}

/// Returns what is there at once: bytes in memory are not waited for.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(it) => it,
        Poll::Pending => unreachable!("it waits for bytes that are there"),
    }
}
