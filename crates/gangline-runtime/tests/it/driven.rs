//! A backend and its session, as tests drive them: each command of the queue is a call.

use gangline_core::{TurnId, effort::Effort};
use gangline_os::task::TaskGroup;
use gangline_runtime::{
    ApprovalReply, Command, Prompt, Refusal, Runtime, RuntimeError, RuntimeEvent, Session,
    SessionFilter, SessionHandle, StartOptions, StopReason, adapters,
};
use tokio::sync::mpsc::error::SendError;

/// What a session that has ended returns.
type Asked = Result<(), SendError<Command>>;

/// A backend and the session that it was started with last.
pub(crate) struct Driven {
    backend: Box<dyn Runtime>,
    open: Option<Session>,
    tasks: TaskGroup,
}

impl Driven {
    /// A built-in backend that is not started.
    pub(crate) fn of(backend: &str) -> Self {
        let backend = adapters::make(backend).unwrap();
        Self { backend, open: None, tasks: TaskGroup::new("session") }
    }

    pub(crate) async fn start(
        &mut self,
        options: StartOptions,
    ) -> Result<SessionHandle, RuntimeError> {
        let open = self.backend.start(options, &mut self.tasks).await?;
        let handle = open.handle.borrow().clone();
        self.open = Some(open);
        Ok(handle)
    }

    /// The session as it is now, or was at its end.
    pub(crate) fn session(&self) -> Option<SessionHandle> {
        self.open.as_ref().map(|open| open.handle.borrow().clone())
    }

    pub(crate) fn runs(&self) -> bool {
        self.open.as_ref().is_some_and(Session::runs)
    }

    /// The next event; `None` after the end. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> Option<RuntimeEvent> {
        self.open.as_mut()?.next().await
    }

    async fn ask(&self, command: Command) -> Asked {
        match &self.open {
            Some(open) => open.commands.send(command).await,
            None => Err(SendError(command)),
        }
    }

    /// Asks for something and returns why it is refused; what was told before that is passed over.
    pub(crate) async fn refused(&mut self, asked: Command) -> Refusal {
        self.ask(asked.clone()).await.unwrap();
        loop {
            match self.next().await.expect("it ended") {
                RuntimeEvent::Refused { command, why } if command == asked => return why,
                _ => {}
            }
        }
    }

    pub(crate) async fn prompt(&self, prompt: Prompt) -> Asked {
        self.ask(Command::Prompt(prompt)).await
    }

    pub(crate) async fn steer(&self, prompt: Prompt) -> Asked {
        self.ask(Command::Steer(prompt)).await
    }

    pub(crate) async fn adopt(&self, turn: TurnId) -> Asked {
        self.ask(Command::Adopt(turn)).await
    }

    pub(crate) async fn interrupt(&self) -> Asked {
        self.ask(Command::Interrupt).await
    }

    pub(crate) async fn decide(&self, reply: ApprovalReply) -> Asked {
        self.ask(Command::Decide(reply)).await
    }

    pub(crate) async fn set_model(&self, model: &str) -> Asked {
        self.ask(Command::SetModel(model.to_owned())).await
    }

    pub(crate) async fn set_effort(&self, effort: Effort) -> Asked {
        self.ask(Command::SetEffort(effort)).await
    }

    pub(crate) async fn compact(&self) -> Asked {
        self.ask(Command::Compact).await
    }

    pub(crate) async fn clear(&self) -> Asked {
        self.ask(Command::Clear).await
    }

    /// Stops it and waits until everything was told.
    pub(crate) async fn stop(&self, reason: StopReason) {
        let Some(open) = &self.open else { return };
        let _ = open.commands.send(Command::Stop(reason)).await;
        open.commands.closed().await;
    }

    pub(crate) async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        self.backend.list_sessions(options, filter).await
    }
}
