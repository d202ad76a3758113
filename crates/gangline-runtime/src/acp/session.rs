//! One session with a program: opening it, turns, orders between turns, questions.
//!
//! Pure: lines and requests go in, [`Action`]s come out. Never more than one prompt is under way:
//! programs differ widely in what they do with a second one. Start at [`Session::line`].

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    time::Duration,
};

use gangline_core::TurnId;
use gangline_os::json::{self, Edges};
use serde_json::Value;

use self::{
    asking::Asking,
    beats::Sign,
    late::{HeldEnd, Outside},
    replay::Piece,
    state::{Ask, Can, Counted, Order, Sent, Stage, Turn, Words},
};
use super::{
    calls::Calls,
    permit::Gate,
    recipe::{Names, Recipe, Withdrawn, without_provider},
    turn_result,
    update::{self, Choice, Context, Update},
    wire::{self, Line, Refusal},
};
use crate::{
    ApprovalReply, Block, McpServer, Prompt, RuntimeEvent, SessionId, TurnResult,
    program::{
        protocol::{self, Hold, Now, Odd, Protocol, Unread},
        running::Running,
    },
};

mod ask;
mod asking;
mod beats;
mod guard;
mod late;
mod open;
mod order;
mod replay;
mod state;
#[cfg(test)]
mod tests;
mod turn;

/// Between two signs of life of a turn.
const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// What is to be done; no tool of the daemon is called over the pipe.
pub(super) type Action = protocol::Action<Infallible>;

/// What a session is told about at its start.
pub(super) struct Setup {
    pub(super) recipe: &'static Recipe,
    pub(super) gate: Gate,
    /// The working folder.
    pub(super) folder: String,
    /// Servers to offer in the request that opens the session.
    pub(super) servers: Vec<McpServer>,
    /// The server with the daemon's tools.
    pub(super) own: Own,
    /// What stands before the first prompt of a session that is new.
    pub(super) introduction: String,
    /// The session to go on with.
    pub(super) resume: Option<SessionId>,
    /// What is on record of it.
    pub(super) past: Vec<Block>,
    /// Whether the provider stands in front of a model's name, or is left out.
    pub(super) names: Names,
    /// The model that is wanted.
    pub(super) model: Option<String>,
    /// Whether the program may say something after the end that it belongs to.
    pub(super) late: Late,
}

/// Whether a program may say something after the end that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    /// Its lines come in the order of the protocol.
    #[cfg_attr(not(test), expect(dead_code, reason = "for tests of everything else"))]
    NeverComes,
    /// It is not known.
    MayCome,
}

/// The server with the daemon's tools, in each form that there is.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) http: Option<McpServer>,
    pub(super) stdio: Option<McpServer>,
}

/// The state of one session; see the module.
pub(super) struct Session {
    setup: Setup,
    stage: Stage,
    /// The open session's id.
    id: Option<String>,
    can: Can,
    /// What a human does to log in.
    login: String,
    /// `Ready` was told.
    ready: bool,
    /// Somebody was told that a login is missing.
    missed: bool,
    /// The next prompt is the session's first.
    introduce: bool,
    choices: Vec<Choice>,
    /// Guards of the recipe that are seen to.
    guards: usize,
    asking: Asking,
    /// It was told that a tool ran without a question.
    unasked: bool,
    /// The model, as far as it is known.
    model: String,
    turn: Option<Turn>,
    /// The end of the open turn that is held back: see [`Protocol::holds_back`].
    held: Option<HeldEnd>,
    /// What comes outside of turns.
    outside: Outside,
    /// Nothing can be said in the session any more: a new one begins at the end of the turn.
    spoilt: bool,
    waiting: Option<Prompt>,
    orders: VecDeque<Order>,
    /// The order that is under way.
    order: Option<Order>,
    /// What is said while it is.
    order_words: Words,
    /// Of the line that is being read.
    edges: Edges,
    sent: HashMap<u64, Sent>,
    numbers: u64,
    asks: HashMap<String, Ask>,
    calls: Calls,
    /// Those that run.
    running: Running,
    /// What the line that is being read shows.
    sign: Sign,
    counted: Counted,
    context: Context,
    last_alive: Duration,
    out: Vec<Action>,
}

