//! A receiver of webhooks on loopback: it answers by a script, well or badly, and tells what it got.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};

/// How one request is answered.
#[derive(Debug, Clone)]
pub enum HookReply {
    /// With a status, further headers and a body.
    Status(u16, Vec<(String, String)>, String),
    /// By a redirect of this status to another address.
    Redirect(u16, String),
    /// Not at all: the connection stays open.
    Silent,
    /// With a status of 400 and a body of a gigabyte.
    Huge,
    /// The connection is closed.
    Hangs,
}

impl HookReply {
    /// A status without anything else.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::Status(code, Vec::new(), String::new())
    }
}

/// A request that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRequest {
    /// Its path.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

impl HookRequest {
    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// The receiver. It listens until the process ends.
#[derive(Debug)]
pub struct HookServer {
    address: SocketAddr,
    requests: Receiver<HookRequest>,
}

impl HookServer {
    /// Listens on a free port; the n-th request gets the n-th reply, all later ones the last.
    ///
    /// # Panics
    /// If it cannot listen.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test cannot go on without it")]
    pub fn start(replies: Vec<HookReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, requests) = mpsc::channel();
        thread::spawn(move || serve(&listener, replies.into(), &tell));
        Self { address, requests }
    }

    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns an address of it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the next request, or nothing if none has come within that time.
    #[must_use]
    pub fn next(&self, within: Duration) -> Option<HookRequest> {
        self.requests.recv_timeout(within).ok()
    }
}

fn serve(listener: &TcpListener, mut replies: VecDeque<HookReply>, tell: &Sender<HookRequest>) {
    for stream in listener.incoming().flatten() {
        let reply = match replies.len() {
            0 => HookReply::status(200),
            1 => replies[0].clone(),
            _ => replies.pop_front().unwrap_or(HookReply::Silent),
        };
        let tell = tell.clone();
        // One that stays silent must not hold up the next.
        thread::spawn(move || answer(stream, &reply, &tell));
    }
}

fn answer(stream: TcpStream, reply: &HookReply, tell: &Sender<HookRequest>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let request = read(&mut reader)?;
    // Nobody listens any more: then nobody asks either.
    drop(tell.send(request));
    let mut stream = stream;
    match reply {
        HookReply::Status(code, headers, body) => {
            let headers: String =
                headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            write!(stream, "HTTP/1.1 {code} x\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}").ok()
        }
        HookReply::Redirect(code, to) => write!(
            stream,
            "HTTP/1.1 {code} x\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        .ok(),
        HookReply::Silent => reader.read_to_end(&mut Vec::new()).ok().map(drop),
        HookReply::Huge => {
            write!(stream, "HTTP/1.1 400 x\r\ncontent-length: 1073741824\r\n\r\n").ok()?;
            let block = [b'x'; 64 * 1024];
            (0..16_384).try_for_each(|_| stream.write_all(&block)).ok()
        }
        HookReply::Hangs => Some(()),
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<HookRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(HookRequest { path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
