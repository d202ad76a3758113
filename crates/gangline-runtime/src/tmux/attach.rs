//! Where an agent's terminal is, for those who want to look at it.

use std::path::{Path, PathBuf};

use super::server::SOCKET;

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

/// Returns whether an agent, whose sessions lie in this folder, has a terminal.
#[must_use]
pub fn has_terminal(session_dir: &Path) -> bool {
    session_dir.join(SOCKET).exists()
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
