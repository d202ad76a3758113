//! The evaluator: one evaluation at a time, each in a session of the supervisor's backend of its own.
//!
//! A session begins with the evaluation and ends with it: nothing runs in between, and what one
//! evaluation was shown is not in the next. It never acts: it has no tools, and what its program asks
//! for is refused (R1-37). Start at [`Evaluator::ask`] and [`Evaluator::next`].

use std::time::Duration;

use gangline_core::{Epoch, TurnId, agent::Generation, time::Now, watch::REPLY_MOST};
use gangline_os::{clock::SharedClock, fsio};
use gangline_runtime::{
    Answer, ApprovalReply, Block, Command, Prompt, RuntimeEvent, StartOptions, StopReason,
    TurnResult, Usage,
};
use tracing::{debug, warn};
use uuid::Uuid;

use crate::{
    session::port::{BackendPort, Next, Passed, PortEvent},
    texts::supervisor as texts,
};

#[cfg(test)]
mod tests;

/// How long one evaluation may take, the start of its backend included.
pub(crate) const EVALUATION_LIMIT: Duration = Duration::from_secs(120);

/// What comes of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Tokens were spent.
    Used(Usage),
    /// The model's reply to this evaluation.
    Replied { number: u64, text: String },
    /// The evaluation came to nothing.
    Failed { number: u64, why: String, fault: Fault },
}

/// Whose fault a failed evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The backend's: too many of these in a row, and it is not asked any more.
    Backend,
    /// Its provider wants it to wait.
    Limit,
}

/// The evaluator; see the module.
pub(crate) struct Evaluator {
    port: BackendPort,
    options: StartOptions,
    clock: SharedClock,
    epoch: Epoch,
    generation: i64,
    asked: Option<Asked>,
}

/// The evaluation under way.
struct Asked {
    number: u64,
    generation: Generation,
    turn: TurnId,
    /// Until it is given.
    prompt: Option<String>,
    reply: String,
    deadline: Now,
    /// What the backend said last.
    said: Option<String>,
}

impl Evaluator {
    pub(crate) fn new(
        port: BackendPort,
        options: StartOptions,
        (clock, epoch): (SharedClock, Epoch),
    ) -> Self {
        Self { port, options, clock, epoch, generation: 0, asked: None }
    }

    /// Begins an evaluation; the one before is given up.
    pub(crate) fn ask(&mut self, number: u64, prompt: String) {
        self.generation += 1;
        let generation = Generation(self.generation);
        self.asked = Some(Asked {
            number,
            generation,
            turn: TurnId { epoch: self.epoch, number: self.generation },
            prompt: Some(prompt),
            reply: String::new(),
            deadline: Now(self.clock.monotonic()).plus(EVALUATION_LIMIT),
            said: None,
        });
        self.port.start(Next { generation, resume: false });
    }

    /// Gives up what is under way: nobody wants its verdict any more.
    pub(crate) fn forget(&mut self) {
        if self.asked.take().is_some() {
            self.port.end(StopReason::Stuck);
        }
    }

    /// Waits for what comes of an evaluation. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> Told {
        loop {
            let deadline = self.asked.as_ref().map(|it| self.clock.sleep_until(it.deadline.0));
            let overdue = async {
                match deadline {
                    Some(deadline) => deadline.await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                event = self.port.next() => Some(event),
                () = overdue => None,
            };
            let told = match event {
                Some(event) => self.hear(event),
                None => self.fails(texts::TOO_SLOW.to_owned(), Fault::Backend),
            };
            if let Some(told) = told {
                return told;
            }
        }
    }

    /// Ends the backend, and waits until it is gone. Not cancel-safe.
    pub(crate) async fn end(&mut self) {
        self.asked = None;
        self.port.end(StopReason::Shutdown);
        while !self.port.is_down() {
            let _ = self.port.next().await;
        }
    }

    fn hear(&mut self, event: PortEvent) -> Option<Told> {
        match event {
            PortEvent::MayBegin(next) => {
                self.port.begin(next.generation, self.prepared());
                None
            }
            PortEvent::Started { .. } => self.give(),
            PortEvent::NotStarted { generation, why } if self.is(generation) => {
                self.fails(why, Fault::Backend)
            }
            PortEvent::Exited { generation, .. } if self.is(generation) => {
                let said = self.asked.as_mut().and_then(|it| it.said.take());
                self.fails(said.unwrap_or_else(|| texts::GONE.to_owned()), Fault::Backend)
            }
            PortEvent::Runtime { event: RuntimeEvent::Usage { usage, .. }, .. } => {
                Some(Told::Used(usage))
            }
            PortEvent::Runtime { generation, event } if self.is(generation) => self.said(event),
            PortEvent::NotStarted { .. } | PortEvent::Exited { .. } | PortEvent::Runtime { .. } => {
                None
            }
        }
    }

