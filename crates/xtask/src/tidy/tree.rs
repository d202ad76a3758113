//! The files that the checks look at, read once. Start at [`Tree::load`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell;

/// Files by their path from the repository's root, with `/` between folders.
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

/// One file. A file that is not UTF-8 has an empty text.
pub(crate) struct File<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
}

impl Tree {
    /// Reads what git tracks and what it would track; without git, every file outside the folders
    /// that hold built things.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let paths = if root.join(".git").exists() && shell::find_program("git").is_some() {
            let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
            let text = shell::read(shell::command("git").args(list))?;
            text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
        } else {
            let mut paths = Vec::new();
            walk(root, "", &mut paths)?;
            paths
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            if !full.is_file() {
                continue; // deleted, and the deletion is not yet committed
            }
            let bytes = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, String::from_utf8(bytes).unwrap_or_default());
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self { files: files.iter().map(own).collect() }
    }

    /// All files in the order of their paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = File<'_>> {
        self.files.iter().map(|(path, text)| File { path, text })
    }

    /// All Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = File<'_>> {
        self.iter().filter(|file| file.path.ends_with(".rs"))
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether any file lies in this folder.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        let folder = folder.trim_end_matches('/');
        folder.is_empty()
            || self
                .files
                .keys()
                .any(|path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    let here = root.join(folder);
    for entry in fs::read_dir(&here).with_context(|| format!("cannot list {}", here.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if entry.file_type()?.is_dir() {
            if !["target", "node_modules", ".git"].contains(&name.as_str()) {
                walk(root, &path, paths)?;
            }
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
