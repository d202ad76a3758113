//! One connection: lines in, open requests, frames out, and events if it subscribed.
//!
//! One task does all of it, so frames never mix. What a request does runs in a task of its own;
//! those that speak or read keep their order. Nothing here grows: lines, requests and pages are
//! bounded, and a client that does not read is given up.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use gangline_api::{
    event::{EVENT_VERSION, EventRecord, stored_payload},
    ipc::{
        EncodeError, Form, Frame, IN_FLIGHT_MAX, LINE_SECONDS, Refused, Request, RequestError,
        RequestId, Response, Whisper,
    },
};
use gangline_os::{
    CancellationToken,
    clock::{self, rfc3339},
    json,
    task::{HowEnded, TaskEnd, TaskGroup},
};
use gangline_store::{Cursor, Event as Stored, PAGE_MAX};
use tokio::{
    io::{AsyncWriteExt, Interest},
    net::UnixStream,
    sync::{mpsc, watch},
};
use tracing::{debug, warn};

use super::{
    Activity,
    lines::{Lines, TooLong},
    requests::{Done, Order, Requests, Then},
};

/// A line that has begun must be whole within this.
const LINE_WITHIN: Duration = Duration::from_secs(LINE_SECONDS);
/// A client takes a frame within this, or is given up.
const WRITE_WITHIN: Duration = Duration::from_secs(10);
/// What is read at once.
const CHUNK: usize = 16 * 1024;
/// Frames of events are joined up to this many bytes.
const BATCH: usize = 64 * 1024;
/// How long open requests may take when the daemon ends.
const FINISH_WITHIN: Duration = Duration::from_millis(500);

/// How often it is looked whether an end that says nothing more is still there.
const LEAVES_EVERY: Duration = Duration::from_millis(200);

/// A connection's part of the socket.
pub(super) struct Connection {
    stream: UnixStream,
    /// Who is at the other end.
    pid: Option<u32>,
    requests: Arc<Requests>,
    activity: Arc<Activity>,
    lines: Lines,
    /// Until when the line that has begun must be whole; monotonic.
    line_due: Option<Duration>,
    /// The other end says nothing more.
    silent: bool,
    /// Cancelled when it hears nothing more either.
    gone: CancellationToken,
    work: Work,
    subscription: Option<Subscription>,
}

/// Open requests.
struct Work {
    group: TaskGroup,
    done: mpsc::Sender<(Order, Done)>,
    results: mpsc::Receiver<(Order, Done)>,
    /// Those that are done one after the other, the one that runs not among them.
    waiting: VecDeque<Request>,
    in_order: bool,
    count: usize,
}

/// What has been read of the record of events.
struct Subscription {
    cursor: Cursor,
    committed: watch::Receiver<u64>,
    /// There may be more behind the cursor.
    more: bool,
}

enum Event {
    Readable,
    Done(Order, Box<Done>),
    TaskEnded(TaskEnd),
    LineLate,
    Committed,
    Page,
    Gone,
    Stop,
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// The other end has said and heard all that it wanted.
    HungUp,
    /// It broke.
    Broken,
    /// A line was too long, or not whole in time.
    BadLine,
    /// The other end does not read what it asked for.
    Deaf,
    /// The daemon could not do a request to its end, or not write what came of it.
    Failed,
    /// It was stopped: the daemon ends, or somebody else needed the place.
    Stopped,
}

impl Connection {
    pub(super) fn new(
        stream: UnixStream,
        requests: Arc<Requests>,
        activity: Arc<Activity>,
    ) -> Self {
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let (done, results) = mpsc::channel(IN_FLIGHT_MAX);
        Self {
            stream,
            pid: pid.and_then(|pid| u32::try_from(pid).ok()),
            requests,
            activity,
            lines: Lines::default(),
            line_due: None,
            silent: false,
            gone: CancellationToken::new(),
            work: Work {
                group: TaskGroup::new("requests"),
                done,
                results,
                waiting: VecDeque::new(),
                in_order: false,
                count: 0,
            },
            subscription: None,
        }
    }

    /// Serves until one of both has had enough. Cancel-safe: dropped, requests under way may be
    /// done and are not answered.
    pub(super) async fn run(mut self, end: CancellationToken) -> ConnectionEnd {
        loop {
            let event = self.next(&end).await;
            if let Err(end) = self.handle(event).await {
                return end;
            }
            let live = self.work.count > 0 || self.subscription.is_some();
            if self.activity.busy.swap(live, Ordering::Relaxed) && !live {
                self.activity.idle_since.store(self.requests.millis(), Ordering::Relaxed);
            }
            if self.silent && self.work.count == 0 {
                return ConnectionEnd::HungUp;
            }
        }
    }

