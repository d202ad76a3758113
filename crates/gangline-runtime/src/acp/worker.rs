//! The task that owns the process: lines in, wishes in, events out, until one of both is gone.
//!
//! What a line means is decided in [`super::session`]; here is what happens to the process.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use gangline_core::TurnId;
use gangline_os::{
    clock::{self, SharedClock},
    lines::Line,
    mark::RunMark,
    process::{self, Child, Exit, Ladder},
};
use tokio::{
    sync::{mpsc, watch},
    time,
};

use super::{
    Command,
    launch::Launch,
    permit::Gate,
    recipe::{Names, Recipe},
    session::{Act, Session, Setup},
    verdict, wire,
};
use crate::{
    RuntimeEvent, SessionHandle, StartOptions, StopReason,
    handle::{Flags, HandleKeeper},
    program::{self, LADDER, SHORT_LADDER, pipes::Pipes},
    toolserver::ToolServer,
};

/// From its start to an open session: some unpack themselves, or start tool servers first.
const BEGIN_WITHIN: Duration = Duration::from_secs(60);
/// From the interrupt of a stop to the end of the turn.
const RESULT_WITHIN: Duration = Duration::from_secs(3);
/// After its end, for what it wrote before.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);
/// Between two looks for a login that is missing.
const LOGIN_EVERY: Duration = Duration::from_secs(10);
/// Between two signs of life of a turn.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// What the task begins with.
pub(super) struct Start {
    /// The word of the configuration.
    pub(super) name: &'static str,
    pub(super) recipe: &'static Recipe,
    pub(super) options: StartOptions,
    pub(super) launch: Launch,
    pub(super) turn: watch::Sender<Option<TurnId>>,
    pub(super) events: mpsc::Sender<RuntimeEvent>,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) flags: Arc<Flags>,
}

/// The state of the task; see the module.
pub(super) struct Worker {
    name: &'static str,
    child: Child,
    pipes: Pipes,
    session: Session,
    inbox: mpsc::Receiver<Command>,
    events: mpsc::Sender<RuntimeEvent>,
    flags: Arc<Flags>,
    /// For the tool server: which turn a call belongs to.
    turn: watch::Sender<Option<TurnId>>,
    /// Something that is no message was told of already.
    odd: bool,
    clock: SharedClock,
    begun: Duration,
    told: Duration,
    /// When to look for a login.
    watch: Option<Duration>,
    mark: Option<RunMark>,
    handle: HandleKeeper,
    notices: Vec<String>,
    _tools: Option<ToolServer>,
}

