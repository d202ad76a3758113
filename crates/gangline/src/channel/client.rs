//! A client of a daemon's socket that blocks: for commands, which have nothing else to do.
//!
//! Requests go out one at a time; the response is found by its id (R0-54). Whispers that come
//! meanwhile are printed on standard error (R0-55).

use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use gangline_api::ipc::{
    Command, EncodeError, FRAME_MAX, Form, Frame, FrameError, Request, RequestId, Response, Token,
    Whisper,
};
use gangline_os::{
    clock::{self, SharedClock},
    dial::{self, DialError},
};

use crate::{output, show::text};

#[cfg(test)]
mod tests;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(3);
/// How long a response may take.
pub(crate) const RESPONSE: Duration = Duration::from_secs(15);
/// What is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// No daemon can be spoken to: nothing was asked.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Unreachable(#[from] DialError);

/// Why a request that was sent has no response: it may have been done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The request has no form on the wire; it was not sent.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The connection failed.
    #[error("lost the connection to the daemon")]
    Lost(#[source] io::Error),
    /// The daemon closed the connection.
    #[error("the daemon closed the connection")]
    Closed,
    /// The daemon did not respond.
    #[error("the daemon did not respond within {} s", .0.as_secs())]
    Silent(Duration),
    /// What came is no frame.
    #[error("the daemon sent something that is not a frame")]
    Frame(#[source] FrameError),
    /// A line had no end.
    #[error("the daemon sent a line of more than {FRAME_MAX} bytes")]
    TooLong,
}

/// A connection to a daemon.
pub(crate) struct Client {
    stream: UnixStream,
    clock: SharedClock,
    /// What was read and is not a whole line yet.
    part: Vec<u8>,
    /// Whole lines that nobody has looked at yet.
    lines: VecDeque<Vec<u8>>,
    /// The whispers that came, for who shows them elsewhere; `None` = they are printed.
    kept: Option<Vec<Whisper>>,
}

impl Client {
    /// Connects to the first of these sockets at which somebody listens.
    ///
    /// A daemon of another user ends the search: what stands in its place is not to be trusted.
    pub(crate) fn dial(sockets: &[PathBuf]) -> Result<Self, Unreachable> {
        let mut first = None;
        for socket in sockets {
            match dial::dial(socket, CONNECT) {
                Ok(stream) => {
                    let clock = clock::system();
                    return Ok(Self {
                        stream,
                        clock,
                        part: Vec::new(),
                        lines: VecDeque::new(),
                        kept: None,
                    });
                }
                Err(error @ DialError::Foreign { .. }) => return Err(error.into()),
                Err(error) => first = first.or(Some(error)),
            }
        }
        let nowhere =
            || DialError::Connect { path: PathBuf::new(), source: io::ErrorKind::NotFound.into() };
        Err(first.unwrap_or_else(nowhere).into())
    }

    /// Keeps whispers instead of printing them.
    pub(crate) fn keeping(mut self) -> Self {
        self.kept = Some(Vec::new());
        self
    }

    /// Returns the whispers that were kept, as lines in front of a result (R1-17); empty for none.
    pub(crate) fn kept(&mut self) -> String {
        let kept = self.kept.as_mut().map(std::mem::take).unwrap_or_default();
        let line = |it: &Whisper| {
            let kind = text::one_line(&it.whisper_type);
            format!("[SUPERVISOR/{kind}] {}\n", text::one_line(&it.message))
        };
        kept.iter().map(line).collect()
    }

    fn heard(&mut self, whisper: Whisper) {
        match &mut self.kept {
            Some(kept) => kept.push(whisper),
            None => show(&whisper),
        }
    }

    /// Asks, and waits for the response.
    pub(crate) fn ask(
        &mut self,
        command: Command,
        token: Option<Token>,
        patience: Duration,
    ) -> Result<Response, AskError> {
        let id = uuid::Uuid::new_v4().to_string();
        let id = RequestId::new(id).ok();
        let request = Request { id: id.clone(), token, command, form: Form::Typed };
        let line = request.encode()?;
        self.stream.set_write_timeout(Some(RESPONSE)).map_err(AskError::Lost)?;
        self.stream.write_all(&line).map_err(AskError::Lost)?;
        let until = self.clock.monotonic() + patience;
        loop {
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(AskError::Silent(patience));
            }
            match self.next(left) {
                Err(AskError::Silent(_)) => return Err(AskError::Silent(patience)),
                Err(error) => return Err(error),
                Ok(Frame::Whisper(whisper)) => self.heard(whisper),
                Ok(Frame::Response(response)) if response.id == id => {
                    return Ok(response);
                }
                // Somebody else's, and events that nobody asked for here.
                Ok(Frame::Response(_) | Frame::Event(_)) => {}
            }
        }
    }

    /// Prints the whispers that have come already, without waiting for more.
    pub(crate) fn whispered(&mut self) {
        while let Some(line) = self.lines.pop_front() {
            if let Ok(Some(Frame::Whisper(whisper))) = Frame::decode(&line) {
                self.heard(whisper);
            }
        }
    }

    /// Returns the next frame that is known; waits at most `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Frame, AskError> {
        let until = self.clock.monotonic() + patience;
        loop {
            if let Some(frame) = self.whole()? {
                return Ok(frame);
            }
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(AskError::Silent(patience));
            }
            self.fill(Some(left))?;
        }
    }

    /// Returns the next frame that is known, however long it takes; `None` as soon as nobody reads
    /// any more what is printed.
    pub(crate) fn next_to_print(&mut self) -> Result<Option<Frame>, AskError> {
        loop {
            if let Some(frame) = self.whole()? {
                return Ok(Some(frame));
            }
            if !output::read_while(&self.stream).map_err(AskError::Lost)? {
                return Ok(None);
            }
            self.fill(None)?;
        }
    }

    /// Returns the next frame that has come and is known.
    fn whole(&mut self) -> Result<Option<Frame>, AskError> {
        while let Some(line) = self.lines.pop_front() {
            if let Some(frame) = Frame::decode(&line).map_err(AskError::Frame)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Reads once and takes whole lines out of what has come.
    fn fill(&mut self, left: Option<Duration>) -> Result<(), AskError> {
        self.stream.set_read_timeout(left).map_err(AskError::Lost)?;
        let mut chunk = [0; CHUNK];
        let read = match self.stream.read(&mut chunk) {
            Ok(0) => return Err(AskError::Closed),
            Ok(read) => read,
            Err(error) => match error.kind() {
                // The caller looks at the time again.
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => {
                    return Ok(());
                }
                _ => return Err(AskError::Lost(error)),
            },
        };
        let mut rest = &chunk[..read];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.part.extend_from_slice(&rest[..end]);
            let line = std::mem::take(&mut self.part);
            if !line.trim_ascii().is_empty() {
                self.lines.push_back(line);
            }
            rest = &rest[end + 1..];
        }
        self.part.extend_from_slice(rest);
        if self.part.len() > FRAME_MAX { Err(AskError::TooLong) } else { Ok(()) }
    }
}

/// Prints a whisper on standard error, in the form that skills look for (R0-55).
fn show(whisper: &Whisper) {
    let kind = text::one_line(&whisper.whisper_type);
    output::note(&format!("[whisper:{kind}] {}", text::lines(&whisper.message)));
}
