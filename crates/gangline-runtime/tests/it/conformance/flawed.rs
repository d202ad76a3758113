//! An adapter that breaks one rule, around one that keeps them all.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use gangline_os::{
    process::{self, Child, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use gangline_runtime::{
    Answer, Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter,
    SessionHandle, StartOptions, StopReason, TurnResult, Verdict,
};
use tokio::sync::mpsc;

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
    PromptNeverReturns,
    LosesEarlyPrompts,
    RefusesAfter(u32),
    RefusesAfterAnInterrupt,
    RefusesAfterAnError,
    NeverInterrupts,
    AlwaysReady,
    HasNoHandle,
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
    prompts: AtomicU32,
    refuses: Arc<AtomicBool>,
    left: Option<Child>,
    tasks: TaskGroup,
}

impl Flawed {
    pub(crate) fn new(inner: Box<dyn Runtime>, flaw: Flaw) -> Self {
        let refuses = Arc::default();
        let tasks = TaskGroup::new(NAME);
        Self { inner, flaw, prompts: AtomicU32::new(0), refuses, left: None, tasks }
    }

    fn does(&self, act: Act) -> bool {
        self.flaw.act == act
    }
}

#[async_trait]
impl Runtime for Flawed {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        if self.does(Act::RefusesUnknownFields) && options.extra.contains_key("no_such_field") {
            return Err(RuntimeError::Start { runtime: NAME, why: "what is that".to_owned() });
        }
        (self.flaw.options)(&mut options);
        if self.does(Act::LeavesAProcess) {
            self.left = Some(leave(&options));
        }
        let (sender, mut told) = mpsc::channel(64);
        let (tell, refuses) = (self.flaw.tell, Arc::clone(&self.refuses));
        let dies = self.does(Act::RefusesAfterAnError);
        self.tasks.spawn("events", async move {
            while let Some(event) = told.recv().await {
                let failed = matches!(
                    event,
                    RuntimeEvent::Finished { result: TurnResult::Failed { .. }, .. }
                );
                refuses.fetch_or(failed && dies, Ordering::SeqCst);
                for event in tell(event) {
                    let _ = events.send(event).await;
                }
            }
        });
        self.inner.start(options, sender).await
    }

    fn session(&self) -> Option<SessionHandle> {
        if self.does(Act::HasNoHandle) { None } else { self.inner.session() }
    }

    fn detect_running(&self, handle: &SessionHandle) -> bool {
        match self.flaw.act {
            Act::NeverRuns => false,
            Act::AlwaysRuns => true,
            _ => self.inner.detect_running(handle),
        }
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

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        let before = self.prompts.fetch_add(1, Ordering::SeqCst);
        match self.flaw.act {
            Act::PromptNeverReturns => std::future::pending().await,
            Act::LosesEarlyPrompts if !self.inner.is_ready() => return Ok(()),
            Act::RefusesAfter(most) if before >= most => {
                return Err(RuntimeError::NotRunning { runtime: NAME });
            }
            _ => {}
        }
        if self.refuses.load(Ordering::SeqCst) {
            return Err(RuntimeError::NotRunning { runtime: NAME });
        }
        match self.inner.prompt(prompt).await {
            Err(RuntimeError::Busy { .. }) if self.does(Act::TakesASecondPrompt) => Ok(()),
            other => other,
        }
    }

    async fn steer(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        if self.does(Act::DropsSteers) { Ok(()) } else { self.inner.steer(prompt).await }
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        if self.does(Act::NeverInterrupts) {
            return Ok(());
        }
        self.refuses.fetch_or(self.does(Act::RefusesAfterAnInterrupt), Ordering::SeqCst);
        self.inner.interrupt().await
    }

    async fn decide(&mut self, mut verdict: Verdict) -> Result<(), RuntimeError> {
        let denied = matches!(verdict.answer, Answer::Deny { .. });
        let deny = |reason: &str| Answer::Deny { reason: reason.to_owned() };
        match self.flaw.act {
            Act::AllowsAll => verdict.answer = Answer::Allow,
            Act::DeniesAll => verdict.answer = deny("never"),
            Act::DeniesWithoutReason if denied => verdict.answer = deny("no"),
            _ => {}
        }
        self.inner.decide(verdict).await
    }

    async fn set_model(&mut self, model: &str) -> Result<(), RuntimeError> {
        if self.does(Act::KeepsItsModel) { Ok(()) } else { self.inner.set_model(model).await }
    }

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        if self.does(Act::KeepsItsContext) { Ok(()) } else { self.inner.compact().await }
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        if self.does(Act::KeepsItsContext) { Ok(()) } else { self.inner.clear().await }
    }

    async fn stop(&mut self, reason: StopReason) {
        self.inner.stop(reason).await;
    }

    fn is_ready(&self) -> bool {
        self.does(Act::AlwaysReady) || self.inner.is_ready()
    }
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