    async fn next(&mut self, end: &CancellationToken) -> Event {
        let reads = !self.silent && self.work.count < IN_FLIGHT_MAX;
        let clock = self.requests.clock();
        let late = async {
            match self.line_due.filter(|_| reads) {
                Some(due) => clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let may_leave = self.silent && !self.gone.is_cancelled();
        let leaves = async {
            // Who only says nothing more still waits for what it asked for.
            while !is_closed(&self.stream).await {
                clock::sleep(&clock, LEAVES_EVERY).await;
            }
        };
        let more = self.subscription.as_ref().is_some_and(|reading| reading.more);
        let committed = async {
            // Without a subscription, or at the daemon's end, nothing is committed.
            if let Some(reading) = &mut self.subscription
                && reading.committed.changed().await.is_ok()
            {
                return;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = end.cancelled() => Event::Stop,
            Some((order, done)) = self.work.results.recv() => Event::Done(order, Box::new(done)),
            Some(end) = self.work.group.next_end(), if !self.work.group.is_empty() => {
                Event::TaskEnded(end)
            }
            // An error shows itself when it is read.
            _ = self.stream.readable(), if reads => Event::Readable,
            () = late => Event::LineLate,
            () = leaves, if may_leave => Event::Gone,
            () = committed, if !more => Event::Committed,
            () = std::future::ready(()), if more => Event::Page,
        }
    }

    async fn handle(&mut self, event: Event) -> Result<(), ConnectionEnd> {
        match event {
            Event::Readable => {
                self.read()?;
                self.take_lines().await
            }
            Event::Done(order, done) => {
                self.work.count -= 1;
                if order == Order::Kept {
                    self.work.in_order = false;
                    self.start_waiting();
                }
                self.answer(*done).await?;
                self.take_lines().await
            }
            Event::TaskEnded(TaskEnd { how, .. }) => match how {
                HowEnded::Finished => Ok(()),
                HowEnded::Cancelled | HowEnded::Panicked(_) => {
                    warn!(?how, "a request was not completed");
                    self.refuse(None, "the daemon could not do this").await?;
                    Err(ConnectionEnd::Failed)
                }
            },
            Event::LineLate => {
                let text = format!("the line was incomplete after {LINE_SECONDS} s");
                self.refuse(None, &text).await?;
                Err(ConnectionEnd::BadLine)
            }
            Event::Committed => {
                if let Some(reading) = &mut self.subscription {
                    reading.more = true;
                }
                Ok(())
            }
            Event::Page => self.page().await,
            Event::Gone => {
                self.gone.cancel();
                Ok(())
            }
            Event::Stop => {
                self.finish().await;
                Err(ConnectionEnd::Stopped)
            }
        }
    }

    /// Reads what is there, at most a chunk.
    fn read(&mut self) -> Result<(), ConnectionEnd> {
        let mut chunk = [0; CHUNK];
        match self.stream.try_read(&mut chunk) {
            Ok(0) => self.silent = true,
            Ok(count) => self.lines.push(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                debug!(%error, "a connection broke");
                return Err(ConnectionEnd::Broken);
            }
        }
        Ok(())
    }

    /// Takes whole lines as requests, as many as may be open.
    async fn take_lines(&mut self) -> Result<(), ConnectionEnd> {
        while self.work.count < IN_FLIGHT_MAX {
            match self.lines.take() {
                Ok(Some(line)) => self.request(&line).await?,
                Ok(None) if self.silent => match self.lines.take_rest() {
                    Some(rest) => self.request(&rest).await?,
                    None => break,
                },
                Ok(None) => break,
                Err(TooLong) => {
                    self.refuse(None, &RequestError::TooLong.to_string()).await?;
                    return Err(ConnectionEnd::BadLine);
                }
            }
            // The next line begins to count now.
            self.line_due = None;
        }
        // While nothing is read nobody can complete a line.
        if !self.lines.has_begun() || self.work.count >= IN_FLIGHT_MAX {
            self.line_due = None;
        } else if self.line_due.is_none() {
            self.line_due = Some(self.requests.monotonic() + LINE_WITHIN);
        }
        Ok(())
    }

    async fn request(&mut self, line: &[u8]) -> Result<(), ConnectionEnd> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        // Half a character, as programs write it that cut a text, is no reason to refuse the line.
        let read = match std::str::from_utf8(line) {
            Ok(text) => json::read(text, |text| Request::decode(text.as_bytes())).0,
            Err(_) => Request::decode(line),
        };
        match read {
            Ok(request) => {
                self.work.count += 1;
                match Order::of(&request.command) {
                    Order::Kept => {
                        self.work.waiting.push_back(request);
                        self.start_waiting();
                    }
                    Order::Any => self.start(Order::Any, request),
                }
                Ok(())
            }
            Err(Refused { id, error, form }) => {
                self.respond(&Response::failed(id, error.to_string()), form).await
            }
        }
    }

    fn start_waiting(&mut self) {
        if self.work.in_order {
            return;
        }
        if let Some(request) = self.work.waiting.pop_front() {
            self.work.in_order = true;
            self.start(Order::Kept, request);
        }
    }

    fn start(&mut self, order: Order, request: Request) {
        let (requests, done, pid) = (Arc::clone(&self.requests), self.work.done.clone(), self.pid);
        let gone = self.gone.clone();
        self.work.group.spawn(request.command.name(), async move {
            let result = requests.serve(pid, request, gone).await;
            // The connection may be over.
            let _ = done.send((order, result)).await;
        });
    }

    async fn answer(&mut self, done: Done) -> Result<(), ConnectionEnd> {
        for (kind, message) in done.whispers.iter().flat_map(|carried| &carried.whispers) {
            let (whisper_type, message) = (kind.as_str().to_owned(), message.clone());
            self.write(&Frame::Whisper(Whisper { whisper_type, message })).await?;
        }
        self.respond(&done.response, done.form).await?;
        if let Some(carried) = done.whispers {
            carried.arrived();
        }
        match done.then {
            Then::GoOn => Ok(()),
            Then::Subscribe { cursor, committed } => {
                self.subscription = Some(Subscription { cursor, committed, more: true });
                Ok(())
            }
            Then::Answered(answered) => {
                // Nobody waits for it once the daemon ends.
                let _ = answered.send(());
                Ok(())
            }
            Then::Shutdown => {
                self.requests.shutdown();
                Ok(())
            }
        }
    }

    async fn respond(&mut self, response: &Response, form: Form) -> Result<(), ConnectionEnd> {
        let line = match form {
            Form::Typed => Frame::Response(response.clone()).encode(),
            Form::Cmd => response.encode_short(),
        };
        self.write_encoded(line).await
    }

    async fn refuse(&mut self, id: Option<RequestId>, error: &str) -> Result<(), ConnectionEnd> {
        self.write(&Frame::Response(Response::failed(id, error))).await
    }

    /// Sends the next page of events, if there is one.
    async fn page(&mut self) -> Result<(), ConnectionEnd> {
        let Some(reading) = &mut self.subscription else { return Ok(()) };
        // Seen before it is read: what is committed meanwhile wakes us again.
        reading.committed.mark_unchanged();
        let page = self.requests.events(reading.cursor.clone()).await;
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                reading.more = false;
                debug!(%error, "cannot read events; trying again at the next commit");
                return Ok(());
            }
        };
        reading.more = page.events.len() >= PAGE_MAX as usize;
        reading.cursor = page.cursor;
        let mut batch = Vec::new();
        for event in &page.events {
            let frame = Frame::Event(Box::new(record(event)));
            match frame.encode() {
                Ok(line) => batch.extend(line),
                Err(error) => warn!(%error, seq = event.seq, "an event cannot be written"),
            }
            if batch.len() >= BATCH {
                self.write_bytes(&batch).await?;
                batch.clear();
            }
        }
        self.write_bytes(&batch).await
    }

