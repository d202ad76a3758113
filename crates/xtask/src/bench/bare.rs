//! An anchor in a process of its own: one of this crate's examples. It has ended when the [`Bare`]
//! is dropped.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running anchor.
pub(super) struct Bare {
    process: Child,
    from: Option<BufReader<ChildStdout>>,
}

impl Bare {
    /// Starts it and waits until it says `ready`.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = process.context("cannot start a bare program")?;
        let from = process.stdout.take().map(BufReader::new);
        let mut bare = Self { process, from };
        match bare.line()?.as_str() {
            "ready" => Ok(bare),
            other => bail!("a bare program said {other:?}"),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns its next line.
    pub(super) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let from = self.from.as_mut().context("a bare program has no output")?;
        if from.read_line(&mut line).context("cannot read of a bare program")? == 0 {
            bail!("a bare program has ended");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
