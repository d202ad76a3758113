//! The task that runs calls: bounded in number, and to their end even if the client goes away.

use std::sync::Arc;

use gangline_core::TurnId;
use gangline_os::task::{HowEnded, TaskGroup};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tracing::{debug, error};

use super::{CALLS_MAX, rpc};
use crate::{ToolCall, ToolHost, ToolSpec};

/// What a call outside of a turn is told.
const NO_TURN: &str = "no turn is open here now, so nothing was done";
/// What a call is told that is one too many.
const TOO_MANY: &str = "too many calls are under way: wait for one to end, then call again";

/// Where connections hand in their messages.
#[derive(Clone)]
pub(super) struct Desk {
    tools: Arc<[ToolSpec]>,
    turn: watch::Receiver<Option<TurnId>>,
    room: Arc<Semaphore>,
    calls: mpsc::Sender<Ask>,
    /// Whether a client has been told which tools there are.
    listed: watch::Sender<bool>,
}

/// A call on its way to the tool.
struct Ask {
    call: ToolCall,
    pending: Pending,
    /// Its room among those under way.
    room: OwnedSemaphorePermit,
}

/// An answer that is owed: given in any case, for instance when the tool panics.
struct Pending {
    rpc: Value,
    answers: mpsc::Sender<Value>,
    given: bool,
}

impl Pending {
    async fn give(mut self, outcome: &Result<String, String>) {
        self.given = true;
        // The client may be gone.
        let _ = self.answers.send(rpc::called(&self.rpc, outcome)).await;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.given {
            let _ = self.answers.try_send(rpc::broken(&self.rpc));
        }
    }
}

/// What a message came to.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    /// It needs no answer.
    Nothing,
    /// This is the answer.
    Answer(Value),
    /// This is the answer, and a session begins.
    Begin(Value),
    /// The answer comes later.
    Later,
}

impl Desk {
    pub(super) fn new(
        host: Arc<dyn ToolHost>,
        turn: watch::Receiver<Option<TurnId>>,
        listed: watch::Sender<bool>,
    ) -> (Self, Calls) {
        let (calls, asked) = mpsc::channel(CALLS_MAX);
        let room = Arc::new(Semaphore::new(CALLS_MAX));
        (Self { tools: host.tools().into(), turn, room, calls, listed }, Calls { host, asked })
    }

    /// Takes one message of the session `session`; the answer to a call goes to `answers`.
    /// Cancel-safe: no; a call may have been handed on.
    pub(super) async fn take(
        &self,
        message: &Value,
        session: &str,
        answers: &mpsc::Sender<Value>,
    ) -> Taken {
        let call = match rpc::reply(message, &self.tools, session) {
            rpc::Reply::Nothing => return Taken::Nothing,
            rpc::Reply::Now(answer) => {
                if rpc::lists(message) {
                    self.listed.send_replace(true);
                }
                return Taken::Answer(answer);
            }
            rpc::Reply::Begin(answer) => return Taken::Begin(answer),
            rpc::Reply::Call(call) => call,
        };
        let refused = |why: &str| Taken::Answer(rpc::called(&call.rpc, &Err(why.to_owned())));
        let open = *self.turn.borrow();
        let Some(turn) = open else { return refused(NO_TURN) };
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else { return refused(TOO_MANY) };
        let rpc::Call { rpc, id, name, input } = call;
        debug!(tool = %name, call = %id, "a tool is called");
        let pending = Pending { rpc, answers: answers.clone(), given: false };
        let ask = Ask { call: ToolCall { turn, id, name, input }, pending, room };
        // Without the task the answer is given by the drop.
        let _ = self.calls.send(ask).await;
        Taken::Later
    }
}

/// The owner of the calls under way.
pub(super) struct Calls {
    host: Arc<dyn ToolHost>,
    asked: mpsc::Receiver<Ask>,
}

enum Event {
    Asked(Box<Ask>),
    Ended(String, HowEnded),
    Closed,
}

impl Calls {
    /// Runs calls until nobody can hand in one any more.
    pub(super) async fn run(mut self) {
        let mut group = TaskGroup::new("tool calls");
        loop {
            let event = tokio::select! {
                ask = self.asked.recv() => ask.map_or(Event::Closed, |ask| Event::Asked(Box::new(ask))),
                Some(end) = group.next_end() => Event::Ended(end.name, end.how),
            };
            match event {
                Event::Asked(ask) => self.begin(&mut group, *ask),
                Event::Ended(tool, HowEnded::Panicked(why)) => {
                    error!(tool, why, "a tool of the daemon panicked");
                }
                Event::Ended(_, HowEnded::Finished | HowEnded::Cancelled) => {}
                Event::Closed => return,
            }
        }
    }

    fn begin(&self, group: &mut TaskGroup, ask: Ask) {
        let host = Arc::clone(&self.host);
        group.spawn(ask.call.name.clone(), async move {
            let Ask { call, pending, room } = ask;
            let outcome = host.call(call).await;
            pending.give(&outcome).await;
            drop(room);
        });
    }
}
