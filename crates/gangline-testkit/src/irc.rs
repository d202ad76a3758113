//! A person's IRC client, as little of one as a test needs: raw lines over TCP.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use crate::wait::{PATIENCE, eventually_within};

/// One connection; every line that came is kept in order.
pub struct IrcPeer {
    stream: TcpStream,
    heard: Arc<Heard>,
    read_up_to: usize,
    /// Carries the bytes for a peer of another user.
    relay: Option<Child>,
    /// The nick it registered with.
    pub nick: String,
}

/// What came over a connection; its reader announces every change.
#[derive(Default)]
struct Heard {
    log: Mutex<Log>,
    changed: Condvar,
}

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    /// Nothing more will come.
    gone: bool,
}

impl Heard {
    fn change(&self, change: impl FnOnce(&mut Log)) {
        change(&mut self.log.lock().unwrap());
        self.changed.notify_all();
    }

    /// Waits for lines beyond the first `known`, and returns them: none when the connection is
    /// gone, or at the deadline.
    #[allow(clippy::disallowed_methods, reason = "tests wait in real time")]
    fn beyond(&self, known: usize, deadline: Instant) -> Vec<String> {
        let left = deadline.saturating_duration_since(Instant::now());
        let log = self.log.lock().unwrap();
        let nothing_new = |log: &mut Log| log.lines.len() <= known && !log.gone;
        let (log, _) = self.changed.wait_timeout_while(log, left, nothing_new).unwrap();
        log.lines[known..].to_vec()
    }
}

/// Joins two connections, byte for byte.
const RELAY: &str = "exec 3<>\"/dev/tcp/${1%:*}/${1##*:}\" 4<>\"/dev/tcp/${2%:*}/${2##*:}\"; cat <&3 \
                     >&4 & exec cat <&4 >&3";

impl IrcPeer {
    /// Connects, registers and waits for the end of the greeting.
    ///
    /// # Panics
    /// When the server does not greet in time.
    #[must_use]
    pub fn connect(address: &str, nick: &str, password: Option<&str>) -> Self {
        Self::connect_with(address, (nick, password), "message-tags server-time")
    }

    /// Like [`Self::connect`] with these capabilities.
    ///
    /// # Panics
    /// When the server does not greet in time.
    #[must_use]
    pub fn connect_with(address: &str, (nick, password): (&str, Option<&str>), caps: &str) -> Self {
        let mut peer = Self::open(address, nick);
        peer.register(password, caps);
        peer
    }

    /// Registers with the nick it was opened with, and waits for the end of the greeting.
    ///
    /// # Panics
    /// When the server does not greet in time.
    pub fn register(&mut self, password: Option<&str>, caps: &str) {
        self.send(&format!("CAP REQ :{caps}"));
        if let Some(password) = password {
            self.send(&format!("PASS {password}"));
        }
        let nick = self.nick.clone();
        self.send(&format!("NICK {nick}"));
        self.send(&format!("USER {nick} 0 * :{nick}"));
        self.send("CAP END");
        self.wait("end of the greeting", |line| {
            (command(line) == "376" || command(line) == "422").then_some(())
        });
    }

