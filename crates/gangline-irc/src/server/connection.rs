//! The two subtasks of a connection: one reads lines, one writes them. Neither knows what they
//! mean.

use std::{
    fmt, io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use gangline_os::clock::SharedClock;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::{
    client::Shared,
    client_id::ClientId,
    config::Flood,
    framing::{Framed, Framer},
    outbox::Outbox,
    paced::LOW,
    stream::{Reading, Writing},
    trust::Whose,
};

/// Lines that are written by one call.
const LINES_PER_WRITE: usize = 64;

/// What a reader has to say.
pub(super) enum FromClient {
    /// A line, or the news of one that was too long.
    Line { id: ClientId, framed: Framed, credit: OwnedSemaphorePermit },
    /// Whose process it is; said before the first line.
    Whose { id: ClientId, whose: Whose },
    /// Little waits to be written to a client that has more coming.
    Low { id: ClientId },
    /// The peer is gone.
    Gone { id: ClientId, why: Gone },
}

/// Why nothing more comes from a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// It closed the connection.
    Closed,
    /// The connection broke.
    Broken(io::ErrorKind),
    /// The server takes no lines any more.
    NoServer,
}

impl fmt::Display for Gone {
    /// As those hear it who share a room with it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("Connection closed"),
            Self::Broken(kind) => write!(f, "Read error: {kind}"),
            Self::NoServer => f.write_str("Server closed"),
        }
    }
}

/// Why a reader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderEnd {
    /// Nothing more came.
    Peer(Gone),
    /// The server closed the connection.
    Dismissed,
}

/// Why a writer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriterEnd {
    /// Everything is written, and nothing more comes.
    WrittenOut,
    /// The connection was cut: too much waited, or its time was over.
    Cut,
    /// The connection broke, perhaps in the middle of a line.
    Broken,
}

/// The reading side.
pub(super) struct Reader {
    pub(super) id: ClientId,
    pub(super) half: Reading,
    pub(super) shared: Arc<Shared>,
    pub(super) events: mpsc::Sender<FromClient>,
    pub(super) clock: SharedClock,
    pub(super) flood: Option<Flood>,
    pub(super) grace: Duration,
    /// Tells whose process it is, if that was not known at once.
    pub(super) asked: Option<oneshot::Receiver<Whose>>,
}

impl Reader {
    /// Reads until the peer or the server ends the connection; then gives the writer its time.
    pub(super) async fn run(mut self) -> ReaderEnd {
        let shared = Arc::clone(&self.shared);
        let why = tokio::select! {
            why = self.pump() => Some(why),
            () = shared.closing.cancelled() => None,
        };
        let end = why.map_or(ReaderEnd::Dismissed, ReaderEnd::Peer);
        if let Some(why) = why {
            let gone = FromClient::Gone { id: self.id, why };
            if self.events.send(gone).await.is_ok() {
                shared.closing.cancelled().await;
            }
        }
        let written = tokio::time::timeout(self.grace, shared.kill.cancelled()).await;
        if written.is_err() {
            shared.kill.cancel();
        }
        end
    }

    async fn pump(&mut self) -> Gone {
        if let Some(asked) = self.asked.take() {
            // Who was not found is not believed.
            let whose = asked.await.unwrap_or(Whose::Unknown);
            if self.events.send(FromClient::Whose { id: self.id, whose }).await.is_err() {
                return Gone::NoServer;
            }
        }
        let mut framer = Framer::default();
        let mut bucket = Bucket::new(self.flood, &self.clock);
        loop {
            match read_some(&self.half, &mut framer, &self.shared).await {
                Ok(0) => return Gone::Closed,
                Ok(_) => {}
                Err(error) => return Gone::Broken(error.kind()),
            }
            while let Some(framed) = framer.next() {
                if !self.shared.exempt.load(Ordering::Relaxed) {
                    bucket.wait(&self.clock).await;
                }
                let Ok(credit) = Arc::clone(&self.shared.credit).acquire_owned().await else {
                    return Gone::Closed;
                };
                let line = FromClient::Line { id: self.id, framed, credit };
                if self.events.send(line).await.is_err() {
                    return Gone::NoServer;
                }
            }
        }
    }
}

