//! Standard output and error: the only way that text for people and programs leaves.
//!
//! Colours are taken out unless it goes to a terminal. A reader that went away is no error.

use std::{
    io::{self, IsTerminal as _, Write},
    os::fd::AsFd,
    sync::atomic::{AtomicBool, Ordering},
};

use gangline_os::reader::{self, Waited};
use serde::Serialize;

use crate::failure::Failure;

/// Whether the reader of standard output went away.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Returns whether nobody reads any more what is printed, as far as can be known.
pub(crate) fn is_unread() -> bool {
    UNREAD.load(Ordering::Relaxed) || reader::is_gone(io::stdout()).unwrap_or(false)
}

/// Blocks until there is something to read from `input`; returns `false` as soon as nobody reads
/// any more what is printed.
pub(crate) fn read_while(input: impl AsFd) -> io::Result<bool> {
    let unread = UNREAD.load(Ordering::Relaxed);
    Ok(!unread && reader::wait(input, io::stdout())? == Waited::Readable)
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(error).doing("cannot write to standard output"))
        }
        Ok(()) => Ok(()),
        Err(_) => {
            UNREAD.store(true, Ordering::Relaxed);
            Ok(())
        }
    }
}

/// Writes a value as JSON for programs, over several lines.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::environment)?;
    print(&format!("{text}\n"))
}

/// Writes a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::environment)?;
    print(&format!("{text}\n"))
}

/// Tells people something that is not the result, on standard error.
pub(crate) fn note(text: &str) {
    let over = if PASSING.swap(false, Ordering::Relaxed) { OVER } else { "" };
    // Nobody can be told that nobody can be told.
    let _ = writeln!(anstream::stderr(), "{over}{text}");
}

/// Whether the last line on standard error is to be written over.
static PASSING: AtomicBool = AtomicBool::new(false);
/// Goes to the line's begin and removes it.
const OVER: &str = "\r\x1b[2K";

/// Shows what is under way, until the next note; only in a terminal.
pub(crate) fn passing(text: &str) {
    if !io::stderr().is_terminal() {
        return;
    }
    PASSING.store(true, Ordering::Relaxed);
    let mut out = anstream::stderr();
    let _ = write!(out, "{OVER}{text}").and_then(|()| out.flush());
}