    /// Connects without a word, as another user of this machine. Only root can.
    ///
    /// # Panics
    /// When the process that carries the bytes cannot be started.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    pub fn open_as(uid: u32, address: &str, nick: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap().to_string();
        let relay = Command::new("bash")
            .args(["-c", RELAY, "relay", address, &ours])
            .current_dir("/")
            .stdin(Stdio::null())
            .uid(uid)
            .gid(uid)
            .process_group(0)
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut peer = Self::over(stream, nick);
        peer.relay = Some(relay);
        peer
    }

    /// Connects without a word.
    ///
    /// # Panics
    /// When nobody listens in time.
    #[must_use]
    pub fn open(address: &str, nick: &str) -> Self {
        let stream = eventually_within(PATIENCE, &format!("a listener on {address}"), || {
            TcpStream::connect(address).ok()
        });
        Self::over(stream, nick)
    }

    fn over(stream: TcpStream, nick: &str) -> Self {
        let reply = stream.try_clone().unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let heard = Arc::new(Heard::default());
        let teller = Arc::clone(&heard);
        thread::spawn(move || {
            for line in reader.split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
                if let Some(token) = line.strip_prefix("PING ") {
                    let _ = put(&reply, &format!("PONG {token}"));
                }
                teller.change(|log| log.lines.push(line));
            }
            teller.change(|log| log.gone = true);
        });
        Self { stream, heard, read_up_to: 0, relay: None, nick: nick.to_owned() }
    }

    /// Sends one raw line; returns whether the connection took it.
    pub fn try_send(&mut self, line: &str) -> bool {
        put(&self.stream, line).is_ok()
    }

    /// Returns what `pick` finds in a line not looked at yet, or nothing when the server is gone
    /// or the patience over.
    ///
    /// # Panics
    /// When the reader died with the lock.
    #[allow(clippy::disallowed_methods, reason = "tests wait in real time")]
    pub fn listen<T>(
        &mut self,
        patience: Duration,
        mut pick: impl FnMut(&str) -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + patience;
        loop {
            let lines = self.heard.beyond(self.read_up_to, deadline);
            let nothing_came = lines.is_empty();
            for line in lines {
                self.read_up_to += 1;
                if let Some(found) = pick(&line) {
                    return Some(found);
                }
            }
            if nothing_came || Instant::now() >= deadline {
                return None;
            }
        }
    }

    /// Returns the whole history of a target, oldest first, as the server keeps it. Needs the
    /// capability `batch`.
    ///
    /// # Panics
    /// When the server does not answer in time.
    pub fn history(&mut self, target: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut after = "timestamp=2000-01-01T00:00:00.000Z".to_owned();
        loop {
            self.send(&format!("CHATHISTORY AFTER {target} {after} 100"));
            let mut page = Vec::new();
            self.wait("a page of history", |line| {
                // Live lines may stand before the page.
                let paged = tag(line, "batch").is_some();
                if paged && (command(line) == "PRIVMSG" || command(line) == "NOTICE") {
                    page.push(line.to_owned());
                }
                let ends = command(line) == "BATCH" && line.contains("BATCH -");
                (ends || command(line) == "FAIL").then_some(())
            });
            // Of a message of several lines only the first has an id.
            let Some(msgid) = page.iter().rev().find_map(|line| tag(line, "msgid")) else {
                return all;
            };
            after = format!("msgid={msgid}");
            all.append(&mut page);
        }
    }

    /// Sends one raw line.
    ///
    /// # Panics
    /// When the connection is gone.
    pub fn send(&mut self, line: &str) {
        put(&self.stream, line).unwrap();
    }

    /// Sends bytes that need not be a line.
    ///
    /// # Panics
    /// When the connection is gone.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Joins a channel and waits for the end of its names.
    pub fn join(&mut self, channel: &str) {
        self.send(&format!("JOIN {channel}"));
        self.wait("end of names", |line| (command(line) == "366").then_some(()));
    }

    /// Says something.
    pub fn say(&mut self, target: &str, text: &str) {
        self.send(&format!("PRIVMSG {target} :{text}"));
    }

    /// Returns what `pick` finds in the first line not looked at yet in which it finds something.
    ///
    /// # Panics
    /// When there is none in time; prints every line that came.
    pub fn wait<T>(&mut self, what: &str, pick: impl FnMut(&str) -> Option<T>) -> T {
        self.wait_within(PATIENCE, what, pick)
    }

    /// Like [`Self::wait`] with a deadline of one's own.
    ///
    /// # Panics
    /// When there is none in time.
    pub fn wait_within<T>(
        &mut self,
        patience: Duration,
        what: &str,
        pick: impl FnMut(&str) -> Option<T>,
    ) -> T {
        self.listen(patience, pick).unwrap_or_else(|| {
            let gone =
                if self.heard.log.lock().unwrap().gone { "; the server is gone" } else { "" };
            let all = self.lines().join("\n  ");
            panic!("{}: not within {patience:?}: {what}{gone}; lines:\n  {all}", self.nick)
        })
    }

    /// Waits for a line said by `from` to `target` that contains `part`; returns its text.
    pub fn hears(&mut self, from: &str, target: &str, part: &str) -> String {
        let what = format!("{from} saying `{part}` to {target}");
        self.wait(&what, |line| {
            let said = said(line)?;
            (said.from == from
                && said.target.eq_ignore_ascii_case(target)
                && said.text.contains(part))
            .then(|| said.text.to_owned())
        })
    }

    /// Returns every line that came so far.
    ///
    /// # Panics
    /// When the reader died with the lock.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.heard.log.lock().unwrap().lines.clone()
    }
}

/// Writes a line whole: two threads write, and no answer to a PING may stand within a line.
fn put(mut stream: &TcpStream, line: &str) -> std::io::Result<()> {
    stream.write_all(format!("{line}\r\n").as_bytes())
}

impl Drop for IrcPeer {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        if let Some(mut relay) = self.relay.take() {
            let group = nix::unistd::Pid::from_raw(i32::try_from(relay.id()).unwrap());
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
            let _ = relay.wait();
        }
    }
}

/// One PRIVMSG or NOTICE, taken apart.
pub struct Said<'a> {
    /// The sender's nick.
    pub from: &'a str,
    /// Where it went.
    pub target: &'a str,
    /// What was said.
    pub text: &'a str,
}

/// Returns the number of the approval that a line announces.
#[must_use]
pub fn approval(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(" wants to ")?.1.rsplit_once(" yes ")?;
    rest.split('`').next()?.parse().ok()
}

/// Returns the line's parts if somebody said it.
#[must_use]
pub fn said(line: &str) -> Option<Said<'_>> {
    let line = skip_tags(line);
    let (source, rest) = line.strip_prefix(':')?.split_once(' ')?;
    let rest = rest.strip_prefix("PRIVMSG ").or_else(|| rest.strip_prefix("NOTICE "))?;
    let (target, text) = rest.split_once(' ')?;
    let from = source.split_once('!').map_or(source, |(nick, _)| nick);
    Some(Said { from, target, text: text.strip_prefix(':').unwrap_or(text) })
}

/// Returns the line's command or numeric.
#[must_use]
pub fn command(line: &str) -> &str {
    let line = skip_tags(line);
    let line = line.strip_prefix(':').map_or(line, |rest| rest.split_once(' ').map_or("", |p| p.1));
    line.split(' ').next().unwrap_or("")
}

/// Returns the value of a message tag.
#[must_use]
pub fn tag<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let tags = line.strip_prefix('@')?.split_once(' ')?.0;
    tags.split(';').find_map(|tag| tag.strip_prefix(name)?.strip_prefix('='))
}

fn skip_tags(line: &str) -> &str {
    line.strip_prefix('@').map_or(line, |rest| rest.split_once(' ').map_or("", |parts| parts.1))
}
