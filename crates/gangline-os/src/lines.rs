//! Lines with a limit: reads text lines from anything, however long or broken they are.
//!
//! Memory stays below `cap` plus one chunk (16 KiB). A line over the cap is reported with its
//! first part and its length, and reading goes on with the next.

use std::io::{self, BufRead};

use tokio::io::{AsyncRead, AsyncReadExt};

#[cfg(test)]
mod tests;

const CHUNK: usize = 16 * 1024;

/// One line without its line end (`\n` or `\r\n`). Bytes that are no UTF-8 show as U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line within the cap.
    Text(String),
    /// A line over the cap.
    Oversize {
        /// Its first part: at most `cap` bytes as read, cut between characters.
        kept: String,
        /// The length of the whole line in bytes, without its line end.
        bytes: u64,
    },
}

/// Reads lines from `R`. The last one needs no line end.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    cap: usize,
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    part: Part,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `cap` bytes.
    #[must_use]
    pub fn new(reader: R, cap: usize) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { reader, cap, chunk, start: 0, end: 0, part: Part::default() }
    }

    /// Returns the next line; `None` at the end.
    ///
    /// Cancel-safe: yes; what was read of a line is kept for the next call.
    ///
    /// # Errors
    /// What reading says. What was read before stays and the next call goes on with it.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if self.take_from_chunk() {
                return Ok(Some(self.finish()));
            }
            let read = self.reader.read(&mut self.chunk).await?;
            (self.start, self.end) = (0, read);
            if read == 0 {
                return Ok((self.part.total > 0).then(|| self.finish()));
            }
        }
    }

    /// Returns what is read from. What it has given and no line has yet stays here.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Moves bytes from the chunk to the line; true when the line end was among them.
    fn take_from_chunk(&mut self) -> bool {
        let unread = &self.chunk[self.start..self.end];
        let mut rest = unread;
        // The standard library's search is fast in debug builds as well; slices cannot fail.
        let taken = rest.skip_until(b'\n').unwrap_or(unread.len());
        self.start += taken;
        let (bytes, complete) = match unread[..taken].split_last() {
            Some((b'\n', line)) => (line, true),
            _ => (&unread[..taken], false),
        };
        self.part.add(bytes, self.cap);
        complete
    }

    fn finish(&mut self) -> Line {
        let mut part = std::mem::take(&mut self.part);
        if part.last == Some(b'\r') {
            part.total -= 1;
        }
        let fits = part.total <= self.cap as u64;
        let keep = if fits { part.total as usize } else { whole_characters(&part.kept, self.cap) };
        part.kept.truncate(keep);
        let text = String::from_utf8(part.kept)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match fits {
            true => Line::Text(text),
            false => Line::Oversize { kept: text, bytes: part.total },
        }
    }
}

/// What was read of a line. Keeps its first `cap` bytes; a `\r` beyond them may be its end.
#[derive(Debug, Default)]
struct Part {
    kept: Vec<u8>,
    total: u64,
    last: Option<u8>,
}

impl Part {
    fn add(&mut self, bytes: &[u8], cap: usize) {
        let room = cap - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.total += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
    }
}

/// Returns the largest length up to `cap` that does not cut a character in two.
fn whole_characters(bytes: &[u8], cap: usize) -> usize {
    let bytes = &bytes[..bytes.len().min(cap)];
    let continuing = bytes.iter().rev().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let Some(first) = bytes.len().checked_sub(continuing + 1) else { return bytes.len() };
    match std::str::from_utf8(&bytes[first..]) {
        Err(error) if error.error_len().is_none() => first,
        _ => bytes.len(),
    }
}
