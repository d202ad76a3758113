//! The unix socket: one message a line, both ways. Who may connect is the file system's business.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use gangline_mcp::{oversize::Long, rpc};
use gangline_os::{
    accept, fsio, json,
    lines::{Line, LineReader},
};
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt,
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    time::timeout,
};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{
    CALLS_MAX, CONNECTIONS, EXCHANGE_WITHIN, MESSAGE_MAX, SOCKET_PATH_MAX,
    calls::{Answer, Caller, Taken},
    oversize::Watched,
};

const TOO_LONG: &str = "a message has at most 1 MiB; send less text at once";
const BEGIN: &str = "mcp-";
const END: &str = ".sock";

/// The socket's file; it goes with its owner.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            debug!(path = %self.0.display(), %error, "cannot be removed");
        }
    }
}

/// Listens at a name of its own in `folder`, and removes what dead servers left there.
pub(crate) fn listen(folder: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let name: String = Uuid::new_v4().simple().to_string().chars().take(8).collect();
    let path = folder.join(format!("{BEGIN}{name}{END}"));
    if path.as_os_str().len() > SOCKET_PATH_MAX {
        let text = format!(
            "{} is too long for a socket: at most {SOCKET_PATH_MAX} bytes are",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    fsio::private_dir(folder)?;
    sweep(folder);
    let listener = UnixListener::bind(&path)?;
    let file = SocketFile(path);
    // The folder is private, so nobody comes in before this.
    fs::set_permissions(&file.0, fs::Permissions::from_mode(0o600))?;
    Ok((listener, file))
}

fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|it| it.starts_with(BEGIN) && it.ends_with(END));
        let refused = || match std::os::unix::net::UnixStream::connect(entry.path()) {
            Ok(_) => false,
            Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        };
        if ours && refused() {
            debug!(path = %entry.path().display(), "a dead server's socket is removed");
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Serves until it is dropped.
pub(super) async fn serve(listener: UnixListener, caller: Caller) {
    let server = Uuid::new_v4().simple().to_string();
    let mut count: u64 = 0;
    let serving = |stream| {
        count += 1;
        let connection = Connection::new(stream, caller.clone(), format!("{server}:u{count}"));
        async move {
            if let Err(error) = connection.run().await {
                debug!(%error, "a connection to the tools ended badly");
            }
        }
    };
    accept::each(listener, CONNECTIONS, serving).await;
}

/// Serves one connection to its end.
pub(super) async fn serve_one(stream: UnixStream, caller: Caller) -> io::Result<()> {
    Connection::new(stream, caller, Uuid::new_v4().simple().to_string()).run().await
}

struct Connection {
    lines: LineReader<Watched<OwnedReadHalf>>,
    output: OwnedWriteHalf,
    caller: Caller,
    session: String,
    answers: mpsc::Sender<Answer>,
    answered: mpsc::Receiver<Answer>,
}

/// Whether more is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Close,
}

enum Event {
    Line(io::Result<Option<Line>>),
    Answered(Answer),
}

impl Connection {
    fn new(stream: UnixStream, caller: Caller, session: String) -> Self {
        let (input, output) = stream.into_split();
        let (answers, answered) = mpsc::channel(CALLS_MAX);
        Self {
            lines: LineReader::new(Watched::new(input, MESSAGE_MAX), MESSAGE_MAX),
            output,
            caller,
            session,
            answers,
            answered,
        }
    }

    /// Serves until the other end closes and has what it asked for, or does not read.
    async fn run(mut self) -> io::Result<()> {
        loop {
            let event = tokio::select! {
                line = self.lines.next() => Event::Line(line),
                Some(answer) = self.answered.recv() => Event::Answered(answer),
            };
            match event {
                Event::Line(line) => match line? {
                    None => return self.finish().await,
                    Some(line) => {
                        if self.line(line).await? == Then::Close {
                            return self.finish().await;
                        }
                    }
                },
                Event::Answered(answer) => self.give(answer).await?,
            }
        }
    }

    /// The other end says nothing more: it gets the answers that are under way.
    async fn finish(mut self) -> io::Result<()> {
        let (closed, _) = mpsc::channel(1);
        self.answers = closed;
        while let Some(answer) = self.answered.recv().await {
            self.give(answer).await?;
        }
        Ok(())
    }

    async fn line(&mut self, line: Line) -> io::Result<Then> {
        let mut then = Then::GoOn;
        let wrong = |code, text| Taken::Answer(rpc::error(&Value::Null, code, text));
        let taken = match line {
            Line::Text(text) if text.trim().is_empty() => Taken::Nothing,
            Line::Text(text) => match json::from_str::<Value>(&text) {
                Ok(message) => self.caller.take(&message, &self.session, &self.answers).await,
                Err(why) => Taken::Answer(rpc::unreadable(json::find(&text, &["id"]), &why)),
            },
            Line::Oversize { bytes, .. } => {
                warn!(bytes, "a message to the tools is too long");
                match self.lines.get_mut().long() {
                    Long::Request(id) => {
                        Taken::Answer(rpc::error(&id, rpc::INVALID_REQUEST, TOO_LONG))
                    }
                    Long::Notification => Taken::Nothing,
                    // Whoever waits for an answer would wait for ever.
                    Long::Unknown => {
                        then = Then::Close;
                        wrong(rpc::INVALID_REQUEST, TOO_LONG)
                    }
                }
            }
        };
        match taken {
            Taken::Nothing | Taken::Later => {}
            Taken::Answer(answer) | Taken::Begin(answer) => self.write(&answer).await?,
        }
        Ok(then)
    }

    async fn give(&mut self, Answer { value, aside }: Answer) -> io::Result<()> {
        self.write(&value).await?;
        if let Some(aside) = aside {
            aside.arrived();
        }
        Ok(())
    }

    async fn write(&mut self, answer: &Value) -> io::Result<()> {
        let line = format!("{answer}\n");
        let written = timeout(EXCHANGE_WITHIN, self.output.write_all(line.as_bytes())).await;
        written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}
