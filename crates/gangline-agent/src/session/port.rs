//! The backend port: the agent's backend, one generation after the other, for a loop to poll.
//!
//! A generation is one task in root's group: it starts the backend, holds its session's tasks, and
//! ends with them. The port never waits for it and never drops it; it only polls what comes of it.
//! When the port is dropped, also by a panic of its owner, the session ends by its kill policy. The
//! next generation begins after the last one's exit. Start at [`BackendPort::next`].

use std::{collections::VecDeque, sync::Arc, time::Duration};

use gangline_core::agent::Generation;
use gangline_os::{CancellationToken, task::TaskGroup};
use gangline_runtime::{
    Capabilities, Command, Runtime, RuntimeError, RuntimeEvent, Session, StartOptions, StopReason,
    TurnResult,
};
use tokio::sync::{mpsc, oneshot};

use crate::nursery::Spawner;

#[cfg(test)]
pub(crate) mod tests;

/// A backend that the daemon's end ends is gone within this by its kill policy, or is given up: it then
/// dies with the daemon.
pub(crate) const KILL_BUDGET: Duration = Duration::from_secs(15);

/// Makes an adapter.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn Runtime> + Send + Sync>;

/// The port; see the module.
pub(crate) struct BackendPort {
    make: Make,
    tasks: Spawner,
    /// Set when no generation may run any more: the daemon ends.
    halt: CancellationToken,
    state: State,
}

/// A generation that is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) generation: Generation,
    /// Whether it continues the stored session.
    pub(crate) resume: bool,
}

/// What comes of a backend.
#[derive(Debug)]
pub(crate) enum PortEvent {
    /// Nothing runs: this generation may begin, by [`BackendPort::begin`].
    MayBegin(Next),
    /// The backend was started.
    Started { generation: Generation },
    /// The backend could not be started.
    NotStarted { generation: Generation, why: String },
    /// It told something; never its exit.
    Runtime { generation: Generation, event: RuntimeEvent },
    /// It is gone, and everything was told.
    Exited { generation: Generation, exit: Exit },
}

/// Why a backend is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// We ended it.
    Ours,
    /// It exited on its own, with this code.
    Theirs { code: i32 },
}

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    /// It is in the queue, or waits in front of it in order.
    Sent,
    /// The queue is full; only what must not be lost waits for room.
    Full,
    /// No backend runs.
    NotRunning,
}

enum State {
    Down(After),
    Starting(Starting),
    Running(Running),
    Ending(Last, After),
}

/// What happens once nothing runs.
#[derive(Debug, Clone, Copy)]
enum After {
    Nothing,
    /// This may begin.
    Begin(Next),
    /// This was to begin and was ended before it did, which the session has to report.
    Report(Generation),
}

struct Starting {
    generation: Generation,
    started: oneshot::Receiver<Result<Session, RuntimeError>>,
}

struct Running {
    generation: Generation,
    session: Session,
    /// Interrupts, decisions and a stop that there was no room for.
    waiting: VecDeque<Command>,
}

/// What is being ended.
enum Last {
    /// Its start is not over; it is stopped then.
    Starting(Starting, StopReason),
    Running(Running),
}

impl BackendPort {
    /// Makes a port without a backend. Its generations run in the nursery of `tasks`.
    pub(crate) fn new(make: Make, tasks: Spawner, halt: CancellationToken) -> Self {
        Self { make, tasks, halt, state: State::Down(After::Nothing) }
    }

