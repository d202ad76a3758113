//! What an agent's folder brings along for its program: found, reported to people, allowed by an owner,
//! revoked.
//!
//! The row is the word; the copy that a program loads is made before it, from the bytes that were shown.
//! Start at [`Folder::look`]; what the daemon does at its start is `at_start`.

use std::path::PathBuf;

use gangline_config::FolderTrust;
use gangline_core::{
    AgentName, Redactor,
    finding::{Choice, ChoiceWord, FindingKind},
};
use gangline_os::paths::Paths;
use gangline_runtime::{
    folder::{Brings, Scan, Trusted, Without, copy, programs, scan, short, show},
    registry::Found,
};
use gangline_store::{
    AlertWords, FindingFilter, FolderTrustRow, NewFinding, NewFolderTrust, Store, StoreError,
    TrustWord,
};
use serde_json::Value;
use tracing::warn;

use crate::settings::Settings;

/// The folder of an agent's copies, in its state folder.
pub(crate) const COPIES: &str = "trusted";
/// Who has allowed what `trust: project` allows.
const BY_CONFIGURATION: &str = "the configuration (trust: project)";
/// How many findings are looked through for one that was put away.
const FINDINGS: u32 = 50;

/// An agent's folder, and what its program reads there.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The agent.
    pub agent: AgentName,
    /// Its working folder.
    pub path: PathBuf,
    /// The home directory of its program.
    pub home: Option<PathBuf>,
    /// What the program reads.
    pub brings: &'static Brings,
    /// Where its copies are.
    pub copies: PathBuf,
}

/// What was seen in a folder, and what was said of it.
#[derive(Debug, Clone)]
pub struct Look {
    /// What lies there now.
    pub scan: Scan,
    /// The newest word about it.
    pub row: Option<FolderTrustRow>,
}

/// How what lies in a folder stands to what was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is brought along.
    Nothing,
    /// Nobody has allowed anything.
    LeftOut,
    /// Exactly this was allowed.
    Allowed,
    /// Something else was allowed.
    Changed,
}

impl Look {
    /// Returns how it stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.row.as_ref().and_then(FolderTrustRow::allows) {
            _ if self.scan.is_empty() => Standing::Nothing,
            Some(hash) if hash == self.scan.hash() => Standing::Allowed,
            Some(_) => Standing::Changed,
            None => Standing::LeftOut,
        }
    }

    /// Returns one sentence about it, with the commands; `None` if nobody has to know.
    #[must_use]
    pub fn told(&self, folder: &Folder) -> Option<String> {
        let agent = &folder.agent;
        let what = show::sum(&self.scan);
        let state = match (self.standing(), folder.brings.without, folder.brings.from) {
            (Standing::Nothing | Standing::Allowed, _, _) => return None,
            (_, Without::NoSwitch, _) => "its program does not start, since it would load",
            (Standing::Changed, _, gangline_runtime::folder::From::Copy) => {
                "what was allowed is loaded still, and not the change in"
            }
            (Standing::LeftOut | Standing::Changed, _, _) => "it does not load",
        };
        Some(format!(
            "{state} what {} brings along: {what}. `gangline trust show {agent}` shows it; `gangline trust \
             allow {agent} {}` allows exactly this",
            folder.path.display(),
            short(&self.scan.hash())
        ))
    }
}

