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
    pub(crate) act: Act,
}

/// What is done differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
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
        Self { options: |_| {}, tell: |event| vec![event], act: Act::AsAsked };

    pub(crate) const fn options(options: fn(&mut StartOptions)) -> Self {
        Self { options, ..Self::NONE }
    }

    pub(crate) const fn tell(tell: fn(RuntimeEvent) -> Vec<RuntimeEvent>) -> Self {
        Self { tell, ..Self::NONE }
    }

    pub(crate) const fn act(act: Act) -> Self {
        Self { act, ..Self::NONE }
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
        let act = self.flaw.act;
        if act == Act::RefusesUnknownFields && options.extra.contains_key("no_such_field") {
            return Err(RuntimeError::Start { runtime: NAME, why: "what is that".to_owned() });
        }
        // The session behind it gets its first prompt from its own queue.
        let given = StartOptions { initial_prompt: None, ..options.clone() };
        (self.flaw.options)(&mut options);
        let leaves = matches!(act, Act::LeavesAProcess | Act::AlwaysRuns);
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
        match self.flaw.act {
            Act::ListsNothing => return Ok(Vec::new()),
            Act::ListsEverywhere => filter.workdir = None,
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
            let listens = self.flaw.act != Act::WaitsForAnswers || !self.in_turn;
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
        self.port.show(|shown| match self.flaw.act {
            Act::HasAWrongHandle => shown.workdir = "/nowhere".into(),
            Act::NeverRuns => *shown = SessionHandle { pid_start: Some(1), ..handle },
            Act::AlwaysRuns => {
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
        self.refuses |= failed && self.flaw.act == Act::RefusesAfterAnError;
        if matches!(event, RuntimeEvent::Finished { .. }) {
            self.port.free();
            self.in_turn = false;
        }
        if matches!(event, RuntimeEvent::Refused { .. }) && self.flaw.act == Act::TakesASecondPrompt
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
            let tired = matches!(self.flaw.act, Act::RefusesAfter(most) if before >= most);
            if tired || self.refuses {
                let why = Refusal::Unsupported { runtime: NAME, what: "go on" };
                self.port.free();
                return self.port.tell(RuntimeEvent::Refused { command, why }).await;
            }
        }
        match (self.flaw.act, &mut command) {
            (Act::LosesEarlyPrompts, Command::Prompt(_)) if !self.ready => return,
            (Act::DropsSteers, Command::Steer(_))
            | (Act::NeverInterrupts, Command::Interrupt)
            | (Act::KeepsItsModel, Command::SetModel(_))
            | (Act::KeepsItsContext, Command::Compact | Command::Clear) => return,
            (Act::TakesASecondPrompt, Command::Prompt(_)) => self.port.free(),
            (Act::WaitsForAnswers, Command::Prompt(_)) => self.in_turn = true,
            (Act::RefusesAfterAnInterrupt, Command::Interrupt) => self.refuses = true,
            (Act::AllowsAll, Command::Decide(verdict)) => verdict.answer = Answer::Allow,
            (Act::DeniesAll, Command::Decide(verdict)) => verdict.answer = deny("never"),
            (Act::DeniesWithoutReason, Command::Decide(verdict))
                if verdict.answer != Answer::Allow =>
            {
                verdict.answer = deny("no");
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
