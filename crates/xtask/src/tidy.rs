//! `cargo xtask tidy`: rules of this repository that neither compiler nor linter can check.
//! One file a rule; each is a pure function of [`Repo`]. Start at [`CHECKS`].

mod bans;
mod changelog;
mod circles;
pub(crate) mod conformance;
mod deps;
mod documents;
mod headers;
mod idle_tests;
mod length;
mod links;
mod modules;
mod queues;
mod retired_words;
mod shared_folders;
mod tree;
mod versions;
mod walk;
mod words;

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;

use crate::metadata::Metadata;
use crate::shell;

pub(crate) use tree::Tree;

/// What the checks look at.
pub(crate) struct Repo {
    /// Every file under version control, and new ones that are not ignored.
    pub(crate) files: Tree,
    pub(crate) metadata: Metadata,
}

/// One rule: what it found.
type Check = fn(&Repo) -> Vec<Finding>;

/// All rules by name.
const CHECKS: &[(&str, Check)] = &[
    ("dependencies", deps::check),
    ("bans and licences", bans::check),
    ("versions", versions::check),
    ("file length", length::check),
    ("first line", headers::check),
    ("modules", modules::check),
    ("import circles", circles::check),
    ("queues", queues::check),
    ("a mention's way", walk::check),
    ("shared folders", shared_folders::check),
    ("sleeping and ignored tests", idle_tests::check),
    ("conformance", conformance::check),
    ("documents", documents::check),
    ("words", words::check),
    ("retired words", retired_words::check),
    ("links", links::check),
    ("changelog", changelog::check),
];

/// Whether a finding fails the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Fail,
    Warn,
}

/// One place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    pub(crate) path: String,
    /// Counted from 1; 0 when the finding is about the whole file.
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn fail(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { level: Level::Fail, path: path.to_owned(), line, text: text.into() }
    }

    pub(crate) fn warn(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { level: Level::Warn, path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        let level = match self.level {
            Level::Fail => "fail",
            Level::Warn => "warn",
        };
        write!(f, ": {level}: {}", self.text)
    }
}

/// How many findings of each level.
pub(crate) struct Counts {
    pub(crate) failed: usize,
    pub(crate) warned: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules, {} failed, {} warned", CHECKS.len(), self.failed, self.warned)
    }
}

/// Runs every rule over the repository.
pub(crate) fn check() -> Result<Vec<(&'static str, Finding)>> {
    let repo = Repo { files: Tree::load(&shell::root())?, metadata: Metadata::load()? };
    Ok(CHECKS
        .iter()
        .flat_map(|(name, check)| check(&repo).into_iter().map(move |finding| (*name, finding)))
        .collect())
}

/// Prints findings, warnings first, and counts them.
pub(crate) fn print(findings: &[(&'static str, Finding)]) -> Counts {
    let (failed, warned): (Vec<_>, Vec<_>) =
        findings.iter().partition(|(_, finding)| finding.level == Level::Fail);
    for (name, finding) in warned.iter().chain(&failed) {
        println!("{finding} [{name}]");
    }
    Counts { failed: failed.len(), warned: warned.len() }
}

/// `cargo xtask tidy`.
pub(crate) fn run() -> Result<ExitCode> {
    let counts = print(&check()?);
    println!("tidy: {counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A repository of files given as text, for the tests of the rules.
#[cfg(test)]
pub(crate) fn repo_of(files: &[(&str, &str)]) -> Repo {
    Repo { files: Tree::of(files), metadata: Metadata::default() }
}

/// What a rule says, as text, one line a finding.
#[cfg(test)]
pub(crate) fn said(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