    /// Waits for what comes of the backend. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> PortEvent {
        loop {
            if let Some(event) = self.step().await {
                return event;
            }
        }
    }

    /// Has a generation begin once nothing runs: what runs is ended for it.
    pub(crate) fn start(&mut self, next: Next) {
        self.end(StopReason::Restart);
        match &mut self.state {
            State::Ending(_, after) | State::Down(after) => *after = After::Begin(next),
            // What starts or runs is ending now.
            State::Starting(_) | State::Running(_) => {}
        }
    }

    /// Begins a generation after [`PortEvent::MayBegin`].
    pub(crate) fn begin(&mut self, generation: Generation, options: StartOptions) {
        let (tell, started) = oneshot::channel();
        let one = run(((self.make)(), options), tell, self.halt.clone());
        if let Err(error) = self.tasks.spawn("backend", one) {
            // The start is told as one that failed, since nobody answers it.
            tracing::warn!(%error, "no task for the backend");
        }
        self.state = State::Starting(Starting { generation, started });
    }

    /// Ends what runs or starts; what it still tells is passed on, its exit last.
    pub(crate) fn end(&mut self, reason: StopReason) {
        self.state = match std::mem::replace(&mut self.state, State::Down(After::Nothing)) {
            State::Starting(starting) => {
                State::Ending(Last::Starting(starting, reason), After::Nothing)
            }
            State::Running(mut running) => {
                running.send(Command::Stop(reason));
                State::Ending(Last::Running(running), After::Nothing)
            }
            State::Ending(last, after) => State::Ending(last, after.ended()),
            State::Down(after) => State::Down(after.ended()),
        };
    }

    /// Passes a command on. An interrupt, a decision and a stop are never refused for want of room:
    /// they wait in order.
    pub(crate) fn send(&mut self, command: Command) -> Passed {
        match &mut self.state {
            State::Running(running) => running.send(command),
            State::Down(_) | State::Starting(_) | State::Ending(..) => Passed::NotRunning,
        }
    }

    /// Returns what the backend that runs can do; `None` while none takes commands.
    pub(crate) fn can(&self) -> Option<Capabilities> {
        match &self.state {
            State::Running(running) => Some(running.session.can),
            State::Down(_) | State::Starting(_) | State::Ending(..) => None,
        }
    }

    /// Returns whether nothing runs, nor is to.
    pub(crate) fn is_down(&self) -> bool {
        matches!(self.state, State::Down(After::Nothing))
    }

    /// Takes what a backend tells that nobody has ended by a command.
    fn ran(&mut self, generation: Generation, told: RuntimeEvent) -> Option<PortEvent> {
        // What the daemon ends itself has neither crashed nor been interrupted by a person.
        let ours = self.halt.is_cancelled();
        match told {
            RuntimeEvent::Exited { code } => {
                self.state = State::Down(After::Nothing);
                let exit = if ours { Exit::Ours } else { Exit::Theirs { code } };
                Some(PortEvent::Exited { generation, exit })
            }
            RuntimeEvent::Finished { result: TurnResult::Interrupted, .. } if ours => None,
            event => Some(PortEvent::Runtime { generation, event }),
        }
    }

    /// Cancel-safe: the state changes after the only wait.
    async fn step(&mut self) -> Option<PortEvent> {
        match &mut self.state {
            State::Down(after) => match std::mem::replace(after, After::Nothing) {
                After::Nothing => std::future::pending().await,
                After::Begin(next) => Some(PortEvent::MayBegin(next)),
                After::Report(generation) => {
                    Some(PortEvent::Exited { generation, exit: Exit::Ours })
                }
            },
            State::Starting(starting) => {
                let (generation, started) = starting.wait().await;
                Some(match started {
                    Ok(session) => {
                        self.state = State::Running(Running::new(generation, session));
                        PortEvent::Started { generation }
                    }
                    Err(why) => {
                        self.state = State::Down(After::Nothing);
                        PortEvent::NotStarted { generation, why }
                    }
                })
            }
            State::Running(running) => {
                let (generation, told) = (running.generation, running.next_event().await?);
                self.ran(generation, told)
            }
            State::Ending(Last::Starting(starting, reason), after) => {
                let (generation, started) = starting.wait().await;
                let (reason, after) = (*reason, *after);
                match started {
                    Ok(session) => {
                        let mut running = Running::new(generation, session);
                        running.send(Command::Stop(reason));
                        self.state = State::Ending(Last::Running(running), after);
                        None
                    }
                    Err(_) => {
                        self.state = State::Down(after);
                        Some(PortEvent::Exited { generation, exit: Exit::Ours })
                    }
                }
            }
            State::Ending(Last::Running(running), after) => {
                let (generation, told) = (running.generation, running.next_event().await?);
                let RuntimeEvent::Exited { .. } = told else {
                    return Some(PortEvent::Runtime { generation, event: told });
                };
                self.state = State::Down(*after);
                Some(PortEvent::Exited { generation, exit: Exit::Ours })
            }
        }
    }
}

