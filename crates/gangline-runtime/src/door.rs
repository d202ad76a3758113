//! The only door to the task of a session: wishes go in, and what is known of it can be read.
//!
//! One adapter has one [`Door`]; it is open as long as a session is. The task has what is
//! [`Inside`], and lets go of its inbox last: by that the adapter sees that everything was told.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use gangline_core::TurnId;
use gangline_os::task::TaskGroup;
use tokio::sync::{mpsc, watch};

use crate::{
    Prompt, RuntimeError, RuntimeEvent, SessionHandle, StopReason, Verdict, handle::Flags,
};

/// The daemon sends at most a prompt, an interrupt, orders and decisions.
const COMMANDS: usize = 32;

/// What the daemon wants of a session.
pub(crate) enum Wish {
    Prompt(Prompt),
    Steer(Prompt),
    Adopt(TurnId),
    Interrupt,
    Decide(Verdict),
    SetModel(String),
    Compact,
    Clear,
}

/// What goes through the door.
pub(crate) enum Command {
    Wish(Wish),
    Stop(StopReason),
}

/// What the task of a session has of the daemon.
pub(crate) struct Inside {
    pub(crate) inbox: mpsc::Receiver<Command>,
    pub(crate) events: mpsc::Sender<RuntimeEvent>,
    pub(crate) flags: Arc<Flags>,
}

/// What the adapter has of that task.
pub(crate) struct Outside {
    pub(crate) commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
}

/// Makes both sides of the door of a session that is about to begin.
pub(crate) fn sides(events: mpsc::Sender<RuntimeEvent>) -> (Outside, Inside) {
    let (commands, inbox) = mpsc::channel(COMMANDS);
    let flags = Arc::new(Flags::default());
    (Outside { commands, flags: Arc::clone(&flags) }, Inside { inbox, events, flags })
}

/// The door; see the module.
pub(crate) struct Door {
    runtime: &'static str,
    open: Option<Open>,
}

struct Open {
    side: Outside,
    handle: watch::Receiver<SessionHandle>,
    _tasks: TaskGroup,
}

impl Door {
    /// One without a session, of the backend of that name.
    pub(crate) const fn closed(runtime: &'static str) -> Self {
        Self { runtime, open: None }
    }

    /// Opens it to a session that has begun, and gives that its first prompt. `tasks` end when the
    /// door closes.
    ///
    /// # Errors
    /// Those of [`Door::prompt`].
    pub(crate) async fn open(
        &mut self,
        side: Outside,
        handle: watch::Receiver<SessionHandle>,
        tasks: TaskGroup,
        first: Option<Prompt>,
    ) -> Result<SessionHandle, RuntimeError> {
        let begun = handle.borrow().clone();
        self.open = Some(Open { side, handle, _tasks: tasks });
        if let Some(prompt) = first {
            self.prompt(prompt).await?;
        }
        Ok(begun)
    }

    /// Returns the session as it is now; `None` while the door is closed.
    pub(crate) fn session(&self) -> Option<SessionHandle> {
        self.open.as_ref().map(|open| open.handle.borrow().clone())
    }

    /// Says that the door is open.
    ///
    /// # Errors
    /// [`RuntimeError::NotRunning`] without a session.
    pub(crate) fn ensure_open(&self) -> Result<(), RuntimeError> {
        self.opened().map(|_| ())
    }

    /// Passes a wish on.
    ///
    /// # Errors
    /// [`RuntimeError::NotRunning`] without a session.
    pub(crate) async fn tell(&self, wish: Wish) -> Result<(), RuntimeError> {
        let sent = self.opened()?.side.commands.send(Command::Wish(wish)).await;
        sent.map_err(|_| self.not_running())
    }

    /// Passes a prompt on, if no turn is open.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] while one is, [`RuntimeError::NotRunning`] without a session.
    pub(crate) async fn prompt(&self, prompt: Prompt) -> Result<(), RuntimeError> {
        if self.opened()?.side.flags.busy.swap(true, Ordering::SeqCst) {
            return Err(RuntimeError::Busy { runtime: self.runtime });
        }
        self.tell(Wish::Prompt(prompt)).await
    }

    /// Passes on which turn it is that began unasked.
    ///
    /// # Errors
    /// [`RuntimeError::NotRunning`] without a session.
    pub(crate) async fn adopt(&self, turn: TurnId) -> Result<(), RuntimeError> {
        self.opened()?.side.flags.busy.store(true, Ordering::SeqCst);
        self.tell(Wish::Adopt(turn)).await
    }

    /// Stops the session and waits until everything was told, at most `within`; then its tasks are
    /// dropped. Says whether it ended in time.
    pub(crate) async fn stop(&mut self, reason: StopReason, within: Duration) -> bool {
        let Some(open) = self.open.take() else { return true };
        // A task that is gone has said its exit already.
        let ended = async {
            let _ = open.side.commands.send(Command::Stop(reason)).await;
            open.side.commands.closed().await;
        };
        tokio::time::timeout(within, ended).await.is_ok()
    }

    /// Returns whether a prompt would be taken now.
    pub(crate) fn is_ready(&self) -> bool {
        self.open.as_ref().is_some_and(|Open { side, .. }| {
            !side.commands.is_closed()
                && side.flags.ready.load(Ordering::SeqCst)
                && !side.flags.busy.load(Ordering::SeqCst)
        })
    }

    fn opened(&self) -> Result<&Open, RuntimeError> {
        self.open.as_ref().ok_or_else(|| self.not_running())
    }

    fn not_running(&self) -> RuntimeError {
        RuntimeError::NotRunning { runtime: self.runtime }
    }
}
