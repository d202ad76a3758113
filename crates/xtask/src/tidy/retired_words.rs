//! Words that the project no longer uses, in names and in prose, and what to write instead.
//!
//! A name is compared part by part (`run_mark`, `RunMark`), so that a word inside another one
//! (`heartbeat`, `desktop`) is not found. Start at [`RETIRED`]; what may keep a word is [`ALLOWED`].

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// A word, in lower case and in the singular, and what to use instead.
const RETIRED: &[(&str, &str)] = &[
    ("arsonist", "`chaos`"),
    ("brain", "`agent loop`"),
    ("broker", "`store`"),
    ("company", "`attached message`"),
    ("courier", "`link` or `outbox`"),
    ("desk", "the name of what it holds"),
    ("doorbell", "`change notice`"),
    ("door", "`port`, or `listener` for a socket"),
    ("ear", "`hook listener`"),
    ("keeper", "`holder`, or the name of the task"),
    ("ladder", "`kill policy`"),
    ("patient", "`agent check`"),
    ("rung", "`step`, or `notified`"),
    ("unmark", "`shed run id`"),
    ("wish", "`request`"),
];

/// A file or a folder (with `/` at its end), a word (`*` for all) and why it stays.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("CHANGELOG.md", "*", "says what older versions were called"),
    ("docs/design/", "*", "may name what a design replaced"),
    ("crates/xtask/src/tidy/retired_words", "*", "is the list"),
    ("crates/gangline-runtime/src/shell/names", "wish", "is the name of a program"),
];

/// The folders that are looked at; pages of the root are too.
const FOLDERS: &[&str] = &["crates/", "docs/"];

/// What holds names and prose. Recorded data is left as it came.
const KINDS: &[&str] = &[".rs", ".md", ".toml"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| is_looked_at(file.path)) {
        for word in parts(file.path) {
            if let Some(instead) = instead(file.path, &word) {
                let text = format!("the name has the retired word `{word}`: use {instead}");
                findings.push(Finding::fail(file.path, 0, text));
            }
        }
        let text = file.text.to_lowercase();
        if !RETIRED.iter().any(|(word, _)| text.contains(word)) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            for word in parts(line) {
                if let Some(instead) = instead(file.path, &word) {
                    let text = format!("`{word}` is a retired word: use {instead}");
                    findings.push(Finding::fail(file.path, index + 1, text));
                }
            }
        }
    }
    findings
}

fn is_looked_at(path: &str) -> bool {
    let is_there = !path.contains('/') || FOLDERS.iter().any(|folder| path.starts_with(folder));
    is_there && KINDS.iter().any(|kind| path.ends_with(kind))
}

/// Returns what to use for a word that is retired in this file.
fn instead(path: &str, word: &str) -> Option<&'static str> {
    let (name, instead) = RETIRED.iter().find(|(name, _)| is_form_of(word, name))?;
    let allowed = ALLOWED
        .iter()
        .any(|(place, allowed, _)| path.starts_with(place) && (*allowed == "*" || allowed == name));
    (!allowed).then_some(instead)
}

/// Whether the word is the name or its plural.
fn is_form_of(word: &str, name: &str) -> bool {
    match word.strip_prefix(name) {
        Some(end) => matches!(end, "" | "s" | "es"),
        None => false,
    }
}

/// Returns the words of a line in lower case; a name of several words gives each of them.
fn parts(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut before = None::<char>;
    for c in line.chars() {
        let begins = c.is_uppercase() && before.is_some_and(|c| c.is_lowercase());
        if !c.is_alphabetic() || begins {
            parts.extend(Some(std::mem::take(&mut part)).filter(|part| !part.is_empty()));
        }
        if c.is_alphabetic() {
            part.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    parts.extend(Some(part).filter(|part| !part.is_empty()));
    parts
}
