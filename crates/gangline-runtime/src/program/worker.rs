//! The task that owns a program: lines and commands in, events out, until one of both is gone.
//!
//! What a line means is decided by the adapter's [`Protocol`]; here is what happens to the process.
//! Start at [`Worker::run`]; how the process ends is in `worker/end.rs`.

use std::{sync::Arc, time::Duration};

use gangline_core::TurnId;
use gangline_os::{
    clock::{self, SharedClock},
    exit::Exit,
    lines::Line,
    process::{self, Child, Spawn},
    run_id::RunId,
};
use serde_json::Value;
use tokio::{sync::watch, time};

use super::{
    KILL_POLICY, SHORT_KILL_POLICY,
    calls::{Calls, Outcome},
    login::{Found, Sign, Watch},
    oddities::Oddities,
    one_line,
    pipes::{LINE_MAX, Pipes},
    protocol::{Action, Actions, AtEnd, Now, Odd, Protocol},
    sweep,
};
use crate::{
    Aside, Command, RuntimeEvent, SessionId, StartOptions, StopReason, session::SessionPort,
};

mod end;

/// From the start of the program to a session that takes prompts; some unpack themselves, and tool
/// servers of the user's may be slow.
const BEGIN_WITHIN: Duration = Duration::from_secs(60);
/// Lines that are no messages, before the first session: a program that writes more speaks another
/// language.
const STRAYS_MAX: usize = 500;
/// So many characters of such lines are kept, to be quoted.
const STRAYS_KEPT: usize = 600;

/// What the task begins with.
pub(crate) struct Start<P> {
    /// The backend, as the configuration names it.
    pub(crate) name: &'static str,
    pub(crate) protocol: P,
    pub(crate) spawn: Spawn,
    /// By which its descendants are found again.
    pub(crate) run_id: Option<RunId>,
    /// The session, if it is known before the program names it.
    pub(crate) session: Option<SessionId>,
    /// How a login shows that was missing.
    pub(crate) login: Sign,
    /// What the operator should know before anything else.
    pub(crate) notices: Vec<String>,
    pub(crate) life: Life,
    /// Where [`Action::Turn`] is seen.
    pub(crate) turn: watch::Sender<Option<TurnId>>,
    pub(crate) port: SessionPort,
}

/// How long the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Until it is stopped.
    Session,
    /// For one thing, which it was not given yet.
    OneThing,
    /// Until that is done.
    UntilDone,
}

/// The state of the task; see the module.
pub(crate) struct Worker<P: Protocol> {
    name: &'static str,
    spawn: Spawn,
    child: Child,
    pipes: Pipes,
    protocol: P,
    calls: Calls<P::Caller>,
    port: SessionPort,
    turn: watch::Sender<Option<TurnId>>,
    odd: Oddities,
    /// Lines that were no messages: how many, and the beginning of what they said.
    strays: (usize, String),
    /// Since when something is held back, and when it is done.
    held: Option<(Duration, Duration)>,
    clock: SharedClock,
    begun: Duration,
    login: Watch,
    run_id: Option<RunId>,
    notices: Vec<String>,
    life: Life,
}

enum Step<C> {
    Command(Option<Command>),
    Output(Option<Line>),
    Exited(Exit),
    Called(C, Outcome, Option<Aside>),
    Due,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was asked for, or its owner is gone.
    Stop(StopReason),
    /// The program exited.
    Exited(Exit),
    /// It was started for one thing, and that is done.
    Done,
    /// The program is of no use any more.
    Useless(Fault),
}

/// What makes a program useless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It closed its outputs and goes on.
    ClosedOutputs,
    /// It does not read its input.
    Deaf,
    /// What it writes are no messages.
    NoMessages,
    /// It did not begin in time.
    NotBegun,
    /// It could not be started again.
    NotRestarted,
    /// Its protocol gave it up.
    GivenUp,
}

