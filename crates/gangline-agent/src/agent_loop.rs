//! The agent loop: the only owner of the agent's state machine and of its way to the store.
//!
//! It takes one input at a time, asks [`gangline_core::agent::Agent`] what follows, and hands the
//! effects to the journal and to the tasks that carry them out. Nothing in it awaits but the
//! `select!` of [`AgentLoop::run`]: what is under way (a write, a look) is a field that is polled
//! there. Start at [`AgentLoop::run`].

mod ask;
mod change_notices;
mod checkpoint;
mod death;
mod effects;
mod findings;
mod generation;
mod heard;
mod orders;
mod pausing;
mod pulse;
mod reports;
mod restart;
mod session_orders;
mod settle;
mod show;
#[cfg(test)]
mod tests;
mod watched;
mod whispers;
use change_notices::ChangeNoticed;
pub(crate) use change_notices::ChangeNotices;
pub(crate) use restart::StartTold;
pub(crate) use settle::{sends_for, settle};
mod wire;

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicU64},
};

use gangline_api::event;
use gangline_core::{
    MessageId, TurnId,
    agent::{Agent, ApprovalRequestId, Input, RuntimeInput, View},
    answer::Tool,
    outcome::EndedBy,
    pulse::Pulse,
    time::Now,
    watchdog::{Limits, Watchdogs},
};
use gangline_irc::client::LinkCommand;
use gangline_mcp::table;
use gangline_os::{CancellationToken, clock};
use gangline_runtime::{ApprovalReply, Block, RuntimeEvent, StopReason};
use gangline_store::{Entry, StoreError};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info};

use crate::{
    bus::{Fatal, Incoming},
    checkpoint::{self as checkpoints, Reading},
    hooks::HookSender,
    identity::{Identity, new_event},
    journal::{Journal, Reply},
    looks::{Found, Looks, Waiting},
    notes::Notes,
    outgoing::Outgoing,
    rooms::{RoomsCommand, Unread},
    session::{Generations, SessionEvent, port::KILL_BUDGET},
    showing::Showing,
    speech::TurnContext,
    supervisor::feed::Feed,
    texts,
    whispers::Transit,
};

/// The most records that wait for the store; beyond it details of a turn are not recorded.
const RECORDS_WAITING_MAX: usize = 1024;
/// A tool's result is recorded up to this many bytes.
const RESULT_PREVIEW: usize = 2000;

/// The agent loop's ports to the other tasks.
pub(crate) struct Ports {
    pub(crate) generations: Generations,
    pub(crate) journal: Journal,
    pub(crate) looks: Looks,
    pub(crate) change_notices: ChangeNotices,
    pub(crate) link: mpsc::Sender<LinkCommand>,
    pub(crate) rooms: mpsc::Sender<RoomsCommand>,
    pub(crate) context: watch::Sender<Option<TurnContext>>,
    pub(crate) view: watch::Sender<View>,
    pub(crate) showing: watch::Sender<Showing>,
    pub(crate) unread: watch::Receiver<Unread>,
    pub(crate) drained: CancellationToken,
    pub(crate) beat: Arc<AtomicU64>,
    pub(crate) hooks: HookSender,
    pub(crate) notes: Notes,
    pub(crate) checkpoint: Reading,
    /// How many whispers wait.
    pub(crate) whispers: watch::Sender<usize>,
}

/// The agent loop.
pub(crate) struct AgentLoop {
    me: Identity,
    core: Agent,
    generations: Generations,
    journal: Journal,
    looks: Looks,
    change_notices: ChangeNotices,
    rooms: Outgoing<RoomsCommand>,
    ports: Quiet,
    /// Rows of messages that wait or are in the open turn.
    rows: HashMap<MessageId, Waiting>,
    /// What waits for a human in the open turn.
    asks: ask::Asks,
    /// Details that were not recorded because the store did not keep up.
    skipped: u64,
    /// How many words of operators were obeyed.
    words: u64,
    /// How many more messages waited when the open turn took its own.
    pending: u64,
    /// The id of the open turn's prompt.
    prompt_uuid: String,
    /// What was given in the open turn and is not known to have reached the model, by its id.
    steers: HashMap<String, Vec<MessageId>>,
    shown: show::Shown,
    restart: restart::Restart,
    /// Prompts have no frame.
    bare: bool,
    hooks: HookSender,
    reports: reports::Reports,
    notes: Notes,
    checkpoint: checkpoint::Checkpoint,
    /// Rules of the configuration that always hold.
    pinned: Vec<String>,
    /// The signs of life of the open turn.
    pulse: Pulse,
    /// What is said between tools.
    talk: pulse::Talk,
    /// By whom tokens are counted.
    counted: generation::Counted,
    whispers: whispers::Whispers,
    session_orders: session_orders::SessionOrders,
    /// Why no new turn is begun, beside what the state machine knows.
    pausing: pausing::Pausing,
    /// What the supervisor is told.
    feed: Feed,
    watchdogs: Watchdogs,
}

