//! Files that an agent's tools may read: those in its folder unasked, those of the installation and
//! credentials never, all others if somebody allows it.
//!
//! Pure: paths come absolute and with links resolved; who resolves them is the adapter, see
//! `gangline-runtime`. Start at [`Bounds::access`]; the decision is [`Policy::on_file`].

use std::path::{Component, Path, PathBuf};

use crate::permission::{Permissions, Permit, Policy};

/// Told to the model when a file is closed to it.
pub const CLOSED: &str = "refused: the file belongs to the Gangline installation or holds credentials; \
                          agents never use such files and nobody can allow it here, so do not try \
                          another way";
/// Told to the model when a search would come by a closed folder.
pub const AROUND: &str = "refused: below this folder lie files of the Gangline installation or \
                          credentials, which agents never read; search in a folder without them";

/// What a tool does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// It uses this file, or lists this folder; or it searches below it and leaves out what is
    /// closed.
    Alone,
    /// It uses everything below.
    Below,
}

/// Where a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// In the agent's folder, or what else is its own.
    Inside,
    /// Somewhere else.
    Outside,
    /// Something closed lies below it.
    Around,
    /// In the installation's state, or a file of credentials.
    Closed,
}

/// What is open to an agent and what is closed. The longer path counts: the agent's own notes are
/// open though they lie in the installation's state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Folders whose files are used unasked; absolute, links resolved.
    pub open: Vec<PathBuf>,
    /// Folders and files that are never used; absolute, links resolved.
    pub closed: Vec<PathBuf>,
}

impl Bounds {
    /// Returns where a path lies: absolute, links resolved, without `.` and `..`.
    #[must_use]
    pub fn access(&self, path: &Path, extent: Extent) -> Access {
        // What was not resolved may lie anywhere.
        let resolved = path.is_absolute()
            && path.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
        let longest = |among: &[PathBuf]| {
            let around = among.iter().filter(|folder| is_in(path, folder));
            around.map(|folder| folder.components().count()).max()
        };
        let (open, closed) = (longest(&self.open), longest(&self.closed));
        let holds_closed = || self.closed.iter().any(|closed| is_in(closed, path));
        match (open, closed) {
            (open, Some(closed)) if open.is_none_or(|open| open <= closed) => Access::Closed,
            _ if extent == Extent::Below && holds_closed() => Access::Around,
            (Some(_), _) if resolved => Access::Inside,
            (Some(_) | None, _) => Access::Outside,
        }
    }
}

impl Policy {
    /// Returns what is to be done about a call that uses files: the worst of where they lie.
    ///
    /// Under `ask`, a tool that only looks runs unasked inside only. Under `allowlist` and `bypass`
    /// the owner has said that it may look everywhere; what is closed is closed in every mode.
    #[must_use]
    pub fn on_file(&self, tool: &str, access: Access) -> Permit {
        let permit = self.permit(tool);
        match (access, self.mode(), permit) {
            (Access::Closed, ..) => Permit::Deny(CLOSED.to_owned()),
            (Access::Around, ..) => Permit::Deny(AROUND.to_owned()),
            (Access::Outside, Permissions::Ask, Permit::Allow) => Permit::Ask,
            (Access::Outside | Access::Inside, _, permit) => permit,
        }
    }
}

/// Returns whether a path is this one or lies below it.
fn is_in(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|part| parts.next().is_some_and(|it| same(it, part)))
}

/// Names of files are compared as the usual file system of the machine does it.
fn same(a: Component<'_>, b: Component<'_>) -> bool {
    let folds = cfg!(target_os = "macos");
    a == b || (folds && a.as_os_str().eq_ignore_ascii_case(b.as_os_str()))
}

#[cfg(test)]
mod tests;
