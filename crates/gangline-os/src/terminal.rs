//! What the system knows of a terminal and of who has it. Reads only; sends it nothing.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path};

use nix::{
    libc::{O_NOCTTY, O_NONBLOCK},
    sys::termios::{LocalFlags, tcgetattr},
};

use crate::proc;

#[cfg(test)]
mod tests;

/// How long a line may be that a terminal in line mode takes, its end included; the system throws
/// away the rest without a word.
pub const LINE_MAX: usize = if cfg!(target_os = "linux") { 4096 } else { 1024 };

/// Returns how many columns the terminal behind standard output has; `None` where it is none.
#[must_use]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Says whether a process, or another of its group, has its terminal now: not while a job of it is
/// in the foreground. `None` where that is not known, and without a terminal. Linux only.
#[must_use]
pub fn in_foreground(pid: u32) -> Option<bool> {
    let stat = proc::stat(pid)?;
    stat.foreground.map(|group| group == stat.group)
}

/// Says whether a terminal gathers whole lines for who reads from it, each [`LINE_MAX`] bytes at
/// most. `None` when it cannot be asked.
#[must_use]
pub fn gathers_lines(tty: &Path) -> Option<bool> {
    let flags = O_NOCTTY | O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(tty).ok()?;
    let attributes = tcgetattr(&file).ok()?;
    Some(attributes.local_flags.contains(LocalFlags::ICANON))
}
