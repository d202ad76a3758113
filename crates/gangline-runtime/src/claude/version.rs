//! Which version of the program it is, and whether it is new enough.

use std::time::Duration;

use gangline_os::{
    lines::{Line, LineReader},
    process::{self, Ladder, Spawn, SpawnError},
};
use tokio::time::timeout;

/// The oldest release that was tried and tells which text a result answers. Older ones print
/// results that belong to nobody.
pub(super) const OLDEST: Version = Version(2, 1, 270);

/// How long the program may take to tell its version; it takes 0.2 s.
const WITHIN: Duration = Duration::from_secs(10);
const AT_ONCE: Ladder =
    Ladder { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };
/// More than any version needs.
const LINE_MAX: usize = 4 * 1024;
const UPDATE: &str = "install it with `npm install -g @anthropic-ai/claude-code@latest` (without \
                      `@latest` npm may choose an old release)";

/// A release: `2.1.330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Asks the program and returns its version. Cancel-safe: dropping it kills the program.
///
/// # Errors
/// One line that says what is wrong and what to do.
pub(super) async fn check(mut spawn: Spawn) -> Result<Version, String> {
    let name = spawn.program.display().to_string();
    spawn.args.push("--version".into());
    let mut child = process::spawn(spawn).map_err(|error| missing(&error))?;
    let asked = async {
        let mut lines = LineReader::new(child.take_stdout()?, LINE_MAX);
        while let Ok(Some(line)) = lines.next().await {
            let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
            if let Some(version) = parse(&text) {
                return Some(version);
            }
        }
        None
    };
    let answer = timeout(WITHIN, asked).await;
    child.end(&AT_ONCE).await;
    match answer {
        Ok(Some(version)) if version >= OLDEST => Ok(version),
        Ok(Some(version)) => {
            Err(format!("{name} is version {version}, and at least {OLDEST} is needed: {UPDATE}"))
        }
        Ok(None) => Err(format!(
            "`{name} --version` names no version, so it is not Claude Code: set `command`, or \
             {UPDATE}"
        )),
        Err(_) => Err(format!(
            "`{name} --version` did not answer within {} s: try it by hand",
            WITHIN.as_secs()
        )),
    }
}

fn missing(error: &SpawnError) -> String {
    match error {
        SpawnError::NotOnPath { .. } | SpawnError::NoSuchFile { .. } => {
            format!("{error}. For Claude Code, {UPDATE}, or name its path as `command`")
        }
        SpawnError::NoFolder { .. } => error.to_string(),
        SpawnError::OutputFile { source, .. } | SpawnError::System { source, .. } => {
            format!("{error}: {source}")
        }
    }
}

/// Reads `2.1.330 (Claude Code)`.
fn parse(line: &str) -> Option<Version> {
    let word = line.split_whitespace().next()?;
    let mut numbers = word.split(['.', '-']).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Version(next()?, next()?, next()?))
}

#[cfg(test)]
mod tests;
