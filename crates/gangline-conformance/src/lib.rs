//! The conformance suite: one backend with its real program, driven through every rule that the
//! daemon relies on, against a stand-in model.
//!
//! It is shipped, since `gangline runtime doctor --deep` runs it on the operator's machine: no
//! network, no tokens, every wait has an end. It knows no backend: what differs between them is
//! data in [`gangline_runtime::registry::dialect`]. The model is the caller's, behind [`Model`]; it
//! has to follow [`script`]. Start at [`run`]; the rules are [`cells::CELLS`].

pub mod cells;
pub mod report;

mod card;
mod faults;
mod ledger;
mod life;
mod plan;
mod probe;
mod reading;
mod script;
mod session;
mod stage;
mod surroundings;
mod talk;
mod tools;
mod turn;

use std::sync::Arc;

pub use cells::Cell;
pub use report::{Outcome, Report, Score};
pub use script::script;

use gangline_os::clock;

use self::card::Card;
use gangline_runtime::{McpServer, Runtime, StartOptions, registry::dialect::Dialect};

/// The stand-in model behind the backend, as far as the suite asks it.
pub trait Model: Send + Sync {
    /// Returns where it is served, without a slash at the end: `http://127.0.0.1:9000`.
    fn origin(&self) -> String;

    /// Returns the newest of the requests that it was sent which has all of these words in it, as
    /// JSON text. A request is among them before it is answered.
    fn newest_with(&self, words: &[&str]) -> Option<String>;
}

/// An MCP server that the suite offers to the backend. Its tool gives back, in whatever words,
/// the `text` that it is called with.
#[derive(Debug, Clone)]
pub struct McpProbe {
    /// How it is reached.
    pub server: McpServer,
    /// The tool's own name; no other tool in the session ends with it.
    pub tool: String,
}

/// What is tried.
pub struct Subject {
    /// Makes an unstarted adapter.
    pub make: Box<dyn Fn() -> Box<dyn Runtime> + Send + Sync>,
    /// What every session is started with. The folders are made below `workdir`, `session_dir` and
    /// `tmp_dir`; the suite sets permissions, tools, prompts and the model's address by itself.
    /// `env` needs a `GANGLINE_RUN` that nobody else has, by which what is left over is found.
    pub options: StartOptions,
    /// How this backend speaks.
    pub dialect: Dialect,
    /// What it speaks to.
    pub model: Arc<dyn Model>,
    /// MCP servers to offer; without one of a kind, its cell is skipped.
    pub mcp: Vec<McpProbe>,
    /// The program's version, for the report; empty = it has none.
    pub version: String,
    /// The cells that are tried; empty = all.
    pub only: Vec<&'static str>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// This is tried now, perhaps with others, and while others are tried.
    Trying(&'static Cell),
    /// This was found.
    Found(&'a Outcome),
}

/// Drives the adapter through every cell. `progress` is told what is tried and each score as it
/// falls.
///
/// Bounded in time by the dialect's pace. Not cancel-safe: a dropped run leaves its programs to
/// the adapters' drop; what carries the run id of `options` can be swept by it.
pub async fn run(subject: &Subject, progress: &(dyn Fn(Progress<'_>) + Send + Sync)) -> Report {
    let clock = clock::system();
    let began = clock.monotonic();
    let card = Card::new(subject, progress);
    let given = &subject.options;
    let able = (subject.make)().capabilities(given.command.as_deref(), &given.extra);
    // A start tells what is wrong with the fields.
    let able = able.unwrap_or_default();
    for cell in cells::CELLS.iter().filter(|cell| !(cell.needs)(&able)) {
        card.note(cell.id, Score::Unsupported);
    }
    let wanted = |id: &&str| subject.only.is_empty() || subject.only.contains(id);
    for id in cells::CELLS.iter().map(|cell| cell.id).filter(|id| !wanted(id)) {
        card.note(id, Score::Skipped("it was not asked for".to_owned()));
    }
    // Each waits for something else most of the time: for the model, for a start, for a program's
    // own retries.
    let talk = stage::play(&talk::STAGE, &card);
    let faults = stage::play(&faults::STAGE, &card);
    tokio::join!(talk, faults, life::play(&card));
    let took = clock.monotonic().saturating_sub(began);
    card.report(took)
}