impl<P: Protocol> Worker<P> {
    /// Starts the program. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why it cannot be started.
    pub(crate) fn start(start: Start<P>, options: &StartOptions) -> Result<Self, String> {
        let Start { name, protocol, spawn, run_id, session, login, notices, life, turn, port } =
            start;
        let mut child = process::spawn(spawn.clone()).map_err(|error| error.to_string())?;
        port.begins_as(session);
        port.child(Some(child.pid()));
        let pipes = Pipes::of(&mut child);
        let clock = clock::system();
        Ok(Self {
            name,
            spawn,
            child,
            pipes,
            protocol,
            calls: Calls::new(Arc::clone(&options.tools)),
            port,
            turn,
            odd: Oddities::default(),
            strays: (0, String::new()),
            held: None,
            begun: clock.monotonic(),
            clock,
            login: Watch::of(login),
            run_id,
            notices,
            life,
        })
    }

    /// Runs until the program is gone or its end is asked for; its exit is told last.
    pub(crate) async fn run(mut self) -> Why {
        for text in std::mem::take(&mut self.notices) {
            self.notice(text).await;
        }
        let hello = self.protocol.hello();
        let why = match self.action(hello).await {
            Ok(()) => self.serve().await,
            Err(why) => why,
        };
        for (kind, number) in self.odd.rest() {
            let name = self.name;
            self.notice(format!("{name} wrote {number} lines in all that cannot be used: {kind}"))
                .await;
        }
        let code = self.finish(why).await;
        if self.protocol.holds_back().is_some_and(|hold| hold.at_end == AtEnd::Done) {
            let actions = self.protocol.let_go();
            // The process is gone, or will be: nothing else can be done about it.
            let _ = self.action(actions).await;
        }
        self.pipes.close().await;
        sweep(self.name, self.run_id.as_ref()).await;
        self.port.tell(RuntimeEvent::Exited { code }).await;
        why
    }

    async fn serve(&mut self) -> Why {
        loop {
            let done = match self.step().await {
                Step::Command(None) => Err(Why::Stop(StopReason::Shutdown)),
                Step::Command(Some(command)) => self.obey(command).await,
                Step::Output(Some(output)) => self.output(output).await,
                Step::Output(None) => Err(self.outputs_closed().await),
                Step::Exited(exit) => Err(Why::Exited(exit)),
                Step::Called(caller, outcome, aside) => self.called((&caller, &outcome), aside),
                Step::Due => self.due().await,
            };
            if let Err(why) = done {
                return why;
            }
            if self.life == Life::UntilDone && self.protocol.is_done() {
                return Why::Done;
            }
        }
    }

