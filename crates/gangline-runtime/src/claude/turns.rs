//! Who owns what the program says: our prompt, a command of ours, or a turn that it began itself.
//!
//! The program works on one thing after the other. Such a *run* begins when a text of ours is
//! started, or, when none was, with the model's first words; it ends with a result. Results are
//! never counted: one may end two prompts, and some belong to nobody's prompt. Pure: lines and
//! requests go in, [`Action`]s come out. Start at [`Turns::line`].

use std::{collections::HashMap, time::Duration};

use gangline_core::{
    TurnId,
    effort::{Effort, EffortLevel},
};
use serde_json::{Value, json};

use self::state::{Bundle, EffortStep, Held, Job, Order, Out, Owner, Run, Sent, Turn};
use super::{
    decode::{self, Line},
    effort,
    encode::{self, Place},
    mcp,
    permit::Gate,
    turn_result::Asked,
};
use crate::{
    ApprovalReply, NamedFile, Prompt, RuntimeEvent, SessionId, ToolSpec, TurnResult,
    program::{
        protocol::{self, Now, Odd, Protocol, Unread},
        running::Running,
    },
};

mod beats;
mod output;
mod requests;
mod runs;
mod state;
#[cfg(test)]
mod tests;

/// How many events of a turn that nobody has adopted are kept.
const HELD_MAX: usize = 512;
/// Between two signs of life of a turn.
const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// Which control request of the program waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Caller {
    /// One that calls a tool of the daemon; `rpc` is the id of the message within it.
    Tool { request: String, rpc: Value },
    /// A hook that was called after a tool.
    Hook { request: String, event: String },
}

pub(super) type Action = protocol::Action<Caller>;

/// What a session is told about at its start.
pub(super) struct Setup {
    pub(super) session: SessionId,
    pub(super) gate: Gate,
    pub(super) tools: Vec<ToolSpec>,
    /// What the program was started with, if that was said.
    pub(super) effort: Option<EffortLevel>,
    /// Where the program keeps its login, for people.
    pub(super) login: String,
}

/// The state of one session; see the module.
pub(super) struct Turns {
    setup: Setup,
    run: Option<Run>,
    turn: Option<Turn>,
    bundle: Option<Bundle>,
    jobs: Vec<Job>,
    /// Approvals that wait, with the arguments that the answer repeats.
    asks: HashMap<String, (Value, Vec<NamedFile>)>,
    sent: HashMap<String, Sent>,
    /// What the model thinks with instead of its ground level.
    raised: Option<EffortLevel>,
    /// Texts of a turn that wait until the model or its effort is changed: the program may take its
    /// time over that, and would answer with the old one meanwhile.
    held: Vec<String>,
    names: HashMap<String, String>,
    /// The calls of tools that have no result yet.
    running: Running,
    /// The time of the line or the command that is being taken.
    now: Duration,
    requests: u64,
    last_alive: Option<Duration>,
    limited_until: Option<i64>,
    cost: Option<f64>,
    ready: bool,
    compacting: bool,
    out: Vec<Action>,
}

impl Turns {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            run: None,
            turn: None,
            bundle: None,
            jobs: Vec::new(),
            asks: HashMap::new(),
            sent: HashMap::new(),
            raised: None,
            held: Vec::new(),
            names: HashMap::new(),
            running: Running::default(),
            now: Duration::ZERO,
            requests: 0,
            last_alive: None,
            limited_until: None,
            cost: None,
            ready: false,
            compacting: false,
            out: Vec::new(),
        }
    }
}

impl Protocol for Turns {
    type Caller = Caller;

    fn busy(&self) -> bool {
        self.turn.is_some() || self.run.is_some()
    }

    fn is_done(&self) -> bool {
        !self.busy() && self.jobs.is_empty()
    }

    fn is_ready(&self) -> bool {
        self.ready
    }

    fn is_now(&mut self, now: Now) {
        self.now = now.mono;
    }

    fn hello(&mut self) -> Vec<Action> {
        let server = [self.setup.gate.server()];
        let servers: &[&str] = if self.setup.tools.is_empty() { &[] } else { &server };
        self.request(Sent::Initialize, &encode::initialize(servers));
        self.done()
    }

