//! What is on its way to the store. One call at a time, in the order of asking; lines that wait
//! meanwhile go together in the next call. The server's task polls it beside its sockets.

use std::{collections::VecDeque, future::pending, sync::Arc, time::Duration};

use gangline_core::ChannelName;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    client_id::ClientId,
    events::{NewEvent, Waiting},
    history_reply::HistoryReply,
    store::{
        Account, Appended, BoxFuture, Commit, Entry, FindLine, HistoryError, HistoryQuery,
        HistoryStore, Marker, Missed, MissedQuery, NewLine, Range, ReadMark, RoomRow, StoredLine,
        TargetRow, TargetsQuery, Topic,
    },
    unkept::UnkeptMarks,
};

/// Lines of one call at most.
const BATCH: usize = 512;

/// Who waits for an answer.
pub(super) struct Asker {
    pub(super) id: ClientId,
    pub(super) label: Option<String>,
    pub(super) credit: Option<OwnedSemaphorePermit>,
}

/// A line before its commit.
pub(super) struct Flight {
    pub(super) asker: Asker,
    pub(super) line: Arc<NewLine>,
}

/// A private line whose conversation the store knows better than the nick: an answer, or a line
/// to a nick that nobody has now.
pub(super) struct Draft {
    pub(super) asker: Asker,
    /// The line. Its conversation is that with a member of this nick, until the store has told.
    pub(super) line: NewLine,
    /// The id of the line that it answers.
    pub(super) question: Option<String>,
}

/// What the store knows of a draft's conversation.
pub(super) enum Known {
    /// The line that it answers.
    Question(Box<StoredLine>),
    /// The sender and a member of this nick have talked before.
    Talked,
    /// Nothing.
    Nothing,
}

/// A refusal that stands unless the line turns out to be kept already.
pub(super) struct Refusal {
    pub(super) command: String,
    pub(super) number: u16,
    pub(super) target: String,
    pub(super) text: &'static str,
}

/// What is to be taken back.
pub(super) struct Redaction {
    pub(super) target: String,
    pub(super) msgid: String,
    pub(super) why: Option<String>,
}

/// Something to ask of the store.
pub(super) enum Job {
    Append(Flight),
    Draft(Box<Draft>),
    History {
        asker: Asker,
        target: String,
        query: HistoryQuery,
    },
    /// Lines and events.
    Playback {
        asker: Asker,
        target: String,
        query: HistoryQuery,
    },
    HistoryReply {
        asker: Asker,
        wanted: Box<HistoryReply>,
    },
    Targets {
        asker: Asker,
        query: TargetsQuery,
    },
    Find {
        asker: Asker,
        refusal: Refusal,
        query: FindLine,
    },
    Missed {
        asker: Asker,
        place: String,
        query: MissedQuery,
    },
    /// Keeps the noted marks and events in a commit of their own.
    Noted,
    Topic {
        asker: Asker,
        topic: Topic,
    },
    ForgetTopic(ChannelName),
    /// `None` asks for what follows from another request.
    Room {
        asker: Option<Asker>,
        room: RoomRow,
    },
    ForgetRoom(ChannelName),
    Marker {
        asker: Asker,
        target: String,
        marker: Marker,
    },
    /// The line that is to be taken back is looked at first.
    Line {
        asker: Asker,
        redaction: Redaction,
    },
    Redact {
        asker: Asker,
        redaction: Redaction,
        line: Box<StoredLine>,
    },
    Account(Account),
}

