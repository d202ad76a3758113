//! The tools of the native loop, one file each. Start at [`standard`].
//!
//! Paths are relative to the harness's folder and may leave it: what an agent may touch is
//! decided by an [`Authorizer`](crate::Authorizer) and by the operating system, not here.

mod bash;
mod edit;
mod glob;
mod grep;
mod read;
mod skill;
mod todo;
mod write;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::tool::{Tool, ToolError};

pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use read::Read;
pub use skill::Skills;
pub use todo::{Todo, TodoStatus, TodoWrite};
pub use write::Write;

/// Returns all tools but [`Skills`]; `env` is the whole environment of the commands that [`Bash`] runs.
pub fn standard(env: Vec<(OsString, OsString)>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read),
        Arc::new(Write),
        Arc::new(Edit),
        Arc::new(Bash::new(env)),
        Arc::new(Glob),
        Arc::new(Grep),
        Arc::new(TodoWrite::default()),
    ]
}

/// Runs file work on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_panicked) => Err(ToolError::failed("the tool panicked")),
    }
}

/// Opens a regular file; pipes and devices could block for ever.
fn open_regular(path: &Path) -> Result<(File, Metadata), ToolError> {
    let about = std::fs::metadata(path).map_err(|error| failed("read", path, &error))?;
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "not a regular file" };
        return Err(ToolError::field("file_path", format!("is {what}: {}", path.display())));
    }
    let file = File::open(path).map_err(|error| failed("read", path, &error))?;
    Ok((file, about))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> ToolError {
    ToolError::failed(format!("cannot {doing} {}: {error}", path.display()))
}

/// Replaces a file's content in one step, keeping its permissions and following links.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fresh = path.with_file_name(format!(".{name}.{}", uuid::Uuid::new_v4().simple()));
    let written = write_beside(&path, &fresh, content);
    if written.is_err() {
        // The error that matters is the one that is returned.
        let _removed = std::fs::remove_file(&fresh);
    }
    written
}

fn write_beside(path: &Path, fresh: &Path, content: &[u8]) -> io::Result<()> {
    std::fs::write(fresh, content)?;
    match std::fs::metadata(path) {
        Ok(about) => std::fs::set_permissions(fresh, about.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    File::open(fresh)?.sync_all()?;
    std::fs::rename(fresh, path)
}
