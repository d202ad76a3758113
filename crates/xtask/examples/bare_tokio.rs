//! Anchor for idle memory: the least a daemon could be. One unix listener, one TCP connection to
//! the given address, one 30 s timer, one thread. Prints `ready` and stays until it is killed.
//! Usage: `bare_tokio ADDRESS SOCKET`.
#![allow(clippy::print_stdout, reason = "its one line of output is how the measurement starts")]

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UnixListener};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let missing = || Error::new(ErrorKind::InvalidInput, "usage: bare_tokio ADDRESS SOCKET");
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or_else(missing)?;
    let listener = UnixListener::bind(arguments.next().ok_or_else(missing)?)?;
    let mut connection = TcpStream::connect(address).await?;
    let mut timer = tokio::time::interval(Duration::from_secs(30));
    println!("ready");
    let mut buffer = [0; 512];
    loop {
        tokio::select! {
            read = connection.read(&mut buffer) => if read? == 0 { return Ok(()) },
            accepted = listener.accept() => drop(accepted?),
            _ = timer.tick() => {}
        }
    }
}
