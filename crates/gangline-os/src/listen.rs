//! A listening unix socket for processes of this user alone. Its file goes with it.
//!
//! The folder is private and every peer is asked for its user by the kernel: neither is enough
//! alone, for a folder may be opened to others later. The other end is [`crate::dial`].

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};

use crate::dial::{DialError, dial, own_uid};
use crate::{address, fsio, peer};

#[cfg(test)]
mod tests;

/// A socket at which nobody answers for so long is still in use.
const LIVES_WITHIN: Duration = Duration::from_secs(1);

/// A socket that listens.
#[derive(Debug)]
pub struct PrivateListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file that was made.
    file: Option<(u64, u64)>,
}

impl PrivateListener {
    /// Listens at this path, mode 0600, in a folder of mode 0700, in place of a file that a dead
    /// process left. The caller must own the name by a lock. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] when somebody listens there, [`io::ErrorKind::AlreadyExists`]
    /// when the file is no socket, [`io::ErrorKind::InvalidInput`] when the folder's path is too
    /// long on this system; else when folder or socket cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fsio::private_dir(folder)?;
        }
        make_room(path)?;
        let listener = address::with(path, |address| net::UnixListener::bind(address))?;
        let file = identity(path);
        // The folder is private, so nobody else comes in before this.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: UnixListener::from_std(listener)?, path: path.to_owned(), file })
    }

    /// Waits for a process of this user, or of root; returns the connection and the user. Anybody
    /// else is hung up on.
    ///
    /// Cancel-safe: yes; a connection that was not returned waits or was refused.
    ///
    /// # Errors
    /// When a connection cannot be accepted, most often for want of descriptors.
    pub async fn accept(&self) -> io::Result<(UnixStream, u32)> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match peer::unix_peer_uid(&stream) {
                Ok(uid) if uid == own_uid() || uid == 0 => return Ok((stream, uid)),
                Ok(uid) => tracing::warn!(uid, "another user connected to a private socket"),
                Err(error) => tracing::warn!(%error, "a peer's user is unknown"),
            }
        }
    }

    /// Returns whether the path still leads here: a file that was removed is not found any more.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.file.is_some() && identity(&self.path) == self.file
    }

    /// Returns where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateListener {
    fn drop(&mut self) {
        if self.is_in_place()
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(path = %self.path.display(), %error, "cannot be removed");
        }
    }
}

/// Removes the socket that a dead process left.
fn make_room(path: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        let text = format!("{} exists and is not a socket", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    match dial(path, LIVES_WITHIN) {
        Err(DialError::Connect { source, .. })
            if source.kind() == io::ErrorKind::ConnectionRefused =>
        {
            fs::remove_file(path)
        }
        Err(DialError::Connect { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(())
        }
        Ok(_) | Err(_) => {
            let text = format!("{} is in use by another process", path.display());
            Err(io::Error::new(io::ErrorKind::AddrInUse, text))
        }
    }
}

/// Returns what tells this file from another one of its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
