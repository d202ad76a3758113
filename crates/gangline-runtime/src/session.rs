//! The queue pair of a session: commands go in, events come out, both bounded.
//!
//! [`Session`] is its owner's end, which [`crate::Runtime::start`] returns; [`SessionPort`] is the
//! end of the task that runs the session. What a backend cannot do is refused here, for all
//! adapters in the same way. Knows no program. Start at [`pair`].

use std::{fmt, future::Future, time::Duration};

use gangline_core::effort::EffortChange;
use gangline_os::{
    clock::{self, SharedClock},
    proc,
    task::TaskGroup,
};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{Capabilities, Command, Refusal, RuntimeEvent, SessionHandle, SessionId, StartOptions};

#[cfg(test)]
mod tests;

/// How many commands may wait for a session.
pub const COMMAND_QUEUE: usize = 32;
/// How many events may wait for the owner of a session before the session waits.
pub const EVENT_QUEUE: usize = 1_024;

/// A session that was started (R0-03, R3-04).
///
/// Dropping it ends the session as [`crate::StopReason::Shutdown`] does, by its kill policy: also
/// when its owner panics.
#[derive(Debug)]
pub struct Session {
    /// What is asked of it. Closed once the session has ended.
    pub commands: mpsc::Sender<Command>,
    /// What is known of it.
    pub handle: watch::Receiver<SessionHandle>,
    /// What it can do.
    pub can: Capabilities,
    events: mpsc::Receiver<RuntimeEvent>,
    /// Its end was asked for.
    stopping: watch::Receiver<bool>,
    /// Told when it did not end in time; `None` = that is known.
    overdue: Option<oneshot::Receiver<()>>,
}

/// The end of the task that runs a session.
///
/// The task tells its events in order: every prompt that it takes ends with exactly one `Finished`
/// or with `Exited`, which comes last and once.
pub struct SessionPort {
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<RuntimeEvent>,
    runtime: &'static str,
    can: Capabilities,
    turn: Turn,
    /// A refusal that there was no room for yet.
    refused: Option<RuntimeEvent>,
    stopping: watch::Sender<bool>,
    handle: watch::Sender<SessionHandle>,
    clock: SharedClock,
}

/// Whether a turn is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Open,
    None,
}

/// Makes both ends of a session that is about to begin. The first prompt of `options` (R0-07) waits
/// in the queue already.
#[must_use]
pub fn pair(
    runtime: &'static str,
    options: &StartOptions,
    can: Capabilities,
) -> (Session, SessionPort) {
    let (commands, inbox) = mpsc::channel(COMMAND_QUEUE);
    let (sender, events) = mpsc::channel(EVENT_QUEUE);
    let (stop, stopping) = watch::channel(false);
    let clock = clock::system();
    let (handle, reader) = watch::channel(SessionHandle {
        runtime,
        session: None,
        workdir: options.workdir.clone(),
        pid: None,
        pid_start: None,
        started_at: clock.now(),
        ready_at: None,
    });
    if let Some(first) = options.initial_prompt.clone() {
        // The queue is empty, so there is room.
        let _ = commands.try_send(Command::Prompt(first));
    }
    let session = Session { commands, handle: reader, can, events, stopping, overdue: None };
    let port = SessionPort {
        commands: inbox,
        events: sender,
        runtime,
        can,
        turn: Turn::None,
        refused: None,
        stopping: stop,
        handle,
        clock,
    };
    (session, port)
}

