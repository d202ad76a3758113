//! Anchor for requests over a unix socket: each line goes back as it came, unread. Prints `ready`
//! and stays until it is killed. Usage: `bare_echo SOCKET`.
#![allow(clippy::print_stdout, reason = "its one line of output is how the measurement starts")]
#![allow(clippy::disallowed_methods, reason = "an anchor is what a bare program does")]

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let missing = || Error::new(ErrorKind::InvalidInput, "usage: bare_echo SOCKET");
    let listener = UnixListener::bind(std::env::args().nth(1).ok_or_else(missing)?)?;
    println!("ready");
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(echo(connection));
    }
}

async fn echo(connection: UnixStream) -> Result<()> {
    let (from, mut to) = connection.into_split();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await? > 0 {
        to.write_all(&line).await?;
        line.clear();
    }
    Ok(())
}
