//! The agent's notes: a folder that outlives every session (R2-12, C32), in which the agent may
//! write unasked, and the turn in which it is asked to (R2-09).

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use gangline_core::TurnId;
use gangline_runtime::{Answer, ApprovalAsk};
use serde_json::Value;

use crate::texts;

#[cfg(test)]
mod tests;

/// The folder's name in the agent's state folder (`GANGLINE_STATE_DIR`).
pub(crate) const FOLDER: &str = "notes";
/// What the agent is asked (R2-09): data, with its own facts filled in.
const PROMPT: &str = include_str!("../data/notes_prompt.md");
/// Tools that write files and do nothing else.
const WRITERS: [&str; 3] = ["Write", "Edit", "MultiEdit"];
/// How such a tool calls the file.
const FILE: [&str; 3] = ["file_path", "path", "filePath"];

/// Where the notes are, and the turn for them that is open.
#[derive(Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
    /// The turn in which the agent is asked for them, and how full its context is.
    pub(crate) turn: Option<(TurnId, u64)>,
}

impl Notes {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, turn: None }
    }

    /// Returns where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the prompt of the turn for the notes.
    pub(crate) fn prompt(&self) -> String {
        let tokens = self.turn.map_or(0, |(_, tokens)| tokens);
        let text = PROMPT.replace("{notes}", &self.folder.display().to_string());
        text.replace("{tokens}", &tokens.to_string()).trim_end().to_owned()
    }

    /// Returns what is answered without a human: the notes are the agent's own, and nobody waits
    /// for the turn in which it is asked for them.
    pub(crate) fn answer(&self, turn: TurnId, ask: &ApprovalAsk) -> Option<Answer> {
        if self.writes_notes(ask) && !ask.presumed {
            return Some(Answer::Allow);
        }
        let asked = self.turn.is_some_and(|(open, _)| open == turn);
        asked.then(|| Answer::Deny { reason: texts::only_notes(&self.folder) })
    }

    fn writes_notes(&self, ask: &ApprovalAsk) -> bool {
        if !WRITERS.contains(&ask.tool.as_str()) || ask.input.get("also_from_now_on").is_some() {
            return false;
        }
        match ask.input.get("changes").and_then(Value::as_array) {
            Some(changes) => !changes.is_empty() && changes.iter().all(|it| self.changes_notes(it)),
            None => {
                let mut files = FILE.iter().filter_map(|name| ask.input.get(name)).peekable();
                files.peek().is_some() && files.all(|file| self.holds(file))
            }
        }
    }

    /// A patch names the file, and perhaps the one that it becomes.
    fn changes_notes(&self, change: &Value) -> bool {
        let moved = change.get("kind").and_then(|kind| kind.get("move_path"));
        let moved = moved.filter(|path| !path.is_null());
        change.get("path").is_some_and(|path| self.holds(path))
            && moved.is_none_or(|path| self.holds(path))
    }

    /// Returns whether it is the path of a file in the folder, with no way out on it.
    fn holds(&self, file: &Value) -> bool {
        let Some(rest) = file.as_str().and_then(|it| Path::new(it).strip_prefix(&self.folder).ok())
        else {
            return false;
        };
        let mut path = self.folder.clone();
        rest.components().all(|part| match part {
            Component::Normal(name) => {
                path.push(name);
                !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink())
            }
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => false,
        }) && path != self.folder
    }
}
