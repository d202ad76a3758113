//! What the program says becomes events, and what the daemon wants becomes requests.
//!
//! The program runs one turn at a time on its conversation, and takes a second prompt for an
//! addition to the first; so a prompt waits here until nothing is under way. A turn is over when
//! the program says so by its id, and never before. Pure: lines and requests go in, [`Action`]s come
//! out. Start at [`Turns::line`].

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use gangline_core::{
    TurnId,
    effort::{Effort, EffortLevel},
};
use serde_json::{Value, json};

use self::beats::Sign;
use super::{
    decode::{self, Line, Place},
    effort::Above,
    encode::{self, Form},
    items::{Item, Tool},
    permit::Gate,
    thread::Thread,
};
use crate::{
    ApprovalReply, NamedFile, Prompt, RuntimeEvent, SessionId, TurnResult,
    program::{
        oddities::Oddities,
        protocol::{self, Now, Odd, Protocol, Unread},
        running::Running,
    },
};

mod beats;
mod effort;
mod opening;
mod output;
mod requests;
#[cfg(test)]
mod tests;

/// Warnings that are remembered as told.
const TOLD_MAX: usize = 64;

/// What is to be done; a call is answered by its request's id.
pub(super) type Action = protocol::Action<Value>;

/// Whose login the program works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    /// That of its own folder.
    OfTheProgram,
    /// What the options say.
    OfTheOptions,
}

/// What a session is told about at its start.
pub(super) struct Setup {
    pub(super) thread: Thread,
    pub(super) resume: Option<SessionId>,
    pub(super) model: Option<String>,
    pub(super) gate: Gate,
    /// The names of the daemon's tools.
    pub(super) tools: Vec<&'static str>,
    pub(super) credentials: Credentials,
    /// What a human has to do when the login is refused.
    pub(super) login: String,
}

/// How far the beginning has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The program has not said hello.
    Hello,
    /// It is asked for its login, or for a conversation.
    Opening,
    /// Prompts go through.
    Open,
}

/// What is known of the program's login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Login {
    Fine,
    /// The program has said that it has none.
    Missing,
    /// That was told; a new one is seen by a new process only.
    Reported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Compact,
    Clear,
}

/// An order under way.
#[derive(Debug)]
struct Job {
    order: Order,
    /// The program's turn that does it.
    remote: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing was sent yet.
    Waiting,
    /// The program has it, and has not named its turn.
    Sent,
    /// The program has named its turn.
    Named,
    /// The program's turn has begun: only now can it be interrupted.
    Running,
}

#[derive(Debug)]
struct Turn {
    id: TurnId,
    prompt: Prompt,
    step: Step,
    /// The program's id of the turn.
    remote: Option<String>,
    accepted: bool,
    /// We asked for the end.
    asked: bool,
    /// The model said or did something.
    active: bool,
    /// Texts that were added and have not reached the model.
    added: Vec<Added>,
    /// Tools that have begun.
    tools: Vec<Tool>,
}

#[derive(Debug)]
struct Added {
    prompt: Prompt,
    sent: bool,
}

/// A request of ours that waits for its answer.
#[derive(Debug, PartialEq, Eq)]
enum Sent {
    Initialize,
    Account,
    Start,
    Resume,
    Clear,
    Turn(TurnId),
    Steer(String),
    Compact,
    /// The reason of a denial: the line with the denial itself follows the answer.
    Reason(String),
    /// Which models are there, and how hard do they think? No turn is begun before the answer.
    Models,
    /// Its answer says nothing that is not told otherwise.
    Aside,
}

/// A question about permission that waits.
#[derive(Debug)]
struct Ask {
    id: Value,
    form: Form,
    tool: String,
    files: Vec<NamedFile>,
}

/// The state of one session; see the module.
pub(super) struct Turns {
    setup: Setup,
    stage: Stage,
    login: Login,
    /// The conversation; empty before the first.
    thread: String,
    /// It has had a turn: then the program can go on with it.
    begun: bool,
    told_ready: bool,
    /// The model, as the program names it.
    model: String,
    /// The level that the conversation began with, if somebody has set one.
    set: Option<EffortLevel>,
    /// Since the effort was raised for the first time: what turns are begun with.
    above: Option<(Effort, Above)>,
    turn: Option<Turn>,
    job: Option<Job>,
    jobs: VecDeque<Order>,
    asks: HashMap<String, Ask>,
    sent: HashMap<u64, Sent>,
    requests: u64,
    /// The tools that run.
    running: Running,
    /// The time of the line or the command that is being taken.
    now: Duration,
    last_alive: Option<Duration>,
    /// What it says outside of its turns.
    outside: Oddities,
    compacting: bool,
    warned: HashSet<String>,
    out: Vec<Action>,
}

