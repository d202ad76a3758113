//! One process for each turn: the task that starts them, one after the other (C4, R2-02).
//!
//! Between turns there is no process; what lasts is the session, by its id. A child that dies in
//! its turn ends the whole, as the death of a resident process does: what follows is the daemon's
//! decision. Start at [`PerTurn::run`]; the process of a turn belongs to a [`Worker`](program::worker::Worker).

use std::{collections::VecDeque, time::Duration};

use gangline_core::effort::Effort;
use gangline_os::{
    clock::{self, SharedClock},
    run_id::RunId,
    task::TaskGroup,
};

use super::{
    CAN, NAME, STOP_WITHIN, effort,
    launch::{self, Launch},
};
use crate::{
    Command, Prompt, RuntimeEvent, Session, SessionId, StartOptions, StopReason, Thinking,
    TurnResult,
    program::{
        self,
        login::{Found, Sign, Watch},
        worker::pause,
    },
    session::{self, SessionPort},
};

/// A process that has done its work, and a stopped one, are gone within this; else it is ended
/// with everything that it started.
const GONE_WITHIN: Duration = Duration::from_secs(15);

/// The state of the task; see the module.
pub(super) struct PerTurn {
    /// What every process is started with; its session, model and effort change.
    options: StartOptions,
    /// What the configuration says of the effort, while it is raised.
    ground: Option<Option<Thinking>>,
    session: SessionId,
    /// For a login that was refused.
    login: Watch,
    run_id: Option<RunId>,
    notices: Vec<String>,
    port: SessionPort,
    clock: SharedClock,
    /// What was asked for while something was under way.
    waiting: VecDeque<Work>,
}

/// What a process is started for.
enum Work {
    Prompt(Prompt),
    Compact,
}

/// What became of it.
enum After {
    GoOn,
    End(Why),
}

/// Why the whole is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It was asked for, or its owner is gone.
    Stopped,
    /// The process of a turn died in it, with this code.
    Died(i32),
    /// The process of a turn could not be started.
    NotStarted,
}

impl Why {
    /// Returns the code to tell.
    fn code(self) -> i32 {
        match self {
            Self::Stopped => 0,
            Self::Died(code) => code,
            Self::NotStarted => -1,
        }
    }
}

/// The process of one turn.
struct Inner {
    session: Session,
    _tasks: TaskGroup,
}

enum Step {
    Command(Option<Command>),
    Event(Option<RuntimeEvent>),
    Due,
}

impl PerTurn {
    /// Takes over what `launch` has found out; its process is not started.
    pub(super) fn new(options: StartOptions, launch: Launch, port: SessionPort) -> Self {
        let Launch { session, run_id, login, notices, .. } = launch;
        port.begins_as(Some(session.clone()));
        Self {
            options,
            ground: None,
            session,
            login: Watch::of(Sign::Files(login.files())),
            run_id,
            notices,
            port,
            clock: clock::system(),
            waiting: VecDeque::new(),
        }
    }

    /// Runs until it is stopped or a process dies in its turn; the exit is told last.
    pub(super) async fn run(mut self) -> Why {
        for text in std::mem::take(&mut self.notices) {
            self.port.tell(RuntimeEvent::Notice { text }).await;
        }
        self.port.tell(RuntimeEvent::Ready { session: self.session.clone() }).await;
        let why = self.serve().await;
        program::sweep(NAME, self.run_id.as_ref()).await;
        self.port.tell(RuntimeEvent::Exited { code: why.code() }).await;
        why
    }

    async fn serve(&mut self) -> Why {
        loop {
            let after = match self.waiting.pop_front() {
                Some(work) => self.work(work).await,
                None => self.idle().await,
            };
            if let After::End(why) = after {
                return why;
            }
        }
    }

