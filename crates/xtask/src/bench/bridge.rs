//! P4: the way of a mention from the chat's socket to the child's standard input. The anchor is
//! the example `bare_bridge`, which does nothing but pass lines on.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;

use anyhow::{Context, Result};

use super::{Bench, Measured, median};
use crate::shell;

/// Lines sent one after the other.
const LINES: usize = 2_000;

/// P4. The anchor is measured and shown; the subject needs a backend whose standard input can be
/// watched from outside, and the native one reads its prompts in its own process.
pub(super) fn mention(bench: &Bench) -> Result<Measured> {
    let anchor = bridge(bench)?;
    eprintln!("P4: a bare bridge takes {anchor:.0} µs there and back, p50 of {LINES} lines");
    Ok(Measured::NotYet("no backend that is a child with a pipe is there yet"))
}

/// Microseconds from a line written to the bridge until its child's echo is back, p50.
fn bridge(bench: &Bench) -> Result<f64> {
    let mut child = shell::command(bench.anchor("bare_bridge")?)
        .arg("cat")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start bare_bridge")?;
    let outcome = echoes(child.stdout.take());
    let _ = child.kill();
    let _ = child.wait();
    outcome
}

fn echoes(stdout: Option<std::process::ChildStdout>) -> Result<f64> {
    let mut port = String::new();
    let stdout = stdout.context("bare_bridge has no output")?;
    BufReader::new(stdout).read_line(&mut port).context("cannot read the bridge's port")?;
    let port: u16 = port.trim().parse().context("bare_bridge told no port")?;
    let mut to = TcpStream::connect(("127.0.0.1", port)).context("cannot reach the bridge")?;
    to.set_nodelay(true).context("cannot switch off delays")?;
    let mut from = BufReader::new(to.try_clone().context("cannot share the connection")?);
    let (mut times, mut line) = (Vec::with_capacity(LINES), String::new());
    for number in 0..LINES {
        let start = shell::now();
        to.write_all(format!("line {number}\n").as_bytes()).context("the bridge is gone")?;
        line.clear();
        from.read_line(&mut line).context("the bridge is gone")?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(&times))
}