impl Turns {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            stage: Stage::Hello,
            login: Login::Fine,
            thread: String::new(),
            begun: false,
            told_ready: false,
            model: setup.model.clone().unwrap_or_default(),
            setup,
            set: None,
            above: None,
            turn: None,
            job: None,
            jobs: VecDeque::new(),
            asks: HashMap::new(),
            sent: HashMap::new(),
            requests: 0,
            running: Running::default(),
            now: Duration::ZERO,
            last_alive: None,
            outside: Oddities::default(),
            compacting: false,
            warned: HashSet::new(),
            out: Vec::new(),
        }
    }
}

impl Protocol for Turns {
    type Caller = Value;

    fn is_now(&mut self, now: Now) {
        self.now = now.mono;
    }

    fn hello(&mut self) -> Vec<Action> {
        self.stage = Stage::Hello;
        self.login = Login::Fine;
        // What an earlier process was asked is answered by nobody.
        self.sent.clear();
        self.asks.clear();
        self.request(Sent::Initialize, "initialize", &encode::initialize());
        std::mem::take(&mut self.out)
    }

    fn read(&mut self, line: &str, now: Now) -> Result<Vec<Action>, Odd> {
        Ok(self.line(decode::decode(line)?, now.mono))
    }

    fn answer(caller: &Value, outcome: &Result<String, String>) -> String {
        encode::called(caller, outcome)
    }

    fn busy(&self) -> bool {
        self.turn.is_some() || self.job.is_some()
    }

    fn is_ready(&self) -> bool {
        self.stage == Stage::Open
    }

    fn prompt(&mut self, prompt: Prompt) -> Vec<Action> {
        self.turn = Some(Turn {
            id: prompt.turn,
            prompt,
            step: Step::Waiting,
            remote: None,
            accepted: false,
            asked: false,
            active: false,
            added: Vec::new(),
            tools: Vec::new(),
        });
        self.done()
    }

    fn steer(&mut self, prompt: Prompt) -> Vec<Action> {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.id == prompt.turn) {
            turn.added.push(Added { prompt, sent: false });
        }
        self.send_added();
        self.done()
    }

    fn interrupt(&mut self) -> Vec<Action> {
        match &mut self.turn {
            Some(turn) => {
                let first = !turn.asked;
                turn.asked = true;
                match (turn.step, turn.remote.clone()) {
                    (Step::Waiting, _) => self.finish(TurnResult::Interrupted),
                    // Asked twice, the program may leave the second request open for ever.
                    (Step::Running, Some(remote)) if first => self.interrupt_remote(&remote),
                    (Step::Sent | Step::Named | Step::Running, _) => {}
                }
            }
            None => {
                let remote = self.job.as_ref().and_then(|job| job.remote.clone());
                if let Some(remote) = remote {
                    self.interrupt_remote(&remote);
                }
            }
        }
        self.done()
    }

    fn decide(&mut self, reply: &ApprovalReply) -> Vec<Action> {
        self.answer_ask(reply);
        self.done()
    }

    fn set_model(&mut self, model: &str) -> Vec<Action> {
        self.setup.model = Some(model.to_owned());
        self.done()
    }

    fn set_effort(&mut self, effort: Effort) -> Vec<Action> {
        self.change_effort(effort);
        self.done()
    }

    fn compact(&mut self) -> Vec<Action> {
        self.jobs.push_back(Order::Compact);
        self.done()
    }

    fn clear(&mut self) -> Vec<Action> {
        self.jobs.push_back(Order::Clear);
        self.done()
    }

    fn unread(&mut self, line: &str, why: &str) -> Option<Unread<Value>> {
        let what = self.unreadable(line, why)?;
        Some(Unread { what, actions: self.done() })
    }

    fn sign_of_life(&mut self, now: Now) -> Vec<Action> {
        self.now = now.mono;
        self.alive(Sign::OfTheProgram);
        self.done()
    }
}