impl Session {
    pub(super) fn new(mut setup: Setup) -> Self {
        setup.model = setup.model.map(|model| named(setup.names, model));
        Self {
            stage: Stage::Greeting,
            id: None,
            can: Can::default(),
            login: setup.recipe.login.to_owned(),
            ready: false,
            missed: false,
            introduce: false,
            choices: Vec::new(),
            guards: 0,
            asking: Asking::default(),
            unasked: false,
            model: setup.model.clone().unwrap_or_default(),
            turn: None,
            held: None,
            outside: Outside::default(),
            spoilt: false,
            waiting: None,
            orders: VecDeque::new(),
            order: None,
            order_words: Words::None,
            edges: Edges::default(),
            sent: HashMap::new(),
            numbers: 0,
            asks: HashMap::new(),
            calls: Calls::default(),
            running: Running::default(),
            sign: Sign::default(),
            counted: Counted::default(),
            context: Context::default(),
            last_alive: Duration::ZERO,
            out: Vec::new(),
            setup,
        }
    }
}

impl Protocol for Session {
    type Caller = Infallible;

    fn is_ready(&self) -> bool {
        self.ready
    }

    fn busy(&self) -> bool {
        self.turn.is_some() || self.waiting.is_some()
    }

    fn is_now(&mut self, now: Now) {
        self.outside.now = now.mono;
    }

    fn hello(&mut self) -> Vec<Action> {
        self.greet();
        self.done()
    }

    fn prompt(&mut self, prompt: Prompt) -> Vec<Action> {
        self.waiting = Some(prompt);
        if self.stage == Stage::LoggedOut {
            // Somebody may have logged in meanwhile.
            self.open();
        }
        self.go_on();
        self.done()
    }

    fn interrupt(&mut self) -> Vec<Action> {
        if let Some(prompt) = self.waiting.take() {
            if self.order == Some(Order::Compact) {
                // It stands in the way of every prompt.
                self.cancel();
            }
            self.out.push(Action::Free);
            let result = TurnResult::Interrupted;
            self.tell(RuntimeEvent::Finished { turn: prompt.turn, result });
        }
        if let Some(turn) = &mut self.turn {
            turn.asked = true;
            match self.held.take() {
                Some(held) => self.prompt_done(Ok(held.end)),
                None => self.cancel_in_turn(),
            }
        }
        self.done()
    }

    fn decide(&mut self, reply: &ApprovalReply) -> Vec<Action> {
        self.answer_ask(reply);
        self.done()
    }

    fn set_model(&mut self, model: &str) -> Vec<Action> {
        self.order(Order::Model(named(self.setup.names, model.to_owned())))
    }

    fn compact(&mut self) -> Vec<Action> {
        self.order(Order::Compact)
    }

    fn clear(&mut self) -> Vec<Action> {
        self.order(Order::Clear)
    }

    fn holds_back(&self) -> Option<Hold> {
        self.hold()
    }

    fn let_go(&mut self) -> Vec<Action> {
        self.settled();
        self.done()
    }

    fn try_again(&mut self) -> Vec<Action> {
        if self.stage == Stage::LoggedOut {
            self.open();
        }
        self.done()
    }

    fn read(&mut self, line: &str, now: Now) -> Result<Vec<Action>, Odd> {
        let (line, edges) = wire::read(line);
        let line = line?;
        self.edges = edges;
        self.outside.now = now.mono;
        self.sign = Sign::default();
        let open = self.turn.as_ref().map(|turn| turn.id);
        let mut actions = self.line(line);
        if actions.iter().any(|action| matches!(action, Action::Report(_))) {
            self.last_alive = now.mono;
        } else {
            actions.splice(0..0, self.alive(open, now));
        }
        Ok(actions)
    }

    fn unread(&mut self, line: &str, why: &str) -> Option<Unread<Infallible>> {
        let what = self.unreadable(line, why)?;
        Some(Unread { what, actions: self.done() })
    }

    fn sign_of_life(&mut self, now: Now) -> Vec<Action> {
        self.outside.now = now.mono;
        self.sign = Sign::OfTheProgram;
        let open = self.turn.as_ref().map(|turn| turn.id);
        self.alive(open, now).into_iter().collect()
    }

    fn answer(caller: &Infallible, _outcome: &Result<String, String>) -> String {
        match *caller {}
    }
}

impl Session {
    /// Takes one line.
    pub(super) fn line(&mut self, line: Line) -> Vec<Action> {
        match line {
            Line::Answer { id, outcome } => match self.sent.remove(&id) {
                Some(sent) => {
                    self.sign = Sign::OfTheTurn;
                    self.answered(sent, outcome);
                }
                None => tracing::debug!(id, "an answer to nothing"),
            },
            Line::Request { id, method, params } => self.requested(&id, &method, &params),
            Line::Notification { method, params } if method == "session/update" => {
                self.updated(params);
            }
            Line::Notification { method, .. } => {
                tracing::debug!(method, "the program tells something that nobody here knows");
            }
        }
        self.done()
    }

    /// Tells the program to end the prompt that is under way. Two programs wait for the answers to
    /// their questions before they do.
    fn cancel(&mut self) {
        let params = serde_json::json!({"sessionId": self.id});
        self.write(wire::notification("session/cancel", &params));
        self.withdraw_asks();
    }

