//! Which version of a backend's program it is, and whether it is new enough.

use std::time::Duration;

use gangline_os::{
    lines::{Line, LineReader},
    process::{self, KillPolicy, Spawn, SpawnError},
};
use tokio::time::timeout;

/// How long the program may take to tell its version; it takes 0.2 s.
const WITHIN: Duration = Duration::from_secs(10);
const AT_ONCE: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };
/// More than any version needs.
const LINE_MAX: usize = 4 * 1024;
/// What is asked of a program.
pub(crate) struct Wanted {
    /// What people call it.
    pub(crate) title: &'static str,
    /// The oldest release that can be driven.
    pub(crate) oldest: Version,
    /// How it is installed, as the end of a sentence.
    pub(crate) update: &'static str,
}

/// A release of a program: `2.1.330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Returns the first word of a line that is a release, as in `2.1.330 (Claude Code)`,
    /// `codex-cli 0.169.0` and `v1.18.33`. What stands behind the third number does not count.
    #[must_use]
    pub fn in_line(line: &str) -> Option<Self> {
        line.split_whitespace().find_map(word)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Asks the program and returns its version. Cancel-safe: dropping it kills the program.
///
/// # Errors
/// One line that says what is wrong and what to do.
pub(crate) async fn check(mut spawn: Spawn, wanted: &Wanted) -> Result<Version, String> {
    let Wanted { title, oldest, update } = wanted;
    let name = spawn.program.display().to_string();
    spawn.args.push("--version".into());
    let mut child = process::spawn(spawn).map_err(|error| missing(&error, wanted))?;
    let asked = async {
        let mut lines = LineReader::new(child.take_stdout()?, LINE_MAX);
        while let Ok(Some(line)) = lines.next().await {
            let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
            if let Some(version) = Version::in_line(&text) {
                return Some(version);
            }
        }
        None
    };
    let answer = timeout(WITHIN, asked).await;
    child.end(&AT_ONCE).await;
    match answer {
        Ok(Some(version)) if version >= *oldest => Ok(version),
        Ok(Some(version)) => {
            Err(format!("{name} is version {version}, and at least {oldest} is needed: {update}"))
        }
        Ok(None) => Err(format!(
            "`{name} --version` names no version, so it is not {title}: set `command`, or {update}"
        )),
        Err(_) => Err(format!(
            "`{name} --version` did not answer within {} s: try it by hand",
            WITHIN.as_secs()
        )),
    }
}

fn missing(error: &SpawnError, wanted: &Wanted) -> String {
    match error {
        SpawnError::NotOnPath { .. } | SpawnError::NoSuchFile { .. } => {
            format!(
                "{error}. For {}, {}, or name its path as `command`",
                wanted.title, wanted.update
            )
        }
        SpawnError::NoFolder { .. } => error.to_string(),
        SpawnError::OutputFile { source, .. } | SpawnError::System { source, .. } => {
            format!("{error}: {source}")
        }
    }
}

fn word(word: &str) -> Option<Version> {
    let bare = word.trim_start_matches(['(', 'v']).trim_end_matches([')', ',', ';']);
    let mut numbers = bare.split(['.', '-']).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Version(next()?, next()?, next()?))
}

#[cfg(test)]
mod tests;