impl Turns {
    /// Takes one line at a monotonic time.
    pub(super) fn line(&mut self, line: Line, now: Duration) -> Vec<Action> {
        self.now = now;
        let sign = self.sign(&line);
        match line {
            Line::Response { id, answer } => self.response(id, answer),
            Line::Request { id, request } => self.requested(&id, request),
            Line::TurnStarted { thread, turn } => self.remote_started(&thread, turn),
            Line::TurnCompleted { thread, turn } if thread == self.thread => self.completed(&turn),
            Line::ItemStarted { of, item } if self.is_of_turn(&of) => self.item_started(item),
            Line::ItemCompleted { of, item } if self.is_of_turn(&of) => self.item_completed(item),
            Line::Tokens { of, tokens } if self.is_of_turn(&of) => self.tokens(&tokens),
            Line::Error { of, error, will_retry: true } if of.thread_id == self.thread => {
                self.retry(&error);
            }
            Line::Resolved { id } => self.took_back(&id),
            Line::ServerFailed { name, why } => {
                self.warn(format!("the tool server {name} did not start: {why}"));
            }
            Line::Warning { text } => self.warn(format!("codex warns: {text}")),
            Line::ItemCompleted { of, item: Item::Text(text) } if of.thread_id == self.thread => {
                self.said_outside(&text);
            }
            // Of a conversation that was left, of a subagent, or of a turn that is over.
            Line::TurnCompleted { .. }
            | Line::ItemStarted { .. }
            | Line::ItemCompleted { .. }
            | Line::Tokens { .. }
            // Its end says the same.
            | Line::Error { .. }
            | Line::Piece { .. }
            | Line::Noise => {}
        }
        self.alive(sign);
        self.done()
    }

    fn interrupt_remote(&mut self, remote: &str) {
        let params = json!({"threadId": self.thread, "turnId": remote});
        self.request(Sent::Aside, "turn/interrupt", &params);
    }

    fn is_of_turn(&self, of: &Place) -> bool {
        let remote = self.turn.as_ref().and_then(|turn| turn.remote.as_deref());
        of.thread_id == self.thread && remote == Some(&of.turn_id)
    }

    /// Does what waits, when nothing is under way.
    fn advance(&mut self) {
        let running = self.turn.as_ref().is_some_and(|turn| turn.step != Step::Waiting);
        if self.stage != Stage::Open || self.job.is_some() || running || self.asks_for_models() {
            return;
        }
        match (self.jobs.pop_front(), &self.turn) {
            (Some(order), _) => self.begin_job(order),
            (None, Some(_)) => self.begin_turn(),
            (None, None) => {}
        }
    }

    fn begin_job(&mut self, order: Order) {
        self.job = Some(Job { order, remote: None });
        match order {
            Order::Compact => {
                self.compacting = true;
                self.tell(RuntimeEvent::Compacting);
                let params = json!({"threadId": self.thread});
                self.request(Sent::Compact, "thread/compact/start", &params);
            }
            Order::Clear => {
                let params = self.setup.thread.start(self.setup.model.as_deref());
                self.request(Sent::Clear, "thread/start", &params);
            }
        }
    }

    fn begin_turn(&mut self) {
        match self.login {
            Login::Fine => {}
            Login::Missing => {
                self.login_needed();
                let hint = format!("codex is not logged in. {}", self.setup.login);
                return self.finish(TurnResult::NeedsLogin { hint });
            }
            Login::Reported => {
                // It is sent when the new process is ready.
                self.stage = Stage::Hello;
                return self.out.push(Action::Relaunch);
            }
        }
        let Some(turn) = &mut self.turn else { return };
        turn.step = Step::Sent;
        let mut params = json!({
            "threadId": self.thread,
            "clientUserMessageId": turn.prompt.uuid,
            "input": encode::input(&turn.prompt.text),
        });
        let id = turn.id;
        if let Some(model) = &self.setup.model {
            params["model"] = json!(model);
            self.model.clone_from(model);
        }
        if let Some(word) = self.effort_word() {
            params["effort"] = json!(word);
        }
        self.begun = true;
        self.request(Sent::Turn(id), "turn/start", &params);
    }

    fn request(&mut self, sent: Sent, method: &str, params: &Value) {
        self.requests += 1;
        self.write(encode::request(self.requests, method, params));
        self.sent.insert(self.requests, sent);
    }

    fn tell(&mut self, event: RuntimeEvent) {
        self.out.push(Action::Report(event));
    }

    fn notice(&mut self, text: String) {
        self.tell(RuntimeEvent::Notice { text });
    }

    /// Tells it if it was not told before.
    fn warn(&mut self, text: String) {
        let text = crate::program::one_line(&text);
        if self.warned.len() < TOLD_MAX && self.warned.insert(text.clone()) {
            self.notice(text);
        }
    }

    fn write(&mut self, line: String) {
        self.out.push(Action::Write(line));
    }

    fn done(&mut self) -> Vec<Action> {
        self.advance();
        std::mem::take(&mut self.out)
    }
}
