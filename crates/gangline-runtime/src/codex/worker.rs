//! The task that owns the process: lines in, wishes in, events out, until one of both is gone.
//!
//! What a line means is decided in [`super::turns`]; here is what happens to the process.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use gangline_os::{
    clock::{self, SharedClock},
    lines::Line,
    mark::RunMark,
    process::{self, Child, Exit, Ladder, Spawn},
    task::{HowEnded, TaskEnd, TaskGroup},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time,
};

use super::{
    Command, NAME,
    decode::{self, DecodeError},
    encode,
    launch::Launch,
    login::{Login, Look},
    permit::Gate,
    thread::{self, Thread},
    turns::{Act, Credentials, Setup, Turns},
};
use crate::{
    RuntimeEvent, SessionHandle, StartOptions, StopReason, ToolHost,
    handle::{Flags, HandleKeeper},
    program::{self, LADDER, SHORT_LADDER, pipes::Pipes},
};

/// From its start to an open conversation; tool servers of the user's may be slow.
const BEGIN_WITHIN: Duration = Duration::from_secs(60);
/// From the interrupt of a stop to the end of the turn.
const RESULT_WITHIN: Duration = Duration::from_secs(3);
/// After its end, for what it wrote before.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);
/// Between two looks at the files of a login that is missing.
const LOGIN_EVERY: Duration = Duration::from_secs(2);
/// Kinds of odd lines that are remembered as told.
const ODDITIES: usize = 64;

/// What the task begins with.
pub(super) struct Start {
    pub(super) options: StartOptions,
    pub(super) launch: Launch,
    pub(super) events: mpsc::Sender<RuntimeEvent>,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) flags: Arc<Flags>,
}

/// The state of the task; see the module.
pub(super) struct Worker {
    spawn: Spawn,
    child: Child,
    pipes: Pipes,
    turns: Turns,
    inbox: mpsc::Receiver<Command>,
    events: mpsc::Sender<RuntimeEvent>,
    flags: Arc<Flags>,
    host: Arc<dyn ToolHost>,
    /// Calls of the daemon's tools, numbered, and the request that each answers.
    calls: TaskGroup,
    called: HashMap<String, Value>,
    numbered: u64,
    results: (mpsc::Sender<Called>, mpsc::Receiver<Called>),
    odd: HashSet<String>,
    clock: SharedClock,
    begun: Duration,
    login: Login,
    /// The login as it was when it was refused, and when to look next.
    watch: Option<(Look, Duration)>,
    mark: Option<RunMark>,
    handle: HandleKeeper,
    notice: Option<String>,
}

/// A call of a tool that is over: its number and what the tool said.
type Called = (String, Result<String, String>);

enum Step {
    Command(Option<Command>),
    Output(Option<Line>),
    Exited(Exit),
    Called(Called),
    CallEnded(TaskEnd),
    Due,
}

/// Why the loop ended.
enum Why {
    Stop(StopReason),
    Exited(Exit),
    /// It closed its output or cannot be driven.
    Useless,
}

impl Worker {
    /// Starts the program. Must be called within a tokio runtime.
    pub(super) fn start(start: Start) -> Result<Self, String> {
        let Start { options, launch, events, inbox, flags } = start;
        let Launch { spawn, mark, login, notice } = launch;
        let mut child = process::spawn(spawn.clone()).map_err(|error| error.to_string())?;
        let pid = Some(child.pid());
        let handle = HandleKeeper::begin(NAME, &options, options.resume.clone(), pid);
        let pipes = Pipes::of(&mut child);
        let turns = Turns::new(setup(&options, &login));
        let clock = clock::system();
        Ok(Self {
            spawn,
            child,
            pipes,
            turns,
            inbox,
            events,
            flags,
            host: options.tools,
            calls: TaskGroup::new("codex tools"),
            called: HashMap::new(),
            numbered: 0,
            results: mpsc::channel(16),
            odd: HashSet::new(),
            begun: clock.monotonic(),
            clock,
            login,
            watch: None,
            mark,
            handle,
            notice,
        })
    }

    pub(super) fn handle(&self) -> watch::Receiver<SessionHandle> {
        self.handle.reader()
    }

