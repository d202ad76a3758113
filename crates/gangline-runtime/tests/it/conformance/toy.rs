//! The toy backend of `docs/adding-a-backend.md`: an agent of JSON lines, one process per session.

mod worker;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use gangline_os::{
    process::{self, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use gangline_runtime::{
    Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionHandle, StartOptions,
    StopReason, Verdict,
};
use tokio::sync::{mpsc, watch};

use self::worker::{Order, Worker};

const NAME: &str = "toy";

/// The adapter: what it knows of its task, and the way to it.
#[derive(Default)]
pub(crate) struct Toy {
    open: Option<Open>,
}

struct Open {
    orders: mpsc::Sender<Order>,
    busy: Arc<AtomicBool>,
    handle: watch::Receiver<SessionHandle>,
    _tasks: TaskGroup,
}

impl Toy {
    fn open(&self) -> Result<&Open, RuntimeError> {
        self.open.as_ref().ok_or(RuntimeError::NotRunning { runtime: NAME })
    }

    async fn order(&self, order: Order) -> Result<(), RuntimeError> {
        let sent = self.open()?.orders.send(order).await;
        sent.map_err(|_| RuntimeError::NotRunning { runtime: NAME })
    }
}

#[async_trait]
impl Runtime for Toy {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            interrupt: true,
            approvals: true,
            usage: true,
            structured: true,
            calls: true,
            failures: true,
            ..Capabilities::default()
        }
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let initial = options.initial_prompt.take();
        let child = process::spawn(spawn(&options)).map_err(|error| fail(error.to_string()))?;
        let busy = Arc::new(AtomicBool::new(false));
        let (orders, inbox) = mpsc::channel(16);
        let worker = Worker::new(options, child, inbox, events, Arc::clone(&busy));
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(NAME);
        tasks.spawn("session", worker.run());
        let begun = handle.borrow().clone();
        self.open = Some(Open { orders, busy, handle, _tasks: tasks });
        if let Some(prompt) = initial {
            self.prompt(prompt).await?;
        }
        Ok(begun)
    }

    fn session(&self) -> Option<SessionHandle> {
        self.open.as_ref().map(|open| open.handle.borrow().clone())
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        if self.open()?.busy.swap(true, Ordering::SeqCst) {
            return Err(RuntimeError::Busy { runtime: NAME });
        }
        self.order(Order::Prompt(prompt)).await
    }

    async fn steer(&mut self, _: Prompt) -> Result<(), RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: NAME, what: "take a text into a turn" })
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        self.order(Order::Interrupt).await
    }

    async fn decide(&mut self, verdict: Verdict) -> Result<(), RuntimeError> {
        self.order(Order::Decide(verdict)).await
    }

    async fn set_model(&mut self, _: &str) -> Result<(), RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: NAME, what: "change its model" })
    }

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: NAME, what: "shorten its context" })
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: NAME, what: "forget its context" })
    }

    async fn stop(&mut self, _: StopReason) {
        let Some(open) = self.open.take() else { return };
        let _ = open.orders.send(Order::Stop).await;
        open.orders.closed().await;
    }

    fn is_ready(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            !open.orders.is_closed()
                && open.handle.borrow().ready_at.is_some()
                && !open.busy.load(Ordering::SeqCst)
        })
    }
}

/// How the program is started: everything that it may see is said here.
fn spawn(options: &StartOptions) -> Spawn {
    let command = options.command.clone().unwrap_or_else(|| vec!["toy-agent".to_owned()]);
    let (program, args) = command.split_first().map_or_else(Default::default, |(first, rest)| {
        (PathBuf::from(first), rest.iter().map(Into::into).collect())
    });
    let key = options.api_key.as_ref().map_or("", |key| key.expose());
    let own = [
        ("TOY_URL", options.base_url.as_deref().unwrap_or_default()),
        ("TOY_MODEL", options.model.as_deref().unwrap_or("toy-1")),
        ("TOY_KEY", key),
    ];
    let given = options.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Spawn {
        program,
        args,
        cwd: options.workdir.clone(),
        env: given.chain(own).map(|(name, value)| (name.into(), value.into())).collect(),
        stdin: Stdin::Piped,
        stdout: Output::Piped,
        stderr: Output::Null,
        group: Group::New,
    }
}
