//! A change of a file, as a call's arguments tell it: enough to see that a later one undoes it.

use serde_json::Value;

use crate::redact::{Redacted, Redactor};

use super::digest;

/// The most changes that are read from one call.
pub const EDITS_A_CALL: usize = 16;

/// The longest name of a file that is kept, in bytes.
const FILE_MOST: usize = 256;

/// How backends name the file, the text that goes and the text that comes.
const FILE: &[&str] = &["file_path", "filePath", "path", "abs_path", "file"];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "old_text", "oldText"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "new_text", "newText"];
const WHOLE: &[&str] = &["content", "contents", "file_text"];
/// How backends name several changes, and a difference.
const SEVERAL: &[&str] = &["edits", "changes"];
const DIFFERENCE: &[&str] = &["diff", "unified_diff", "patch", "patchText", "patch_text", "input"];

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub file: Redacted,
    /// The digest of the text that goes; `None` if the file gets a whole new content.
    pub before: Option<u64>,
    /// The digest of the text that comes.
    pub after: u64,
}

impl Edit {
    /// Returns the changes that a call's arguments describe, whichever backend they come from; none if
    /// it is another kind of call. At most [`EDITS_A_CALL`].
    #[must_use]
    pub fn read(input: &Value, redactor: &Redactor) -> Vec<Self> {
        let mut edits = Vec::new();
        read(input, None, redactor, &mut edits);
        edits.truncate(EDITS_A_CALL);
        edits
    }

    fn new(file: &str, texts: (Option<&str>, &str), redactor: &Redactor) -> Self {
        let (before, after) = texts;
        Self {
            file: redactor.redact(file).head(FILE_MOST),
            before: before.map(digest),
            after: digest(after),
        }
    }
}

fn read(input: &Value, around: Option<&str>, redactor: &Redactor, edits: &mut Vec<Edit>) {
    let file = text(input, FILE).or(around);
    if let Some(file) = file
        && let Some(new) = text(input, NEW)
    {
        // A missing or null old text: the file is new.
        edits.push(Edit::new(file, (text(input, OLD), new), redactor));
        return;
    }
    for several in SEVERAL.iter().filter_map(|key| input.get(key)) {
        match several {
            Value::Array(each) => {
                for edit in each.iter().take(EDITS_A_CALL) {
                    read(edit, file, redactor, edits);
                }
            }
            // Codex names the files by the keys of an object.
            Value::Object(each) => {
                for (file, edit) in each.iter().take(EDITS_A_CALL) {
                    read(edit, Some(file), redactor, edits);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    if !edits.is_empty() {
        return;
    }
    if let Some(patch) = text(input, DIFFERENCE) {
        edits.extend(differences(file, patch, redactor));
        // Codex gives the content of a new file where the difference of another one is.
        if let Some(file) = file
            && edits.is_empty()
            && input.pointer("/kind/type").and_then(Value::as_str) == Some("add")
        {
            edits.push(Edit::new(file, (None, patch), redactor));
        }
    } else if let (Some(file), Some(content)) = (file, text(input, WHOLE)) {
        edits.push(Edit::new(file, (None, content), redactor));
    }
}

/// Returns the change of each file in a unified difference or a patch of Codex's form.
fn differences(file: Option<&str>, patch: &str, redactor: &Redactor) -> Vec<Edit> {
    const NAMES: &[&str] =
        &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/", "+++ "];
    let mut edits = Vec::new();
    let mut file = file;
    let (mut goes, mut comes) = (String::new(), String::new());
    for line in patch.lines().chain(["*** End"]) {
        let name = NAMES.iter().find_map(|start| line.strip_prefix(start));
        if name.is_some() || line.starts_with("*** End") {
            if let Some(file) = file
                && (!goes.is_empty() || !comes.is_empty())
                && edits.len() < EDITS_A_CALL
            {
                edits.push(Edit::new(file, (Some(&goes), &comes), redactor));
            }
            goes.clear();
            comes.clear();
            file = name.or(file);
        } else if line.starts_with("--- ") {
        } else if let Some(gone) = line.strip_prefix('-') {
            goes.push_str(gone);
            goes.push('\n');
        } else if let Some(new) = line.strip_prefix('+') {
            comes.push_str(new);
            comes.push('\n');
        }
    }
    edits
}

fn text<'a>(input: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| input.get(key)?.as_str())
}