    /// Runs until the program or the daemon's wish for it is gone; its exit is told last.
    pub(super) async fn run(mut self) {
        if let Some(text) = self.notice.take() {
            self.send(RuntimeEvent::Notice { text }).await;
        }
        let hello = self.turns.hello();
        let why = match self.act(hello).await {
            Ok(()) => self.serve().await,
            Err(why) => why,
        };
        self.flags.ready.store(false, Ordering::SeqCst);
        let code = match why {
            Why::Stop(reason) => self.wind_up(reason).await,
            Why::Exited(exit) => self.ended(exit).await,
            Why::Useless => {
                let exit = self.end(&SHORT_LADDER).await;
                // Some end well when their input closes; 0 would say that a stop was asked for.
                match self.ended(exit).await {
                    0 => -1,
                    code => code,
                }
            }
        };
        self.pipes.close().await;
        program::sweep(NAME, self.mark.as_ref()).await;
        let _ = self.events.send(RuntimeEvent::Exited { code }).await;
        // Closed last: by it the adapter sees that everything was told.
        drop(self.inbox);
    }

    async fn serve(&mut self) -> Why {
        loop {
            let done = match self.step().await {
                Step::Command(Some(Command::Stop(reason))) => Err(Why::Stop(reason)),
                Step::Command(None) => Err(Why::Stop(StopReason::Shutdown)),
                Step::Command(Some(command)) => self.obey(command).await,
                Step::Output(Some(output)) => self.output(output).await,
                Step::Output(None) => Err(self.outputs_closed().await),
                Step::Exited(exit) => Err(Why::Exited(exit)),
                Step::Called((number, outcome)) => self.answer(&number, &outcome),
                Step::CallEnded(end) => self.call_ended(&end),
                Step::Due => self.due().await,
            };
            if let Err(why) = done {
                return why;
            }
        }
    }

