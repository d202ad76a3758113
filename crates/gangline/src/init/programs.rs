//! Coding programs: which there are, and which of them this machine has.

use std::{path::PathBuf, time::Duration};

use gangline_os::{
    process::{base_env, find_on_path},
    task::TaskGroup,
};
use tokio::sync::mpsc;

use super::ask::{Said, ask};

/// A program that thinks, as data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// What people call it.
    pub(crate) title: &'static str,
    /// The name of its file, and the agent's part of the nick.
    pub(crate) name: &'static str,
    /// The word for its backend.
    pub(crate) backend: &'static str,
    /// How another program of the same name begins what it says of its version.
    namesake: Option<&'static str>,
}

const fn program(title: &'static str, name: &'static str, backend: &'static str) -> Program {
    Program { title, name, backend, namesake: None }
}

/// Every program that is looked for, in the order in which agents are written.
pub(crate) const PROGRAMS: &[Program] = &[
    program("Claude Code", "claude", "claude"),
    program("Codex", "codex", "codex"),
    program("OpenCode", "opencode", "opencode"),
    Program {
        namesake: Some("copilot version"),
        ..program("GitHub Copilot", "copilot", "copilot")
    },
    program("Cline", "cline", "cline"),
    program("Gemini CLI", "gemini", "gemini"),
    program("Kiro", "kiro-cli", "kiro"),
    Program { namesake: Some("goose version"), ..program("Goose", "goose", "goose") },
    program("Qwen Code", "qwen", "qwen"),
];

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is shown of a version, in characters.
const VERSION_MAX: usize = 60;

/// A program that is on the PATH.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) program: &'static Program,
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

/// What a program said of its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    /// Its first line; fit to be shown.
    Known(String),
    /// Nothing within five seconds, or an empty line. It may work for all that.
    Unknown,
    /// It could not be started or ended with an error: fit to be shown.
    Broken(String),
    /// It is another program of the same name.
    Namesake(String),
}

/// Looks for every program and asks each for its version, all at once.
pub(crate) async fn look() -> Vec<Found> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let mut tasks = TaskGroup::new("versions");
    let (tell, mut told) = mpsc::channel(PROGRAMS.len());
    for (index, program) in PROGRAMS.iter().enumerate() {
        let Some(path) = find_on_path(program.name.as_ref(), &path, &here) else { continue };
        let tell = tell.clone();
        tasks.spawn(program.name, async move {
            let version = version(program, &path).await;
            let _ = tell.send((index, Found { program, path, version })).await;
        });
    }
    drop(tell);
    let mut found = Vec::new();
    while let Some(one) = told.recv().await {
        found.push(one);
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, found)| found).collect()
}

async fn version(program: &Program, path: &std::path::Path) -> Version {
    let folder = std::path::Path::new("/");
    match ask(path, &["--version"], folder, base_env(), PATIENCE).await {
        Err(error) => Version::Broken(shown(&error.to_string())),
        Ok(said) => judge(program, &said),
    }
}

fn judge(program: &Program, said: &Said) -> Version {
    let line = Said::first(&said.out).or_else(|| Said::first(&said.err)).map(shown);
    let Some(exit) = said.exit else {
        return line.map_or(Version::Unknown, Version::Known);
    };
    if !exit.success() {
        let code = exit.code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
        let line = line.map_or_else(String::new, |line| format!(": {line}"));
        return Version::Broken(format!("`{} --version` ended with {code}{line}", program.name));
    }
    match line {
        None => Version::Unknown,
        Some(line) if program.namesake.is_some_and(|other| line.starts_with(other)) => {
            Version::Namesake(line)
        }
        Some(line) => Version::Known(line),
    }
}

/// Makes text of a program fit to be shown and to be a comment: one short line.
pub(crate) fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c.is_alphanumeric() { c } else { ' ' };
    let plain: String = text.chars().map(plain).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(VERSION_MAX).collect()
}

#[cfg(test)]
mod tests;
