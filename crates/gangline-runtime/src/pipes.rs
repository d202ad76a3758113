//! The three pipes of the program, each with a task of its own, so that none of them waits for
//! another.

use std::time::Duration;

use gangline_os::{
    lines::{Line, LineReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    task::TaskGroup,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
};

/// The longest line that is read. The program's own limit for a tool's output is far below it; a
/// longer line is passed over.
pub(crate) const LINE_MAX: usize = 16 * 1024 * 1024;
/// The longest line of the error output that is kept, in characters.
const ERROR_LINE_MAX: usize = 500;
/// How much of the error output is read at once, and how many lines of that are kept.
const ERROR_CHUNK: usize = 64 * 1024;
const ERROR_LINES: usize = 10;
/// Lines read ahead of the session.
const READ_AHEAD: usize = 64;
/// Lines that wait to be read by the program. It reads them at once; when it does not it hangs.
const WRITE_AHEAD: usize = 256;
/// How long lines that are written already may take to leave.
const FLUSH_WITHIN: Duration = Duration::from_millis(200);

/// What comes out of the program.
#[derive(Debug)]
pub(crate) enum Output {
    Line(Line),
    Error(String),
}

/// The program's end of the pipes.
pub(crate) struct Pipes {
    output: mpsc::Receiver<Output>,
    input: Option<mpsc::Sender<String>>,
    readers: TaskGroup,
    writer: Option<TaskGroup>,
}

impl Pipes {
    /// Takes the pipes of a child that was started with all of them.
    pub(crate) fn of(child: &mut Child) -> Self {
        let (sender, output) = mpsc::channel(READ_AHEAD);
        let mut readers = TaskGroup::new("program output");
        if let Some(stdout) = child.take_stdout() {
            readers.spawn("output", read(stdout, sender.clone()));
        }
        if let Some(stderr) = child.take_stderr() {
            readers.spawn("error output", read_errors(stderr, sender));
        }
        let mut writer = TaskGroup::new("program input");
        let (input, lines) = mpsc::channel(WRITE_AHEAD);
        if let Some(stdin) = child.take_stdin() {
            writer.spawn("input", write(stdin, lines));
        }
        Self { output, input: Some(input), readers, writer: Some(writer) }
    }

    /// Returns what comes next; `None` when both outputs are closed. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> Option<Output> {
        self.output.recv().await
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

async fn read(stdout: ChildStdout, output: mpsc::Sender<Output>) {
    let mut lines = LineReader::new(stdout, LINE_MAX);
    // A pipe that cannot be read is a pipe that is closed.
    while let Ok(Some(line)) = lines.next().await {
        if output.send(Output::Line(line)).await.is_err() {
            return;
        }
    }
}

/// Passes on the last lines of what comes at once: a flood of errors is not worth reading, but has
/// to be taken, or the program waits.
async fn read_errors(mut stderr: ChildStderr, output: mpsc::Sender<Output>) {
    let mut chunk = vec![0; ERROR_CHUNK];
    let mut begun = String::new();
    while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
        begun.push_str(&String::from_utf8_lossy(&chunk[..length]));
        let mut lines: Vec<String> = begun.rsplit('\n').take(ERROR_LINES + 1).map(cut).collect();
        // The newest is not whole yet.
        begun = lines.remove(0);
        for line in lines.into_iter().rev() {
            if output.send(Output::Error(line)).await.is_err() {
                return;
            }
        }
    }
    if !begun.is_empty() {
        let _ = output.send(Output::Error(begun)).await;
    }
}

fn cut(line: &str) -> String {
    line.chars().take(ERROR_LINE_MAX).collect()
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}
