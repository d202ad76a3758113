//! Calls of the daemon's tools that a program makes over its pipe, and what each answers.

use std::{collections::HashMap, sync::Arc};

use gangline_core::{TurnId, whisper::WhisperRoad};
use gangline_os::task::{HowEnded, TaskEnd, TaskGroup};
use tokio::sync::mpsc;

use crate::{Aside, ToolCall, ToolHost, tools};

/// Results that wait to be written.
const RESULTS: usize = 16;

/// What a tool said, or what it failed with.
pub(super) type Outcome = Result<String, String>;

/// The name of a task and what its tool said.
type Called = (String, Outcome, Option<Aside>);

/// The calls of one session, each a task; `C` says who made it.
pub(super) struct Calls<C> {
    host: Arc<dyn ToolHost>,
    tasks: TaskGroup,
    /// By the name of its task.
    open: HashMap<String, C>,
    numbered: u64,
    results: (mpsc::Sender<Called>, mpsc::Receiver<Called>),
}

impl<C> Calls<C> {
    pub(super) fn new(host: Arc<dyn ToolHost>) -> Self {
        Self {
            host,
            tasks: TaskGroup::new("tools"),
            open: HashMap::new(),
            numbered: 0,
            results: mpsc::channel(RESULTS),
        }
    }

    /// Runs a tool.
    pub(super) fn begin(&mut self, call: ToolCall, caller: C) {
        self.numbered += 1;
        let name = self.numbered.to_string();
        self.open.insert(name.clone(), caller);
        let (host, results) = (Arc::clone(&self.host), self.results.0.clone());
        self.tasks.spawn(name.clone(), async move {
            let turn = call.turn;
            let outcome = host.call(call).await;
            let (outcome, aside) = match tools::aside(host.as_ref(), turn, &outcome).await {
                Some(aside) => (aside.before(outcome), Some(aside)),
                None => (outcome, None),
            };
            let _ = results.send((name, outcome, aside)).await;
        });
    }

    /// Asks what the model is to be told beside what it does; nothing is an empty text.
    pub(super) fn begin_aside(&mut self, turn: TurnId, caller: C) {
        self.numbered += 1;
        let name = self.numbered.to_string();
        self.open.insert(name.clone(), caller);
        let (host, results) = (Arc::clone(&self.host), self.results.0.clone());
        self.tasks.spawn(name.clone(), async move {
            let aside = host.aside(turn, WhisperRoad::Hook).await;
            let text = aside.as_ref().map(|aside| aside.text().to_owned()).unwrap_or_default();
            let _ = results.send((name, Ok(text), aside)).await;
        });
    }

    /// Forgets who waits: the process that asked is gone.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }

    /// Waits for the next tool that is done. Cancel-safe: yes; nothing is awaited after a result
    /// was taken.
    pub(super) async fn next(&mut self) -> (C, Outcome, Option<Aside>) {
        loop {
            let (name, outcome, aside) = tokio::select! {
                Some(result) = self.results.1.recv() => result,
                Some(end) = self.tasks.next_end() => match broke(end) {
                    Some(result) => result,
                    None => continue,
                },
            };
            if let Some(caller) = self.open.remove(&name) {
                return (caller, outcome, aside);
            }
        }
    }
}

/// Returns what is answered for a tool that said nothing. The result of another is in the channel.
fn broke(end: TaskEnd) -> Option<Called> {
    match &end.how {
        HowEnded::Finished => None,
        HowEnded::Cancelled | HowEnded::Panicked(_) => {
            tracing::error!(?end, "a tool of the daemon broke");
            let broke = "the tool broke; whether it had an effect is unknown";
            Some((end.name, Err(broke.to_owned()), None))
        }
    }
}

#[cfg(test)]
mod tests;
