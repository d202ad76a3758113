//! The anchor of P4: the example `bare_bridge`, which does nothing but pass lines from a
//! connection to a child. The child tells by the system's clock when it saw each.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::place::{Place, Program};

/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The bridge and its child; both have ended when it is dropped.
pub(super) struct Bridge {
    process: Child,
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Bridge {
    /// Starts it and connects to it.
    pub(super) fn start(place: &Place) -> Result<Self> {
        let mut process = place
            .command(Program::BareBridge)
            .arg(place.program(Program::BareBridge))
            .arg("--stamp")
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start bare_bridge")?;
        match connect(&mut process) {
            Ok(to) => {
                let from = BufReader::new(to.try_clone().context("cannot share the connection")?);
                Ok(Self { process, to, from })
            }
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// Returns the microseconds from before a line is written until the child has read it.
    pub(super) fn pass(&mut self, line: &str) -> Result<f64> {
        let line = format!("{line}\n");
        let start = unix_nanoseconds();
        self.to.write_all(line.as_bytes()).context("the bridge is gone")?;
        let mut stamp = String::new();
        self.from.read_line(&mut stamp).context("the bridge is gone")?;
        let seen: i128 = stamp.trim().parse().context("the bridge's child told no time")?;
        let nanoseconds = i64::try_from(seen - start).context("the clock has jumped")?;
        Ok(Duration::from_nanos(nanoseconds.unsigned_abs()).as_secs_f64() * 1e6)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // The child ends with its standard input.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn connect(process: &mut Child) -> Result<TcpStream> {
    let stdout = process.stdout.take().context("bare_bridge has no output")?;
    let mut port = String::new();
    BufReader::new(stdout).read_line(&mut port).context("cannot read the bridge's port")?;
    let port: u16 = port.trim().parse().context("bare_bridge told no port")?;
    let to = TcpStream::connect(("127.0.0.1", port)).context("cannot reach the bridge")?;
    to.set_nodelay(true).context("cannot switch off delays")?;
    to.set_read_timeout(Some(PATIENCE)).context("cannot set a deadline")?;
    Ok(to)
}

/// The time of day: the only clock that two processes read alike.
#[allow(clippy::disallowed_methods, reason = "a measurement across two bare processes")]
fn unix_nanoseconds() -> i128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or_default())
}
