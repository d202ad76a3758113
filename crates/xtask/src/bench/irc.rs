//! A person at an IRC client: joins the room, says lines, hears answers. Blocking, and no more of
//! the protocol than that takes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// One connection.
pub(super) struct Person {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Person {
    /// Connects and joins.
    pub(super) fn join(address: &str, nick: &str, room: &str) -> Result<Self> {
        Self::greet(address, "", nick, room)
    }

    /// Connects, logs in to the account that has this nick's name, and joins.
    pub(super) fn join_as(address: &str, nick: &str, secret: &str, room: &str) -> Result<Self> {
        Self::greet(address, &format!("PASS {nick}:{secret}\r\n"), nick, room)
    }

    fn greet(address: &str, login: &str, nick: &str, room: &str) -> Result<Self> {
        let to = TcpStream::connect(address).context("cannot reach the IRC server")?;
        to.set_nodelay(true).context("cannot switch off delays")?;
        to.set_read_timeout(Some(PATIENCE)).context("cannot set a deadline")?;
        let from = BufReader::new(to.try_clone().context("cannot share the connection")?);
        let mut person = Self { to, from };
        person.send(&format!("{login}NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\n"))?;
        person.hear(&[" 001 "])?;
        person.send(&format!("JOIN {room}\r\n"))?;
        person.hear(&[" 366 "])?;
        Ok(person)
    }

    /// Says a line to the room; returns the moment before it was written.
    pub(super) fn say(&mut self, room: &str, text: &str) -> Result<Instant> {
        let line = format!("PRIVMSG {room} :{text}\r\n");
        let start = shell::now();
        self.send(&line)?;
        Ok(start)
    }

    /// Reads until a line has all of these parts.
    pub(super) fn hear(&mut self, parts: &[&str]) -> Result<()> {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.from.read_line(&mut line);
            if read.with_context(|| format!("no line with {parts:?} came"))? == 0 {
                bail!("the IRC server closed before a line with {parts:?} came");
            }
            if let Some(token) = line.strip_prefix("PING ") {
                self.send(&format!("PONG {token}"))?;
            }
            if parts.iter().all(|part| line.contains(part)) {
                return Ok(());
            }
        }
    }

    fn send(&mut self, text: &str) -> Result<()> {
        self.to.write_all(text.as_bytes()).context("the IRC server is gone")
    }
}
