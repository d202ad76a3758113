//! What Codex is told of the trust in a folder and in those above, in place of what the user's settings say.

use std::fs;

use serde_json::json;

use super::{Decided, Load};
use crate::StartOptions;

/// How many folders above the working folder the program may find settings in.
const FOLDERS_MAX: usize = 40;

/// Whether the program may load what its folder brings along. Told with each conversation: a request
/// with full access to files would make it trust the folder by itself, and for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing is loaded, whatever the user's own settings say of the folder. The program then reads no
    /// instructions there either.
    None,
    /// An owner has allowed what lies there.
    Allowed,
}

impl Trust {
    pub(crate) fn of(decided: &Decided) -> Self {
        match decided.load {
            Load::Folder => Self::Allowed,
            Load::Nothing | Load::Copy(_) => Self::None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::None => "untrusted",
            Self::Allowed => "trusted",
        }
    }
}

/// Returns the folders whose trust is told: the working folder and those above, by each spelling.
pub(crate) fn told(options: &StartOptions) -> Vec<String> {
    let real = fs::canonicalize(&options.workdir).unwrap_or_else(|_| options.workdir.clone());
    let mut folders: Vec<String> = Vec::new();
    for folder in [&options.workdir, &real] {
        for folder in folder.ancestors().take(FOLDERS_MAX) {
            let spelled = folder.display().to_string();
            if folder.parent().is_some() && !folders.contains(&spelled) {
                folders.push(spelled);
            }
        }
    }
    folders
}

/// Returns the trust of the folders as a table of TOML.
pub(crate) fn toml(options: &StartOptions, trust: Trust) -> String {
    let word = trust.word();
    let entry = |folder: String| format!("{}={{trust_level={word:?}}}", json!(folder));
    let entries: Vec<String> = told(options).into_iter().map(entry).collect();
    format!("{{{}}}", entries.join(","))
}

/// Returns the words by which the program in a terminal is told what it may load of its folder.
pub(crate) fn words(options: &StartOptions, decided: &Decided) -> Vec<String> {
    // In a terminal nothing else can give it the folder's instructions.
    let trust = if decided.left_out { Trust::None } else { Trust::Allowed };
    vec!["-c".to_owned(), format!("projects={}", toml(options, trust))]
}