    /// Cancel-safe, as each of its arms.
    async fn step(&mut self) -> Step {
        let wait = self.until_due();
        // In no order: a flood of lines must not keep an interrupt waiting.
        tokio::select! {
            output = self.pipes.next() => Step::Output(output),
            Some(called) = self.results.1.recv() => Step::Called(called),
            Some(end) = self.calls.next_end() => Step::CallEnded(end),
            command = self.inbox.recv() => Step::Command(command),
            exit = self.child.wait() => Step::Exited(exit.unwrap_or_default()),
            () = pause(wait) => Step::Due,
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), Why> {
        let acts = match command {
            Command::Prompt(prompt) => self.turns.prompt(prompt),
            Command::Steer(prompt) => self.turns.steer(prompt),
            Command::Interrupt => self.turns.interrupt(),
            Command::Decide(verdict) => self.turns.decide(&verdict),
            Command::SetModel(model) => self.turns.set_model(&model),
            Command::Compact => self.turns.compact(),
            Command::Clear => self.turns.clear(),
            Command::Stop(reason) => return Err(Why::Stop(reason)),
        };
        self.act(acts).await
    }

    async fn output(&mut self, output: Line) -> Result<(), Why> {
        let acts = match output {
            Line::Text(text) if text.trim().is_empty() => return Ok(()),
            Line::Text(text) => self.read(&text).await,
            Line::Oversize { bytes, .. } => {
                let text = format!("codex wrote a line of {bytes} bytes; it was passed over");
                self.send(RuntimeEvent::Notice { text }).await;
                self.turns.sign_of_life(self.clock.monotonic())
            }
        };
        self.act(acts).await
    }

    async fn read(&mut self, text: &str) -> Vec<Act> {
        let now = self.clock.monotonic();
        match decode::decode(text) {
            Ok(decode::Line::Unknown { kind }) => {
                if self.is_new(&kind) {
                    tracing::debug!(kind, "codex wrote a line of an unknown kind");
                }
                self.turns.sign_of_life(now)
            }
            Ok(line) => self.turns.line(line, now),
            Err(error) => {
                let kind = match &error {
                    DecodeError::NoMessage => "",
                    DecodeError::Broken { kind, .. } => kind,
                };
                if self.is_new(kind) {
                    let text = format!("codex wrote {}", program::one_line(&error.to_string()));
                    self.send(RuntimeEvent::Notice { text }).await;
                }
                self.turns.sign_of_life(now)
            }
        }
    }

    /// Says whether nothing odd of this kind was seen before.
    fn is_new(&mut self, kind: &str) -> bool {
        self.odd.len() < ODDITIES && self.odd.insert(kind.to_owned())
    }

    async fn act(&mut self, acts: Vec<Act>) -> Result<(), Why> {
        for act in acts {
            match act {
                Act::Tell(event) => self.send(event).await,
                Act::Write(line) => {
                    if !self.pipes.write(line) {
                        tracing::error!("codex does not read its input any more");
                        return Err(Why::Useless);
                    }
                }
                Act::Call { call, id } => {
                    self.numbered += 1;
                    let number = self.numbered.to_string();
                    self.called.insert(number.clone(), id);
                    let (host, results) = (Arc::clone(&self.host), self.results.0.clone());
                    self.calls.spawn(number.clone(), async move {
                        let outcome = host.call(call).await;
                        let _ = results.send((number, outcome)).await;
                    });
                }
                Act::Free => self.flags.busy.store(false, Ordering::SeqCst),
                Act::WatchLogin => {
                    let next = self.clock.monotonic() + LOGIN_EVERY;
                    self.watch = Some((self.login.look(), next));
                }
                Act::Relaunch => self.relaunch().await?,
                Act::GiveUp => return Err(Why::Useless),
            }
        }
        if self.turns.is_open() {
            self.flags.ready.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Ends the program and starts it again; what waits is done when the new one is ready. Nothing
    /// is under way in the old one.
    async fn relaunch(&mut self) -> Result<(), Why> {
        tracing::info!("codex is started again: it reads its login only then");
        self.pipes.close_input().await;
        self.child.end(&SHORT_LADDER).await;
        let mut child = match process::spawn(self.spawn.clone()) {
            Ok(child) => child,
            Err(error) => {
                let text = format!("codex cannot be started again: {error}");
                self.send(RuntimeEvent::Notice { text }).await;
                return Err(Why::Useless);
            }
        };
        let pipes = std::mem::replace(&mut self.pipes, Pipes::of(&mut child));
        pipes.close().await;
        self.handle.child(Some(child.pid()));
        self.child = child;
        self.called.clear();
        self.watch = None;
        self.begun = self.clock.monotonic();
        for act in self.turns.hello() {
            if let Act::Write(line) = act {
                self.pipes.write(line);
            }
        }
        Ok(())
    }

    fn answer(&mut self, number: &str, outcome: &Result<String, String>) -> Result<(), Why> {
        let Some(id) = self.called.remove(number) else { return Ok(()) };
        let line = encode::called(&id, outcome);
        if self.pipes.write(line) { Ok(()) } else { Err(Why::Useless) }
    }

    fn call_ended(&mut self, end: &TaskEnd) -> Result<(), Why> {
        match &end.how {
            // Its result is in the channel.
            HowEnded::Finished => Ok(()),
            HowEnded::Cancelled | HowEnded::Panicked(_) => {
                tracing::error!(?end, "a tool of the daemon broke");
                let broke = "the tool broke; whether it had an effect is unknown";
                self.answer(&end.name, &Err(broke.to_owned()))
            }
        }
    }

    /// How long until something is due; `None` when nothing is.
    fn until_due(&self) -> Option<Duration> {
        let begin = (!self.turns.is_open()).then_some(self.begun + BEGIN_WITHIN);
        let look = self.watch.as_ref().map(|(_, next)| *next);
        let due = [begin, look].into_iter().flatten().min()?;
        Some(due.saturating_sub(self.clock.monotonic()))
    }

    async fn due(&mut self) -> Result<(), Why> {
        let now = self.clock.monotonic();
        if !self.turns.is_open() && now >= self.begun + BEGIN_WITHIN {
            let text = format!("codex did not begin within {} s", BEGIN_WITHIN.as_secs());
            self.send(RuntimeEvent::Notice { text }).await;
            return Err(Why::Useless);
        }
        if let Some((before, _)) = self.watch.take_if(|(_, next)| *next <= now) {
            if self.login.look() == before {
                self.watch = Some((before, now + LOGIN_EVERY));
            } else {
                self.send(RuntimeEvent::LoggedIn).await;
            }
        }
        Ok(())
    }

    /// Both outputs are closed: it is about to exit, or of no use any more.
    async fn outputs_closed(&mut self) -> Why {
        match time::timeout(LAST_WORDS_WITHIN, self.child.wait()).await {
            Ok(exit) => Why::Exited(exit.unwrap_or_default()),
            Err(_) => Why::Useless,
        }
    }

    /// Ends the turn, then the program, as it was asked for. Returns the code to tell.
    async fn wind_up(&mut self, reason: StopReason) -> i32 {
        let ladder = match reason {
            StopReason::Shutdown | StopReason::Restart => {
                self.finish_turn().await;
                LADDER
            }
            StopReason::Stuck => SHORT_LADDER,
        };
        self.end(&ladder).await;
        0
    }

    async fn finish_turn(&mut self) {
        if !self.turns.busy() {
            return;
        }
        let acts = self.turns.interrupt();
        let finish = async {
            if self.act(acts).await.is_err() {
                return;
            }
            while self.turns.busy() {
                let done = match self.step().await {
                    Step::Output(Some(output)) => self.output(output).await,
                    Step::Called((number, outcome)) => self.answer(&number, &outcome),
                    Step::CallEnded(end) => self.call_ended(&end),
                    Step::Due => self.due().await,
                    // It is being stopped already.
                    Step::Command(Some(_)) => Ok(()),
                    Step::Command(None) | Step::Output(None) | Step::Exited(_) => return,
                };
                if done.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(RESULT_WITHIN, finish).await;
    }

    /// Ends the process and its group, and takes in what it still says.
    async fn end(&mut self, ladder: &Ladder) -> Exit {
        self.pipes.close_input().await;
        let exit = {
            let Self { child, pipes, turns, events, clock, .. } = self;
            let ending = child.end(ladder);
            tokio::pin!(ending);
            loop {
                let output = tokio::select! {
                    exit = &mut ending => break exit,
                    Some(output) = pipes.next() => output,
                };
                // Only events are of use now: nothing is written any more.
                if let Line::Text(text) = output
                    && let Ok(line) = decode::decode(&text)
                {
                    for act in turns.line(line, clock.monotonic()) {
                        if let Act::Tell(event) = act {
                            let _ = events.send(event).await;
                        }
                    }
                }
            }
        };
        self.flags.busy.store(false, Ordering::SeqCst);
        exit
    }

    /// It has ended by itself: takes in its last words and ends what is left of its group.
    /// Returns the code to tell.
    async fn ended(&mut self, exit: Exit) -> i32 {
        let words = async {
            while let Some(output) = self.pipes.next().await {
                if self.output(output).await.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(LAST_WORDS_WITHIN, words).await;
        self.end(&SHORT_LADDER).await;
        if !exit.success() {
            let how = match (exit.code, exit.signal) {
                (Some(code), _) => format!("code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no code".to_owned(),
            };
            let said = program::one_line(&self.pipes.errors());
            let said = if said.is_empty() { "nothing".to_owned() } else { said };
            let text = format!("codex ended with {how}; it said: {said}");
            self.send(RuntimeEvent::Notice { text }).await;
        }
        exit.code.unwrap_or(-1)
    }

    async fn send(&self, event: RuntimeEvent) {
        self.handle.see(&event);
        // A daemon that is gone needs no events.
        let _ = self.events.send(event).await;
    }
}

fn setup(options: &StartOptions, login: &Login) -> Setup {
    let tools = options.tools.tools();
    let credentials = if thread::has_provider(options) {
        Credentials::OfTheOptions
    } else {
        Credentials::OfTheProgram
    };
    let hint = match credentials {
        Credentials::OfTheProgram => format!(
            "Run `codex login` as the agent's user (its login is kept in {}), or give the agent a \
             key by `api_key_env`",
            login.shown()
        ),
        Credentials::OfTheOptions => {
            "Give the agent a valid key by `api_key_env` and start it again".to_owned()
        }
    };
    Setup {
        thread: Thread::new(options, &tools),
        resume: options.resume.clone(),
        model: options.model.clone(),
        gate: Gate::of(options),
        tools: tools.iter().map(|tool| tool.name).collect(),
        credentials,
        login: hint,
    }
}

async fn pause(wait: Option<Duration>) {
    match wait {
        Some(wait) => time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