/// The ports that never wait.
struct Quiet {
    link: mpsc::Sender<LinkCommand>,
    context: watch::Sender<Option<TurnContext>>,
    view: watch::Sender<View>,
    showing: watch::Sender<Showing>,
    unread: watch::Receiver<Unread>,
    drained: CancellationToken,
    beat: Arc<AtomicU64>,
}

/// Why the loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoopEnd {
    /// The agent is drained, and everything that follows from it is written.
    Drained,
    /// The store cannot be used any more.
    Fatal(Fatal),
    /// All senders to the loop are gone.
    Deserted,
}

enum Event {
    Incoming(Option<Incoming>),
    Session(SessionEvent),
    Written(Reply),
    Known(Result<checkpoints::Found, StoreError>),
    Found(Found),
    ChangeNoticed(ChangeNoticed),
    /// It is known whether the whispers that an answer carried have arrived.
    Whispered(Transit, bool),
    Deadline,
    Flushed,
}

impl AgentLoop {
    pub(crate) fn new(me: Identity, core: Agent, ports: Ports) -> Self {
        let model = ports.generations.model().map(str::to_owned);
        let mut shown = show::Shown::default();
        shown.model = model;
        Self {
            me,
            core,
            generations: ports.generations,
            journal: ports.journal,
            looks: ports.looks,
            change_notices: ports.change_notices,
            rooms: Outgoing::new(ports.rooms),
            ports: Quiet {
                link: ports.link,
                context: ports.context,
                view: ports.view,
                showing: ports.showing,
                unread: ports.unread,
                drained: ports.drained,
                beat: ports.beat,
            },
            rows: HashMap::new(),
            asks: ask::Asks::default(),
            skipped: 0,
            words: 0,
            pending: 0,
            prompt_uuid: String::new(),
            steers: HashMap::new(),
            shown,
            restart: restart::Restart::default(),
            bare: false,
            hooks: ports.hooks,
            reports: reports::Reports::default(),
            notes: ports.notes,
            checkpoint: checkpoint::Checkpoint::new(ports.checkpoint),
            pinned: Vec::new(),
            pulse: Pulse::default(),
            talk: pulse::Talk::default(),
            counted: generation::Counted::default(),
            pausing: pausing::Pausing::default(),
            feed: Feed::default(),
            watchdogs: Watchdogs::new(Limits::default()),
            whispers: whispers::Whispers::new(ports.whispers),
            session_orders: session_orders::SessionOrders::default(),
        }
    }

    /// Says that the backend is given what was said and nothing else.
    pub(crate) fn bare(mut self, bare: bool) -> Self {
        self.bare = bare;
        self
    }

    /// Says which session the agent had before, where it works, and what tells it of this start.
    pub(crate) fn after(
        mut self,
        (session, directory): (Option<String>, String),
        start: StartTold,
    ) -> Self {
        self.restart = restart::Restart::new(session, directory, start);
        self
    }

    /// Runs until the agent is drained and everything that follows from it is written and handed
    /// on. Not cancel-safe.
    pub(crate) async fn run(mut self, mut incoming: mpsc::Receiver<Incoming>) -> LoopEnd {
        loop {
            let due = self.deadline().map(|at| self.me.clock.sleep_until(at.0));
            let deadline = async {
                match due {
                    Some(due) => due.await,
                    None => std::future::pending().await,
                }
            };
            let open = !self.change_notices.closed();
            let event = tokio::select! {
                incoming = incoming.recv() => Event::Incoming(incoming),
                event = self.generations.next() => Event::Session(event),
                reply = self.journal.next() => Event::Written(reply),
                known = self.checkpoint.reading.next() => Event::Known(known),
                found = self.looks.next(), if open => Event::Found(found),
                noticed = self.change_notices.next(), if open => Event::ChangeNoticed(noticed),
                (transit, arrived) = self.whispers.in_transit.next() => {
                    Event::Whispered(transit, arrived)
                }
                () = deadline => Event::Deadline,
                () = self.rooms.room() => Event::Flushed,
            };
            match event {
                Event::Incoming(Some(incoming)) => self.take(incoming),
                Event::Session(event) => self.hear_backend(event),
                Event::Incoming(None) => return LoopEnd::Deserted,
                Event::Written(Reply::Fatal(fatal)) => return LoopEnd::Fatal(fatal),
                Event::Written(reply) => self.written(reply),
                Event::Known(known) => self.known(known),
                Event::Found(found) => self.found(found),
                Event::ChangeNoticed(noticed) => self.change_noticed(noticed),
                Event::Whispered(transit, arrived) => self.carried(&transit, arrived),
                Event::Deadline => {
                    self.think(Input::Tick);
                    self.beat();
                }
                Event::Flushed => {}
            }
            if self.ports.drained.is_cancelled() {
                drop(incoming);
                return self.wind_up().await;
            }
        }
    }

