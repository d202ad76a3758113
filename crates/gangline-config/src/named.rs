//! Which files of a folder a configuration names: what is read or run because of it, wherever in the
//! configuration the name stands.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::Config;

/// A file that the configuration may mean.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The path below the folder.
    pub path: PathBuf,
    /// Where the configuration names it: `oak-bob: mcp_servers_file`.
    pub by: String,
}

/// Where the names of a configuration begin.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// The folder that is looked at, in every form in which it may be written.
    pub roots: &'a [PathBuf],
    /// The configuration's folder.
    pub configuration: &'a Path,
    /// The home folder.
    pub home: Option<&'a Path>,
}

/// Returns the files below a folder that a configuration may mean: each text of it, and each word of such
/// a text, is taken as a path from the configuration's folder and from the agent's. Whether they are there
/// is for the caller to see.
#[must_use]
pub fn named(config: &Config, folders: Folders<'_>) -> Vec<Named> {
    let mut found = Vec::new();
    let bare = Config { agents: Vec::new(), ..config.clone() };
    let mut put = |whose: &str, of: Result<Value, serde_json::Error>, bases: &[PathBuf]| {
        let Ok(Value::Object(map)) = of else { return };
        for (key, value) in &map {
            texts(value, &mut |text| {
                for path in paths(text, bases, folders) {
                    found.push(Named { path, by: format!("{whose}{key}") });
                }
            });
        }
    };
    let base = folders.configuration.to_owned();
    put("", serde_json::to_value(&bare), std::slice::from_ref(&base));
    for agent in &config.agents {
        let bases = [base.clone(), base.join(expanded(&agent.directory, folders))];
        put(&format!("{}: ", agent.nick), serde_json::to_value(agent), &bases);
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the path without links, as far as they are known: each with what it points to, from the top of
/// the folder. The path itself comes first.
#[must_use]
pub fn behind_links(path: &Path, link: &dyn Fn(&Path) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    while let Some(next) = all.last().and_then(|path| followed(path, link)) {
        if all.contains(&next) || all.len() > LINKS_MAX {
            break;
        }
        all.push(next);
    }
    all
}

/// So many links are followed.
const LINKS_MAX: usize = 16;

/// Returns the path with its first link replaced.
fn followed(path: &Path, link: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    let mut seen = PathBuf::new();
    for part in path.components() {
        let folder = seen.clone();
        seen.push(part);
        if let Some(target) = link(&seen) {
            let rest = path.strip_prefix(&seen).ok()?;
            return plain(&folder.join(target).join(rest));
        }
    }
    None
}

fn texts(value: &Value, put: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => put(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, put)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            put(key);
            texts(item, put);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the paths below the folder that a text may mean.
fn paths(text: &str, bases: &[PathBuf], folders: Folders<'_>) -> Vec<PathBuf> {
    let parts = |c: char| c.is_whitespace() || "'\"`=;,:()[]{}<>|&$@".contains(c);
    let words = text.split(parts).map(|word| word.trim_end_matches(['.', '!', '?']));
    let mut found = Vec::new();
    for word in words.chain([text]).filter(|word| !word.is_empty()) {
        for base in bases {
            let whole = base.join(expanded(Path::new(word), folders));
            let below = plain(&whole).and_then(|whole| {
                let below = folders.roots.iter().find_map(|root| whole.strip_prefix(root).ok());
                below.filter(|below| *below != Path::new("")).map(Path::to_owned)
            });
            found.extend(below);
        }
    }
    found
}

/// Returns the path with the home folder in place of `~`.
fn expanded(path: &Path, folders: Folders<'_>) -> PathBuf {
    match (path.strip_prefix("~"), folders.home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// Returns the path without `.` and `..`; `None` if it leaves its top.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
