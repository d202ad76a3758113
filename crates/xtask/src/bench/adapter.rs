//! P8: a child's output on its way to events. The example `bench_claude` plays the program, runs
//! the adapter of Claude Code, and is the bare pipe beside it; here its figures are judged.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::place::Program;
use super::row::{Bound, Row, median};
use super::{Bench, Pace};
use crate::shell;

/// So often the same 20 lines (0.5 MB) are written.
const TIMES: usize = 100;
const TIMES_QUICK: usize = 5;
/// The line that is too long, and the longest one that the adapter reads, but for its frame.
const TOO_LONG: u64 = 100_000_000;
const LINE_MAX: u64 = 16 * 1024 * 1024;
const FRAME: u64 = 4096;
/// What a line may take besides itself, in bytes.
const ROOM: u64 = 32_000_000;

#[derive(Deserialize)]
pub(super) struct Speed {
    pub(super) megabytes_a_second: f64,
    pub(super) lines: u64,
}

#[derive(Deserialize)]
pub(super) struct Peak {
    pub(super) peak_kib: u32,
    pub(super) messages: u64,
    pub(super) notices: Vec<String>,
}

/// P8.
pub(super) fn to_events(bench: &Bench) -> Result<Vec<Row>> {
    let times = match bench.pace {
        Pace::Full => TIMES,
        Pace::Quick => TIMES_QUICK,
    };
    let times = times.to_string();
    let (mut subject, mut anchor, mut lines) = (Vec::new(), Vec::new(), 0);
    let (mut peak, mut allowed, mut longest) = (Vec::new(), Vec::new(), Vec::new());
    bench.each_round(|| {
        for _ in 0..bench.some(30).div_ceil(10) {
            let adapter: Speed = run(bench, &["adapter", &times, &folder(bench)?])?;
            let bare: Speed = run(bench, &["bare", &times])?;
            lines = adapter.lines;
            subject.push(adapter.megabytes_a_second);
            anchor.push(bare.megabytes_a_second);
        }
        let long: Peak = run(bench, &["long", &TOO_LONG.to_string(), &folder(bench)?])?;
        if long.messages != 0 || long.notices.len() != 1 {
            bail!("the line that is too long was not passed over: {:?}", long.notices);
        }
        let fits: Peak = run(bench, &["long", &(LINE_MAX - FRAME).to_string(), &folder(bench)?])?;
        if fits.messages != 1 {
            bail!("the longest line was not read: {:?}", fits.notices);
        }
        peak.push(f64::from(long.peak_kib));
        longest.push(f64::from(fits.peak_kib));
        allowed.push(f64::from(u32::try_from((LINE_MAX + ROOM) / 1024).unwrap_or(u32::MAX)));
        Ok(())
    })?;
    let note = format!("{lines} lines of 1 to 200 KB, 22 KB in the mean, none lost");
    let longest = format!(
        "with a line of {} bytes, the longest that is read: {:.0} KiB",
        LINE_MAX - FRAME,
        median(&longest)
    );
    Ok(vec![
        Row {
            what: "child's output to events of the claude adapter / to a bare pipe, parsed",
            unit: "MB/s",
            bound: Bound::AtLeast(0.7),
            subject,
            anchor,
            notes: vec![note],
        },
        Row {
            what: "peak memory (RSS) with a line of 100 MB / 16 MiB, the longest line, + 32 MB",
            unit: "KiB",
            bound: Bound::AtMost(1.0),
            subject: peak,
            anchor: allowed,
            notes: vec![longest],
        },
    ])
}

fn folder(bench: &Bench) -> Result<String> {
    Ok(bench.place.folder()?.display().to_string())
}

fn run<T: serde::de::DeserializeOwned>(bench: &Bench, arguments: &[&str]) -> Result<T> {
    let text = shell::read(bench.place.command(Program::ClaudeBench).args(arguments))?;
    figures(&text)
}

pub(super) fn figures<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let line = text.lines().rfind(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).context("cannot read the last line of bench_claude")
}
