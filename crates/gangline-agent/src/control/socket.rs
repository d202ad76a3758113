//! The socket's file, and the link at which culture's clients look for it (R0-46, R0-47, R1-12, C2).

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink},
        net,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::{
    dial::{DialError, dial},
    fsio,
};
use tokio::net::UnixListener;
use tracing::{debug, warn};

#[cfg(test)]
mod tests;

/// How long another process at the socket may take to answer before it counts as gone.
const LIVES_WITHIN: Duration = Duration::from_secs(1);

/// A socket that listens. Its file, and the link if it is ours, go with it.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket that was made.
    file: Option<(u64, u64)>,
    /// The link, if it leads to us.
    link: Option<PathBuf>,
    /// Where the link belongs; none is wanted at a container's socket, whose folder is left as it is.
    link_at: Option<PathBuf>,
}

impl Socket {
    /// Listens at `path`, mode 0600, in place of what a dead daemon left, and lets `link_at` lead
    /// there, if a link is wanted, unless somebody else has that name. Whoever calls must own the name by a lock. Must be
    /// called within a tokio runtime.
    ///
    /// # Errors
    /// When the folder or the socket cannot be made, or something that is no socket has the name.
    pub(crate) fn bind(path: &Path, link_at: Option<&Path>) -> io::Result<Self> {
        if let Some(folder) = path.parent()
            && (link_at.is_some() || !folder.is_dir())
        {
            fsio::private_dir(folder)?;
        }
        match fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => {
                // The lock is that of one state folder; this folder may serve several.
                if !matches!(dial(path, LIVES_WITHIN), Err(DialError::Connect { .. })) {
                    let text = format!(
                        "{} is already in use: another installation of this user has an agent of \
                         this name",
                        path.display()
                    );
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
                }
                fs::remove_file(path)?;
            }
            Ok(_) => {
                let text = format!("{} exists and is not a socket", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        let file = identity(path);
        // The folder is private, so nobody comes in before this.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        let link = link_at.filter(|link| is_led(link, path)).map(Path::to_owned);
        let link_at = link_at.map(Path::to_owned);
        Ok(Self { listener, path: path.to_owned(), file, link, link_at })
    }

    /// Listens once more if the socket's file is gone, such as with the folder of an earlier login.
    /// Returns whether it was. Nothing that has the name meanwhile is replaced.
    ///
    /// # Errors
    /// As [`Socket::bind`]; the connections that there are live on.
    pub(super) fn renew(&mut self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::bind(&self.path, self.link_at.as_deref())?;
                Ok(true)
            }
            Ok(_) | Err(_) => Ok(false),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.file.is_none() || identity(&self.path) != self.file {
            // Somebody else's by now, and so is the link that leads there.
            return;
        }
        if let Some(link) = self.link.take().filter(|link| leads_to(link, &self.path)) {
            remove(&link);
        }
        remove(&self.path);
    }
}

/// Returns what tells this file from another one of its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        debug!(path = %path.display(), %error, "cannot be removed");
    }
}

/// Why there is no link.
enum NotLed {
    /// The name belongs to somebody else.
    Taken(&'static str),
    Io(io::Error),
}

fn leads_to(link: &Path, path: &Path) -> bool {
    fs::read_link(link).is_ok_and(|there| there == path)
}

/// Makes the link, or logs why there is none.
fn is_led(link: &Path, path: &Path) -> bool {
    match lead(link, path) {
        Ok(()) => return true,
        Err(NotLed::Taken(what)) => {
            warn!(link = %link.display(), what, "culture's clients do not find this agent");
        }
        Err(NotLed::Io(error)) => {
            warn!(link = %link.display(), %error, "culture's clients do not find this agent");
        }
    }
    false
}

/// Makes the link. What is nobody's is replaced: a link of an earlier daemon of this agent, a socket
/// that nobody listens at.
fn lead(link: &Path, path: &Path) -> Result<(), NotLed> {
    if leads_to(link, path) {
        return Ok(());
    }
    if let Some(folder) = link.parent() {
        fsio::private_dir(folder).map_err(NotLed::Io)?;
    }
    if let Ok(found) = fs::symlink_metadata(link) {
        let kind = found.file_type();
        if kind.is_symlink() {
            let there = fs::read_link(link).map_err(NotLed::Io)?;
            if there.file_name() != path.file_name() {
                return Err(NotLed::Taken("a link to somewhere else has the name"));
            }
        } else if !kind.is_socket() {
            return Err(NotLed::Taken("a file that is no socket has the name"));
        } else if net::UnixStream::connect(link).is_ok() {
            return Err(NotLed::Taken("somebody listens there"));
        }
        fs::remove_file(link).map_err(NotLed::Io)?;
    }
    symlink(path, link).map_err(NotLed::Io)
}