/// Why nothing was allowed.
#[derive(Debug, thiserror::Error)]
pub enum NotAllowed {
    /// There is nothing to allow.
    #[error("the folder of {0} brings nothing along that its program would load")]
    Nothing(AgentName),
    /// It is not what was shown.
    #[error("what the folder of {agent} brings along is not {said}: it is {now}")]
    Other {
        /// The agent.
        agent: AgentName,
        /// The hash that was said.
        said: String,
        /// What it is now.
        now: String,
    },
    /// Gangline's copy cannot be made.
    #[error("what the folder of {agent} brings along cannot be copied")]
    Copy {
        /// The agent.
        agent: AgentName,
        /// Why.
        source: std::io::Error,
    },
    /// The row cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Folder {
    /// Returns the folder of an agent that this backend drives.
    #[must_use]
    pub fn new(
        paths: &Paths,
        (agent, path): (&AgentName, PathBuf),
        (found, command, screen): (&Found, Option<&[String]>, Option<&Value>),
        home: Option<PathBuf>,
    ) -> Self {
        let usual: Vec<String> = found.program().into_iter().map(str::to_owned).collect();
        let words = command.or(found.command.as_deref()).unwrap_or(&usual);
        Self {
            agent: agent.clone(),
            path,
            home,
            brings: programs::of(found.entry.name, words, screen),
            copies: paths.agent_dir(agent.as_str()).join(COPIES),
        }
    }

    fn of(settings: &Settings) -> Self {
        let agent = &settings.agent;
        let home = settings.child_env.get("HOME").map(PathBuf::from);
        let command = settings.command();
        let screen = agent.extra.get("screen").or_else(|| settings.backend.extra.get("screen"));
        Self::new(
            &settings.paths,
            (&agent.nick, agent.directory.clone()),
            (&settings.backend, command.as_deref(), screen),
            home,
        )
    }

    fn key(&self) -> String {
        self.path.display().to_string()
    }

    /// Looks at the folder, and at what was said of it. Runs nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn look(&self, store: &Store) -> Result<Look, StoreError> {
        let row = store.folder_trust(&self.agent, &self.key()).await?;
        Ok(Look { scan: self.scan().await, row })
    }

    /// Looks at the folder, with the word about it that somebody has read. It blocks its thread.
    #[must_use]
    pub fn look_with(&self, row: Option<FolderTrustRow>) -> Look {
        Look { scan: scan(&self.path, self.home.as_deref(), self.brings), row }
    }

    /// Looks at the folder alone.
    pub async fn scan(&self) -> Scan {
        if self.brings.items.is_empty() {
            return Scan::default();
        }
        let (path, home, brings) = (self.path.clone(), self.home.clone(), self.brings);
        let looked =
            tokio::task::spawn_blocking(move || scan(&path, home.as_deref(), brings)).await;
        looked.unwrap_or_else(|error| Scan { brought: Vec::new(), unread: vec![error.to_string()] })
    }

    /// Allows what was seen, if it has this hash; some of the first digits are enough. The copy is made
    /// first, then the row: what has a row can be loaded.
    ///
    /// # Errors
    /// See [`NotAllowed`]; nothing is allowed then.
    pub async fn allow(
        &self,
        store: &Store,
        look: &Look,
        (said, by): (&str, &str),
    ) -> Result<FolderTrustRow, NotAllowed> {
        let agent = self.agent.clone();
        if look.scan.is_empty() {
            return Err(NotAllowed::Nothing(agent));
        }
        let hash = look.scan.hash();
        if said.len() < short(&hash).len() || !hash.starts_with(&said.to_lowercase()) {
            let now = short(&hash).to_owned();
            return Err(NotAllowed::Other { agent, said: said.to_owned(), now });
        }
        let (copies, scan) = (self.copies.clone(), look.scan.clone());
        let copied = tokio::task::spawn_blocking(move || copy::make(&copies, &scan)).await;
        copied
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|source| NotAllowed::Copy { agent, source })?;
        Ok(store.trust_folder(self.word(hash, TrustWord::Allowed, (&look.scan, by))).await?)
    }

    /// Takes back what was allowed: from the next start of its program on, nothing is loaded. Returns
    /// whether something was allowed.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn revoke(&self, store: &Store, look: &Look, by: &str) -> Result<bool, StoreError> {
        let allowed = look.row.as_ref().and_then(FolderTrustRow::allows);
        let Some(hash) = allowed.map(str::to_owned) else { return Ok(false) };
        store.trust_folder(self.word(hash, TrustWord::Revoked, (&look.scan, by))).await?;
        let copies = self.copies.clone();
        let removed = tokio::task::spawn_blocking(move || copy::remove_others(&copies, None)).await;
        if let Ok(Err(error)) = removed {
            warn!(%error, "a copy of what was allowed is left");
        }
        Ok(true)
    }

    fn word(&self, hash: String, word: TrustWord, (scan, by): (&Scan, &str)) -> NewFolderTrust {
        NewFolderTrust {
            agent: self.agent.clone(),
            folder: self.key(),
            hash,
            word,
            what: Redactor::new([]).redact(&show::sum(scan)),
            by: by.to_owned(),
        }
    }
}