    fn prompt(&mut self, prompt: Prompt) -> Vec<Action> {
        let uuid = as_uuid(&prompt.uuid);
        self.turn = Some(Turn {
            id: prompt.turn,
            prompt: Some(uuid.clone()),
            waiting: vec![uuid.clone()],
            added: Vec::new(),
            accepted: false,
            asked: Asked::No,
            result: None,
            fate: None,
        });
        self.names.clear();
        self.running.clear();
        self.set_aside();
        let line = encode::text(&prompt.text, &uuid, Place::Later);
        if self.is_changing() {
            self.held.push(line);
        } else {
            self.write(line);
        }
        self.done()
    }

    fn steer(&mut self, prompt: Prompt) -> Vec<Action> {
        let uuid = as_uuid(&prompt.uuid);
        if let Some(turn) = &mut self.turn {
            turn.waiting.push(uuid.clone());
            turn.added.push((uuid.clone(), prompt.uuid.clone()));
            let line = encode::text(&prompt.text, &uuid, Place::Now);
            if self.held.is_empty() {
                self.write(line);
            } else {
                self.held.push(line);
            }
        }
        self.done()
    }

    fn adopt(&mut self, id: TurnId) -> Vec<Action> {
        let Some(bundle) = self.bundle.take() else {
            if self.turn.is_none() {
                self.out.push(Action::Free);
            }
            self.tell(Out::Finished(TurnResult::Completed).of(id));
            return self.done();
        };
        for held in bundle.held {
            match held {
                Held::Out(out) => self.tell(out.of(id)),
                Held::Call(call) => self.call(id, call),
            }
        }
        if let Some(result) = bundle.result {
            self.end(id, result);
            return self.done();
        }
        self.turn = Some(Turn {
            id,
            prompt: None,
            waiting: Vec::new(),
            added: Vec::new(),
            accepted: true,
            asked: Asked::No,
            result: None,
            fate: None,
        });
        if let Some(run) = &mut self.run {
            run.owner = Owner::Turn;
        }
        self.done()
    }

    fn interrupt(&mut self) -> Vec<Action> {
        if !std::mem::take(&mut self.held).is_empty() {
            let waiting = self.turn.as_ref().map(|turn| turn.waiting.clone());
            waiting.unwrap_or_default().iter().for_each(|uuid| self.withdrawn(uuid));
            return self.done();
        }
        let running = self.owned_by(&Owner::Turn);
        let mut withdraw = Vec::new();
        if let Some(turn) = &mut self.turn {
            turn.asked = Asked::Yes;
            withdraw.extend(
                turn.waiting
                    .iter()
                    .filter(|uuid| !running || turn.prompt.as_ref() != Some(uuid))
                    .cloned(),
            );
        }
        for uuid in withdraw {
            let request = json!({"subtype": "cancel_async_message", "message_uuid": uuid});
            self.request(Sent::Withdraw(uuid), &request);
        }
        if running || (self.turn.is_none() && self.run.is_some()) {
            self.request(Sent::Interrupt, &json!({"subtype": "interrupt"}));
        }
        self.done()
    }

    fn decide(&mut self, reply: &ApprovalReply) -> Vec<Action> {
        self.answer_ask(reply);
        self.done()
    }

    fn set_model(&mut self, model: &str) -> Vec<Action> {
        let request = json!({"subtype": "set_model", "model": model});
        self.request(Sent::SetModel(model.to_owned()), &request);
        self.done()
    }

    fn set_effort(&mut self, effort: Effort) -> Vec<Action> {
        // What an earlier one had in mind is over.
        self.sent.retain(|_, sent| !matches!(sent, Sent::Effort(_)));
        match effort {
            Effort::Raised => self.request(Sent::Effort(EffortStep::Ask), &effort::ask()),
            Effort::Ground => {
                let apply = effort::apply(self.setup.effort);
                self.request(Sent::Effort(EffortStep::Lower), &apply);
            }
        }
        self.done()
    }

    fn compact(&mut self) -> Vec<Action> {
        self.order(Order::Compact, "/compact")
    }

    fn clear(&mut self) -> Vec<Action> {
        self.order(Order::Clear, "/clear")
    }

    fn sign_of_life(&mut self, now: Now) -> Vec<Action> {
        self.now = now.mono;
        self.lives(now)
    }

    fn unread(&mut self, line: &str, why: &str) -> Option<Unread<Caller>> {
        let what = self.unreadable(line, why)?;
        Some(Unread { what, actions: self.done() })
    }