impl Session {
    /// Runs the session's task in its owner's group; why it ended is logged. Once the end of the
    /// session is asked for, the task has `within`; then it is dropped, which kills its program.
    pub fn run_in<Why: fmt::Debug + Send>(
        &mut self,
        tasks: &mut TaskGroup,
        within: Duration,
        task: impl Future<Output = Why> + Send + 'static,
    ) {
        let (tell, overdue) = oneshot::channel();
        self.overdue = Some(overdue);
        let mut stopping = self.stopping.clone();
        let name = self.handle.borrow().runtime;
        tasks.spawn(name, async move {
            let late = async {
                if stopping.wait_for(|stopping| *stopping).await.is_err() {
                    // The task is ending.
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(within).await;
            };
            tokio::select! {
                why = task => tracing::info!(name, ?why, "a session ended"),
                () = late => {
                    tracing::error!(name, "a session does not end; it is given up");
                    let _ = tell.send(());
                }
            }
        });
    }

    /// Returns the next event; `None` once the session has ended and everything was told. The last
    /// event is `Exited`, unless its task was dropped. Cancel-safe: yes.
    pub async fn next(&mut self) -> Option<RuntimeEvent> {
        let Some(overdue) = &mut self.overdue else { return self.events.recv().await };
        tokio::select! {
            biased;
            event = self.events.recv() => return event,
            given_up = overdue => {
                self.overdue = None;
                if given_up.is_ok() {
                    // What it left behind, such as a thread, is not waited for.
                    self.events.close();
                }
            }
        }
        self.events.recv().await
    }

    /// Returns whether its program still runs, and the session with it (R3-04, DetectRunning).
    #[must_use]
    pub fn runs(&self) -> bool {
        let handle = self.handle.borrow();
        handle.runs().unwrap_or(!self.commands.is_closed())
    }
}

impl SessionPort {
    /// Returns the next command that the session takes; `None` when its owner is gone. What it does
    /// not take is refused. Cancel-safe: yes.
    pub async fn next(&mut self) -> Option<Command> {
        loop {
            if self.refused.is_some() {
                let place = self.events.reserve().await;
                if let (Ok(place), Some(event)) = (place, self.refused.take()) {
                    place.send(event);
                }
            }
            let command = self.commands.recv().await;
            if matches!(command, None | Some(Command::Stop(_))) {
                self.stopping.send_replace(true);
            }
            let command = command?;
            match self.refusal(&command) {
                None => return Some(command),
                Some(why) => self.refused = Some(RuntimeEvent::Refused { command, why }),
            }
        }
    }

    /// Returns why the session does not take a command; notes the turn that one opens.
    fn refusal(&mut self, command: &Command) -> Option<Refusal> {
        let (can, runtime) = (self.can, self.runtime);
        let (able, what) = match command {
            Command::Prompt(_) if self.turn == Turn::Open => {
                return Some(Refusal::Busy { runtime });
            }
            Command::Prompt(_) => {
                self.turn = Turn::Open;
                return None;
            }
            Command::Adopt(_) if can.begins_turns => {
                self.turn = Turn::Open;
                return None;
            }
            Command::Adopt(_) => (false, "begin a turn by itself"),
            Command::Steer(_) => (can.steer, "take a text into a turn"),
            Command::SetModel(_) => (can.set_model, "change its model"),
            Command::SetEffort(_) => (can.effort != EffortChange::Never, "change its effort"),
            Command::Compact => (can.compact, "shorten its context"),
            Command::Clear => (can.clear, "empty its context"),
            Command::Interrupt | Command::Decide(_) | Command::Stop(_) => return None,
        };
        (!able).then_some(Refusal::Unsupported { runtime, what })
    }

    /// Notes that no turn is open any more: before its end is told, so that the next prompt is
    /// taken.
    pub fn free(&mut self) {
        self.turn = Turn::None;
    }

    /// Tells the owner of the session; waits while its queue is full. Cancel-safe: no, the event
    /// may be lost.
    pub async fn tell(&self, event: RuntimeEvent) {
        self.note(&event);
        // An owner that is gone needs no events.
        let _ = self.events.send(event).await;
    }

    /// Waits for room for one event, and tells what `event` returns then. Cancel-safe: yes, unlike
    /// [`Self::tell`].
    pub async fn report_next(&self, event: impl FnOnce() -> Option<RuntimeEvent>) {
        let place = self.events.reserve().await;
        // Without an owner the event has no reader; it must still not wait for ever.
        if let (Some(event), Ok(place)) = (event(), place) {
            self.note(&event);
            place.send(event);
        }
    }

    /// Returns whether nobody owns the session any more.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.events.is_closed()
    }

    /// Changes what is known of the session; its id and since when it is ready follow from what
    /// is told.
    pub fn show(&self, change: impl FnOnce(&mut SessionHandle)) {
        self.handle.send_modify(change);
    }

    /// Takes another child, or none: of a backend whose program lives for a turn only.
    pub fn child(&self, pid: Option<u32>) {
        self.show(|handle| {
            handle.pid = pid;
            handle.pid_start = pid.and_then(proc::start_time);
        });
    }

    /// Takes the session's id, where it is known before the program names it.
    pub fn begins_as(&self, session: Option<SessionId>) {
        self.show(|handle| handle.session = session);
    }

    /// Returns the session's id, once it is known.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        self.handle.borrow().session.clone()
    }

    /// Takes from an event what it says about the session.
    fn note(&self, event: &RuntimeEvent) {
        let (session, ready) = match event {
            RuntimeEvent::Ready { session } => (session, true),
            RuntimeEvent::Session { session } => (session, false),
            _ => return,
        };
        self.show(|handle| {
            handle.session = Some(session.clone());
            if ready && handle.ready_at.is_none() {
                handle.ready_at = Some(self.clock.now());
            }
        });
    }
}
