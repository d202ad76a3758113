//! The task that runs calls: bounded in number, and to their end even if the client goes away. What
//! a client takes back in time is not done.

use std::sync::{Arc, Weak};

use gangline_core::TurnId;
use gangline_mcp::rpc;
use gangline_os::{
    CancellationToken,
    task::{HowEnded, TaskGroup},
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tracing::{debug, error};

use super::CALLS_MAX;
use crate::{Aside, ToolCall, ToolHost, ToolSpec, tools};

/// What a call outside of a turn is told.
const NO_TURN: &str = "no turn is open here now, so nothing was done";
/// What a call is told that is one too many.
const TOO_MANY: &str = "too many calls are under way: wait for one to end, then call again";

/// Where connections hand in their messages.
#[derive(Clone)]
pub(super) struct Caller {
    tools: Arc<[ToolSpec]>,
    turn: watch::Receiver<Option<TurnId>>,
    room: Arc<Semaphore>,
    orders: mpsc::Sender<Order>,
    /// Whether a client has been told which tools there are.
    listed: watch::Sender<bool>,
}

/// What a connection wants of the task.
enum Order {
    Call(Box<Ask>),
    TakeBack(Request),
}

/// A request of a session: what its client calls it.
#[derive(Debug, PartialEq)]
struct Request {
    session: String,
    rpc: Value,
}

/// A call on its way to the tool.
struct Ask {
    call: ToolCall,
    session: String,
    pending: Pending,
    /// Its room among those under way.
    room: OwnedSemaphorePermit,
}

/// An answer on its way to the client, with what is told beside it: that has arrived when the answer
/// is written.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) aside: Option<Aside>,
}

/// An answer that is owed: given in any case, for instance when the tool panics.
struct Pending {
    rpc: Value,
    answers: mpsc::Sender<Answer>,
    given: bool,
}

impl Pending {
    async fn give(mut self, outcome: &Result<String, String>, aside: Option<Aside>) {
        self.given = true;
        let value = rpc::called(&self.rpc, outcome);
        // The client may be gone.
        let _ = self.answers.send(Answer { value, aside }).await;
    }
}

impl Pending {
    /// Gives no answer: nobody waits for one.
    fn withdraw(mut self) {
        self.given = true;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.given {
            let value = rpc::broken(&self.rpc);
            let _ = self.answers.try_send(Answer { value, aside: None });
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

impl Caller {
    pub(super) fn new(
        host: Arc<dyn ToolHost>,
        turn: watch::Receiver<Option<TurnId>>,
        listed: watch::Sender<bool>,
    ) -> (Self, Calls) {
        let (orders, ordered) = mpsc::channel(CALLS_MAX);
        let room = Arc::new(Semaphore::new(CALLS_MAX));
        let host_tools = host.tools().into();
        let calls = Calls { host, ordered, running: Vec::new() };
        (Self { tools: host_tools, turn, room, orders, listed }, calls)
    }

    /// Takes one message of the session `session`; the answer to a call goes to `answers`.
    /// Cancel-safe: no; a call may have been handed on.
    pub(super) async fn take(
        &self,
        message: &Value,
        session: &str,
        answers: &mpsc::Sender<Answer>,
    ) -> Taken {
        let call = match rpc::reply(message, &self.tools, session) {
            rpc::Reply::Nothing => return Taken::Nothing,
            rpc::Reply::Now(answer) => {
                if rpc::is(rpc::LIST, message) {
                    self.listed.send_replace(true);
                }
                return Taken::Answer(answer);
            }
            rpc::Reply::Begin(answer) => return Taken::Begin(answer),
            rpc::Reply::TakenBack(rpc) => {
                let request = Request { session: session.to_owned(), rpc };
                let _ = self.orders.send(Order::TakeBack(request)).await;
                return Taken::Nothing;
            }
            rpc::Reply::Call(call) => call,
        };
        let refused = |why: &str| Taken::Answer(rpc::called(&call.rpc, &Err(why.to_owned())));
        let open = *self.turn.borrow();
        let Some(turn) = open else { return refused(NO_TURN) };
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else { return refused(TOO_MANY) };
        let rpc::Call { rpc, id, name, input } = call;
        debug!(tool = %name, call = %id, "a tool is called");
        let pending = Pending { rpc, answers: answers.clone(), given: false };
        let call = ToolCall { turn, id, name, input };
        let ask = Box::new(Ask { call, session: session.to_owned(), pending, room });
        // Without the task the answer is given by the drop.
        let _ = self.orders.send(Order::Call(ask)).await;
        Taken::Later
    }
}

/// The owner of the calls under way.
pub(super) struct Calls {
    host: Arc<dyn ToolHost>,
    ordered: mpsc::Receiver<Order>,
    /// Those that have not ended, and some that have.
    running: Vec<Running>,
}

/// A call that runs.
struct Running {
    request: Request,
    taken_back: CancellationToken,
    /// Its task holds the other end.
    task: Weak<()>,
}

/// Why the task that runs calls ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallsEnd {
    /// Nobody can hand in a call any more. Those under way were dropped.
    Closed,
}

enum Event {
    Ordered(Order),
    Ended(String, HowEnded),
    Closed,
}

impl Calls {
    /// Runs calls until nobody can hand in one any more.
    pub(super) async fn run(mut self) -> CallsEnd {
        let mut group = TaskGroup::new("tool calls");
        loop {
            let event = tokio::select! {
                order = self.ordered.recv() => order.map_or(Event::Closed, Event::Ordered),
                Some(end) = group.next_end() => Event::Ended(end.name, end.how),
            };
            match event {
                Event::Ordered(Order::Call(ask)) => self.begin(&mut group, *ask),
                Event::Ordered(Order::TakeBack(request)) => self.take_back(&request),
                Event::Ended(tool, HowEnded::Panicked(why)) => {
                    error!(tool, why, "a tool of the daemon panicked");
                }
                Event::Ended(_, HowEnded::Finished | HowEnded::Cancelled) => {}
                Event::Closed => return CallsEnd::Closed,
            }
        }
    }

    fn begin(&mut self, group: &mut TaskGroup, ask: Ask) {
        let host = Arc::clone(&self.host);
        let Ask { call, session, pending, room } = ask;
        let (taken_back, alive) = (CancellationToken::new(), Arc::new(()));
        let request = Request { session, rpc: pending.rpc.clone() };
        self.running.retain(|running| running.task.strong_count() > 0);
        let (token, task) = (taken_back.clone(), Arc::downgrade(&alive));
        self.running.push(Running { request, taken_back: token, task });
        group.spawn(call.name.clone(), async move {
            let turn = call.turn;
            match host.call_unless(call, taken_back).await {
                Some(outcome) => {
                    let (outcome, aside) = match tools::aside(host.as_ref(), turn, &outcome).await {
                        Some(aside) => (aside.before(outcome), Some(aside)),
                        None => (outcome, None),
                    };
                    pending.give(&outcome, aside).await;
                }
                None => pending.withdraw(),
            }
            drop((room, alive));
        });
    }

    /// Takes back all that the client calls so: a careless one gives several calls one id.
    fn take_back(&self, request: &Request) {
        for running in self.running.iter().filter(|running| running.request == *request) {
            running.taken_back.cancel();
        }
    }
}
