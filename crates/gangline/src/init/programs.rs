//! Coding programs: which there are, and which of them this machine has.

use std::path::PathBuf;

use gangline_os::process::{base_env, find_on_path};
use gangline_runtime::registry;

use crate::versions::{Question, Version, ask_all};

/// A program that thinks, as data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// What people call it.
    pub(crate) title: &'static str,
    /// The name of its file, and the agent's part of the nick.
    pub(crate) name: &'static str,
    /// The word for its backend.
    pub(crate) backend: &'static str,
}

const fn program(title: &'static str, name: &'static str, backend: &'static str) -> Program {
    Program { title, name, backend }
}

/// Every program that is looked for, in the order in which agents are written.
pub(crate) const PROGRAMS: &[Program] = &[
    program("Claude Code", "claude", "claude"),
    program("Codex", "codex", "codex"),
    program("OpenCode", "opencode", "opencode"),
    program("GitHub Copilot", "copilot", "copilot"),
    program("Cline", "cline", "cline"),
    program("Gemini CLI", "gemini", "gemini"),
    program("Kiro", "kiro-cli", "kiro"),
    program("Goose", "goose", "goose"),
    program("Qwen Code", "qwen", "qwen"),
];

/// A program that is on the PATH.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) program: &'static Program,
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
    /// Why it cannot answer yet: it has no login; none if it has one, or only it knows.
    pub(crate) no_login: Option<String>,
    /// The variable of this shell that holds a key instead of the login.
    pub(crate) key: Option<&'static str>,
}

/// The variable by which Gangline's own model loop gets its key.
pub(crate) const NATIVE_KEY: &str = "ANTHROPIC_API_KEY";

/// Returns [`NATIVE_KEY`] if it is set here.
pub(crate) fn native_key() -> Option<&'static str> {
    std::env::var(NATIVE_KEY).is_ok_and(|value| !value.trim().is_empty()).then_some(NATIVE_KEY)
}

/// Looks for every program and asks each for its version, all at once; `login` says what is missing
/// to one that works.
pub(crate) async fn look(login: impl Fn(&Program) -> Login) -> Vec<Found> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = PROGRAMS
        .iter()
        .filter_map(|program| Some((program, find_on_path(program.name.as_ref(), &path)?)));
    let there: Vec<_> = there.collect();
    let question = |(program, path): &(&Program, PathBuf)| Question {
        program: path.clone(),
        args: vec!["--version".to_owned()],
        env: base_env(),
        namesake: registry::built_in(program.backend).and_then(|entry| entry.known.namesake),
    };
    let versions = ask_all(there.iter().map(question).collect()).await;
    let found = there.into_iter().zip(versions);
    let found = found.map(|((program, path), version)| {
        let (no_login, key) = login(program).unzip();
        Found { program, path, version, no_login, key: key.flatten() }
    });
    found.collect()
}

/// Why a program has no login, and the variable that helps; none if nothing is missing.
pub(crate) type Login = Option<(String, Option<&'static str>)>;

#[cfg(test)]
mod tests;
