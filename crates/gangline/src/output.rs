//! Standard output and error: the only way that text for people and programs leaves.
//!
//! Colours are taken out unless it goes to a terminal. A reader that went away is no error.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use crate::failure::Failure;

/// Whether the reader of standard output went away.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Returns whether nobody reads any more what is printed, as far as was noticed.
pub(crate) fn is_unread() -> bool {
    UNREAD.load(Ordering::Relaxed)
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
    // Nobody can be told that nobody can be told.
    let _ = writeln!(anstream::stderr(), "{text}");
}
