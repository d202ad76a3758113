//! Anchor for a mention's way: lines from a TCP connection go to a child's standard input, lines
//! of its standard output go back. Listens on a free port, prints it, serves one connection.
//! With `--stamp` it is such a child instead: for each line it tells when it saw it, in nanoseconds
//! since 1970. Usage: `bare_bridge PROGRAM [ARGUMENTS]` or `bare_bridge --stamp`.
#![allow(clippy::print_stdout, reason = "its output is how it tells the port, and the time")]
#![allow(
    clippy::disallowed_methods,
    reason = "an anchor is what a bare program does: it starts its child and reads the clock itself"
)]

use std::io::{Error, ErrorKind, Result};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let missing = || Error::new(ErrorKind::InvalidInput, "usage: bare_bridge PROGRAM [ARGUMENTS]");
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or_else(missing)?;
    if program == "--stamp" {
        return stamp();
    }
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let broken = || Error::new(ErrorKind::BrokenPipe, "the child has no pipes");
    let mut to_child = child.stdin.take().ok_or_else(broken)?;
    let mut from_child = BufReader::new(child.stdout.take().ok_or_else(broken)?).lines();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    let (connection, _) = listener.accept().await?;
    connection.set_nodelay(true)?;
    let (from_peer, mut to_peer) = connection.into_split();
    let mut from_peer = BufReader::new(from_peer).lines();
    loop {
        tokio::select! {
            line = from_peer.next_line() => match line? {
                Some(line) => to_child.write_all(format!("{line}\n").as_bytes()).await?,
                None => return Ok(()),
            },
            line = from_child.next_line() => match line? {
                Some(line) => to_peer.write_all(format!("{line}\n").as_bytes()).await?,
                None => return Ok(()),
            },
        }
    }
}

/// The child: blocking, so that nothing comes between the line and the clock.
fn stamp() -> Result<()> {
    for line in std::io::stdin().lines() {
        line?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::other)?;
        println!("{}", since.as_nanos());
    }
    Ok(())
}
