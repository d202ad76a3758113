//! The checkpoint, read from the store and the agent's notes (C13). The rules and texts are in
//! [`gangline_core::checkpoint`].
//!
//! The record of events says what is to be told: nothing is kept in memory, so a daemon that dies
//! between the shortening and the next prompt forgets nothing. Start at [`read`].

use std::{
    fs,
    path::Path,
    pin::Pin,
    time::{Duration, UNIX_EPOCH},
};

use gangline_api::{
    approval::wanted,
    event::{Event as Payload, Notice},
};
use gangline_core::{
    AgentName, MessageId, Origin, Tier,
    approval::view::Wanted,
    block::Block,
    checkpoint::{Form, Record, Told, Words, told},
};
use gangline_os::{
    clock::{self, UnixMicros},
    fsio,
};
use gangline_store::{
    Event, EventQuery, MessageFilter, MessageRow, QuestionFilter, Store, StoreError,
};

use crate::texts;

/// The notice that says that the checkpoint was given to the agent.
pub(crate) const GIVEN: &str = "checkpoint";
/// The notice of a session that somebody wanted empty.
pub(crate) const EMPTIED: &str = "context_emptied";
/// The notice of a new session in the place of a full or cold one.
pub(crate) const RENEWED: &str = "session_renewed";
/// The notices around a shortening.
const COMPACTING: &str = "compacting";
const COMPACTED: &str = "compacted";

/// Gangline's file in the folder of the notes.
pub(crate) const RECORD: &str = "checkpoint.md";
/// The agent's form there.
pub(crate) const FORM: &str = "task.md";
/// So much of the form is read, in bytes.
const FORM_MAX: u64 = 64 * 1024;

/// The last words of so many messages of people are kept.
const WORDS: usize = 5;
/// Of so many messages those of people are looked for.
const MESSAGES: u32 = 50;
/// So many files are named, the last ones.
const FILES: usize = 40;
/// So many open things of a kind are named.
const OPEN: u32 = 20;
/// So far back the record of events is read, in pages of this length.
const PAGES: usize = 4;
const PAGE: u32 = 500;

/// What is read, and for whom.
#[derive(Clone)]
pub(crate) struct CheckpointDeps {
    pub(crate) agent: AgentName,
    pub(crate) store: Store,
}

/// A read that runs, as a future that the loop polls.
pub(crate) struct Reading {
    deps: CheckpointDeps,
    running: Option<Running>,
}

type Running = Pin<Box<dyn Future<Output = Result<Found, StoreError>> + Send>>;

impl Reading {
    pub(crate) fn new(deps: CheckpointDeps) -> Self {
        Self { deps, running: None }
    }

    /// Begins to read; see [`read`].
    pub(crate) fn begin(&mut self, in_turn: Vec<MessageId>) {
        self.running = Some(Box::pin(read(self.deps.clone(), in_turn)));
    }

    /// Nobody waits for it any more.
    pub(crate) fn stop(&mut self) {
        self.running = None;
    }

    /// Waits until it is done; pending while none runs. [`Self::stop`] follows before the next call.
    ///
    /// Cancel-safe: yes; the read that runs is a field.
    pub(crate) async fn next(&mut self) -> Result<Found, StoreError> {
        match &mut self.running {
            Some(running) => running.as_mut().await,
            None => std::future::pending().await,
        }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) record: Record,
    /// Why the agent has yet to be told what must not be lost, if it has.
    pub(crate) owed: Option<Why>,
}

/// Why the agent is told what must not be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its context is being made shorter, or was.
    Shortened,
    /// It has a new session.
    Renewed,
}

impl Why {
    fn words(self) -> &'static str {
        match self {
            Self::Shortened => texts::WAS_SHORTENED,
            Self::Renewed => texts::WAS_RENEWED,
        }
    }
}

/// Reads what Gangline knows. `in_turn` are messages that the prompt holds anyway.
///
/// # Errors
/// The store cannot be read.
async fn read(deps: CheckpointDeps, in_turn: Vec<MessageId>) -> Result<Found, StoreError> {
    let mut since = Since::default();
    let mut before = None;
    for _ in 0..PAGES {
        let query = EventQuery {
            agent: Some(deps.agent.clone()),
            before: before.take(),
            limit: PAGE,
            newest: true,
            ..EventQuery::default()
        };
        let page = deps.store.events(query).await?;
        before = page.events.first().map(Event::cursor);
        let full = page.events.len() == PAGE as usize;
        let over = page.events.iter().rev().any(|event| since.back(event));
        if over || !full {
            break;
        }
    }
    let words = words(&deps, &in_turn).await?;
    let open = open(&deps).await?;
    let owed = since.owed.flatten();
    Ok(Found { record: Record { words, files: since.files(), open }, owed })
}

/// What happened since the last checkpoint, read backwards.
#[derive(Debug, Default)]
struct Since {
    /// The newest first.
    files: Vec<String>,
    /// What the newest of the notices says, once one was found.
    owed: Option<Option<Why>>,
    /// A shortening was in vain: its beginning counts for nothing.
    failed: bool,
}

