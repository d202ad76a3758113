//! The three pipes of a backend's program, each with a task of its own, so that none of them waits for
//! another.

use std::{convert::Infallible, sync::Arc, time::Duration};

use gangline_os::{
    lines::{Line, LineReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    task::TaskGroup,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch},
    time,
};

#[cfg(test)]
mod tests;

/// The longest line that is read. The programs' own limits for a tool's output are far below it; a
/// longer line is passed over.
pub(crate) const LINE_MAX: usize = 16 * 1024 * 1024;
/// How much of the end of the error output is kept, in bytes.
const ERRORS_KEPT: usize = 4 * 1024;
/// The error output is read in pieces of so many bytes: a flood of it costs little.
const CHUNK: usize = 64 * 1024;
/// Lines read ahead of the session, and their bytes; one line that has more is read ahead alone.
const READ_AHEAD: usize = 64;
const BYTES_AHEAD: u32 = 1024 * 1024;
/// Lines that wait to be read by the program. It reads them at once; when it does not it hangs.
const WRITE_AHEAD: usize = 256;
/// How long lines that are written already may take to leave.
const FLUSH_WITHIN: Duration = Duration::from_millis(200);

/// A program that has closed its output may say so long why; then it is of no use, however long it
/// keeps its error output open.
const ERRORS_ALONE: Duration = Duration::from_millis(500);

/// What a line takes of the bytes that are read ahead, until the session asks for the next one.
type Room = OwnedSemaphorePermit;

/// The program's end of the pipes.
pub(crate) struct Pipes {
    output: mpsc::Receiver<(Line, Room)>,
    /// That of the line which the session has now.
    room: Option<Room>,
    errors: watch::Receiver<Vec<u8>>,
    input: Option<mpsc::Sender<String>>,
    readers: TaskGroup,
    writer: Option<TaskGroup>,
}

impl Pipes {
    /// Takes the pipes of a child that was started with all of them.
    pub(crate) fn of(child: &mut Child) -> Self {
        let (sender, output) = mpsc::channel(READ_AHEAD);
        let mut readers = TaskGroup::new("program output");
        let (reads, ended) = oneshot::channel();
        if let Some(stdout) = child.take_stdout() {
            let sender = sender.clone();
            readers.spawn("output", async move {
                read(stdout, sender).await;
                drop(reads);
            });
        }
        let (tail, errors) = watch::channel(Vec::new());
        if let Some(stderr) = child.take_stderr() {
            readers.spawn("error output", read_errors(stderr, tail, (sender, ended)));
        }
        let mut writer = TaskGroup::new("program input");
        let (input, lines) = mpsc::channel(WRITE_AHEAD);
        if let Some(stdin) = child.take_stdin() {
            writer.spawn("input", write(stdin, lines));
        }
        let room = None;
        Self { output, room, errors, input: Some(input), readers, writer: Some(writer) }
    }

    /// Returns the line that comes next; `None` when the output is closed, and the error output is
    /// too or could have been for a while. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        self.room = None;
        let (line, room) = self.output.recv().await?;
        self.room = Some(room);
        Some(line)
    }

    /// Returns the end of what it wrote to its error output so far.
    pub(crate) fn errors(&self) -> String {
        let tail = self.errors.borrow();
        let text = String::from_utf8_lossy(&tail);
        // Of a text that was cut, the first line is a part of one.
        let whole = match text.split_once('\n') {
            Some((_, rest)) if tail.len() == ERRORS_KEPT && !rest.is_empty() => rest,
            _ => &text,
        };
        whole.to_owned()
    }

    /// Writes a line; `false` when the program does not read. After [`Self::close_input`] nothing
    /// is written.
    pub(crate) fn write(&self, line: String) -> bool {
        let Some(input) = &self.input else { return true };
        match input.try_send(line) {
            Ok(()) => true,
            // It is gone; its exit tells more.
            Err(mpsc::error::TrySendError::Closed(_)) => true,
            Err(mpsc::error::TrySendError::Full(_)) => false,
        }
    }

    /// Closes the input after what was written.
    pub(crate) async fn close_input(&mut self) {
        self.input = None;
        if let Some(writer) = self.writer.take() {
            writer.stop(FLUSH_WITHIN).await;
        }
    }

    /// Stops reading, whoever still holds the other end.
    pub(crate) async fn close(mut self) {
        self.close_input().await;
        self.output.close();
        self.readers.stop(Duration::ZERO).await;
    }
}

async fn read(stdout: ChildStdout, output: mpsc::Sender<(Line, Room)>) {
    let ahead = Arc::new(Semaphore::new(BYTES_AHEAD as usize));
    let mut lines = LineReader::new(stdout, LINE_MAX);
    // A pipe that cannot be read is a pipe that is closed.
    while let Ok(Some(line)) = lines.next().await {
        let (Line::Text(text) | Line::Oversize { kept: text, .. }) = &line;
        let bytes = u32::try_from(text.len()).map_or(BYTES_AHEAD, |bytes| bytes.min(BYTES_AHEAD));
        // It is never closed.
        let Ok(room) = Arc::clone(&ahead).acquire_many_owned(bytes).await else { return };
        if output.send((line, room)).await.is_err() {
            return;
        }
    }
}

/// Keeps the end of it. `open` shows the other side that something may come, until a while after the
/// output has `ended`.
async fn read_errors(
    mut stderr: ChildStderr,
    tail: watch::Sender<Vec<u8>>,
    (open, ended): (mpsc::Sender<(Line, Room)>, oneshot::Receiver<Infallible>),
) {
    let mut open = Some(open);
    let alone = async {
        let _ = ended.await;
        // sleep: nothing tells that no more words come.
        time::sleep(ERRORS_ALONE).await;
    };
    tokio::pin!(alone);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = tokio::select! {
            read = stderr.read(&mut chunk) => read,
            () = &mut alone, if open.is_some() => {
                open = None;
                continue;
            }
        };
        let Ok(read @ 1..) = read else { return };
        let new = &chunk[read.saturating_sub(ERRORS_KEPT)..read];
        tail.send_modify(|tail| {
            let over = (tail.len() + new.len()).saturating_sub(ERRORS_KEPT);
            tail.drain(..over);
            tail.extend_from_slice(new);
        });
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}
