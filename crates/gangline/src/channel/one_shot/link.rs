//! The connection of a one-shot client: blocking lines with one deadline for all of them.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    os::unix::net::UnixStream,
    time::Duration,
};

use gangline_irc::{
    client::Address,
    wire::{FormatError, LINE_MAX, Message, numeric as n},
};
use gangline_os::{
    clock::{self, SharedClock},
    dial::{DialError, dial},
};

use crate::show::text::one_line;

/// The name it gives for itself.
const REALNAME: &str = "gangline channel";
/// The capabilities to request, one by one, so that a server grants those that it knows.
const CAPS: [&str; 4] = ["server-time", "message-tags", "batch", "draft/chathistory"];

/// The maximum number of lines that are read after the connection is gone.
const LAST_LINES: usize = 64;

/// Why the server did not tell.
#[derive(Debug, thiserror::Error)]
pub(in crate::channel) enum OneShotError {
    /// Nobody listens there.
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    /// Nobody of ours listens at the own server's socket.
    #[error(transparent)]
    Dial(DialError),
    /// The connection failed.
    #[error("lost the connection")]
    Lost(#[source] io::Error),
    /// The server closed the connection.
    #[error("the server closed the connection: {0}")]
    Closed(String),
    /// The server did not answer in time.
    #[error("the server did not answer in time")]
    Silent,
    /// The server said no.
    #[error("the server refused: {0}")]
    Refused(String),
    /// A line cannot be written.
    #[error("cannot write the line")]
    Line(#[source] FormatError),
    /// Something cannot be told.
    #[error("{0}")]
    Odd(String),
    /// Nobody wants it any more.
    #[error("the request was cancelled: nothing was done")]
    TakenBack,
}

/// One connection, registered.
pub(super) struct Link {
    reader: BufReader<Stream>,
    clock: SharedClock,
    until: Duration,
    /// The last `ERROR` of the server.
    goodbye: String,
    history: bool,
    /// The nick that the server took.
    nick: String,
}

impl Link {
    /// Connects and registers with the first of the nicks that the server takes.
    pub(super) fn open(
        address: &Address,
        nicks: &[String],
        patience: Duration,
    ) -> Result<Self, OneShotError> {
        let stream = connect(address, patience / 2)?;
        let clock = clock::system();
        let until = clock.monotonic() + patience;
        let reader = BufReader::new(stream);
        let mut link = Self {
            reader,
            clock,
            until,
            goodbye: String::new(),
            history: false,
            nick: String::new(),
        };
        link.register(nicks)?;
        Ok(link)
    }

    fn register(&mut self, nicks: &[String]) -> Result<(), OneShotError> {
        let mut nicks = nicks.iter();
        let mut next = || nicks.next().map(|nick| Message::new("NICK").param(nick));
        for cap in CAPS {
            self.send(&Message::new("CAP").param("REQ").trailing(cap))?;
        }
        self.send(&next().unwrap_or_else(|| Message::new("NICK")))?;
        let user = ["_peek", "0", "*"].into_iter().fold(Message::new("USER"), Message::param);
        self.send(&user.trailing(REALNAME))?;
        self.send(&Message::new("CAP").param("END"))?;
        loop {
            let line = self.read()?;
            let acked = line.at(1) == Some("ACK");
            match (line.command.as_str(), line.numeric()) {
                ("CAP", _) if acked && line.params.iter().any(|it| it.contains("chathistory")) => {
                    self.history = true;
                }
                (_, Some(n::RPL_WELCOME)) => {
                    self.nick = line.at(0).unwrap_or_default().to_owned();
                    return Ok(());
                }
                (
                    _,
                    Some(n::ERR_ERRONEUSNICKNAME | n::ERR_NICKNAMEINUSE | n::ERR_UNAVAILRESOURCE),
                ) => match next() {
                    Some(nick) => self.send(&nick)?,
                    None => return Err(refused(&line)),
                },
                (_, Some(n::ERR_PASSWDMISMATCH | n::ERR_YOUREBANNEDCREEP)) => {
                    return Err(refused(&line));
                }
                _ => {}
            }
        }
    }

    /// Returns the nick that the server took.
    pub(super) fn nick(&self) -> &str {
        &self.nick
    }

    /// Returns whether the server tells history in the way of IRCv3.
    pub(super) fn has_history(&self) -> bool {
        self.history
    }

    /// Sends one line.
    pub(super) fn send(&mut self, message: &Message) -> Result<(), OneShotError> {
        let line = message.to_line().map_err(OneShotError::Line)?;
        let sent = self.reader.get_mut().write_all(line.as_bytes());
        sent.map_err(|error| self.lost(error))
    }

    /// Returns why the connection is gone: a server that closes it while something of ours is on
    /// its way has said why before, and what it said can still be read.
    fn lost(&mut self, error: io::Error) -> OneShotError {
        let mut line = Vec::new();
        for _ in 0..LAST_LINES {
            line.clear();
            match self.reader.by_ref().take(LINE_MAX as u64).read_until(b'\n', &mut line) {
                Ok(1..) => self.note_goodbye(&line),
                Ok(0) | Err(_) => break,
            }
        }
        match std::mem::take(&mut self.goodbye) {
            none if none.is_empty() => OneShotError::Lost(error),
            goodbye => OneShotError::Closed(goodbye),
        }
    }

    fn note_goodbye(&mut self, line: &[u8]) {
        if let Ok(message) = Message::parse(line)
            && message.command == "ERROR"
        {
            self.goodbye = one_line(message.at(0).unwrap_or_default());
        }
    }

    /// Reads lines until `pick` finds something in one; a line that says no ends it.
    pub(super) fn until<T>(
        &mut self,
        mut pick: impl FnMut(&Message) -> Result<Option<T>, OneShotError>,
    ) -> Result<T, OneShotError> {
        loop {
            let line = self.read()?;
            if let Some(found) = pick(&line)? {
                return Ok(found);
            }
            if line.command == "FAIL" || line.numeric().is_some_and(says_no) {
                return Err(refused(&line));
            }
        }
    }

    /// Says goodbye; nobody waits for the answer.
    pub(super) fn quit(&mut self) {
        let _ = self.send(&Message::new("QUIT").trailing("done"));
    }

    /// Reads one line, having answered the server's PINGs.
    fn read(&mut self) -> Result<Message, OneShotError> {
        loop {
            let line = self.read_bytes()?;
            let Ok(message) = Message::parse(&line) else { continue };
            match message.command.as_str() {
                "PING" => {
                    let token = message.at(0).unwrap_or_default().to_owned();
                    self.send(&Message::new("PONG").trailing(token))?;
                }
                "ERROR" => self.goodbye = one_line(message.at(0).unwrap_or_default()),
                _ => return Ok(message),
            }
        }
    }

    fn read_bytes(&mut self) -> Result<Vec<u8>, OneShotError> {
        let mut line = Vec::new();
        loop {
            let left = self.until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(OneShotError::Silent);
            }
            self.reader.get_ref().set_read_timeout(left).map_err(OneShotError::Lost)?;
            let room = (LINE_MAX - line.len()) as u64;
            match self.reader.by_ref().take(room).read_until(b'\n', &mut line) {
                Ok(0) if line.len() < LINE_MAX => {
                    return Err(OneShotError::Closed(std::mem::take(&mut self.goodbye)));
                }
                // A line that never ends is cut; its rest will be no line that anybody waits for.
                Ok(_) if line.ends_with(b"\n") || line.len() >= LINE_MAX => return Ok(line),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut
                    | io::ErrorKind::Interrupted => {}
                    _ => return Err(self.lost(error)),
                },
            }
        }
    }
}

