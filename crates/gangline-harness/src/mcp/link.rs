//! A connection to one server: a child process's pipes, or HTTP.
//!
//! The protocol itself is the official library's. A program is started with what was given and
//! nothing else, in a process group that dies with the connection.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gangline_os::lines::{Line, LineReader};
use gangline_os::mcp::McpPlace;
use gangline_os::process::{
    self, Child, ChildStderr, Group, KillPolicy, Output, Spawn, SpawnError, Stdin,
};
use gangline_os::task::TaskGroup;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, serve_client_with_lifecycle};
use tokio::io::DuplexStream;

use super::http::HttpClient;
use super::{MESSAGE_LIMIT, McpTarget, pump};
use crate::client::http_client;

/// The same for the library, with the line's end.
const LINE_LIMIT: usize = MESSAGE_LIMIT + 1024;
/// How much of a program's output is under way to the library, in bytes.
const PIPE: usize = 64 * 1024;
/// Longest line of a program's error output that is kept, in bytes.
const LAST_WORDS: usize = 400;
/// How often a stream of answers that broke is asked for again, and the longest pause before.
const RECONNECTS: usize = 3;
const RECONNECT_PAUSE: Duration = Duration::from_secs(2);
/// How long a program whose pipes broke may take to be gone and its last words to be read, on a
/// machine that is busy.
const PARTING: Duration = Duration::from_secs(2);
/// How long the goodbye may take before the kill policy begins.
const GOODBYE: Duration = Duration::from_secs(2);
const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::from_millis(500), kill_after: Duration::from_millis(1_500) };

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("its command is empty")]
    NoCommand,
    #[error("{0}")]
    Spawn(#[from] SpawnError),
    #[error("its address is not one of http or https")]
    Address,
    #[error("the header {0:?} cannot be sent")]
    Header(String),
    #[error("cannot set up the HTTP client")]
    Http(#[source] Box<dyn Error + Send + Sync>),
    #[error("no connection{last_words}: {}", why(error))]
    Handshake { error: Box<ClientInitializeError>, last_words: String },
}

/// Returns what went wrong without the names of the library's types.
fn why(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => with_causes(error.error.as_ref()),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => other.to_string(),
    }
}

/// Returns the same for a call.
pub(super) fn why_lost(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => with_causes(error.error.as_ref()),
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        other => other.to_string(),
    }
}

/// What we are to a server: a client that can nothing but call its tools.
struct Us;

impl ClientHandler for Us {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("gangline", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }
}

/// A connection that was made.
pub(super) struct Link {
    running: RunningService<RoleClient, Us>,
    program: Option<Program>,
}

impl Link {
    /// Makes the connection. Servers know one of two ways to begin: most the older one, so it is
    /// tried first, and one that refuses it is asked in the newer way.
    pub(super) async fn open(target: &McpTarget) -> Result<Self, LinkError> {
        let first = Self::begin(target, ClientLifecycleMode::Initialize).await;
        match first {
            Err(LinkError::Handshake { error, .. })
                if matches!(*error, ClientInitializeError::JsonRpcError(_)) =>
            {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                Self::begin(target, ClientLifecycleMode::Discover { preferred_versions }).await
            }
            other => other,
        }
    }

    async fn begin(target: &McpTarget, how: ClientLifecycleMode) -> Result<Self, LinkError> {
        match &target.server.place {
            McpPlace::Stdio { .. } => {
                let (mut program, transport) = Program::start(target)?;
                match serve_client_with_lifecycle(Us, transport, how).await {
                    Ok(running) => Ok(Self { running, program: Some(program) }),
                    Err(error) => {
                        let last_words = program.last_words().await;
                        program.child.end(&KILL_POLICY).await;
                        Err(LinkError::Handshake { error: Box::new(error), last_words })
                    }
                }
            }
            McpPlace::Http { url, headers } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers_of(headers)?);
                // Without a limit a call whose server died would wait until its time is over.
                let mut patience = ExponentialBackoff::default();
                (patience.max_times, patience.max_delay) =
                    (Some(RECONNECTS), Some(RECONNECT_PAUSE));
                config.retry_config = Arc::new(patience);
                // A kept connection would be used again before its last answer was read to the end,
                // and stall for as long as the system delays acknowledgements.
                let client = http_client(url).ok_or(LinkError::Address)?.pool_max_idle_per_host(0);
                let client = client.build().map_err(|error| LinkError::Http(Box::new(error)))?;
                let transport =
                    StreamableHttpClientTransport::with_client(HttpClient::new(client), config);
                let running = serve_client_with_lifecycle(Us, transport, how).await;
                let running = running.map_err(|error| LinkError::Handshake {
                    error: Box::new(error),
                    last_words: String::new(),
                })?;
                Ok(Self { running, program: None })
            }
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// Returns what the server says of its use.
    pub(super) fn instructions(&self) -> Option<String> {
        self.running.peer().peer_info().and_then(|about| about.instructions.clone())
    }