    fn read(&mut self, line: &str, now: Now) -> Result<Vec<Action>, Odd> {
        Ok(self.line(decode::decode(line)?, now))
    }

    fn answer(caller: &Caller, outcome: &Result<String, String>) -> String {
        match caller {
            Caller::Tool { request, rpc } => encode::mcp(request, &mcp::called(rpc, outcome)),
            Caller::Hook { request, event } => {
                let text = outcome.as_ref().ok().filter(|text| !text.is_empty());
                encode::answer(request, &encode::after_tool(event, text.map(String::as_str)))
            }
        }
    }
}

impl Turns {
    /// Takes one line.
    pub(super) fn line(&mut self, line: Line, now: Now) -> Vec<Action> {
        self.now = now.mono;
        match line {
            Line::Beat(beat) => {
                if !self.beats(&beat) {
                    return self.done();
                }
            }
            Line::Lives => return self.lives(now),
            Line::Waits => return self.done(),
            Line::Init(init) => self.init(init),
            Line::Assistant(said) => self.assistant(said),
            Line::User(user) => self.user(user),
            Line::Result(outcome) => self.result(&outcome, now),
            Line::Lifecycle { uuid, state } => self.lifecycle(&uuid, state),
            Line::Status(status) => self.status(status),
            Line::Retry(retry) => self.retry(&retry),
            Line::Limits(limits) => self.limits(&limits),
            Line::Idle => self.idle(),
            Line::Request { id, request } => self.requested(&id, request),
            Line::Cancelled { id } => self.took_back(id),
            Line::Response { id, answer } => self.response(&id, answer),
            Line::Noise => {}
        }
        self.alive(now);
        self.done()
    }

    fn is_changing(&self) -> bool {
        self.sent.values().any(|sent| matches!(sent, Sent::SetModel(_) | Sent::Effort(_)))
    }

    fn order(&mut self, order: Order, command: &str) -> Vec<Action> {
        let uuid = new_uuid();
        self.write(encode::command(command, &uuid));
        self.jobs.push(Job { uuid, order, told: false });
        self.done()
    }

    fn owned_by(&self, owner: &Owner) -> bool {
        self.run.as_ref().is_some_and(|run| run.owner == *owner)
    }

    /// Gives what the run under way has shown to its turn.
    fn give(&mut self, out: Out) {
        if let Some(owner) = self.run.as_ref().map(|run| run.owner.clone()) {
            self.give_to(&owner, out);
        }
    }

    /// Gives to the turn, or keeps until there is one.
    fn give_to(&mut self, owner: &Owner, out: Out) {
        match (owner, &self.turn, &mut self.bundle) {
            (Owner::Turn, Some(turn), _) => {
                let event = out.of(turn.id);
                self.out.push(Action::Report(event));
            }
            (Owner::Unasked, _, Some(bundle)) if bundle.held.len() < HELD_MAX => {
                bundle.held.push(Held::Out(out));
            }
            (Owner::Turn | Owner::Job(_) | Owner::Unasked | Owner::Aside, _, _) => {}
        }
    }

    fn alive(&mut self, now: Now) {
        let Some(turn) = &self.turn else { return };
        let told = |action: &Action| matches!(action, Action::Report(event) if event.turn() == Some(turn.id));
        let since = self.last_alive.map(|last| now.mono.saturating_sub(last));
        if self.out.iter().any(told) {
            self.last_alive = Some(now.mono);
        } else if turn.accepted && since.is_none_or(|since| since >= ALIVE_EVERY) {
            self.last_alive = Some(now.mono);
            let event = Out::Alive.of(turn.id);
            self.tell(event);
        }
    }

    fn request(&mut self, sent: Sent, request: &Value) {
        self.requests += 1;
        let id = format!("gangline-{}", self.requests);
        self.write(encode::request(&id, request));
        self.sent.insert(id, sent);
    }

    fn tell(&mut self, event: RuntimeEvent) {
        self.out.push(Action::Report(event));
    }

    fn notice(&mut self, text: String) {
        self.tell(RuntimeEvent::Notice { text });
    }

    fn write(&mut self, line: String) {
        self.out.push(Action::Write(line));
    }

    fn done(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.out)
    }
}

fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The program takes UUIDs only for the name of a text.
fn as_uuid(id: &str) -> String {
    uuid::Uuid::parse_str(id).map_or_else(|_| new_uuid(), |uuid| uuid.to_string())
}