    /// Ends the backend by its kill policy, and writes what is left, the one beside the other.
    /// Nothing is taken in any more: those who ask for something hear that the daemon ends.
    async fn wind_up(mut self) -> LoopEnd {
        self.generations.end(StopReason::Shutdown);
        self.turn_is_over();
        let Self { generations, journal, me, .. } = &mut self;
        let ended = async {
            // What a backend tells on its way out changes nothing any more, but one that nobody hears
            // drops what it does.
            while !generations.are_over() {
                let _ = generations.next().await;
            }
        };
        let ended = clock::within(&me.clock, KILL_BUDGET, ended);
        let (_, written) = tokio::join!(ended, journal.flush());
        match written {
            Ok(()) => LoopEnd::Drained,
            Err(fatal) => LoopEnd::Fatal(fatal),
        }
    }

    /// Returns until when the loop may sleep when nothing happens.
    fn deadline(&self) -> Option<Now> {
        [self.core.next_deadline(), self.pulse.next_deadline()].into_iter().flatten().min()
    }

    fn now(&self) -> Now {
        Now(self.me.clock.monotonic())
    }

    fn think(&mut self, input: Input) {
        let effects = self.core.handle(self.now(), input);
        for effect in effects {
            self.feed_effect(&effect);
            self.carry_out(effect);
        }
        self.feed_waits();
        self.show();
    }

