//! Addresses of unix sockets whose path is longer than the system takes.
//!
//! Linux reaches the folder by its descriptor; elsewhere such a path is refused in words.

use std::io;
use std::path::Path;

/// Longest path used as a socket's address; the system's limit is 107 bytes, 103 on macOS.
pub(crate) const MAX: usize = 100;

/// Calls with an address for this path; a folder too long for one is reached by its descriptor.
#[cfg(target_os = "linux")]
pub(crate) fn with<T>(path: &Path, call: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd as _;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return call(path) };
    if path.as_os_str().len() <= MAX {
        return call(path);
    }
    let folder = std::fs::File::open(folder)?;
    let descriptor = folder.as_raw_fd().to_string();
    call(&Path::new("/proc/self/fd").join(descriptor).join(name))
}

/// Calls with this path if it can be an address.
#[cfg(not(target_os = "linux"))]
pub(crate) fn with<T>(path: &Path, call: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    refuse_long(path)?;
    call(path)
}

/// Refuses a path that is no address here.
#[cfg(any(test, not(target_os = "linux")))]
fn refuse_long(path: &Path) -> io::Result<()> {
    /// The limit of macOS.
    const LIMIT: usize = 103;
    let length = path.as_os_str().len();
    if length <= LIMIT {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path).display();
    let text = format!(
        "the folder {folder} is too long for a socket: {} would have {length} bytes and may have \
         {LIMIT} on this system; choose a shorter folder",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

#[cfg(test)]
mod tests;
