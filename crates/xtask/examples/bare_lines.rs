//! Anchor for what a channel's line costs its reader: a client in the room that keeps the last 500
//! lines and does nothing else with them. Prints `ready` when it is in the room, and after every
//! COUNT lines that were said there a line with the number so far. Stays until it is killed.
//! Usage: `bare_lines ADDRESS ROOM COUNT`.
#![allow(clippy::print_stdout, reason = "its output is how the measurement is steered")]

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const KEPT: usize = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let missing = || Error::new(ErrorKind::InvalidInput, "usage: bare_lines ADDRESS ROOM COUNT");
    let mut arguments = std::env::args().skip(1);
    let (address, room) = arguments.next().zip(arguments.next()).ok_or_else(missing)?;
    let count: u64 = arguments.next().and_then(|it| it.parse().ok()).ok_or_else(missing)?;
    let connection = TcpStream::connect(address).await?;
    connection.set_nodelay(true)?;
    let (from, mut to) = connection.into_split();
    let hello = format!("NICK bare\r\nUSER bare 0 * :bare\r\nJOIN {room}\r\n");
    to.write_all(hello.as_bytes()).await?;
    let (mut from, mut kept, mut said) = (BufReader::new(from), VecDeque::new(), 0_u64);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("PING"), Some(token)) => to.write_all(format!("PONG {token}").as_bytes()).await?,
            (_, Some("366")) => println!("ready"),
            (_, Some("PRIVMSG")) => {
                said += 1;
                if said.is_multiple_of(count) {
                    println!("{said}");
                }
                if kept.len() == KEPT {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
            _ => {}
        }
    }
}
