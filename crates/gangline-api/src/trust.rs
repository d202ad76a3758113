//! What an agent's folder brings along for its program, as `gangline trust --json` shows it.

use gangline_core::name::AgentName;
use serde::{Deserialize, Serialize};

/// A folder, what lies there, and the newest word about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderTrust {
    /// The agent.
    pub agent: AgentName,
    /// Its working folder.
    pub folder: String,
    /// `nothing`, `left_out`, `allowed` or `changed`.
    pub standing: String,
    /// The hash of what lies there.
    pub hash: String,
    /// The files.
    pub files: Vec<FolderFile>,
    /// What was not read, and why: with one of these nothing can be allowed.
    pub unread: Vec<String>,
    /// The newest word: `allowed` or `revoked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// The hash that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_hash: Option<String>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<String>,
}

/// One file of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderFile {
    /// Its path from the working folder.
    pub path: String,
    /// What it is: `settings`, `servers`, `plugin`, `hook`, `skill`, `agent`, `command`, `rules`,
    /// `script`.
    pub kind: String,
    /// Its size.
    pub bytes: u64,
}