    /// Waits for something to do.
    async fn idle(&mut self) -> After {
        let wait = self.login.due().map(|due| due.saturating_sub(self.clock.monotonic()));
        let step = tokio::select! {
            command = self.port.next() => Step::Command(command),
            () = pause(wait) => Step::Due,
        };
        match step {
            Step::Command(None | Some(Command::Stop(_))) => return After::End(Why::Stopped),
            Step::Command(Some(command)) => self.take(command).await,
            Step::Event(_) => {}
            Step::Due => self.look_at_login().await,
        }
        After::GoOn
    }

    /// Takes what concerns no process that runs.
    async fn take(&mut self, command: Command) {
        match command {
            Command::Prompt(prompt) => self.waiting.push_back(Work::Prompt(prompt)),
            Command::Compact => self.waiting.push_back(Work::Compact),
            // The next turn begins an empty session (R2-06).
            Command::Clear => {
                let session = SessionId(uuid::Uuid::new_v4().to_string());
                self.session = session.clone();
                self.port.tell(RuntimeEvent::Session { session }).await;
            }
            // The next turn uses it (R2-04).
            Command::SetModel(model) => self.options.model = Some(model),
            Command::SetEffort(effort) => self.set_effort(effort).await,
            // Nothing begins by itself here; whoever adopts waits for an end.
            Command::Adopt(turn) => self.finish(turn, TurnResult::Completed).await,
            Command::Interrupt => self.drop_waiting().await,
            // No process runs that it could be for; a stop is taken before.
            Command::Steer(_) | Command::Decide(_) | Command::Stop(_) => {}
        }
    }

    /// The next turn is thought about harder, or as before (R1-11).
    async fn set_effort(&mut self, effort: Effort) {
        let raised = match (effort, self.ground.take()) {
            (Effort::Raised, None) => {
                let Some(above) = effort::above(effort::of_turn(&self.options)) else { return };
                let said = Some(Thinking::Said(above.as_str().to_owned()));
                self.ground = Some(std::mem::replace(&mut self.options.thinking, said));
                Some(above)
            }
            (Effort::Ground, Some(ground)) => {
                self.options.thinking = ground;
                None
            }
            (Effort::Raised | Effort::Ground, ground) => return self.ground = ground,
        };
        self.port.tell(RuntimeEvent::Effort { raised }).await;
    }