/// What the store has answered.
pub(super) enum Done {
    Appended(Vec<Flight>, Result<Vec<Appended>, HistoryError>),
    Drafted(Box<Draft>, Result<Known, HistoryError>),
    History(Asker, String, Result<Vec<StoredLine>, HistoryError>),
    Playback(Asker, String, Result<Vec<Entry>, HistoryError>),
    HistoryReply(Asker, Box<HistoryReply>, Result<Vec<StoredLine>, HistoryError>),
    Targets(Asker, Result<Vec<TargetRow>, HistoryError>),
    Missed(Asker, String, Result<Vec<Missed>, HistoryError>),
    Found(Asker, Refusal, Result<Option<StoredLine>, HistoryError>),
    Topic(Asker, Topic, Result<(), HistoryError>),
    Room(Option<Asker>, Box<RoomRow>, Result<(), HistoryError>),
    Marker(Asker, String, Marker, Result<(), HistoryError>),
    Line(Asker, Redaction, Result<Option<StoredLine>, HistoryError>),
    Redacted(Asker, Redaction, Box<StoredLine>, Result<(), HistoryError>),
    Kept(Result<(), HistoryError>),
}

/// The queue before the store, and the call that runs.
pub(super) struct Flights {
    store: Arc<dyn HistoryStore>,
    jobs: VecDeque<Job>,
    /// Marks for the next commit of lines.
    marks: UnkeptMarks,
    /// Events for it.
    events: Waiting,
    running: Option<BoxFuture<'static, Done>>,
}

impl Flights {
    pub(super) fn new(store: Arc<dyn HistoryStore>) -> Self {
        let (marks, events) = (UnkeptMarks::default(), Waiting::default());
        Self { store, jobs: VecDeque::new(), marks, events, running: None }
    }

    pub(super) fn store(&self) -> &Arc<dyn HistoryStore> {
        &self.store
    }

    /// Queues a job. Bounded by the credit that each client's lines hold.
    pub(super) fn push(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    /// Queues what follows from the job that has just been answered: before all that was asked
    /// after it.
    pub(super) fn push_next(&mut self, job: Job) {
        self.jobs.push_front(job);
    }

    /// Has marks kept with the next lines.
    pub(super) fn note(&mut self, mark: ReadMark) {
        self.marks.add(mark);
    }

    /// Has an event kept with the next lines, or before if many wait.
    pub(super) fn note_event(&mut self, event: NewEvent, now: Duration) {
        if self.events.add(event, now) {
            self.keep_noted();
        }
    }

    /// Has the noted marks and events kept in a commit of their own.
    pub(super) fn keep_noted(&mut self) {
        let noted = !self.marks.is_empty() || !self.events.is_empty();
        // One that waits already takes all along.
        if noted && !self.jobs.iter().any(|job| matches!(job, Job::Noted)) {
            self.jobs.push_back(Job::Noted);
        }
    }

    /// Takes out what is kept with the next call.
    fn noted(&mut self) -> Noted {
        Noted { marks: self.marks.take(), events: self.events.take() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.running.is_none()
    }

    /// Waits for the next answer; for ever, when nothing was asked. Cancel-safe: the call that
    /// runs is kept.
    pub(super) async fn next(&mut self) -> Done {
        if self.running.is_none() {
            self.running = self.jobs.pop_front().map(|job| self.start(job));
        }
        let done = match &mut self.running {
            Some(running) => running.await,
            None => pending().await,
        };
        self.running = None;
        done
    }

    fn start(&mut self, job: Job) -> BoxFuture<'static, Done> {
        let store = Arc::clone(&self.store);
        match job {
            Job::Append(first) => self.append(first),
            Job::Draft(draft) => Box::pin(async move {
                let known = look(&*store, &draft).await;
                Done::Drafted(draft, known)
            }),
            Job::History { asker, target, query } => {
                Box::pin(async move { Done::History(asker, target, store.history(query).await) })
            }
            Job::Playback { asker, target, query } => self.playback(asker, target, query),
            Job::HistoryReply { asker, wanted } => Box::pin(async move {
                let found = store.history(wanted.query.clone()).await;
                Done::HistoryReply(asker, wanted, found)
            }),
            Job::Targets { asker, query } => {
                Box::pin(async move { Done::Targets(asker, store.targets(query).await) })
            }
            Job::Missed { asker, place, query } => {
                Box::pin(async move { Done::Missed(asker, place, store.missed(query).await) })
            }
            Job::Noted => {
                let noted = self.noted();
                Box::pin(async move { Done::Kept(noted.keep(&*store, Commit::Now).await) })
            }
            Job::Find { asker, refusal, query } => {
                Box::pin(async move { Done::Found(asker, refusal, store.find(query).await) })
            }
            Job::Topic { asker, topic } => Box::pin(async move {
                let kept = store.put_topic(topic.clone()).await;
                Done::Topic(asker, topic, kept)
            }),
            Job::ForgetTopic(channel) => {
                Box::pin(async move { Done::Kept(store.forget_topic(channel).await) })
            }
            Job::Room { asker, room } => Box::pin(async move {
                let kept = store.put_room(room.clone()).await;
                Done::Room(asker, Box::new(room), kept)
            }),
            Job::ForgetRoom(channel) => {
                Box::pin(async move { Done::Kept(store.forget_room(channel).await) })
            }
            Job::Marker { asker, target, marker } => Box::pin(async move {
                let kept = store.put_marker(marker.clone()).await;
                Done::Marker(asker, target, marker, kept)
            }),
            Job::Line { asker, redaction } => Box::pin(async move {
                let found = store.line(redaction.msgid.clone()).await;
                Done::Line(asker, redaction, found)
            }),
            Job::Redact { asker, redaction, line } => Box::pin(async move {
                let kept = store.redact(line.seq).await;
                Done::Redacted(asker, redaction, line, kept)
            }),
            Job::Account(account) => {
                Box::pin(async move { Done::Kept(store.put_account(account).await) })
            }
        }
    }

    fn playback(
        &mut self,
        asker: Asker,
        target: String,
        query: HistoryQuery,
    ) -> BoxFuture<'static, Done> {
        let store = Arc::clone(&self.store);
        let noted = self.noted();
        Box::pin(async move {
            noted.keep_or_warn(&*store, Commit::Now).await;
            Done::Playback(asker, target, store.playback(query).await)
        })
    }