    /// Returns whether the other end is still there, as far as it is known.
    pub(super) fn is_alive(&mut self) -> bool {
        let ended = self.program.as_mut().is_some_and(|program| program.child.exited().is_some());
        !ended && !self.running.is_closed() && !self.running.peer().is_transport_closed()
    }

    /// Returns how a program ended and the last line of its error output, to be put after a
    /// sentence.
    pub(super) async fn last_words(&mut self) -> String {
        match &mut self.program {
            Some(program) => program.last_words().await,
            None => String::new(),
        }
    }

    /// Ends connection and program.
    pub(super) async fn end(&mut self) {
        if let Err(error) = self.running.close_with_timeout(GOODBYE).await {
            tracing::warn!(%error, "the connection to an MCP server ended badly");
        }
        if let Some(program) = &mut self.program {
            program.child.end(&KILL_POLICY).await;
        }
    }
}

/// A program that runs. Dropping it kills its process group.
struct Program {
    child: Child,
    /// The last line of its error output.
    said: Arc<Mutex<String>>,
    listener: TaskGroup,
    /// Passes its output on.
    _pump: TaskGroup,
}

type Pipes = AsyncRwTransport<RoleClient, DuplexStream, process::ChildStdin>;

impl Program {
    fn start(target: &McpTarget) -> Result<(Self, Pipes), LinkError> {
        let McpPlace::Stdio { command, env } = &target.server.place else {
            return Err(LinkError::NoCommand);
        };
        let (program, args) = command.split_first().ok_or(LinkError::NoCommand)?;
        let mut child = process::spawn(Spawn {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: target.cwd.clone(),
            env: target.environment(env),
            stdin: Stdin::Piped,
            stdout: Output::Piped,
            stderr: Output::Piped,
            group: Group::New,
        })?;
        let said = Arc::<Mutex<String>>::default();
        let mut listener = TaskGroup::new("mcp");
        if let Some(stderr) = child.take_stderr() {
            listener
                .spawn(format!("stderr of {}", target.key()), listen(stderr, Arc::clone(&said)));
        }
        let (Some(output), Some(input)) = (child.take_stdout(), child.take_stdin()) else {
            return Err(LinkError::NoCommand);
        };
        let (passed_on, read) = tokio::io::duplex(PIPE);
        let mut pump = TaskGroup::new("mcp output");
        pump.spawn(
            format!("output of {}", target.key()),
            pump::pump(output, passed_on, MESSAGE_LIMIT, Arc::clone(&said)),
        );
        let pipes = AsyncRwTransport::new_client(read, input).with_max_line_length(LINE_LIMIT);
        Ok((Self { child, said, listener, _pump: pump }, pipes))
    }

    async fn last_words(&mut self) -> String {
        let parting = async {
            let _gone = self.child.wait().await;
            self.listener.next_end().await;
        };
        let _elapsed = tokio::time::timeout(PARTING, parting).await;
        let mut text = match self.child.exited() {
            Some(exit) => match (exit.code, exit.signal) {
                (Some(code), _) => format!("; it ended with code {code}"),
                (None, Some(signal)) => format!("; it was ended by signal {signal}"),
                (None, None) => "; it ended".to_owned(),
            },
            None => String::new(),
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.is_empty() {
            text.push_str(&format!("; its last words: {said}"));
        }
        text
    }
}

/// Reads a program's error output to its end, so that the pipe never fills, and keeps its last line.
async fn listen(stderr: ChildStderr, said: Arc<Mutex<String>>) {
    let mut lines = LineReader::new(stderr, LAST_WORDS);
    while let Ok(Some(line)) = lines.next().await {
        let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
        if !text.trim().is_empty() {
            *said.lock().unwrap_or_else(PoisonError::into_inner) = text.trim().to_owned();
        }
    }
}

fn headers_of(
    headers: &BTreeMap<String, String>,
) -> Result<std::collections::HashMap<HeaderName, HeaderValue>, LinkError> {
    let header = |(name, value): (&String, &String)| {
        let bad = || LinkError::Header(name.clone());
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value))
    };
    headers.iter().map(header).collect()
}

/// Returns an error and its causes as one line. A cause that the line ends with already is not
/// said twice.
pub(super) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        let below_text = below.to_string();
        if !text.ends_with(&below_text) {
            text.push_str(&format!(": {below_text}"));
        }
        cause = below.source();
    }
    text
}
