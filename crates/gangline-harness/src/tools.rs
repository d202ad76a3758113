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
use std::path::PathBuf;
use std::sync::Arc;

use gangline_os::exact;

use crate::tool::{Tool, ToolContext, ToolError};

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

/// A file or folder: as the model names it, and what is used, whose path has no link.
#[derive(Clone, Debug)]
struct Place {
    named: PathBuf,
    real: PathBuf,
}

impl Place {
    fn of(ctx: &ToolContext, path: &str) -> Self {
        let named = ctx.path(path);
        let real = ctx.real(&named);
        Self { named, real }
    }

    fn failed(&self, doing: &str, error: &io::Error) -> ToolError {
        ToolError::failed(format!("cannot {doing} {}: {error}", self.named.display()))
    }

    /// Opens a regular file; pipes and devices could block for ever.
    fn open_regular(&self) -> Result<(File, Metadata), ToolError> {
        let failed = |error| self.failed("read", &error);
        let about = std::fs::symlink_metadata(&self.real).map_err(failed)?;
        self.ensure_regular(&about)?;
        let file = exact::open(&self.real).map_err(failed)?;
        // It may be another one by now.
        let about = file.metadata().map_err(failed)?;
        self.ensure_regular(&about)?;
        Ok((file, about))
    }

    fn ensure_regular(&self, about: &Metadata) -> Result<(), ToolError> {
        if about.is_file() {
            return Ok(());
        }
        let what = if about.is_dir() { "a folder" } else { "not a regular file" };
        Err(ToolError::field("file_path", format!("is {what}: {}", self.named.display())))
    }

    /// Replaces the file's content in one step and keeps its permissions.
    fn replace(&self, content: &[u8]) -> Result<(), ToolError> {
        exact::replace(&self.real, content).map_err(|error| self.failed("write", &error))
    }
}
