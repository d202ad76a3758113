//! `Bash`: one shell command in a process group of its own.
//!
//! The command ends with the call: what it left in the background is ended too, as on time-out
//! and cancel. Only a process that made a session of its own escapes.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use gangline_os::CancellationToken;
use gangline_os::{
    exit::Exit,
    process::{self, Child, ChildStderr, ChildStdout, Group, KillPolicy, Output, Spawn, Stdin},
};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::tool::{Fields, Tool, ToolContext, ToolError};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
const OUTPUT_LIMIT: usize = 30_000;
const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };
/// How long output is waited for when everybody who may write it should be gone.
const DRAIN: Duration = Duration::from_millis(250);

/// Runs a shell command. The result is its output and error output as they came, at most
/// 30,000 bytes from both ends; a code other than 0 is an error.
pub struct Bash {
    env: Vec<(OsString, OsString)>,
}

impl Bash {
    /// Makes the tool; `env` is the whole environment of its commands.
    pub fn new(env: Vec<(OsString, OsString)>) -> Self {
        Self { env }
    }

    fn start(&self, command: &str, cwd: PathBuf) -> Result<Running, ToolError> {
        let path = self.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
        let has_bash =
            path.is_some_and(|path| process::find_on_path(Path::new("bash"), path).is_some());
        let mut child = process::spawn(Spawn {
            program: if has_bash { "bash".into() } else { "/bin/sh".into() },
            args: vec!["-c".into(), command.into()],
            cwd,
            env: self.env.clone(),
            stdin: Stdin::Null,
            stdout: Output::Piped,
            stderr: Output::Piped,
            group: Group::New,
        })
        .map_err(ToolError::failed)?;
        let (out, err) = (child.take_stdout(), child.take_stderr());
        Ok(Running { child, out, err, kept: Capture::default() })
    }
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn description(&self) -> &str {
        "Runs a shell command and returns its output. Nothing survives the call: no variables, \
         no current folder, no background processes."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command"},
                "timeout": {"type": "integer", "minimum": 1, "maximum": 600_000,
                    "description": "Milliseconds, 120000 if not given"},
            },
            "required": ["command"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let command: String = fields.required("command")?;
        if command.contains('\0') {
            return Err(ToolError::field("command", "has a NUL character"));
        }
        let timeout = fields.optional("timeout")?.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        if timeout.is_zero() || timeout > LONGEST_TIMEOUT {
            return Err(ToolError::field("timeout", "must be 1 to 600000 milliseconds"));
        }
        self.start(&command, ctx.path("."))?.run(timeout, &ctx.cancel).await
    }
}

/// A command under way. Dropping it kills its group.
struct Running {
    child: Child,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    kept: Capture,
}

enum Event {
    Out(io::Result<usize>),
    Err(io::Result<usize>),
    Ended(Option<Exit>),
    TimedOut,
    Cancelled,
}

impl Running {
    async fn run(
        mut self,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<String, ToolError> {
        let mut deadline = std::pin::pin!(tokio::time::sleep(timeout));
        let (mut out, mut err) = ([0; 8192], [0; 8192]);
        loop {
            let event = tokio::select! {
                read = read(&mut self.out, &mut out) => Event::Out(read),
                read = read(&mut self.err, &mut err) => Event::Err(read),
                exit = self.child.wait() => Event::Ended(exit.ok()),
                () = &mut deadline => Event::TimedOut,
                () = cancel.cancelled() => Event::Cancelled,
            };
            match event {
                Event::Out(Ok(length)) if length > 0 => self.kept.push(&out[..length]),
                Event::Out(_) => self.out = None,
                Event::Err(Ok(length)) if length > 0 => self.kept.push(&err[..length]),
                Event::Err(_) => self.err = None,
                Event::Ended(exit) => {
                    self.finish().await;
                    return report(exit.unwrap_or_default(), &self.kept);
                }
                Event::TimedOut => {
                    self.finish().await;
                    let text = self.kept.text();
                    return Err(ToolError::failed(format!("timed out after {timeout:?}\n{text}")));
                }
                Event::Cancelled => {
                    self.child.end(&KILL_POLICY).await;
                    return Err(ToolError::Cancelled);
                }
            }
        }
    }

    /// Ends the group and takes what is left in the pipes. A process that escaped may hold a pipe
    /// open for ever, so that is bounded.
    async fn finish(&mut self) {
        self.child.end(&KILL_POLICY).await;
        let Self { out, err, kept, .. } = self;
        let rest = async {
            drain(out, kept).await;
            drain(err, kept).await;
        };
        let _elapsed = tokio::time::timeout(DRAIN, rest).await;
    }
}

async fn drain<R: AsyncRead + Unpin>(pipe: &mut Option<R>, kept: &mut Capture) {
    let mut bytes = [0; 8192];
    while pipe.is_some() {
        match read(pipe, &mut bytes).await {
            Ok(length @ 1..) => kept.push(&bytes[..length]),
            Ok(0) | Err(_) => *pipe = None,
        }
    }
}

/// Reads from a pipe; never ends for one that is closed. Cancel-safe, as the read is.
async fn read<R: AsyncRead + Unpin>(pipe: &mut Option<R>, into: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(into).await,
        None => std::future::pending().await,
    }
}

fn report(exit: Exit, kept: &Capture) -> Result<String, ToolError> {
    let text = kept.text();
    match exit {
        Exit { code: Some(0), .. } if text.is_empty() => Ok("[no output]".to_owned()),
        Exit { code: Some(0), .. } => Ok(text),
        Exit { code: Some(code), .. } => {
            Err(ToolError::failed(format!("exit code {code}\n{text}")))
        }
        Exit { signal, .. } => {
            let signal = signal.unwrap_or_default();
            Err(ToolError::failed(format!("killed by signal {signal}\n{text}")))
        }
    }
}

/// Head and tail of an output.
#[derive(Default)]
struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Capture {
    fn push(&mut self, bytes: &[u8]) {
        let half = OUTPUT_LIMIT / 2;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let excess = self.tail.len().saturating_sub(half);
        self.tail.drain(..excess);
        self.left_out += excess;
    }

    fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        match self.left_out {
            0 => String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned(),
            bytes => format!(
                "{}\n[… {bytes} bytes left out …]\n{}",
                String::from_utf8_lossy(&self.head),
                String::from_utf8_lossy(&tail),
            ),
        }
    }
}
