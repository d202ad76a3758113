//! Whether anybody is left who reads what is written. Asks only; reads and writes nothing itself.

use std::{io, os::fd::AsFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

#[cfg(test)]
mod tests;

/// What the system tells of an end that nobody reads from any more.
const GONE: PollFlags = PollFlags::ERR.union(PollFlags::HUP);

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// There is something to read, if only the end.
    Readable,
    /// Nobody reads the output any more.
    Unread,
}

/// Says whether nobody reads any more what is written here: the reader of a pipe or of a socket is
/// gone, or the terminal. A file has always a reader.
///
/// # Errors
/// When the system does not tell.
pub fn is_gone(output: impl AsFd) -> io::Result<bool> {
    let mut asked = [PollFd::new(&output, PollFlags::empty())];
    again(|| poll(&mut asked, Some(&Timespec::default())))?;
    Ok(asked[0].revents().intersects(GONE))
}

/// Blocks until there is something to read from `input`, or nobody reads `output` any more; of both
/// at once the latter.
///
/// # Errors
/// When the system does not tell.
pub fn wait(input: impl AsFd, output: impl AsFd) -> io::Result<Waited> {
    let mut both = [PollFd::new(&input, PollFlags::IN), PollFd::new(&output, PollFlags::empty())];
    again(|| poll(&mut both, None))?;
    let [read, written] = both.map(|it| it.revents());
    if written.intersects(GONE) {
        return Ok(Waited::Unread);
    }
    if read.is_empty() {
        // The output is nothing that can be waited for: only the input is.
        again(|| poll(&mut [PollFd::new(&input, PollFlags::IN)], None))?;
    }
    Ok(Waited::Readable)
}

/// A signal is no answer.
fn again(mut ask: impl FnMut() -> Result<usize, Errno>) -> io::Result<()> {
    loop {
        match ask() {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
