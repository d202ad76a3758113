//! What is on its way to the store. One call at a time, in the order of asking; lines that wait
//! meanwhile go together in the next call. The server's task polls it beside its sockets.

use std::{collections::VecDeque, future::pending, sync::Arc};

use tokio::sync::OwnedSemaphorePermit;

use super::{
    client::ClientId,
    command::Redaction,
    store::{
        Account, Appended, BoxFuture, Commit, FindLine, HistoryQuery, Marker, Missed, MissedQuery,
        NewLine, Range, ReadMark, RoomModes, Store, StoreError, StoredLine, TargetRow,
        TargetsQuery, Topic,
    },
    telling::Telling,
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

/// Something to ask of the store.
pub(super) enum Job {
    Append(Flight),
    Draft(Box<Draft>),
    History {
        asker: Asker,
        target: String,
        query: HistoryQuery,
    },
    Tell {
        asker: Asker,
        telling: Box<Telling>,
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
    /// Keeps the noted marks in a commit of their own.
    Marks,
    /// `None` asks for the first topic of a new room.
    Topic {
        asker: Option<Asker>,
        topic: Topic,
    },
    /// `None` asks for what follows from another request.
    Modes {
        asker: Option<Asker>,
        modes: RoomModes,
    },
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
    Appended(Vec<Flight>, Result<Vec<Appended>, StoreError>),
    Drafted(Box<Draft>, Result<Known, StoreError>),
    History(Asker, String, Result<Vec<StoredLine>, StoreError>),
    Told(Asker, Box<Telling>, Result<Vec<StoredLine>, StoreError>),
    Targets(Asker, Result<Vec<TargetRow>, StoreError>),
    Missed(Asker, String, Result<Vec<Missed>, StoreError>),
    Found(Asker, Refusal, Result<Option<StoredLine>, StoreError>),
    Topic(Option<Asker>, Topic, Result<(), StoreError>),
    Modes(Option<Asker>, RoomModes, Result<(), StoreError>),
    Marker(Asker, String, Marker, Result<(), StoreError>),
    Line(Asker, Redaction, Result<Option<StoredLine>, StoreError>),
    Redacted(Asker, Redaction, Box<StoredLine>, Result<(), StoreError>),
    Kept(Result<(), StoreError>),
}

/// The queue before the store, and the call that runs.
pub(super) struct Flights {
    store: Arc<dyn Store>,
    jobs: VecDeque<Job>,
    /// Marks for the next commit of lines.
    marks: UnkeptMarks,
    running: Option<BoxFuture<'static, Done>>,
}

impl Flights {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, jobs: VecDeque::new(), marks: UnkeptMarks::default(), running: None }
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
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

    /// Has the noted marks kept in a commit of their own.
    pub(super) fn keep_noted(&mut self) {
        // One that waits already takes all along.
        let asked = self.jobs.iter().any(|job| matches!(job, Job::Marks));
        if !self.marks.is_empty() && !asked {
            self.jobs.push_back(Job::Marks);
        }
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
            Job::Append(first) => {
                let flights = self.batch(first);
                let lines = flights.iter().map(|flight| Arc::clone(&flight.line)).collect();
                let marks = self.marks.take();
                Box::pin(async move {
                    if !marks.is_empty()
                        && let Err(error) = store.put_marks(marks, Commit::WithNext).await
                    {
                        tracing::warn!(%error, "how far was read could not be kept");
                    }
                    Done::Appended(flights, store.append(lines).await)
                })
            }
            Job::Draft(draft) => Box::pin(async move {
                let known = look(&*store, &draft).await;
                Done::Drafted(draft, known)
            }),
            Job::History { asker, target, query } => {
                Box::pin(async move { Done::History(asker, target, store.history(query).await) })
            }
            Job::Tell { asker, telling } => Box::pin(async move {
                let found = store.history(telling.query.clone()).await;
                Done::Told(asker, telling, found)
            }),
            Job::Targets { asker, query } => {
                Box::pin(async move { Done::Targets(asker, store.targets(query).await) })
            }
            Job::Missed { asker, place, query } => {
                Box::pin(async move { Done::Missed(asker, place, store.missed(query).await) })
            }
            Job::Marks => {
                let marks = self.marks.take();
                Box::pin(async move { Done::Kept(store.put_marks(marks, Commit::Now).await) })
            }
            Job::Find { asker, refusal, query } => {
                Box::pin(async move { Done::Found(asker, refusal, store.find(query).await) })
            }
            Job::Topic { asker, topic } => Box::pin(async move {
                let kept = store.put_topic(topic.clone()).await;
                Done::Topic(asker, topic, kept)
            }),
            Job::Modes { asker, modes } => Box::pin(async move {
                let kept = store.put_modes(modes.clone()).await;
                Done::Modes(asker, modes, kept)
            }),
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

/// Asks the store whose conversation a draft belongs to.
async fn look(store: &dyn Store, draft: &Draft) -> Result<Known, StoreError> {
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