    /// The same of a turn. A program may be unable to go on with a session in which a question was
    /// taken back.
    fn cancel_in_turn(&mut self) {
        let spoils = self.setup.recipe.withdrawn == Withdrawn::SpoilsTheSession;
        self.spoilt |= spoils && !self.asks.is_empty();
        self.cancel();
    }

    fn order(&mut self, order: Order) -> Vec<Action> {
        self.orders.push_back(order);
        self.go_on();
        self.done()
    }

    /// Tells that the turn goes on, if the line shows it; once a second.
    fn alive(&mut self, open: Option<TurnId>, now: Now) -> Option<Action> {
        let turn = open.filter(|_| now.mono.saturating_sub(self.last_alive) >= ALIVE_EVERY)?;
        if !self.goes_on() {
            return None;
        }
        self.last_alive = now.mono;
        Some(Action::Report(RuntimeEvent::Alive { turn }))
    }

    fn answered(&mut self, sent: Sent, outcome: Result<Value, Refusal>) {
        match sent {
            Sent::Greeting => self.greeted(outcome),
            Sent::Open(way) => self.opened(way, outcome),
            Sent::Guard => self.guarded(outcome),
            Sent::GuardAgain => self.guarded_again(outcome),
            Sent::Mode { to, by_choice, when } => self.mode_set((to, by_choice, when), outcome),
            Sent::Model { model, first } => self.model_set(&model, first, outcome),
            Sent::Prompt => self.prompt_done(outcome),
            Sent::Compact => self.compacted(outcome),
        }
    }

    /// Takes a line that cannot be read. Says what is done about it, if something is.
    fn unreadable(&mut self, line: &str, why: &str) -> Option<String> {
        let id: Value = serde_json::from_str(json::find(line, &["id"])?).ok()?;
        if let Some(method) = json::find_text(line, &["method"]) {
            self.write(wire::unreadable(&id, why));
            let method = turn_result::one_line(&method);
            return Some(format!(
                "asked something that cannot be read (`{method}`), and was refused"
            ));
        }
        let sent = self.sent.remove(&id.as_u64()?)?;
        let message = format!("the answer cannot be read: {why}");
        self.answered(sent, Err(Refusal { code: wire::PARSE_ERROR, message, data: Value::Null }));
        Some("answered with something that cannot be read".to_owned())
    }

    fn requested(&mut self, id: &Value, method: &str, params: &Value) {
        if method == "session/request_permission" {
            self.sign = Sign::OfTheTurn;
            return self.asked(id, params);
        }
        tracing::debug!(method, "the program asks for something that is not served");
        self.write(wire::not_served(id, method));
    }

    fn updated(&mut self, params: Value) {
        let (session, update) = match update::decode(params) {
            Ok(update) => update,
            Err(kind) => return tracing::debug!(kind, "an update that cannot be read"),
        };
        // Those of other sessions are of the program's own helpers; while a session is opened, its
        // past is told again.
        if self.id.as_deref() != Some(&*session) {
            return;
        }
        self.shows(&update);
        if let Update::User(text) = &update {
            return self.user_said(text);
        }
        for Piece { update, edges } in self.new_in(update) {
            self.edges = edges;
            self.take(update);
        }
    }

    /// Takes something new that the program tells.
    fn take(&mut self, update: Update) {
        match update {
            Update::Text { message, text } => self.said(message, text),
            Update::Thought { text } => self.thought(text),
            Update::Tool(patch) => self.tool(patch),
            Update::Context(context) => self.context = context,
            Update::Choices(choices) => self.chosen(choices),
            Update::Mode(mode) => {
                self.mode_is(&mode);
                self.ask_again();
            }
            Update::Unknown(kind) => tracing::debug!(kind, "an update of an unknown kind"),
            Update::User(_) | Update::Plan | Update::Quiet => {}
        }
    }

    /// Begins what waits, if nothing is under way.
    fn go_on(&mut self) {
        let busy = self.turn.is_some() || self.order.is_some() || self.outside.is_settling();
        if self.stage != Stage::Open || busy {
            return;
        }
        if let Some(order) = self.orders.pop_front() {
            self.begin_order(order);
        } else if let Some(prompt) = self.waiting.take() {
            self.begin_turn(prompt);
        }
    }

    fn request(&mut self, sent: Sent, method: &str, params: &Value) {
        self.numbers += 1;
        self.write(wire::request(self.numbers, method, params));
        self.sent.insert(self.numbers, sent);
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

fn named(names: Names, model: String) -> String {
    match names {
        Names::WithProvider => model,
        Names::Plain => without_provider(&model).to_owned(),
    }
}