impl After {
    /// What was to begin is ended as well.
    fn ended(self) -> Self {
        match self {
            Self::Begin(next) => Self::Report(next.generation),
            Self::Nothing | Self::Report(_) => self,
        }
    }
}

impl Starting {
    /// Cancel-safe: yes.
    async fn wait(&mut self) -> (Generation, Result<Session, String>) {
        let started = (&mut self.started).await;
        let started = match started {
            Ok(started) => started.map_err(|error| error.to_string()),
            Err(_) => Err("the daemon is ending".to_owned()),
        };
        (self.generation, started)
    }
}

impl Running {
    fn new(generation: Generation, session: Session) -> Self {
        Self { generation, session, waiting: VecDeque::new() }
    }

    /// Returns what it tells next; `None` when a command that waited has gone instead. One that is
    /// gone without a word has crashed. Cancel-safe: yes.
    async fn next_event(&mut self) -> Option<RuntimeEvent> {
        if self.waiting.is_empty() {
            return Some(self.session.next().await.unwrap_or(RuntimeEvent::Exited { code: -1 }));
        }
        let commands = self.session.commands.clone();
        tokio::select! {
            event = self.session.next() => {
                Some(event.unwrap_or(RuntimeEvent::Exited { code: -1 }))
            }
            place = commands.reserve() => {
                match (place, self.waiting.pop_front()) {
                    (Ok(place), Some(command)) => place.send(command),
                    // It has ended and says so; nothing waits for it any more.
                    (Ok(_) | Err(_), _) => self.waiting.clear(),
                }
                None
            }
        }
    }

    fn send(&mut self, command: Command) -> Passed {
        let refused = match self.waiting.is_empty() {
            true => match self.session.commands.try_send(command) {
                Ok(()) => return Passed::Sent,
                Err(mpsc::error::TrySendError::Closed(_)) => return Passed::NotRunning,
                Err(mpsc::error::TrySendError::Full(command)) => command,
            },
            false => command,
        };
        match &refused {
            // Each answers a question that was told before, so they are bounded as those are.
            Command::Decide(_) => {}
            // One is as good as two.
            Command::Interrupt | Command::Stop(_) if self.waiting.contains(&refused) => {
                return Passed::Sent;
            }
            Command::Interrupt | Command::Stop(_) => {}
            Command::Prompt(_)
            | Command::Adopt(_)
            | Command::Steer(_)
            | Command::SetModel(_)
            | Command::SetEffort(_)
            | Command::Compact
            | Command::Clear => return Passed::Full,
        }
        self.waiting.push_back(refused);
        Passed::Sent
    }
}

/// One generation of the backend: its start, its life, and its end.
async fn run(
    (backend, options): (Box<dyn Runtime>, StartOptions),
    tell: oneshot::Sender<Result<Session, RuntimeError>>,
    halt: CancellationToken,
) {
    if halt.is_cancelled() {
        return;
    }
    let mut tasks = TaskGroup::new("backend");
    let commands = match backend.start(options, &mut tasks).await {
        Ok(session) => {
            let commands = session.commands.downgrade();
            // Dropped if nobody waits for it any more, which ends it.
            let _ = tell.send(Ok(session));
            commands
        }
        Err(error) => {
            let _ = tell.send(Err(error));
            return;
        }
    };
    tokio::select! {
        () = ended(&mut tasks) => return,
        () = halt.cancelled() => {}
    }
    if let Some(commands) = commands.upgrade() {
        // One that is gone already has closed its queue.
        let _ = commands.send(Command::Stop(StopReason::Shutdown)).await;
    }
    ended(&mut tasks).await;
}

/// Waits until all tasks have ended. Cancel-safe: yes.
async fn ended(tasks: &mut TaskGroup) {
    while let Some(end) = tasks.next_end().await {
        tracing::debug!(name = end.name, how = ?end.how, "a task of the backend ended");
    }
}