    fn append(&mut self, first: Flight) -> BoxFuture<'static, Done> {
        let store = Arc::clone(&self.store);
        let flights = self.batch(first);
        let lines = flights.iter().map(|flight| Arc::clone(&flight.line)).collect();
        let noted = self.noted();
        Box::pin(async move {
            noted.keep_or_warn(&*store, Commit::WithNext).await;
            Done::Appended(flights, store.append(lines).await)
        })
    }

    /// Returns the line and those right behind it.
    fn batch(&mut self, first: Flight) -> Vec<Flight> {
        let mut flights = vec![first];
        while flights.len() < BATCH && matches!(self.jobs.front(), Some(Job::Append(_))) {
            let Some(Job::Append(flight)) = self.jobs.pop_front() else { break };
            flights.push(flight);
        }
        flights
    }
}

/// What is kept along with another call.
struct Noted {
    marks: Vec<ReadMark>,
    events: Vec<NewEvent>,
}

impl Noted {
    async fn keep_or_warn(self, store: &dyn HistoryStore, when: Commit) {
        if let Err(error) = self.keep(store, when).await {
            tracing::warn!(%error, "a read position or a room's event was not stored");
        }
    }

    async fn keep(self, store: &dyn HistoryStore, when: Commit) -> Result<(), HistoryError> {
        let Self { marks, events } = self;
        let with_events = if events.is_empty() { when } else { Commit::WithNext };
        if !marks.is_empty() {
            store.put_marks(marks, with_events).await?;
        }
        match events.is_empty() {
            true => Ok(()),
            false => store.put_events(events, when).await,
        }
    }
}

/// Asks the store whose conversation a draft belongs to.
async fn look(store: &dyn HistoryStore, draft: &Draft) -> Result<Known, HistoryError> {
    if let Some(msgid) = &draft.question
        && let Some(found) = store.line(msgid.clone()).await?
    {
        return Ok(Known::Question(Box::new(found)));
    }
    let conversation = draft.line.conversation.clone();
    let query = HistoryQuery { conversation, range: Range::Latest, limit: 1 };
    let talked = !store.history(query).await?.is_empty();
    Ok(if talked { Known::Talked } else { Known::Nothing })
}
