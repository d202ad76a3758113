//! Hooks: run a configured program on the agent's events (R3-10, R3-11).
//!
//! The agent loop sends to a [`HookSender`], which never waits; the task [`Hooks`] runs the
//! program, one call after the other, with the payload on its standard input. The result of a call
//! is recorded and has no effect on any turn. Start at [`Hooks::run`].

use std::{path::PathBuf, time::Duration};

use gangline_api::event::{Event, HookData, HookPayload, Notice};
use gangline_config::{AgentConfig, Hooks as Configured};
use gangline_core::hook::HookEvent;
use gangline_os::{
    clock::{self, SharedClock, UnixMicros, rfc3339},
    exit::Exit,
    lines::{Line, LineReader},
    process::{self, ChildStderr, ChildStdin, Group, KillPolicy, Output, Spawn, SpawnError, Stdin},
};
use gangline_store::Store;
use thiserror::Error;
use tokio::{io::AsyncWriteExt, sync::mpsc, time::timeout};
use tracing::{debug, warn};

use crate::{
    environment,
    identity::{Identity, new_event},
    texts,
};

#[cfg(test)]
mod tests;

/// The maximum number of waiting calls; more are dropped and counted.
pub(crate) const HOOK_QUEUE: usize = 64;
/// How long a hook that timed out may take to exit after it is asked to.
const GRACE: Duration = Duration::from_millis(500);
/// The most that is reported of a failed hook's error output, in bytes.
const COMPLAINT_MAX: usize = 400;

/// What every payload says of the agent.
#[derive(Debug, Clone)]
struct About {
    runtime: String,
    workdir: String,
    rig: Option<String>,
    role: Option<String>,
    bead: Option<String>,
    actor: String,
}

impl About {
    /// `runtime` is the backend that the agent really has.
    fn new(agent: &AgentConfig, runtime: &str) -> Self {
        let names = agent.gastown.clone();
        Self {
            runtime: runtime.to_owned(),
            workdir: agent.directory.display().to_string(),
            rig: names.rig,
            role: names.role,
            bead: names.bead,
            actor: names.actor.unwrap_or_else(|| agent.nick.to_string()),
        }
    }
}

/// One call that waits.
#[derive(Debug)]
pub(crate) struct Call {
    event: HookEvent,
    session: Option<String>,
    /// The payload, masked.
    json: String,
    /// The number of dropped calls before it.
    dropped: u64,
}

/// The agent loop's end: takes what happened and never waits.
pub(crate) struct HookSender {
    about: About,
    calls: Option<mpsc::Sender<Call>>,
    events: Vec<HookEvent>,
    dropped: u64,
}

impl HookSender {
    /// Makes a sender, and the end that a [`Hooks`] takes from if a program is configured.
    pub(crate) fn new(
        (agent, runtime): (&AgentConfig, &str),
        configured: Option<&Configured>,
    ) -> (Self, Option<mpsc::Receiver<Call>>) {
        let about = About::new(agent, runtime);
        let Some(hooks) = configured else {
            return (Self { about, calls: None, events: Vec::new(), dropped: 0 }, None);
        };
        let (calls, end) = mpsc::channel(HOOK_QUEUE);
        let events = hooks.events.clone();
        (Self { about, calls: Some(calls), events, dropped: 0 }, Some(end))
    }

    /// Returns what is recorded, and told if anybody wants to hear of it.
    pub(crate) fn payload(
        &self,
        event: HookEvent,
        session_id: Option<String>,
        (at, data): (UnixMicros, HookData),
    ) -> HookPayload {
        let About { runtime, workdir, rig, role, bead, actor } = self.about.clone();
        let timestamp = rfc3339(at);
        HookPayload { event, runtime, session_id, workdir, rig, role, bead, actor, timestamp, data }
    }

    /// Returns whether anybody wants to hear of it.
    pub(crate) fn wants(&self, event: HookEvent) -> bool {
        self.calls.is_some() && self.events.contains(&event)
    }

    /// Rings; a call for which there is no room is dropped and counted.
    pub(crate) fn send(&mut self, event: HookEvent, session: Option<String>, json: String) {
        let Some(calls) = self.calls.as_ref().filter(|_| self.events.contains(&event)) else {
            return;
        };
        match calls.try_send(Call { event, session, json, dropped: self.dropped }) {
            Ok(()) => self.dropped = 0,
            Err(_) => self.dropped += 1,
        }
    }
}

/// Why the task that runs the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HooksEnd {
    /// The agent loop is gone, and what it told was carried out.
    Deserted,
}

