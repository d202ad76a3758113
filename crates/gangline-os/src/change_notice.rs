//! Change notices: wake another process without saying why. Truth is in the table, not here.
//!
//! A unix datagram socket. Notices are merged; one that finds nobody, or a full queue, is no error.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net;
use std::path::{Path, PathBuf};

use tokio::net::UnixDatagram;

use crate::{address, fsio};

#[cfg(test)]
mod tests;

/// The receiving side. Bind again replaces it; its file stays when it is dropped.
#[derive(Debug)]
pub struct ChangeNotice {
    socket: UnixDatagram,
    path: PathBuf,
}

impl ChangeNotice {
    /// Binds the socket at this path (as [`short`] has it), mode 0600, in place of a stale one.
    /// Makes its folder, private. Whoever binds must own the name by a lock: a live socket is
    /// replaced as well. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When folder or socket cannot be made, or something that is no socket has the name.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let path = short(path);
        if let Some(folder) = path.parent() {
            fsio::private_dir(folder)?;
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(&path)?,
            Ok(_) => {
                let text = format!("{} exists and is not a socket", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            Err(_) => {}
        }
        let socket = address::with(&path, |address| net::UnixDatagram::bind(address))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UnixDatagram::from_std(socket)?, path })
    }

    /// Binds again if the file is gone, such as with the folder of an earlier login.
    /// Returns whether it was. Nothing that has the name meanwhile is replaced.
    ///
    /// # Errors
    /// As [`ChangeNotice::bind`]; the old socket is then kept.
    pub fn renew(&mut self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::bind(&self.path)?;
                Ok(true)
            }
            Ok(_) | Err(_) => Ok(false),
        }
    }

    /// Waits until a notice came since the last call; many count as one.
    ///
    /// Cancel-safe: yes; a notice that was not returned is returned by the next call.
    pub async fn notified(&self) {
        let mut byte = [0];
        loop {
            if self.socket.readable().await.is_err() {
                // Only when the runtime's reactor is gone: then nobody waits any more.
                return std::future::pending().await;
            }
            let mut sent = false;
            while self.socket.try_recv(&mut byte).is_ok() {
                sent = true;
            }
            if sent {
                return;
            }
        }
    }
}

/// Sends a notice to this path (as [`short`] has it). Never waits and never fails: nobody there or
/// a full queue means that the owner looks by itself.
pub fn notify(path: &Path) {
    let path = short(path);
    let sent = net::UnixDatagram::unbound().and_then(|socket| {
        socket.set_nonblocking(true)?;
        address::with(&path, |address| socket.send_to(&[1], address))
    });
    if let Err(error) = sent {
        tracing::trace!(path = %path.display(), %error, "nobody took the change notice");
    }
}

/// Returns the path itself, or when it is over 100 bytes one with a shorter name in the same
/// folder, made by a hash that never changes. [`ChangeNotice::bind`] and [`notify`] both apply it.
#[must_use]
pub fn short(path: &Path) -> PathBuf {
    if path.as_os_str().len() <= address::MAX {
        return path.to_owned();
    }
    match path.file_name() {
        Some(name) if name.len() > 16 => {
            path.with_file_name(format!("{:016x}", fnv1a(name.as_bytes())))
        }
        _ => path.to_owned(),
    }
}

/// FNV-1a, 64 bits: small, and the same in every version of every program.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
