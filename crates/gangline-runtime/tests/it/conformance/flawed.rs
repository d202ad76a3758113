//! An adapter that breaks one rule, around one that keeps them all.

use std::{collections::BTreeMap, path::PathBuf, sync::Mutex, time::Duration};

use async_trait::async_trait;
use gangline_os::{
    proc,
    process::{self, Child, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use gangline_runtime::{
    Answer, Capabilities, Command, Refusal, Runtime, RuntimeError, RuntimeEvent, Session,
    SessionFilter, SessionHandle, StartOptions, TurnResult,
    session::{self, SessionPort},
};
use serde_json::Value;

const NAME: &str = "flawed";

/// What is wrong with it.
#[derive(Clone, Copy)]
pub(crate) struct Flaw {
    /// Changes what the session is started with.
    pub(crate) options: fn(&mut StartOptions),
    /// Changes what is told.
    pub(crate) tell: fn(RuntimeEvent) -> Vec<RuntimeEvent>,
    /// Changes what is done.
    pub(crate) action: Action,
}

/// What is done differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    AsAsked,
    TakesASecondPrompt,
    WaitsForAnswers,
    LosesEarlyPrompts,
    RefusesAfter(u32),
    RefusesAfterAnInterrupt,
    RefusesAfterAnError,
    NeverInterrupts,
    HasAWrongHandle,
    AllowsAll,
    DeniesAll,
    DeniesWithoutReason,
    LeavesAProcess,
    RefusesUnknownFields,
    NeverRuns,
    AlwaysRuns,
    KeepsItsModel,
    KeepsItsContext,
    DropsSteers,
    ListsNothing,
    ListsEverywhere,
}

impl Flaw {
    pub(crate) const NONE: Self =
        Self { options: |_| {}, tell: |event| vec![event], action: Action::AsAsked };

    pub(crate) const fn options(options: fn(&mut StartOptions)) -> Self {
        Self { options, ..Self::NONE }
    }

    pub(crate) const fn tell(tell: fn(RuntimeEvent) -> Vec<RuntimeEvent>) -> Self {
        Self { tell, ..Self::NONE }
    }

    pub(crate) const fn action(action: Action) -> Self {
        Self { action, ..Self::NONE }
    }
}

/// The adapter.
pub(crate) struct Flawed {
    inner: Box<dyn Runtime>,
    flaw: Flaw,
    /// A process that outlives every session.
    left: Mutex<Option<Child>>,
}

impl Flawed {
    pub(crate) fn new(inner: Box<dyn Runtime>, flaw: Flaw) -> Self {
        Self { inner, flaw, left: Mutex::default() }
    }
}

#[async_trait]
impl Runtime for Flawed {
    fn capabilities(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        self.inner.capabilities(command, extra)
    }

    async fn start(
        &self,
        mut options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        let action = self.flaw.action;
        if action == Action::RefusesUnknownFields && options.extra.contains_key("no_such_field") {
            return Err(RuntimeError::Start { runtime: NAME, why: "what is that".to_owned() });
        }
        // The session behind it gets its first prompt from its own queue.
        let given = StartOptions { initial_prompt: None, ..options.clone() };
        (self.flaw.options)(&mut options);
        let leaves = matches!(action, Action::LeavesAProcess | Action::AlwaysRuns);
        let left = leaves.then(|| leave(&options));
        let ghost = left.as_ref().map(Child::pid);
        let first = options.initial_prompt.take();
        let inner = self.inner.start(options, tasks).await?;
        let (mut session, port) = session::pair(NAME, &given, inner.can);
        if let Some(first) = first {
            session.commands.try_send(Command::Prompt(first)).unwrap();
        }
        let flaw = self.flaw;
        let (prompts, ready, refuses, in_turn) = (0, false, false, false);
        let between = Between { port, inner, flaw, prompts, ready, refuses, in_turn, ghost };
        between.show();
        *self.left.lock().unwrap() = left;
        session.run_in(tasks, Duration::from_secs(25), between.run());
        Ok(session)
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        let mut filter = filter.clone();
        match self.flaw.action {
            Action::ListsNothing => return Ok(Vec::new()),
            Action::ListsEverywhere => filter.workdir = None,
            _ => {}
        }
        self.inner.list_sessions(options, &filter).await
    }
}

/// Passes commands to the session behind it and events back, each perhaps changed.
struct Between {
    port: SessionPort,
    inner: Session,
    flaw: Flaw,
    prompts: u32,
    ready: bool,
    refuses: bool,
    in_turn: bool,
    /// See [`Flawed::left`].
    ghost: Option<u32>,
}

enum Step {
    Command(Option<Command>),
    Event(Option<RuntimeEvent>),
}

impl Between {
    async fn run(mut self) {
        let mut open = true;
        loop {
            let listens = self.flaw.action != Action::WaitsForAnswers || !self.in_turn;
            let step = tokio::select! {
                command = self.port.next(), if open && listens => Step::Command(command),
                event = self.inner.next() => Step::Event(event),
            };
            match step {
                Step::Command(Some(command)) => self.pass(command).await,
                Step::Command(None) => {
                    open = false;
                    let stop = Command::Stop(gangline_runtime::StopReason::Shutdown);
                    let _ = self.inner.commands.send(stop).await;
                }
                Step::Event(Some(event)) => self.hear(event).await,
                Step::Event(None) => return,
            }
        }
    }

    /// Shows the handle of the session behind it.
    fn show(&self) {
        let handle = self.inner.handle.borrow().clone();
        self.port.show(|shown| match self.flaw.action {
            Action::HasAWrongHandle => shown.workdir = "/nowhere".into(),
            Action::NeverRuns => *shown = SessionHandle { pid_start: Some(1), ..handle },
            Action::AlwaysRuns => {
                let pid_start = self.ghost.and_then(proc::start_time);
                *shown = SessionHandle { pid: self.ghost, pid_start, ..handle };
            }
            _ => *shown = handle,
        });
    }

    async fn hear(&mut self, event: RuntimeEvent) {
        self.ready |= matches!(event, RuntimeEvent::Ready { .. });
        let failed =
            matches!(event, RuntimeEvent::Finished { result: TurnResult::Failed { .. }, .. });
        self.refuses |= failed && self.flaw.action == Action::RefusesAfterAnError;
        if matches!(event, RuntimeEvent::Finished { .. }) {
            self.port.free();
            self.in_turn = false;
        }
        if matches!(event, RuntimeEvent::Refused { .. })
            && self.flaw.action == Action::TakesASecondPrompt
        {
            return;
        }
        self.show();
        for event in (self.flaw.tell)(event) {
            self.port.tell(event).await;
        }
    }

    async fn pass(&mut self, mut command: Command) {
        if let Command::Prompt(_) = &command {
            let before = self.prompts;
            self.prompts += 1;
            let tired = matches!(self.flaw.action, Action::RefusesAfter(most) if before >= most);
            if tired || self.refuses {
                let why = Refusal::Unsupported { runtime: NAME, what: "go on" };
                self.port.free();
                return self.port.tell(RuntimeEvent::Refused { command, why }).await;
            }
        }
        match (self.flaw.action, &mut command) {
            (Action::LosesEarlyPrompts, Command::Prompt(_)) if !self.ready => return,
            (Action::DropsSteers, Command::Steer(_))
            | (Action::NeverInterrupts, Command::Interrupt)
            | (Action::KeepsItsModel, Command::SetModel(_))
            | (Action::KeepsItsContext, Command::Compact | Command::Clear) => return,
            (Action::TakesASecondPrompt, Command::Prompt(_)) => self.port.free(),
            (Action::WaitsForAnswers, Command::Prompt(_)) => self.in_turn = true,
            (Action::RefusesAfterAnInterrupt, Command::Interrupt) => self.refuses = true,
            (Action::AllowsAll, Command::Decide(reply)) => reply.answer = Answer::Allow,
            (Action::DeniesAll, Command::Decide(reply)) => reply.answer = deny("never"),
            (Action::DeniesWithoutReason, Command::Decide(reply))
                if reply.answer != Answer::Allow =>
            {
                reply.answer = deny("no");
            }
            _ => {}
        }
        let _ = self.inner.commands.send(command).await;
    }
}

fn deny(reason: &str) -> Answer {
    Answer::Deny { reason: reason.to_owned() }
}

/// Starts a process that outlives the session; the bench ends it.
fn leave(options: &StartOptions) -> Child {
    let env = options.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    process::spawn(Spawn {
        program: PathBuf::from("sleep"),
        args: vec!["600".into()],
        cwd: options.workdir.clone(),
        env,
        stdin: Stdin::Null,
        stdout: Output::Null,
        stderr: Output::Null,
        group: Group::New,
    })
    .unwrap()
}