/// The task that runs the program.
pub(crate) struct Hooks {
    pub(crate) me: Identity,
    pub(crate) store: Store,
    pub(crate) program: Program,
}

/// The program and where it runs.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    /// Without the session's id, which comes with each call.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) limit: Duration,
    pub(crate) clock: SharedClock,
}

/// Why a call came to nothing.
#[derive(Debug, Error)]
pub(crate) enum HookError {
    #[error("no program is configured")]
    Nothing,
    #[error("{0}")]
    Start(String),
    #[error("it did not end within {} s and was killed", .0.as_secs())]
    TimedOut(Duration),
    #[error("{how}{complaint}")]
    Failed { how: String, complaint: String },
}

impl Hooks {
    /// Runs the program for each call until the sender is gone. Cancel-safe: yes; a program under
    /// way is killed.
    pub(crate) async fn run(self, mut calls: mpsc::Receiver<Call>) -> HooksEnd {
        while let Some(call) = calls.recv().await {
            if call.dropped > 0 {
                self.report("hooks_dropped", texts::hooks_dropped(call.dropped)).await;
            }
            let event = call.event.as_str();
            match self.program.run(call.session.as_deref(), &call.json).await {
                Ok(()) => debug!(event, "hook ran"),
                Err(error) => self.report("hook_failed", texts::hook_failed(event, &error)).await,
            }
        }
        HooksEnd::Deserted
    }

    async fn report(&self, code: &str, text: String) {
        // The log is no place for a secret either.
        let text = self.me.redactor.redact(&text).into_string();
        warn!(code, text, "hooks");
        let notice = Event::from(Notice { code: code.to_owned(), text });
        let events = new_event(&self.me, None, &notice).into_iter().collect();
        if let Err(error) = self.store.append(events).await {
            warn!(%error, "cannot record the result of a hook");
        }
    }
}

impl Program {
    /// Runs it once with this on its standard input; what it leaves running ends with it.
    /// Cancel-safe: yes; it is killed.
    pub(crate) async fn run(&self, session: Option<&str>, json: &str) -> Result<(), HookError> {
        let mut child =
            process::spawn(self.spawn(session)?).map_err(|error| HookError::Start(said(&error)))?;
        let (input, errors) = (child.take_stdin(), child.take_stderr());
        let mut complaint = String::new();
        let exit = {
            let talk = async { tokio::join!(feed(input, json), listen(errors, &mut complaint)) };
            tokio::pin!(talk);
            let mut talks = true;
            let ended = clock::within(&self.clock, self.limit, async {
                loop {
                    tokio::select! {
                        exit = child.wait() => break exit.unwrap_or_default(),
                        _ = &mut talk, if talks => talks = false,
                    }
                }
            })
            .await;
            // What it said last may still be on its way; what it left running may hold the pipe.
            if ended.is_some() && talks {
                let _ = timeout(GRACE, &mut talk).await;
            }
            ended
        };
        let Some(exit) = exit else {
            child.end(&KillPolicy { term_after: Duration::ZERO, kill_after: GRACE }).await;
            return Err(HookError::TimedOut(self.limit));
        };
        if exit.success() { Ok(()) } else { Err(HookError::Failed { how: how(exit), complaint }) }
    }

    fn spawn(&self, session: Option<&str>) -> Result<Spawn, HookError> {
        let (program, args) = self.command.split_first().ok_or(HookError::Nothing)?;
        let env = match session {
            Some(session) => environment::with_session(self.env.clone(), session),
            None => self.env.clone(),
        };
        Ok(Spawn {
            program: PathBuf::from(program),
            args: args.iter().map(Into::into).collect(),
            cwd: self.folder.clone(),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            stdin: Stdin::Piped,
            stdout: Output::Null,
            stderr: Output::Piped,
            group: Group::New,
        })
    }
}

async fn feed(input: Option<ChildStdin>, json: &str) {
    let Some(mut input) = input else { return };
    // A program that does not read its input is none the worse for it.
    let _ = input.write_all(json.as_bytes()).await;
    let _ = input.write_all(b"\n").await;
}

/// Keeps the last line that says anything.
async fn listen(errors: Option<ChildStderr>, last: &mut String) {
    let Some(errors) = errors else { return };
    let mut lines = LineReader::new(errors, COMPLAINT_MAX);
    while let Ok(Some(line)) = lines.next().await {
        let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
        if !text.trim().is_empty() {
            *last = format!(": {}", text.trim());
        }
    }
}

fn how(exit: Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "how it ended is not known".to_owned(),
    }
}

/// Returns an error with its cause.
fn said(error: &SpawnError) -> String {
    use std::error::Error as _;
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
