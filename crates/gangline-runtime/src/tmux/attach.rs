//! Where an agent's terminal is, for those who want to look at it.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::net::UnixStream},
    path::{Path, PathBuf},
};

use super::server::SOCKET;
use crate::toolserver::SOCKET_PATH_MAX;

/// How tmux is asked for a terminal: started in `folder`, with these words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// The folder to start it in; the socket is named from there.
    pub folder: PathBuf,
    /// The socket and the rest of the words.
    pub args: Vec<String>,
}

/// Whether the human may type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hands {
    /// Only look.
    Off,
    /// Type as well: keys go to the program.
    On,
}

/// Whether an agent has a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// It never had one.
    None,
    /// It had one, whose server is gone.
    Closed,
    /// It has one.
    Open,
}

/// Returns whether an agent, whose sessions lie in this folder, has a terminal.
#[must_use]
pub fn terminal(session_dir: &Path) -> Terminal {
    let socket = session_dir.join(SOCKET);
    if !socket.exists() {
        return Terminal::None;
    }
    match answers(&socket, session_dir) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Terminal::Closed,
        // Whatever else is wrong, tmux says it better.
        Ok(()) | Err(_) => Terminal::Open,
    }
}

/// Connects, also where the path is too long for an address.
fn answers(socket: &Path, folder: &Path) -> io::Result<()> {
    if socket.as_os_str().len() <= SOCKET_PATH_MAX {
        return UnixStream::connect(socket).map(drop);
    }
    let folder = File::open(folder)?;
    UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd())).map(drop)
}

/// Returns how to show an agent's terminal in this one.
#[must_use]
pub fn show(session_dir: &Path, hands: Hands) -> Attach {
    let words: &[&str] = match hands {
        Hands::Off => &["attach-session", "-r"],
        Hands::On => &["attach-session"],
    };
    attach(session_dir, words)
}

/// Returns how to write what the terminal shows.
#[must_use]
pub fn print(session_dir: &Path) -> Attach {
    attach(session_dir, &["capture-pane", "-p"])
}

fn attach(session_dir: &Path, words: &[&str]) -> Attach {
    let mut args: Vec<String> = ["-u", "-N", "-S", SOCKET].map(ToOwned::to_owned).into();
    args.extend(words.iter().map(|word| (*word).to_owned()));
    Attach { folder: session_dir.to_owned(), args }
}

#[cfg(test)]
mod tests {
    //! A socket is bound for real; its folder's path may be longer than an address.

    use std::{fs, os::unix::net::UnixListener};

    use super::*;

    /// A terminal whose server is gone is told from one that is open.
    #[test]
    fn a_socket_that_nobody_serves_is_no_terminal() {
        for name in ["s", &"long".repeat(40)] {
            let folder = tempfile::tempdir().unwrap();
            let sessions = folder.path().join(name);
            fs::create_dir(&sessions).unwrap();
            assert_eq!(terminal(&sessions), Terminal::None);
            let inside = File::open(&sessions).unwrap();
            let short = format!("/proc/self/fd/{}/{SOCKET}", inside.as_raw_fd());
            let server = UnixListener::bind(short).unwrap();
            assert_eq!(terminal(&sessions), Terminal::Open);
            drop(server);
            assert_eq!(terminal(&sessions), Terminal::Closed);
        }
    }
}
