//! The sessions that lie in an agent's folder.

use std::{fs, io, path::Path, time::UNIX_EPOCH};

use gangline_os::clock::UnixMicros;

use super::NAME;
use crate::{SessionFilter, SessionHandle, SessionId, StartOptions};

/// What the first line of a session begins with.
const HEAD: &[u8] = br#"{"kind":"session""#;

/// Returns the sessions of the folder, the one used last first. The folder is the agent's own, and
/// so is its working directory: another one has none.
pub(super) fn list(options: &StartOptions, filter: &SessionFilter) -> Vec<SessionHandle> {
    if filter.workdir.as_ref().is_some_and(|folder| *folder != options.workdir) {
        return Vec::new();
    }
    let entries = fs::read_dir(&options.session_dir).into_iter().flatten().flatten();
    let mut found: Vec<SessionHandle> =
        entries.filter_map(|entry| session(&entry.path(), options)).collect();
    found.sort_by_key(|handle| std::cmp::Reverse(handle.started_at));
    found.truncate(filter.limit);
    found
}

fn session(path: &Path, options: &StartOptions) -> Option<SessionHandle> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let used = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    begins_as_session(path).ok()?.then(|| SessionHandle {
        runtime: NAME,
        session: Some(SessionId(id.to_owned())),
        workdir: options.workdir.clone(),
        pid: None,
        pid_start: None,
        started_at: UnixMicros::default().plus(used),
        ready_at: None,
    })
}

fn begins_as_session(path: &Path) -> io::Result<bool> {
    use io::Read as _;
    let mut head = [0; HEAD.len()];
    fs::File::open(path)?.read_exact(&mut head)?;
    Ok(head == HEAD)
}