/// Looks at the agent's folder when its daemon starts. What is left out is a finding, told once for each
/// content. Returns what may be loaded.
pub(crate) async fn at_start(settings: &Settings, store: &Store) -> Option<Trusted> {
    let folder = Folder::of(settings);
    let look = match folder.look(store).await {
        Ok(look) => look,
        Err(error) => {
            warn!(%error, "nothing of what the folder brings along is loaded");
            return None;
        }
    };
    let look = by_configuration(settings, store, (&folder, look)).await;
    tell(store, &folder, &look).await;
    let hash = look.row.as_ref().and_then(FolderTrustRow::allows)?.to_owned();
    let (copies, keep) = (folder.copies.clone(), hash.clone());
    let cleared =
        tokio::task::spawn_blocking(move || copy::remove_others(&copies, Some(&keep))).await;
    if let Ok(Err(error)) = cleared {
        warn!(%error, "an old copy of what was allowed is left");
    }
    Some(Trusted { hash, copies: folder.copies })
}

/// Under `trust: project` what lies there at the first start counts as allowed.
async fn by_configuration(
    settings: &Settings,
    store: &Store,
    (folder, mut look): (&Folder, Look),
) -> Look {
    let first = settings.agent.trust == FolderTrust::Project && look.row.is_none();
    if first && !look.scan.is_empty() {
        let hash = look.scan.hash();
        match folder.allow(store, &look, (&hash, BY_CONFIGURATION)).await {
            Ok(row) => look.row = Some(row),
            Err(error) => warn!(%error, "`trust: project` has no effect"),
        }
    }
    look
}

async fn tell(store: &Store, folder: &Folder, look: &Look) {
    let kind = FindingKind::UntrustedFolder;
    let told = match look.told(folder) {
        None => store.resolve_finding(&folder.agent, kind.as_str()).await.map(drop),
        Some(_) if put_away(store, folder, look).await => Ok(()),
        Some(told) => store.raise_finding(finding(folder, look, &told)).await.map(drop),
    };
    if let Err(error) = told {
        warn!(%error, "cannot record what the folder brings along");
    }
}

/// Returns whether a person has said of exactly this that it is left out.
async fn put_away(store: &Store, folder: &Folder, look: &Look) -> bool {
    let filter = FindingFilter { agent: Some(folder.agent.clone()), resolved: true };
    let Ok(rows) = store.findings(filter, FINDINGS).await else { return false };
    let newest = rows.iter().find(|row| row.key == FindingKind::UntrustedFolder.as_str());
    let hash = look.scan.hash();
    newest.is_some_and(|row| {
        row.resolved_by.is_some() && row.evidence.as_str().contains(short(&hash))
    })
}

fn finding(folder: &Folder, look: &Look, told: &str) -> NewFinding {
    let redactor = Redactor::new([]);
    let agent = &folder.agent;
    let alert = format!("[APPROVAL] {agent}: {told}");
    let hash = look.scan.hash();
    NewFinding {
        evidence: redactor.redact(&format!("content {}", short(&hash))),
        choices: vec![Choice::new(ChoiceWord::Dismiss, "leaves it out, until it changes")],
        alert: Some(AlertWords { text: redactor.redact(&alert), room_text: None }),
        ..NewFinding::new(agent.clone(), FindingKind::UntrustedFolder, redactor.redact(told))
    }
}

#[cfg(test)]
mod tests;
