//! A program asked for a few lines: bounded in time and output, and gone afterwards.

use std::{ffi::OsString, path::Path, time::Duration};

use gangline_os::{
    exit::Exit,
    lines::{Line, LineReader},
    process::{self, Group, KillPolicy, Output, Spawn, SpawnError, Stdin},
};
use tokio::{io::AsyncRead, time::timeout};

/// What is kept of a line, in bytes.
const LINE_MAX: usize = 500;
/// How many lines are kept.
const LINES_MAX: usize = 20;
/// For a program that does not end when its time is over.
const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };

/// What a program said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The first lines of its output, as they came.
    pub(crate) out: Vec<String>,
    /// The first lines of its error output.
    pub(crate) err: Vec<String>,
    /// How it ended; none when its time was over first.
    pub(crate) exit: Option<Exit>,
}

impl Said {
    /// Returns whether it exited with code 0.
    pub(crate) fn well(&self) -> bool {
        self.exit.is_some_and(Exit::success)
    }

    /// Returns its first line that is not blank.
    pub(crate) fn first(lines: &[String]) -> Option<&str> {
        lines.iter().map(|line| line.trim()).find(|line| !line.is_empty())
    }
}

/// Runs a program in `folder` with this environment and returns what it said within `limit`.
///
/// Cancel-safe: no; dropped, it kills the program.
pub(crate) async fn ask(
    program: &Path,
    args: &[&str],
    folder: &Path,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
) -> Result<Said, SpawnError> {
    let mut child = process::spawn(Spawn {
        program: program.to_owned(),
        args: args.iter().map(OsString::from).collect(),
        cwd: folder.to_owned(),
        env,
        stdin: Stdin::Null,
        stdout: Output::Piped,
        stderr: Output::Piped,
        group: Group::New,
    })?;
    let (out, err) = (child.take_stdout(), child.take_stderr());
    let mut said = Said::default();
    let listening = async {
        tokio::join!(keep(out, &mut said.out), keep(err, &mut said.err));
        child.wait().await.ok()
    };
    said.exit = timeout(limit, listening).await.ok().flatten();
    child.end(&KILL_POLICY).await;
    Ok(said)
}

/// Keeps the first lines and reads the others away, so that nobody waits for room.
async fn keep(pipe: Option<impl AsyncRead + Unpin>, lines: &mut Vec<String>) {
    let Some(pipe) = pipe else { return };
    let mut reader = LineReader::new(pipe, LINE_MAX);
    while let Ok(Some(line)) = reader.next().await {
        let (Line::Text(text) | Line::Oversize { kept: text, .. }) = line;
        if lines.len() < LINES_MAX {
            lines.push(text);
        }
    }
}
