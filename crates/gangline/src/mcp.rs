//! `gangline mcp`: joins the standard streams to the socket at which a daemon serves its tools
//! (R2-16), for programs that start a tool server themselves.
//!
//! One may run beside each agent all day, so it is small: no async runtime, no configuration, and
//! nothing is looked into that passes by. Start at [`early`].

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    net::Shutdown,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser};
use gangline_os::{dial, task};

use crate::failure::Failure;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// What is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// What may be typed behind `gangline mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The socket at which the daemon serves its tools
    #[arg(long, value_name = "SOCKET")]
    pub(crate) connect: PathBuf,
}

/// `gangline mcp` by itself.
#[derive(Debug, Parser)]
#[command(name = "gangline mcp", bin_name = "gangline mcp", version)]
#[command(about = ABOUT, long_about = None, max_term_width = 100)]
struct Alone {
    #[command(flatten)]
    args: McpArgs,
}

const ABOUT: &str =
    "The tools of an agent's daemon over standard streams: started by the agent's program";

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
        return Some(ended(run(Path::new(socket))));
    }
    Some(match Alone::try_parse_from(arguments) {
        Ok(alone) => ended(run(&alone.args.connect)),
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

/// Joins both until the daemon closes, or the program reads no more. When the program says nothing
/// more, the answers that are under way still come.
pub(crate) fn run(socket: &Path) -> Result<(), Failure> {
    let daemon = dial::dial(socket, CONNECT).map_err(|error| {
        Failure::environment(error)
            .doing("cannot reach the agent's daemon")
            .hint("its socket lives as long as the session that it was made for")
    })?;
    let words = daemon.try_clone().map_err(Failure::environment)?;
    // Left to itself: it may wait for words for ever, and ends with the process.
    task::thread("words", move || {
        // What the daemon does not take, it has no answer to.
        let _ = carry(io::stdin().lock(), &words);
        let _ = words.shutdown(Shutdown::Write);
    })
    .map_err(Failure::environment)?;
    match carry(&daemon, io::stdout().lock()) {
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