enum Step {
    Command(Option<Command>),
    Output(Option<Line>),
    Exited(Exit),
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
        let Start { name, recipe, options, launch, turn, events, inbox, flags } = start;
        let Launch { spawn, mark, servers, own, introduction, tools, notices } = launch;
        let mut child = process::spawn(spawn).map_err(|error| error.to_string())?;
        let pid = Some(child.pid());
        let handle = HandleKeeper::begin(name, &options, options.resume.clone(), pid);
        let pipes = Pipes::of(&mut child);
        let gate = Gate::new(&options);
        let given = options.base_url.is_some();
        let session = Session::new(Setup {
            recipe,
            gate,
            folder: options.workdir.display().to_string(),
            servers,
            own,
            introduction,
            names: if given { recipe.names } else { Names::WithProvider },
            resume: options.resume,
            model: options.model,
        });
        let clock = clock::system();
        let begun = clock.monotonic();
        Ok(Self {
            name,
            child,
            pipes,
            session,
            inbox,
            events,
            flags,
            turn,
            odd: false,
            begun,
            told: begun,
            clock,
            watch: None,
            mark,
            handle,
            notices,
            _tools: tools,
        })
    }

    pub(super) fn handle(&self) -> watch::Receiver<SessionHandle> {
        self.handle.reader()
    }

    /// Runs until the program or the daemon's wish for it is gone; its exit is told last.
    pub(super) async fn run(mut self) {
        for text in std::mem::take(&mut self.notices) {
            self.send(RuntimeEvent::Notice { text }).await;
        }
        let hello = self.session.hello();
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
        program::sweep(self.name, self.mark.as_ref()).await;
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
            command = self.inbox.recv() => Step::Command(command),
            exit = self.child.wait() => Step::Exited(exit.unwrap_or_default()),
            () = pause(wait) => Step::Due,
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), Why> {
        let acts = match command {
            Command::Prompt(prompt) => self.session.prompt(prompt),
            Command::Interrupt => self.session.interrupt(),
            Command::Decide(verdict) => self.session.decide(&verdict),
            Command::SetModel(model) => self.session.set_model(model),
            Command::Compact => self.session.compact(),
            Command::Clear => self.session.clear(),
            Command::Stop(reason) => return Err(Why::Stop(reason)),
        };
        self.act(acts).await
    }

    async fn output(&mut self, output: Line) -> Result<(), Why> {
        let acts = match output {
            Line::Text(text) if text.trim().is_empty() => return Ok(()),
            Line::Text(text) => match wire::decode(&text) {
                Ok(line) => self.session.line(line),
                Err(error) => {
                    self.odd(error.to_string()).await;
                    Vec::new()
                }
            },
            Line::Oversize { bytes, .. } => {
                let text =
                    format!("{} wrote a line of {bytes} bytes; it was passed over", self.name);
                self.send(RuntimeEvent::Notice { text }).await;
                Vec::new()
            }
        };
        self.alive(&acts).await;
        self.act(acts).await
    }

    /// Tells of something odd once.
    async fn odd(&mut self, what: String) {
        if !std::mem::replace(&mut self.odd, true) {
            let text = format!("{} wrote {what}; it was passed over", self.name);
            self.send(RuntimeEvent::Notice { text }).await;
        }
    }

    /// A line is a sign of life of the turn, whatever it says; one a second is told.
    async fn alive(&mut self, acts: &[Act]) {
        let now = self.clock.monotonic();
        if acts.iter().any(|act| matches!(act, Act::Tell(_))) {
            self.told = now;
        } else if let Some(turn) = *self.turn.borrow()
            && now.saturating_sub(self.told) >= ALIVE_EVERY
        {
            self.told = now;
            // A daemon that is gone needs no events.
            let _ = self.events.try_send(RuntimeEvent::Alive { turn });
        }
    }

    async fn act(&mut self, acts: Vec<Act>) -> Result<(), Why> {
        for act in acts {
            match act {
                Act::Tell(event) => self.send(event).await,
                Act::Write(line) => {
                    if !self.pipes.write(line) {
                        tracing::error!(name = self.name, "a program does not read its input");
                        return Err(Why::Useless);
                    }
                }
                Act::Turn(turn) => {
                    self.turn.send_replace(turn);
                }
                Act::Free => self.flags.busy.store(false, Ordering::SeqCst),
                Act::WatchLogin => self.watch = Some(self.clock.monotonic() + LOGIN_EVERY),
                Act::GiveUp => return Err(Why::Useless),
            }
        }
        if self.session.is_ready() {
            self.flags.ready.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// How long until something is due; `None` when nothing is.
    fn until_due(&self) -> Option<Duration> {
        let begin = (!self.session.is_ready()).then_some(self.begun + BEGIN_WITHIN);
        let due = [begin, self.watch].into_iter().flatten().min()?;
        Some(due.saturating_sub(self.clock.monotonic()))
    }

    async fn due(&mut self) -> Result<(), Why> {
        let now = self.clock.monotonic();
        if !self.session.is_ready() && now >= self.begun + BEGIN_WITHIN {
            let within = BEGIN_WITHIN.as_secs();
            let text = format!("{} did not begin within {within} s", self.name);
            self.send(RuntimeEvent::Notice { text }).await;
            return Err(Why::Useless);
        }
        if self.watch.take_if(|next| *next <= now).is_some() {
            let acts = self.session.try_again();
            self.act(acts).await?;
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
        if !self.session.busy() {
            return;
        }
        let acts = self.session.interrupt();
        let finish = async {
            if self.act(acts).await.is_err() {
                return;
            }
            while self.session.busy() {
                let done = match self.step().await {
                    Step::Output(Some(output)) => self.output(output).await,
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
            let Self { child, pipes, session, events, .. } = self;
            let ending = child.end(ladder);
            tokio::pin!(ending);
            loop {
                let output = tokio::select! {
                    exit = &mut ending => break exit,
                    Some(output) = pipes.next() => output,
                };
                // Only events are of use now: nothing is written any more.
                if let Line::Text(text) = output
                    && let Ok(line) = wire::decode(&text)
                {
                    for act in session.line(line) {
                        if let Act::Tell(event) = act {
                            let _ = events.send(event).await;
                        }
                    }
                }
            }
        };
        self.turn.send_replace(None);
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
        let name = self.name;
        if !exit.success() {
            let how = match (exit.code, exit.signal) {
                (Some(code), _) => format!("code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no code".to_owned(),
            };
            let said = verdict::one_line(&self.pipes.errors());
            let said = if said.is_empty() { "nothing".to_owned() } else { said };
            let text = format!("{name} ended with {how}; it said: {said}");
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

async fn pause(wait: Option<Duration>) {
    match wait {
        Some(wait) => time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