    /// Cancel-safe, as each of its arms.
    async fn step(&mut self) -> Step<P::Caller> {
        let wait = self.until_due();
        // In no order: a flood of lines must not keep an interrupt waiting.
        tokio::select! {
            output = self.pipes.next() => Step::Output(output),
            (caller, outcome, aside) = self.calls.next() => {
                Step::Called(caller, outcome, aside)
            }
            command = self.port.next() => Step::Command(command),
            exit = self.child.wait() => Step::Exited(exit.unwrap_or_default()),
            () = pause(wait) => Step::Due,
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), Why> {
        let is_work = matches!(command, Command::Prompt(_) | Command::Compact);
        if is_work && self.life == Life::OneThing {
            self.life = Life::UntilDone;
        }
        self.protocol.is_now(now(&self.clock));
        let actions = match command {
            Command::Prompt(prompt) => self.protocol.prompt(prompt),
            Command::Steer(prompt) => self.protocol.steer(prompt),
            Command::Adopt(turn) => self.protocol.adopt(turn),
            Command::Interrupt => self.protocol.interrupt(),
            Command::Decide(reply) => self.protocol.decide(&reply),
            Command::SetModel(model) => self.protocol.set_model(&model),
            Command::SetEffort(effort) => self.protocol.set_effort(effort),
            Command::Compact => self.protocol.compact(),
            Command::Clear => self.protocol.clear(),
            Command::Stop(reason) => return Err(Why::Stop(reason)),
        };
        self.action(actions).await
    }

    async fn output(&mut self, output: Line) -> Result<(), Why> {
        let now = now(&self.clock);
        let actions = match output {
            Line::Text(text) if text.trim().is_empty() => return Ok(()),
            Line::Text(text) => match self.protocol.read(&text, now) {
                Ok(actions) => actions,
                Err(odd) => self.unread(&odd, &text, now).await?,
            },
            Line::Oversize { kept, bytes } => self.oversize(&kept, bytes, now).await,
        };
        self.action(actions).await
    }

    /// Takes a line that cannot be read. Whoever waits for an answer to it gets one.
    async fn unread(&mut self, odd: &Odd, text: &str, now: Now) -> Result<Actions<P>, Why> {
        let why = match odd {
            Odd::Unknown { .. } => None,
            Odd::Broken { why, .. } => Some(why.clone()),
            Odd::NoMessage => serde_json::from_str::<Value>(text).err().map(|it| it.to_string()),
        };
        let why = why.unwrap_or_else(|| "it is not a message".to_owned());
        let unread = match odd {
            Odd::Unknown { .. } => None,
            Odd::NoMessage | Odd::Broken { .. } => self.protocol.unread(text, &why),
        };
        if let Some(unread) = unread {
            self.answered_unread(&unread.what, &why).await;
            return Ok(unread.actions);
        }
        self.odd(odd, text).await;
        self.stray(odd, text)?;
        Ok(self.protocol.sign_of_life(now))
    }

    /// The same of a line that is too long, by its beginning.
    async fn oversize(&mut self, kept: &str, bytes: u64, now: Now) -> Actions<P> {
        let why = format!("it has {bytes} bytes, and {LINE_MAX} can be read");
        if let Some(unread) = self.protocol.unread(kept, &why) {
            self.answered_unread(&unread.what, &why).await;
            return unread.actions;
        }
        let name = self.name;
        if let Some(number) = self.odd.count("too long") {
            let so_far = so_far(number);
            self.notice(format!(
                "{name} wrote a line of {bytes} bytes; it was passed over{so_far}"
            ))
            .await;
        }
        self.protocol.sign_of_life(now)
    }

    async fn answered_unread(&mut self, what: &str, why: &str) {
        let (name, why) = (self.name, one_line(why));
        if let Some(number) = self.odd.count(what) {
            self.notice(format!("{name} {what}: {why}{}", so_far(number))).await;
        }
    }

    /// Keeps what a line said that is no message: a program that cannot work often says so there.
    fn stray(&mut self, odd: &Odd, text: &str) -> Result<(), Why> {
        if *odd != Odd::NoMessage {
            return Ok(());
        }
        let (count, kept) = &mut self.strays;
        *count += 1;
        let room = STRAYS_KEPT.saturating_sub(kept.chars().count());
        if room > 0 {
            kept.extend(text.chars().take(room));
            kept.push(' ');
        }
        let strange = *count > STRAYS_MAX && !self.protocol.is_ready();
        if strange { Err(Why::Useless(Fault::NoMessages)) } else { Ok(()) }
    }

    /// Returns the last that it said: what came on its error output, or what was no message.
    fn last_words(&self) -> String {
        let errors = one_line(&self.pipes.errors());
        if errors.is_empty() { one_line(&self.strays.1) } else { errors }
    }

    /// Tells of something odd: the first of each kind, then numbers.
    async fn odd(&mut self, odd: &Odd, text: &str) {
        let name = self.name;
        let (kind, said) = match odd {
            Odd::Unknown { kind } => {
                tracing::debug!(name, kind, "a line of an unknown kind");
                return;
            }
            Odd::NoMessage => ("no messages", format!("{odd}: {}", one_line(text))),
            Odd::Broken { kind, .. } => (kind.as_str(), one_line(&odd.to_string())),
        };
        if let Some(number) = self.odd.count(kind) {
            self.notice(format!("{name} wrote {said}{}", so_far(number))).await;
        }
    }

    async fn action(&mut self, actions: Actions<P>) -> Result<(), Why> {
        for action in actions {
            match action {
                Action::Report(event) => self.port.tell(event).await,
                Action::Write(line) => self.write(line)?,
                Action::Call { call, caller } => self.calls.begin(call, caller),
                Action::Aside { turn, caller } => self.calls.begin_aside(turn, caller),
                Action::Turn(turn) => {
                    self.turn.send_replace(turn);
                }
                Action::Free => self.port.free(),
                Action::WatchLogin => self.login.begin(self.clock.monotonic()),
                Action::Relaunch => self.relaunch().await?,
                Action::GiveUp => return Err(Why::Useless(Fault::GivenUp)),
            }
        }
        let now = self.clock.monotonic();
        self.held = self.protocol.holds_back().map(|hold| {
            let since = self.held.map_or(now, |(since, _)| since);
            (since, (now + hold.quiet).min(since + hold.most))
        });
        Ok(())
    }

    /// Answers a call, or a hook; what was told beside it has arrived then.
    fn called(
        &self,
        (caller, outcome): (&P::Caller, &Outcome),
        aside: Option<Aside>,
    ) -> Result<(), Why> {
        self.write(P::answer(caller, outcome))?;
        if let Some(aside) = aside {
            aside.arrived();
        }
        Ok(())
    }

    fn write(&self, line: String) -> Result<(), Why> {
        if self.pipes.write(line) {
            return Ok(());
        }
        tracing::error!(name = self.name, "a program does not read its input any more");
        Err(Why::Useless(Fault::Deaf))
    }

    /// Ends the program and starts it again; what waits is done when the new one is ready.
    async fn relaunch(&mut self) -> Result<(), Why> {
        let name = self.name;
        tracing::info!(name, "a program is started again");
        self.pipes.close_input().await;
        self.child.end(&SHORT_KILL_POLICY).await;
        let mut child = match process::spawn(self.spawn.clone()) {
            Ok(child) => child,
            Err(error) => {
                self.notice(format!("{name} cannot be started again: {error}")).await;
                return Err(Why::Useless(Fault::NotRestarted));
            }
        };
        let pipes = std::mem::replace(&mut self.pipes, Pipes::of(&mut child));
        pipes.close().await;
        self.port.child(Some(child.pid()));
        self.child = child;
        self.calls.forget();
        self.login.end();
        self.begun = self.clock.monotonic();
        for action in self.protocol.hello() {
            if let Action::Write(line) = action {
                self.write(line)?;
            }
        }
        Ok(())
    }

    /// How long until something is due; `None` when nothing is.
    fn until_due(&self) -> Option<Duration> {
        let begin = (!self.protocol.is_ready()).then_some(self.begun + BEGIN_WITHIN);
        let due =
            [begin, self.login.due(), self.held.map(|(_, at)| at)].into_iter().flatten().min()?;
        Some(due.saturating_sub(self.clock.monotonic()))
    }

    async fn due(&mut self) -> Result<(), Why> {
        let at = now(&self.clock);
        let now = at.mono;
        if !self.protocol.is_ready() && now >= self.begun + BEGIN_WITHIN {
            let (name, within) = (self.name, BEGIN_WITHIN.as_secs());
            let said = self.last_words();
            let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
            self.notice(format!("{name} did not begin within {within} s{said}")).await;
            return Err(Why::Useless(Fault::NotBegun));
        }
        if self.held.is_some_and(|(_, at)| now >= at) {
            self.held = None;
            self.protocol.is_now(at);
            let actions = self.protocol.let_go();
            self.action(actions).await?;
        }
        match self.login.look(now) {
            Found::Nothing => {}
            Found::LoggedIn => self.port.tell(RuntimeEvent::LoggedIn).await,
            Found::Ask => {
                let actions = self.protocol.try_again();
                self.action(actions).await?;
            }
        }
        Ok(())
    }

    async fn notice(&self, text: String) {
        self.port.tell(RuntimeEvent::Notice { text }).await;
    }
}

/// Says how many of a kind have come, beside what is told of the newest.
fn so_far(number: u64) -> String {
    if number == 1 { String::new() } else { format!(" ({number} such lines so far)") }
}

fn now(clock: &SharedClock) -> Now {
    Now { mono: clock.monotonic(), unix: clock.now().as_seconds() }
}

/// Waits that long, or for ever. Cancel-safe: yes.
pub(crate) async fn pause(wait: Option<Duration>) {
    match wait {
        Some(wait) => time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
