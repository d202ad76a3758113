//! A client of a unix socket with a line for a line: of a daemon's control socket, or of the anchor
//! for it. Blocking, and no more of the protocol than that takes.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell;

/// How long a daemon may take until it listens, and for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection.
pub(super) struct Control {
    to: UnixStream,
    from: BufReader<UnixStream>,
    /// What came last.
    answer: String,
}

impl Control {
    /// Connects, as soon as somebody listens.
    pub(super) fn dial(path: &Path) -> Result<Self> {
        let to = shell::wait_for(PATIENCE, || Ok(UnixStream::connect(path).ok()))?;
        let to = to.with_context(|| format!("nobody listens at {}", path.display()))?;
        to.set_read_timeout(Some(PATIENCE)).context("cannot set a deadline")?;
        let from = BufReader::new(to.try_clone().context("cannot share the connection")?);
        Ok(Self { to, from, answer: String::new() })
    }

    /// Sends a line (with its line end) and waits for one; returns the microseconds.
    pub(super) fn exchange(&mut self, line: &str) -> Result<f64> {
        self.answer.clear();
        let start = shell::now();
        self.to.write_all(line.as_bytes()).context("the socket's other end is gone")?;
        let read = self.from.read_line(&mut self.answer).context("no answer came")?;
        let took = start.elapsed();
        if read == 0 {
            bail!("the socket's other end is gone");
        }
        Ok(took.as_secs_f64() * 1e6)
    }

    /// As [`Self::exchange`], but fails unless the request was done.
    pub(super) fn ask(&mut self, request: &str) -> Result<f64> {
        let took = self.exchange(request)?;
        if self.answer.contains("\"ok\":true") {
            return Ok(took);
        }
        bail!("{} was answered {}", request.trim_end(), self.answer.trim_end());
    }

    /// Returns the data of the last answer.
    pub(super) fn data(&self) -> Result<Value> {
        let mut answer: Value =
            serde_json::from_str(&self.answer).context("cannot read an answer")?;
        Ok(answer["data"].take())
    }
}
