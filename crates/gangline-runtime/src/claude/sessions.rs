//! The sessions that the program keeps: a transcript each, in a folder for each working folder.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use gangline_os::{clock::UnixMicros, json};
use serde::Deserialize;

use super::{
    NAME,
    login::{Login, munged},
};
use crate::{SessionFilter, SessionHandle, SessionId};

/// The working folder stands in one of the first lines of a transcript.
const HEAD: u64 = 256 * 1024;
/// A longer name of a project's folder is cut by the program, and a hash is added.
const NAME_MAX: usize = 200;

/// Returns the sessions, the newest first. Blocks on the disk.
pub(super) fn list(login: &Login, filter: &SessionFilter) -> Vec<SessionHandle> {
    let Some(projects) = login.projects() else { return Vec::new() };
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for project in fs::read_dir(projects).into_iter().flatten().flatten() {
        let name = project.file_name();
        let of_it = |workdir: &PathBuf| is_folder_of(&name.to_string_lossy(), workdir);
        if filter.workdir.as_ref().is_none_or(of_it) {
            found.extend(transcripts(&project.path()));
        }
    }
    found.sort_by(|one, other| other.cmp(one));
    let handles = found.into_iter().filter_map(|(used, path)| handle(&path, used));
    // Different folders may share a name there.
    let wanted = handles
        .filter(|handle| filter.workdir.as_ref().is_none_or(|workdir| handle.workdir == *workdir));
    wanted.take(filter.limit).collect()
}

fn transcripts(project: &Path) -> Vec<(SystemTime, PathBuf)> {
    let files = fs::read_dir(project).into_iter().flatten().flatten();
    let kept = files.filter_map(|file| {
        let path = file.path();
        let is_one = path.extension().is_some_and(|it| it == "jsonl") && id_of(&path).is_some();
        is_one.then_some((file.metadata().ok()?.modified().ok()?, path))
    });
    kept.collect()
}

/// Transcripts of subagents lie there too, under other names.
fn id_of(path: &Path) -> Option<uuid::Uuid> {
    uuid::Uuid::parse_str(path.file_stem()?.to_str()?).ok()
}

/// Says whether a project's folder may be the one of this working folder: whatever is neither a
/// letter nor a digit of ASCII is a dash there.
fn is_folder_of(name: &str, workdir: &Path) -> bool {
    let munged = munged(workdir);
    if munged.len() <= NAME_MAX { name == munged } else { name.starts_with(&munged[..NAME_MAX]) }
}

/// A line of a transcript, as far as it is of use here.
#[derive(Deserialize)]
struct Entry {
    cwd: Option<PathBuf>,
}

fn handle(path: &Path, used: SystemTime) -> Option<SessionHandle> {
    let head = BufReader::new(File::open(path).ok()?.take(HEAD));
    let cwd = head
        .lines()
        .map_while(Result::ok)
        .find_map(|line| json::from_str::<Entry>(&line).ok()?.cwd)?;
    let since = used.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(SessionHandle {
        runtime: NAME,
        session: Some(SessionId(id_of(path)?.to_string())),
        workdir: cwd,
        pid: None,
        pid_start: None,
        started_at: UnixMicros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)),
        ready_at: None,
    })
}

#[cfg(test)]
mod tests;
