//! Gangline's own copy of what an owner has allowed: one folder for each hash, in the agent's state
//! folder, readable by its user only. It blocks its thread.
//!
//! A copy is believed as far as its content has the hash of its name.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use gangline_os::fsio;
use serde_json::{Value, json};

use super::{
    Trusted,
    scan::{self, Brought, FILE_MAX, FILES_MAX, LEVELS_MAX, Scan},
};

/// The list of the files, in a copy's folder.
const LIST: &str = "list.json";
/// The files, in a copy's folder.
const TREE: &str = "tree";
/// How large the list may be, in bytes.
const LIST_MAX: u64 = 1024 * 1024;
/// What is copied can be run by its user, if it was a program.
const PROGRAM: u32 = 0o700;

/// A copy whose content was found to be what was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Its folder.
    pub root: PathBuf,
    /// Its files.
    pub files: Vec<Brought>,
}

impl Copied {
    /// Returns where the copy of a file is.
    #[must_use]
    pub fn of(&self, file: &Brought) -> PathBuf {
        self.level(file.level).join(&file.path)
    }

    /// Returns the copy of the working folder, or of the folder so many levels above it.
    #[must_use]
    pub fn level(&self, level: usize) -> PathBuf {
        self.root.join(TREE).join(level.to_string())
    }
}

/// Copies what was scanned; one that is there already, and whole, stays.
///
/// # Errors
/// When a file cannot be written, or something was not read: then nobody has seen all of it.
pub fn make(copies: &Path, scan: &Scan) -> io::Result<Copied> {
    if let Some(unread) = scan.unread.first() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, unread.clone()));
    }
    let trusted = Trusted { hash: scan.hash(), copies: copies.to_owned() };
    if let Ok(copied) = open(&trusted) {
        return Ok(copied);
    }
    let root = copies.join(&trusted.hash);
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fsio::private_dir(&root)?;
    let copied = Copied { root, files: scan.brought.clone() };
    for file in &copied.files {
        let path = copied.of(file);
        if let Some(parent) = path.parent() {
            fsio::private_dir(parent)?;
        }
        fsio::write_private(&path, &file.bytes)?;
        if file.runs {
            fs::set_permissions(&path, fs::Permissions::from_mode(PROGRAM))?;
        }
    }
    // Written last: without the list there is no copy.
    let list: Vec<Value> = copied.files.iter().map(entry).collect();
    fsio::write_private(&copied.root.join(LIST), json!(list).to_string().as_bytes())?;
    Ok(copied)
}

fn entry(file: &Brought) -> Value {
    json!({"level": file.level, "path": file.path, "kind": file.kind.as_str(), "runs": file.runs})
}

/// Reads a copy and compares its content with its hash.
///
/// # Errors
/// When there is none, or it is not what was allowed.
pub fn open(trusted: &Trusted) -> io::Result<Copied> {
    let root = trusted.copies.join(&trusted.hash);
    let list = fsio::read_text_capped(&root.join(LIST), LIST_MAX)?;
    let list: Vec<Value> = serde_json::from_str(&list)?;
    let mut copied = Copied { root, files: Vec::new() };
    for entry in list.iter().take(FILES_MAX * 2) {
        let file = file_of(entry).ok_or_else(|| damaged(&trusted.hash))?;
        let bytes = fsio::read_capped(&copied.of(&file), FILE_MAX)?;
        copied.files.push(Brought { bytes, ..file });
    }
    match scan::hash(&copied.files, &[]) == trusted.hash {
        true => Ok(copied),
        false => Err(damaged(&trusted.hash)),
    }
}

fn file_of(entry: &Value) -> Option<Brought> {
    let level = usize::try_from(entry["level"].as_u64()?).ok().filter(|it| *it < LEVELS_MAX)?;
    let path = entry["path"].as_str()?.to_owned();
    let stays = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    let kind = entry["kind"].as_str()?.parse().ok()?;
    let runs = entry["runs"].as_bool()?;
    stays.then_some(Brought { level, path, kind, runs, bytes: Vec::new() })
}

fn damaged(hash: &str) -> io::Error {
    let why = format!("the copy {} is not what was allowed", super::short(hash));
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Removes the copies that are not in use; `None` removes all of them.
///
/// # Errors
/// The first that came up; what can be removed is removed for all that.
pub fn remove_others(copies: &Path, keep: Option<&str>) -> io::Result<()> {
    let entries = match fs::read_dir(copies) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut first = Ok(());
    for entry in entries.flatten() {
        if keep.is_some_and(|keep| entry.file_name() == keep) {
            continue;
        }
        let removed = fs::remove_dir_all(entry.path());
        if first.is_ok() {
            first = removed;
        }
    }
    first
}