/// A connection, whichever way it goes.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn set_read_timeout(&self, patience: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(patience)),
            Self::Unix(stream) => stream.set_read_timeout(Some(patience)),
        }
    }
}

impl io::Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            Self::Unix(stream) => stream.read(bytes),
        }
    }
}

impl io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
        }
    }
}

fn connect(address: &Address, patience: Duration) -> Result<Stream, OneShotError> {
    let address = match address {
        Address::Own(path) => {
            let stream = dial(path, patience).map_err(OneShotError::Dial)?;
            stream.set_write_timeout(Some(patience)).map_err(OneShotError::Connect)?;
            return Ok(Stream::Unix(stream));
        }
        Address::Tcp(address) => address,
    };
    let mut last = io::ErrorKind::NotFound.into();
    for address in address.to_socket_addrs().map_err(OneShotError::Connect)? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_write_timeout(Some(patience)).map_err(OneShotError::Connect)?;
                return Ok(Stream::Tcp(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(OneShotError::Connect(last))
}

/// Numerics of errors, but for those that say that there is no message of the day.
fn says_no(numeric: u16) -> bool {
    (400..600).contains(&numeric) && numeric != n::ERR_NOMOTD
}

fn refused(line: &Message) -> OneShotError {
    let words = line.params.iter().skip(usize::from(line.numeric().is_some()));
    OneShotError::Refused(one_line(&words.cloned().collect::<Vec<_>>().join(" ")))
}