    /// A prompt that waits for its process is taken back.
    async fn drop_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for work in waiting {
            match work {
                Work::Prompt(prompt) => self.finish(prompt.turn, TurnResult::Interrupted).await,
                Work::Compact => self.waiting.push_back(Work::Compact),
            }
        }
    }

    async fn finish(&mut self, turn: gangline_core::TurnId, result: TurnResult) {
        self.port.free();
        self.port.tell(RuntimeEvent::Finished { turn, result }).await;
    }

    /// Has one thing done by a process of its own, and waits until that is gone.
    async fn work(&mut self, work: Work) -> After {
        let mut inner = match self.begin() {
            Ok(inner) => inner,
            Err(why) => {
                let text = format!("claude cannot be started: {why}");
                self.port.tell(RuntimeEvent::Notice { text }).await;
                return After::End(Why::NotStarted);
            }
        };
        let (command, is_turn) = match work {
            Work::Prompt(prompt) => (Command::Prompt(prompt), true),
            Work::Compact => (Command::Compact, false),
        };
        // A process that is gone already tells so below.
        let _ = inner.session.commands.send(command).await;
        let after = self.follow(&mut inner, is_turn).await;
        self.port.child(None);
        after
    }

    fn begin(&self) -> Result<Inner, String> {
        let mut options = self.options.clone();
        options.resume = Some(self.session.clone());
        options.initial_prompt = None;
        // What commands left running is ended with the session, not with the turn.
        let launch = Launch { run_id: None, notices: Vec::new(), ..launch::again(&options)? };
        let (mut session, port) = session::pair(NAME, &options, CAN);
        let worker = launch.start(&options, port)?;
        self.port.child(session.handle.borrow().pid);
        let mut tasks = TaskGroup::new(NAME);
        session.run_in(&mut tasks, STOP_WITHIN, worker.run());
        Ok(Inner { session, _tasks: tasks })
    }

    /// Passes on what the process tells. The turn's end comes last: then there is no process.
    async fn follow(&mut self, inner: &mut Inner, is_turn: bool) -> After {
        let mut end: Option<RuntimeEvent> = None;
        let mut stopped = false;
        let mut due: Option<Duration> = None;
        let mut compacted = is_turn;
        loop {
            let wait = due.map(|due| due.saturating_sub(self.clock.monotonic()));
            let step = tokio::select! {
                event = inner.session.next() => Step::Event(event),
                command = self.port.next(), if !stopped => Step::Command(command),
                () = pause(wait) => Step::Due,
            };
            let event = match step {
                Step::Command(command) => {
                    let command = command.unwrap_or(Command::Stop(StopReason::Shutdown));
                    stopped = self.pass(command, inner).await;
                    if stopped {
                        due = Some(self.clock.monotonic() + GONE_WITHIN);
                    }
                    continue;
                }
                Step::Due => {
                    // Its group dies with it when it is dropped; what left the group by its run id.
                    tracing::error!("the process of a turn does not end; it is killed");
                    program::sweep(NAME, self.run_id.as_ref()).await;
                    RuntimeEvent::Exited { code: -1 }
                }
                Step::Event(event) => event.unwrap_or(RuntimeEvent::Exited { code: -1 }),
            };
            match event {
                RuntimeEvent::Ready { .. } | RuntimeEvent::Began => {}
                RuntimeEvent::Session { session } => {
                    self.session = session.clone();
                    self.port.tell(RuntimeEvent::Session { session }).await;
                }
                RuntimeEvent::Finished { .. } => {
                    end = Some(event);
                    due = Some(self.clock.monotonic() + GONE_WITHIN);
                }
                RuntimeEvent::Exited { code } => {
                    let ended = end.is_some() || (!is_turn && code == 0);
                    if let Some(end) = end {
                        self.settle(end).await;
                    }
                    // Somebody waits for it.
                    if ended && !compacted {
                        let failed = Some("claude ended before it was done".to_owned());
                        self.port.tell(RuntimeEvent::Compacted { failed }).await;
                    }
                    return match (stopped, ended) {
                        (true, _) => After::End(Why::Stopped),
                        (false, true) => After::GoOn,
                        (false, false) => After::End(Why::Died(code)),
                    };
                }
                other => {
                    compacted |= matches!(other, RuntimeEvent::Compacted { .. });
                    self.port.tell(other).await;
                }
            }
        }
    }

    /// Gives a command to the process, or keeps it for later. Says whether it is to end.
    async fn pass(&mut self, command: Command, inner: &Inner) -> bool {
        match command {
            Command::Stop(_) => {
                self.drop_waiting().await;
                let _ = inner.session.commands.send(command).await;
                return true;
            }
            Command::Interrupt => {
                self.drop_waiting().await;
                let _ = inner.session.commands.send(command).await;
            }
            Command::Steer(_) | Command::Decide(_) => {
                let _ = inner.session.commands.send(command).await;
            }
            Command::Prompt(_)
            | Command::Adopt(_)
            | Command::SetModel(_)
            | Command::SetEffort(_)
            | Command::Compact
            | Command::Clear => self.take(command).await,
        }
        false
    }

    async fn settle(&mut self, end: RuntimeEvent) {
        if let RuntimeEvent::Finished { result: TurnResult::NeedsLogin { .. }, .. } = &end {
            self.login.begin(self.clock.monotonic());
        }
        self.port.free();
        self.port.tell(end).await;
    }

    async fn look_at_login(&mut self) {
        match self.login.look(self.clock.monotonic()) {
            Found::LoggedIn => self.port.tell(RuntimeEvent::LoggedIn).await,
            Found::Nothing | Found::Ask => {}
        }
    }
}