async fn read_some(half: &Reading, framer: &mut Framer, shared: &Shared) -> io::Result<usize> {
    // What was there already when we looked may have been sent before our last lines arrived.
    let mut written = None;
    loop {
        match half.try_read_buf(framer.room()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                framer.rest();
                half.readable().await?;
                written = Some(shared.written.load(Ordering::Relaxed));
            }
            done => {
                if let (Ok(1..), Some(written)) = (&done, written) {
                    shared.proven.store(written, Ordering::Relaxed);
                }
                return done;
            }
        }
    }
}

/// The token bucket of [`Flood`].
struct Bucket {
    flood: Option<Flood>,
    tokens: f64,
    filled_at: Duration,
}

impl Bucket {
    fn new(flood: Option<Flood>, clock: &SharedClock) -> Self {
        let tokens = flood.map_or(0.0, |flood| f64::from(flood.burst.max(1)));
        Self { flood, tokens, filled_at: clock.monotonic() }
    }

    /// Waits for a token and takes it.
    async fn wait(&mut self, clock: &SharedClock) {
        let Some(flood) = self.flood else { return };
        let now = clock.monotonic();
        let rate = f64::from(flood.per_second.max(1));
        let gained = now.saturating_sub(self.filled_at).as_secs_f64() * rate;
        self.tokens = (self.tokens + gained).min(f64::from(flood.burst.max(1)));
        self.filled_at = now;
        if self.tokens < 1.0 {
            let pause = Duration::from_secs_f64((1.0 - self.tokens) / rate);
            tokio::time::sleep(pause).await;
            self.tokens = 1.0;
            self.filled_at = clock.monotonic();
        }
        self.tokens -= 1.0;
    }
}

/// Whom a writer works for, and whom it tells that little is left.
pub(super) struct Called {
    pub(super) id: ClientId,
    pub(super) shared: Arc<Shared>,
    pub(super) events: mpsc::Sender<FromClient>,
}

/// Tells the server's task that little waits to be written.
async fn tell_low(id: ClientId, shared: &Shared, events: &mpsc::Sender<FromClient>) {
    let told = tokio::select! {
        told = events.send(FromClient::Low { id }) => told.is_ok(),
        () = shared.kill.cancelled() => false,
    };
    tracing::trace!(client = id.0, told, "little waits to be written");
}

/// Writes what is queued until the server lets go of the queue or kills the connection.
pub(super) async fn write(
    mut half: Writing,
    lines: Arc<Outbox>,
    Called { id, shared, events }: Called,
) -> WriterEnd {
    let mut taken: Vec<Bytes> = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    let mut whole = true;
    while whole {
        let more = tokio::select! {
            biased;
            () = shared.kill.cancelled() => false,
            more = lines.take(&mut taken) => more,
        };
        if !more {
            break;
        }
        for part in taken.chunks(LINES_PER_WRITE) {
            buffer.clear();
            part.iter().for_each(|line| buffer.extend_from_slice(line));
            let written = tokio::select! {
                written = half.write_all(&buffer) => written.is_ok(),
                () = shared.kill.cancelled() => false,
            };
            let left = shared.queued.fetch_sub(buffer.len(), Ordering::AcqRel) - buffer.len();
            // Nothing may follow half a line: it would look like a whole one.
            whole = written;
            if !written {
                break;
            }
            shared.written.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            if left < LOW && shared.wanted.swap(false, Ordering::AcqRel) {
                tell_low(id, &shared, &events).await;
            }
        }
        taken.clear();
        if buffer.capacity() > 16 * 1024 || lines.is_empty() {
            buffer = Vec::new();
        }
        if lines.is_empty() {
            taken = Vec::new();
        }
    }
    let end = match (whole, shared.kill.is_cancelled()) {
        (_, true) => WriterEnd::Cut,
        (true, false) => WriterEnd::WrittenOut,
        (false, false) => WriterEnd::Broken,
    };
    if whole && end == WriterEnd::Cut {
        let last = b"ERROR :SendQ exceeded\r\n";
        if half.try_write(last).is_err() {
            tracing::debug!("a connection was closed before its last line was sent");
        }
    }
    let ended = tokio::time::timeout(Duration::from_secs(1), half.shutdown()).await;
    tracing::trace!(clean = ended.is_ok_and(|done| done.is_ok()), "connection written out");
    shared.kill.cancel();
    end
}
