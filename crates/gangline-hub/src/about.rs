//! `hub.json`: what the running hub says of itself, for commands. It counts only while the hub
//! that wrote it holds its lock.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use gangline_os::{
    fsio,
    lock::{self, Holder},
    paths::Paths,
};
use serde::{Deserialize, Serialize};

use crate::kept::{Known, Standing};

/// The file is a few hundred bytes an agent.
const FILE_MAX: u64 = 4 * 1024 * 1024;

/// What a hub says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// The program that it starts daemons with.
    pub program: PathBuf,
    /// The configuration that it reads.
    pub config: PathBuf,
    /// Where its IRC server listens, or the one elsewhere that its agents join.
    pub irc: String,
    /// The address of its HTTP interface, if it listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// Why its HTTP interface does not listen although it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_trouble: Option<String>,
    /// Its chat server's socket for daemons; none if its agents join elsewhere, and of a hub of an
    /// older version, which had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// When it began, RFC 3339.
    pub since: String,
    /// Whether it starts and ends daemons; `false` leaves them to something else.
    pub keeps_agents: bool,
    /// Whether SIGTERM leaves the daemons running.
    pub leaves_agents: bool,
    /// Whether a service manager has started it.
    pub supervised: bool,
    /// Whether it was asked to end and waits for its daemons.
    pub draining: bool,
    /// Whether all agents that should run have been ready at the same time.
    pub ready: bool,
    /// How often it has read its configuration again since it began.
    pub loads: u64,
    /// Why the configuration as it was read last is not used; none while it is.
    pub refused: Option<String>,
    /// The sections that were changed, and whose changes take effect only when a hub starts anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unapplied: Vec<String>,
    /// What it was started with beside the configuration: options of `up`.
    pub options: Vec<String>,
    /// The processes that it keeps, by name.
    pub kept: BTreeMap<String, KeptProcess>,
}

/// What a hub says of one process that it keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptProcess {
    /// Where it stands.
    pub standing: StandingWord,
    /// The exit code of its last death, if nobody asked it to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Whether the configuration has changed since it was started.
    pub outdated: bool,
    /// When the order was given that it follows, in microseconds since 1970; 0 without one.
    pub ordered_at: i64,
}

/// [`Standing`] as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingWord {
    /// It runs.
    Up,
    /// It was started a moment ago.
    Starting,
    /// It died and is started again after a wait.
    Waiting,
    /// It was asked to end.
    Stopping,
    /// It should not run.
    Stopped,
    /// No restart would fix it.
    GivenUp,
}

impl From<Known<'_>> for KeptProcess {
    fn from(known: Known<'_>) -> Self {
        let (standing, code) = match known.standing {
            Standing::Up { .. } => (StandingWord::Up, None),
            Standing::Starting => (StandingWord::Starting, known.code),
            Standing::Waiting => (StandingWord::Waiting, known.code),
            Standing::Stopping => (StandingWord::Stopping, None),
            Standing::Stopped => (StandingWord::Stopped, None),
            Standing::GivenUp { code } => (StandingWord::GivenUp, Some(code)),
        };
        let (outdated, ordered_at) = (known.outdated, known.ordered_at.0);
        Self { standing, code, outdated, ordered_at }
    }
}

/// A hub that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hub {
    /// Who holds its lock.
    pub holder: Holder,
    /// What it says of itself; none in its first moment.
    pub about: Option<About>,
}

/// Returns the hub that runs on this state folder.
///
/// # Errors
/// When its lock cannot be asked for.
pub fn running(paths: &Paths) -> io::Result<Option<Hub>> {
    let Some(holder) = lock::probe(&paths.hub_lock())? else { return Ok(None) };
    let about = read(&file(paths)).filter(|about| holder.pid == Some(about.pid));
    Ok(Some(Hub { holder, about }))
}

/// Returns what the last hub on this state folder said of itself, whether it runs or not.
#[must_use]
pub fn last(paths: &Paths) -> Option<About> {
    read(&file(paths))
}

fn read(path: &Path) -> Option<About> {
    let text = fsio::read_text_capped(path, FILE_MAX).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes what the hub says of itself. Readers see the whole of it or what it said before; it is
/// not synced, for it is worth nothing after the hub's end.
pub(crate) fn write(paths: &Paths, about: &About) -> io::Result<()> {
    let text = serde_json::to_string_pretty(about)?;
    let path = file(paths);
    let new = path.with_extension("json.new");
    let mut options = OpenOptions::new();
    // What lies there is of a hub that died while it wrote, or a link that would be followed.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = options.write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    std::fs::rename(&new, &path)
}

fn file(paths: &Paths) -> PathBuf {
    paths.state.join("hub.json")
}