    /// Answers open requests that finish quickly.
    async fn finish(&mut self) {
        let answered = async {
            while self.work.count > 0 {
                let Some((order, done)) = self.work.results.recv().await else { return };
                self.work.count -= 1;
                if order == Order::Kept {
                    self.work.in_order = false;
                    self.start_waiting();
                }
                if self.answer(done).await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(FINISH_WITHIN, answered).await;
    }

    async fn write(&mut self, frame: &Frame) -> Result<(), ConnectionEnd> {
        self.write_encoded(frame.encode()).await
    }

    async fn write_encoded(
        &mut self,
        line: Result<Vec<u8>, EncodeError>,
    ) -> Result<(), ConnectionEnd> {
        match line {
            Ok(line) => self.write_bytes(&line).await,
            Err(error) => {
                warn!(%error, "a response cannot be written");
                Err(ConnectionEnd::Failed)
            }
        }
    }

    async fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), ConnectionEnd> {
        match tokio::time::timeout(WRITE_WITHIN, self.stream.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                debug!(%error, "a connection broke");
                Err(ConnectionEnd::Broken)
            }
            Err(_) => Err(ConnectionEnd::Deaf),
        }
    }
}

/// Returns whether the other end hears nothing more. Cancel-safe: yes.
async fn is_closed(stream: &UnixStream) -> bool {
    stream.ready(Interest::WRITABLE).await.is_ok_and(|ready| ready.is_write_closed())
}

/// Returns an event as clients get it.
fn record(event: &Stored) -> EventRecord {
    EventRecord {
        v: u32::try_from(event.v).unwrap_or(EVENT_VERSION),
        seq: event.cursor().to_string(),
        agent: event.agent.clone(),
        turn: event.turn,
        kind: event.kind.clone(),
        at: rfc3339(event.at),
        payload: stored_payload(&event.kind, event.turn, event.payload.as_str()),
    }
}

#[cfg(test)]
mod tests;
