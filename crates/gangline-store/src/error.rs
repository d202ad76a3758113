//! What can go wrong, told by what the caller can do about it.

use std::{path::PathBuf, time::Duration};

use gangline_core::{
    AgentName, ApprovalNumber, Epoch, FindingNumber, MessageId, QuestionNumber, TurnId,
    approval::ApprovalState, finding::ChoiceWord, wake,
};

use crate::types::{LetterState, QuestionRow};

/// The cause below, of whatever engine.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why the store could not be opened. The file is kept as it is in every case.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer Gangline wrote it.
    #[error(
        "{path} has schema {found}, made by {maker}; this program knows schemas up to {known}: use that \
         program, or a newer one"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest one that this program knows.
        known: i64,
        /// The program that brought it to this schema, as far as it is known.
        maker: String,
    },
    /// The file is damaged.
    #[error("{path} is damaged and was not changed: move it away or restore a backup")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What the engine says.
        #[source]
        source: Source,
    },
    /// The file is something else.
    #[error("{path} is not a database and was not changed: move it away")]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What the engine says.
        #[source]
        source: Source,
    },
    /// The SQLite in this program is one that can corrupt a log shared by processes.
    #[error("SQLite {found} can damage a shared write-ahead log; at least {wanted} is needed")]
    TooOldSqlite {
        /// Its version.
        found: String,
        /// The oldest one that is accepted.
        wanted: &'static str,
    },
    /// Another process held the write lock all the time.
    #[error("{path} was locked for {waited:?} by {holder}")]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
        /// What the holder wrote of itself.
        holder: String,
    },
    /// Something below failed.
    #[error("cannot open {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system or the engine says.
        #[source]
        source: Source,
    },
}

/// What is known of a write that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing of it is in the store.
    No,
    /// It may be there, now or after a restart. Repeating it is safe where a key makes it so.
    Unknown,
}

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer daemon of the agent has begun: this one must end.
    #[error("a newer daemon writes for {agent}: epoch {current}, not {held}")]
    Fenced {
        /// Whose.
        agent: AgentName,
        /// The epoch of the writer.
        held: Epoch,
        /// The epoch that may write.
        current: Epoch,
    },
    /// The turn has ended, or was never opened.
    #[error("turn {turn} of {agent} is not open")]
    TurnNotOpen {
        /// Whose.
        agent: AgentName,
        /// The turn.
        turn: TurnId,
    },
    /// There is no such message.
    #[error("there is no message {0}")]
    UnknownMessage(MessageId),
    /// The caller asked for something that has no meaning.
    #[error("{0}")]
    Invalid(&'static str),
    /// Another process held the database all the time. Nothing was written.
    #[error("the database was busy for {waited:?}")]
    Busy {
        /// How long was waited.
        waited: Duration,
    },
    /// Disk full, input/output error, log gone: the store is degraded and may recover.
    #[error("cannot {op}: {cause}")]
    Degraded {
        /// What was asked.
        op: &'static str,
        /// What fails, in words.
        cause: String,
        /// What is known of the write.
        written: Written,
    },
    /// The database is damaged: the process must end and leave the file as it is.
    #[error("the database is damaged (seen at {op})")]
    Corrupt {
        /// What was asked.
        op: &'static str,
        /// What the engine says.
        #[source]
        source: Source,
    },
    /// A row cannot be read as what it should be, or a statement is wrong.
    #[error("cannot {op}")]
    Engine {
        /// What was asked.
        op: &'static str,
        /// What the engine says.
        #[source]
        source: Source,
    },
    /// The store was closed, or its thread is gone.
    #[error("the store is closed")]
    Closed,
}

/// Why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such approval.
    #[error("there is no approval {0}")]
    Unknown(ApprovalNumber),
    /// It was decided or withdrawn before.
    #[error("approval {number} is {state} already")]
    Closed {
        /// Which.
        number: ApprovalNumber,
        /// Where it stands.
        state: ApprovalState,
    },
    /// The store failed.
    #[error("cannot decide")]
    Store(#[from] StoreError),
}

/// Why a question was not answered or withdrawn.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There is no such question.
    #[error("there is no question {0}")]
    Unknown(QuestionNumber),
    /// It was closed before.
    #[error("question {} is {} already", .0.number, .0.state)]
    Closed(Box<QuestionRow>),
    /// The store failed.
    #[error("cannot answer")]
    Store(#[from] StoreError),
}

/// Why a wake was not stored.
#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    /// The label has woken the agent as often as it may for now.
    #[error(
        "`{label}` has woken {agent} {} times within {} s: try again in {} s",
        wake::PER_PERIOD,
        wake::PERIOD.as_secs(),
        .wait.as_secs_f64().ceil()
    )]
    TooMany {
        /// Who is not woken.
        agent: AgentName,
        /// Who wakes.
        label: wake::Label,
        /// After this time the next one is taken.
        wait: Duration,
    },
    /// The label looks like the name of an agent or an owner: the wake would look like their words.
    #[error(
        "the label `{label}` looks like {name}: name the program that wakes the agent, such as `matrix`"
    )]
    Somebody {
        /// Who wakes.
        label: wake::Label,
        /// Whose name it is.
        name: String,
    },
    /// The store failed.
    #[error("cannot store the wake")]
    Store(#[from] StoreError),
}

/// Why a letter was not settled.
#[derive(Debug, thiserror::Error)]
pub enum LetterError {
    /// There is no such letter.
    #[error("there is no letter {0}")]
    Unknown(i64),
    /// It was settled before.
    #[error("letter {id} is {state} already")]
    Settled {
        /// Which.
        id: i64,
        /// Where it stands.
        state: LetterState,
    },
    /// The store failed.
    #[error("cannot settle the letter")]
    Store(#[from] StoreError),
}

/// Why a finding was not seen or decided.
#[derive(Debug, thiserror::Error)]
pub enum FindingError {
    /// There is no such finding.
    #[error("there is no finding {0}")]
    Unknown(FindingNumber),
    /// It holds no more, or somebody has decided.
    #[error("finding {number} is resolved already{}", by.as_ref().map_or_else(String::new, |by| format!(", by {by}")))]
    Resolved {
        /// The finding.
        number: FindingNumber,
        /// Who decided; `None` if it held no more by itself.
        by: Option<String>,
    },
    /// It has no such choice.
    #[error("`{choice}` is not a choice for finding {number}; choose {}", words(known))]
    NoSuchChoice {
        /// The finding.
        number: FindingNumber,
        /// What was said.
        choice: ChoiceWord,
        /// What may be chosen.
        known: Vec<ChoiceWord>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn words(known: &[ChoiceWord]) -> String {
    known.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ")
}
