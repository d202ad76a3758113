//! Folders that an owner trusts: what an agent's folder brings along, and who has allowed it.

use gangline_core::{AgentName, Redacted, words};
use gangline_os::clock::UnixMicros;

words! {
    /// What was said of what a folder brings along.
    TrustWord, "word about a folder" {
        /// It may be loaded.
        Allowed = "allowed",
        /// It may be loaded no more.
        Revoked = "revoked",
    }
}

/// A word about what an agent's folder brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFolderTrust {
    /// The agent.
    pub agent: AgentName,
    /// Its folder.
    pub folder: String,
    /// The hexadecimal SHA-256 of what was shown.
    pub hash: String,
    /// What was said of it.
    pub word: TrustWord,
    /// What it is, on one line for people.
    pub what: Redacted,
    /// Who said it.
    pub by: String,
}

/// One row of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderTrustRow {
    /// The agent.
    pub agent: AgentName,
    /// Its folder.
    pub folder: String,
    /// The hexadecimal SHA-256 of what was shown.
    pub hash: String,
    /// What was said of it.
    pub word: TrustWord,
    /// What it is, on one line for people.
    pub what: Redacted,
    /// Who said it.
    pub by: String,
    /// When.
    pub at: UnixMicros,
}

impl FolderTrustRow {
    /// Returns the hash that may be loaded; `None` after it was revoked.
    #[must_use]
    pub fn allows(&self) -> Option<&str> {
        (self.word == TrustWord::Allowed).then_some(self.hash.as_str())
    }
}
