//! Keeps the ends of lines that are too long to be kept, while they pass.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// So much of a line's end is kept, in bytes.
const TAIL: usize = 256;

/// A reader that keeps the ends of the lines over its cap.
#[derive(Debug)]
pub(super) struct Watched<R> {
    reader: R,
    cap: usize,
    length: usize,
    end: Vec<u8>,
    long: VecDeque<Vec<u8>>,
}

impl<R> Watched<R> {
    pub(super) fn new(reader: R, cap: usize) -> Self {
        Self { reader, cap, length: 0, end: Vec::new(), long: VecDeque::new() }
    }

    /// Returns the end of the next line over the cap; they are given in order, each once.
    pub(super) fn tail(&mut self) -> String {
        let tail = self.long.pop_front().unwrap_or_else(|| std::mem::take(&mut self.end));
        String::from_utf8_lossy(&tail).into_owned()
    }

    fn pass(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (part, ends) = match part.split_last() {
                Some((b'\n', part)) => (part, true),
                _ => (part, false),
            };
            self.length = self.length.saturating_add(part.len());
            self.end.extend_from_slice(&part[part.len().saturating_sub(TAIL)..]);
            let over = self.end.len().saturating_sub(TAIL);
            self.end.drain(..over);
            if ends {
                let end = std::mem::take(&mut self.end);
                if std::mem::take(&mut self.length) > self.cap {
                    self.long.push_back(end);
                }
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