    #[allow(clippy::too_many_lines, reason = "a line or a few for each event of a backend")]
    fn runtime(&mut self, generation: gangline_core::agent::Generation, event: RuntimeEvent) {
        self.reports.hear(&event);
        self.hear_of_whispers(&event);
        self.feed.hear(Now(self.me.clock.monotonic()), &event);
        self.shows_life(&event);
        match event {
            RuntimeEvent::Ready { session } => {
                info!(%session, "runtime ready");
                self.restart.ready(&session.0);
                self.session_is(session);
                self.session_begins();
                self.think(Input::Runtime(RuntimeInput::Ready { generation }));
            }
            RuntimeEvent::Session { session } => {
                info!(%session, "the session has another id");
                self.restart.session(&session.0);
                self.session_is(session);
            }
            RuntimeEvent::Began => self.think(Input::Runtime(RuntimeInput::Began { generation })),
            RuntimeEvent::Waits { on, .. } => self.waits(on),
            RuntimeEvent::Alive { turn } => {
                self.think(Input::Runtime(RuntimeInput::Output { turn }));
            }
            RuntimeEvent::NeedsLogin { hint } => {
                self.shown.login_hint = Some(hint.clone());
                self.record_notice(None, "needs_login", hint);
                self.think(Input::Runtime(RuntimeInput::NeedsLogin { generation }));
            }
            RuntimeEvent::LoggedIn => {
                self.record_notice(None, "logged_in", texts::LOGGED_IN.to_owned());
                self.shown.login_hint = None;
                self.think(Input::Runtime(RuntimeInput::LoggedIn { generation }));
            }
            RuntimeEvent::Effort { raised } => self.effort(raised),
            RuntimeEvent::Compacting => {
                self.shown.compacting = true;
                self.record_notice(None, "compacting", texts::COMPACTING.to_owned());
                self.show();
            }
            RuntimeEvent::Compacted { failed } => {
                self.shown.compacting = false;
                self.compacted();
                match failed {
                    Some(_) => self.owes_no_checkpoint(),
                    None => self.owes_checkpoint(checkpoints::Why::Shortened),
                }
                let told = match &failed {
                    Some(_) => RuntimeInput::NotCompacted { generation },
                    None => RuntimeInput::Compacted { generation },
                };
                if let (Some(_), Some(session)) = (&failed, self.shown.session.clone()) {
                    self.keep_session(Some(session));
                }
                let text = failed.unwrap_or_else(|| texts::COMPACTED.to_owned());
                self.record_notice(None, "compacted", text);
                self.think(Input::Runtime(told));
            }
            RuntimeEvent::Accepted { turn } => {
                self.checkpoint_reached(turn);
                self.think(Input::Runtime(RuntimeInput::Accepted { turn }));
            }
            RuntimeEvent::Steered { turn, uuid } if self.whispers_steered(&uuid) => {
                self.think(Input::Runtime(RuntimeInput::Output { turn }));
            }
            RuntimeEvent::Steered { turn, uuid } => {
                let messages = self.steers.remove(&uuid).unwrap_or_default();
                self.think(Input::Runtime(RuntimeInput::Steered { turn, messages }));
            }
            RuntimeEvent::Message { turn, message } => {
                let recorded = wire::assistant(&message, &self.me.redactor);
                self.record(Some(turn), recorded.event);
                let mut calls = recorded.calls.into_iter();
                if !message.model.is_empty() {
                    self.shown.spoke.clone_from(&message.model);
                }
                for block in message.content {
                    let input = match block {
                        Block::Text { text } => {
                            self.asks.said(&text);
                            self.talk.text(&text);
                            RuntimeInput::Text { turn, text }
                        }
                        Block::ToolUse { id, name, input: _ } => {
                            self.talk_now(turn);
                            self.tool_begins(id, name, calls.next().unwrap_or_default());
                            self.steer_whispers();
                            RuntimeInput::Output { turn }
                        }
                        Block::Thinking { .. } => RuntimeInput::Output { turn },
                    };
                    self.think(Input::Runtime(input));
                }
            }
            RuntimeEvent::ToolResult { turn, id, name, is_error, content } => {
                let tool = tool_kind(&name);
                self.shown.tools.retain(|tool| tool.id != id);
                // Masked before it is cut: half a secret is one too.
                let preview = self.me.redactor.redact(&content).head(RESULT_PREVIEW).into_string();
                self.record(Some(turn), event::ToolResult { id, name, is_error, preview });
                self.think(Input::Runtime(RuntimeInput::ToolResult { turn, tool }));
            }
            RuntimeEvent::ApprovalAsked { turn, ask } => {
                if let Some(answer) = self.notes.answer(turn, &ask) {
                    let reply = ApprovalReply { request: ask.request, answer };
                    self.generations.decide(reply);
                    return self.think(Input::Runtime(RuntimeInput::Output { turn }));
                }
                let request = ApprovalRequestId(ask.request.clone());
                self.asked(ask);
                self.think(Input::Runtime(RuntimeInput::ApprovalAsked { turn, request }));
            }
            RuntimeEvent::ApprovalWithdrawn { turn, request } => {
                let request = ApprovalRequestId(request);
                self.think(Input::Runtime(RuntimeInput::ApprovalWithdrawn { turn, request }));
            }
            RuntimeEvent::Unasked { turn, tool, input } => self.ran_unasked(turn, &tool, &input),
            RuntimeEvent::Usage { turn, usage } => self.usage(turn, &usage),
            RuntimeEvent::Notice { text } => {
                self.says_at_start(&text);
                self.record_notice(None, "runtime", text);
            }
            RuntimeEvent::Finished { turn, result } => {
                let how = self.finish(turn, result);
                self.think(Input::Runtime(RuntimeInput::Finished { turn, how }));
            }
            RuntimeEvent::Refused { command, why } => {
                debug!(?command, %why, "a refusal outside the session");
            }
            RuntimeEvent::Exited { code } => {
                debug!(code, "an exit outside the session");
                let by = EndedBy::Itself;
                self.think(Input::Runtime(RuntimeInput::Exited { generation, by }));
            }
        }
    }

    fn record_notice(&mut self, turn: Option<TurnId>, code: &str, text: String) {
        self.record(turn, event::Notice { code: code.to_owned(), text });
    }

    /// Records a fact, masked. Under a store that does not keep up, details are left out.
    fn record(&mut self, turn: Option<TurnId>, event: impl Into<event::Event>) {
        if self.journal.waiting() >= RECORDS_WAITING_MAX {
            self.skipped += 1;
            return;
        }
        if let Some(event) = new_event(&self.me, turn, &event.into()) {
            self.journal.push(Entry::Events(vec![event]));
        }
    }
}

/// Returns what kind of tool the answer rule sees in this name.
pub(crate) fn tool_kind(name: &str) -> Tool {
    match name {
        table::SEND | table::NO_REPLY | table::ANSWER => Tool::Send,
        "Bash" => Tool::Shell,
        _ => Tool::Other,
    }
}