    fn is(&self, generation: Generation) -> bool {
        self.asked.as_ref().is_some_and(|it| it.generation == generation)
    }

    /// Makes the folders that the session needs, without what an earlier one left there.
    fn prepared(&self) -> StartOptions {
        let StartOptions { workdir, session_dir, tmp_dir, .. } = &self.options;
        let now = self.clock.now();
        for folder in [workdir, session_dir, tmp_dir] {
            let made = fsio::empty_dir(folder, now).map_err(|error| error.to_string());
            let made =
                made.and_then(|()| fsio::private_dir(folder).map_err(|error| error.to_string()));
            if let Err(error) = made {
                warn!(error, "a folder of the supervisor cannot be made ready");
            }
        }
        self.options.clone()
    }

    fn give(&mut self) -> Option<Told> {
        let asked = self.asked.as_mut()?;
        let prompt = Prompt {
            turn: asked.turn,
            text: asked.prompt.take()?,
            uuid: Uuid::new_v4().to_string(),
        };
        match self.port.send(Command::Prompt(prompt)) {
            Passed::Sent => None,
            Passed::Full | Passed::NotRunning => self.fails(texts::GONE.to_owned(), Fault::Backend),
        }
    }

    fn said(&mut self, event: RuntimeEvent) -> Option<Told> {
        let asked = self.asked.as_mut()?;
        match event {
            RuntimeEvent::Message { message, .. } => {
                for block in message.content {
                    match block {
                        Block::Text { text } => {
                            asked.reply.push_str(&text);
                            asked.reply.push('\n');
                        }
                        // What it said before it tried to look at something is not its reply.
                        Block::ToolUse { .. } => asked.reply.clear(),
                        Block::Thinking { .. } => {}
                    }
                }
                // One that talks at length is cut off; the reply is refused for its length.
                if asked.reply.len() > REPLY_MOST { self.replied() } else { None }
            }
            RuntimeEvent::ApprovalAsked { ask, .. } => {
                let answer = Answer::Deny { reason: texts::NO_TOOLS.to_owned() };
                self.port.send(Command::Decide(ApprovalReply { request: ask.request, answer }));
                None
            }
            RuntimeEvent::Finished { result, .. } => match result {
                TurnResult::Completed => self.replied(),
                TurnResult::Interrupted => self.fails(texts::GONE.to_owned(), Fault::Backend),
                TurnResult::Failed { why, .. } => self.fails(why, Fault::Backend),
                TurnResult::RateLimited { .. } => {
                    self.fails(texts::RATE_LIMITED.to_owned(), Fault::Limit)
                }
                TurnResult::NeedsLogin { hint } => self.fails(hint, Fault::Backend),
            },
            RuntimeEvent::NeedsLogin { hint } => self.fails(hint, Fault::Backend),
            RuntimeEvent::Refused { command: Command::Prompt(_), why } => {
                self.fails(why.to_string(), Fault::Backend)
            }
            RuntimeEvent::Notice { text } => {
                asked.said = Some(text);
                None
            }
            RuntimeEvent::Ready { .. }
            | RuntimeEvent::Session { .. }
            | RuntimeEvent::Began
            | RuntimeEvent::Alive { .. }
            | RuntimeEvent::Waits { .. }
            | RuntimeEvent::LoggedIn
            | RuntimeEvent::Effort { .. }
            | RuntimeEvent::Compacting
            | RuntimeEvent::Compacted { .. }
            | RuntimeEvent::Accepted { .. }
            | RuntimeEvent::Steered { .. }
            | RuntimeEvent::ToolResult { .. }
            | RuntimeEvent::ApprovalWithdrawn { .. }
            | RuntimeEvent::Unasked { .. }
            | RuntimeEvent::Usage { .. }
            | RuntimeEvent::Refused { .. }
            | RuntimeEvent::Exited { .. } => None,
        }
    }

    fn replied(&mut self) -> Option<Told> {
        let Asked { number, reply, .. } = self.asked.take()?;
        self.port.end(StopReason::Shutdown);
        Some(Told::Replied { number, text: reply })
    }

    fn fails(&mut self, why: String, fault: Fault) -> Option<Told> {
        let Asked { number, .. } = self.asked.take()?;
        debug!(why, "an evaluation failed");
        self.port.end(StopReason::Stuck);
        Some(Told::Failed { number, why, fault })
    }
}