impl Since {
    /// Takes the event before; returns whether that was the last checkpoint.
    fn back(&mut self, event: &Event) -> bool {
        let payload = serde_json::from_str(event.payload.as_str()).unwrap_or_default();
        match Payload::decode(&event.kind, payload) {
            Ok(Some(Payload::Notice(notice))) => self.notice(&notice),
            Ok(Some(Payload::Assistant(said))) => {
                for block in said.content.iter().rev() {
                    if let Block::ToolUse { name, input, .. } = block {
                        self.touched(name, input);
                    }
                }
                false
            }
            Ok(_) | Err(_) => false,
        }
    }

    fn notice(&mut self, notice: &Notice) -> bool {
        match notice.code.as_str() {
            GIVEN | EMPTIED => {
                self.owed.get_or_insert(None);
                return true;
            }
            RENEWED => self.owes(Why::Renewed),
            COMPACTED if notice.text == texts::COMPACTED => self.owes(Why::Shortened),
            COMPACTED => self.failed = true,
            COMPACTING if std::mem::take(&mut self.failed) => {}
            // The daemon may have died before it heard the end.
            COMPACTING => self.owes(Why::Shortened),
            _ => {}
        }
        false
    }

    fn owes(&mut self, why: Why) {
        self.owed.get_or_insert(Some(why));
    }

    fn touched(&mut self, tool: &str, input: &serde_json::Value) {
        let Wanted::Write { files, .. } = wanted(tool, input) else { return };
        for file in files.into_iter().map(|file| file.path) {
            if self.files.len() < FILES && !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    fn files(self) -> Vec<String> {
        self.files.into_iter().rev().collect()
    }
}

/// Returns the last words of people, oldest first.
async fn words(deps: &CheckpointDeps, in_turn: &[MessageId]) -> Result<Vec<Words>, StoreError> {
    let filter = MessageFilter { agent: Some(deps.agent.clone()), ..MessageFilter::default() };
    let rows = deps.store.messages(filter, MESSAGES).await?;
    let said = rows.into_iter().filter(|row| {
        let person = matches!(row.principal.tier, Tier::Owner | Tier::Member);
        // Not what a program or a reminder said in a person's name.
        let said = matches!(row.origin, Origin::Mention | Origin::Direct | Origin::Cli);
        let theirs = said && row.takes > 0 && row.question.is_none();
        person && theirs && !in_turn.contains(&row.id)
    });
    let mut words: Vec<_> = said.take(WORDS).map(|row| words_of(&row)).collect();
    words.reverse();
    Ok(words)
}

fn words_of(row: &MessageRow) -> Words {
    let place = match row.target.as_str() {
        "" => String::new(),
        target if target == row.sender => " in private".to_owned(),
        target => format!(" in {target}"),
    };
    Words { from: format!("{}{place}", row.sender), text: row.body.as_str().to_owned() }
}

/// Returns what is open, one line each.
async fn open(deps: &CheckpointDeps) -> Result<Vec<String>, StoreError> {
    let (store, agent) = (&deps.store, &deps.agent);
    let mut open = Vec::new();
    for approval in store.approvals(Some(agent), true).await?.into_iter().take(OPEN as usize) {
        let summary = approval.summary.as_str();
        open.push(format!("approval {}: {summary}", approval.number));
    }
    let mine = QuestionFilter { asker: Some(agent.clone()), ..QuestionFilter::default() };
    for row in store.questions(mine, OPEN).await? {
        let text = row.body.as_str();
        open.push(format!("question {} that you asked {}: {text}", row.number, row.asked));
    }
    let asked = QuestionFilter { asked: Some(agent.clone()), ..QuestionFilter::default() };
    for row in store.questions(asked, OPEN).await? {
        let text = row.body.as_str();
        open.push(format!("question {} that {} asked you: {text}", row.number, row.agent));
    }
    for row in store.reminders(Some(agent), OPEN).await? {
        let due = clock::rfc3339(row.due_at);
        open.push(format!("reminder {} at {due}: {}", row.id, row.body.as_str()));
    }
    Ok(open)
}

/// Returns what the agent wrote into its form, and when. Nothing if there is none.
pub(crate) fn form(notes: &Path) -> (Form, Option<UnixMicros>) {
    let path = notes.join(FORM);
    let about = match fs::symlink_metadata(&path) {
        // Through a link the agent would be told what it may not read.
        Ok(about) if about.is_file() => about,
        Ok(_) | Err(_) => return (Form::default(), None),
    };
    let at = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let at = at.and_then(|at| i64::try_from(at.as_micros()).ok()).map(UnixMicros);
    match fsio::read_foreign_text(&path, FORM_MAX) {
        Ok(text) => (Form::read(&text), at),
        Err(error) => {
            tracing::warn!(%error, "cannot read the agent's form");
            (Form::default(), None)
        }
    }
}

/// Returns what is added to the first prompt after the context was shortened.
pub(crate) fn text(
    record: &Record,
    (notes, now): (&Path, UnixMicros),
    (pinned, why): (&[String], Why),
) -> String {
    let (form, written) = form(notes);
    let age = written.map(|at| now.since(at)).filter(|age| *age >= OLD).map(texts::span);
    let (notes, why) = (notes.display().to_string(), why.words());
    told(&Told { why, pinned, form: (&form, age.as_deref()), record, notes: &notes })
}

/// From this age on it is said how old the form is.
const OLD: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
