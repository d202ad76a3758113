//! `gangline mcp`: an MCP server on the standard streams, for programs that start one themselves.
//!
//! With `--connect` it joins the streams to the socket at which a daemon serves its tools (R2-16).
//! One may run beside each agent all day, so that is small: no async runtime, no configuration, and
//! nothing is looked into that passes by. With `--nick` it serves tools of its own, which speak to
//! the agent's daemon: [`outside`]. Start at [`early`].

pub(crate) mod outside;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser};
use gangline_os::{dial, task};

use crate::{cli::Global, failure::Failure, who::Who};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// What is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// What may be typed behind `gangline mcp`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct McpArgs {
    /// Serve the tools of this agent
    #[arg(long, value_name = "NICK")]
    nick: Option<Who>,
    /// Forward to this socket; Gangline passes it to an agent's program
    #[arg(long, value_name = "SOCKET")]
    connect: Option<PathBuf>,
}

/// `gangline mcp` alone.
#[derive(Debug, Parser)]
#[command(name = "gangline mcp", bin_name = "gangline mcp", version)]
#[command(about = ABOUT, long_about = LONG, max_term_width = 100)]
struct Alone {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    args: McpArgs,
}

pub(crate) const ABOUT: &str = "Serve an agent's tools to any MCP client, on the standard streams";
pub(crate) const LONG: &str = "\
Serve an agent's tools to any MCP client: an MCP server on the standard streams.

With --nick you ask the agent, read its letters and questions, and answer them (ask, recv, answer and others), and you send and read messages (send, read, who and others). Reading shows what that agent's daemon sees, and marks nothing as read for the agent. Messages are sent in your name, over a separate connection to the chat server. If the agent itself starts it (GANGLINE_TOKEN is set), it uses its own tools.

A client's entry: {\"command\": \"gangline\", \"args\": [\"mcp\", \"--nick\", \"NICK\"]}

With --connect it forwards a daemon's tools to an agent's program.";

/// Runs the program as `gangline mcp`, if it was called so.
pub(crate) fn early(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    if arguments.first()? != "mcp" {
        return None;
    }
    if let [_, flag, socket] = arguments.as_slice()
        && flag == "--connect"
    {
        return Some(ended(bridge(Path::new(socket))));
    }
    Some(match Alone::try_parse_from(arguments) {
        Ok(alone) => ended(run(&alone.global, &alone.args)),
        Err(error) => crate::refused(&error),
    })
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit().code())
        }
    }
}

/// Does what the command line asks for.
pub(crate) fn run(global: &Global, args: &McpArgs) -> Result<(), Failure> {
    match (&args.nick, &args.connect) {
        (Some(nick), _) => outside::serve(global.place(), nick),
        (None, Some(socket)) => bridge(socket),
        // The parser wants one of them.
        (None, None) => Err(Failure::user("give --nick NICK")),
    }
}

/// Joins both until the daemon closes, or the program reads no more. When the program says nothing
/// more, the answers that are under way still come.
fn bridge(socket: &Path) -> Result<(), Failure> {
    let daemon = dial::dial(socket, CONNECT).map_err(|error| {
        Failure::environment(error)
            .doing("cannot reach the agent's daemon")
            .hint("its socket exists only while its session runs")
    })?;
    join(&daemon)
}

/// Joins the standard streams to a connection.
fn join(daemon: &UnixStream) -> Result<(), Failure> {
    let words = daemon.try_clone().map_err(Failure::environment)?;
    // Left to itself: it may wait for words for ever, and ends with the process.
    task::thread("words", move || {
        // What the daemon does not take, it has no answer to.
        let _ = carry(io::stdin().lock(), &words);
        let _ = words.shutdown(Shutdown::Write);
    })
    .map_err(Failure::environment)?;
    match carry(daemon, io::stdout().lock()) {
        Ok(()) | Err(Broken::Write) => Ok(()),
        Err(Broken::Read(error)) => {
            Err(Failure::environment(error).doing("lost the connection to the agent's daemon"))
        }
    }
}

/// Which side broke.
enum Broken {
    Read(io::Error),
    /// Its reader is gone; why is that one's own affair.
    Write,
}

/// Carries bytes as they come, until there are no more.
fn carry(mut from: impl Read, mut to: impl Write) -> Result<(), Broken> {
    let mut chunk = [0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Broken::Read(error)),
        };
        to.write_all(&chunk[..read]).and_then(|()| to.flush()).map_err(|_| Broken::Write)?;
    }
}
