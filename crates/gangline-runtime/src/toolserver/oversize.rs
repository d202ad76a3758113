//! Notes what became of lines that are too long to be kept, while they pass.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use gangline_mcp::oversize::{Long, Scan};
use tokio::io::{AsyncRead, ReadBuf};

#[cfg(test)]
mod tests;

/// A reader that notes what became of the lines over its cap while they pass.
#[derive(Debug)]
pub(super) struct Watched<R> {
    reader: R,
    cap: u64,
    line: Scan,
    long: VecDeque<Long>,
}

impl<R> Watched<R> {
    pub(super) fn new(reader: R, cap: usize) -> Self {
        Self { reader, cap: cap as u64, line: Scan::default(), long: VecDeque::new() }
    }

    /// Returns what the next line over the cap was; they are given in order, each once.
    pub(super) fn long(&mut self) -> Long {
        // The last line of all has no line end.
        self.long.pop_front().unwrap_or_else(|| std::mem::take(&mut self.line).end())
    }

    fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.take(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if line.length() > self.cap {
                self.long.push_back(line.end());
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        self.pass(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}
