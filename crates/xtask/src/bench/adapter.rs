//! P8: a child's output on its way to events. The example `bench_adapters` plays the program, runs
//! the adapter, and is the bare pipe beside it; here its figures are judged. What runs in tmux has a
//! screen and no lines, so there is no figure for it.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::backend::Backend;
use super::place::Program;
use super::row::{Bound, Row};
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

/// Speeds, and memory in KiB.
#[derive(Default)]
struct Figures {
    adapter: Vec<f64>,
    bare: Vec<f64>,
    lines: u64,
    peak: Vec<f64>,
    longest: Vec<f64>,
}

/// P8.
pub(super) fn to_events(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Backend::PIPED.map(|backend| (backend, Figures::default()));
    bench.each_round(|| {
        for (backend, figures) in &mut all {
            round(bench, backend.name(), figures)
                .with_context(|| format!("the adapter {}", backend.name()))?;
        }
        Ok(())
    })?;
    let mut rows: Vec<Row> =
        all.into_iter().flat_map(|(backend, figures)| rows(backend, figures)).collect();
    if let Some(last) = rows.last_mut() {
        last.notes.push("tmux has no figure: it reads a screen, no lines of a child".to_owned());
    }
    Ok(rows)
}

fn round(bench: &Bench, name: &str, figures: &mut Figures) -> Result<()> {
    let times = match bench.pace {
        Pace::Full => TIMES,
        Pace::Quick => TIMES_QUICK,
    };
    let times = times.to_string();
    for _ in 0..bench.some(30).div_ceil(10) {
        let adapter: Speed = run(bench, &["adapter", name, &times, &folder(bench)?])?;
        let bare: Speed = run(bench, &["bare", name, &times])?;
        figures.lines = adapter.lines;
        figures.adapter.push(adapter.megabytes_a_second);
        figures.bare.push(bare.megabytes_a_second);
    }
    let long: Peak = run(bench, &["long", name, &TOO_LONG.to_string(), &folder(bench)?])?;
    if long.messages != 0 || long.notices.len() != 1 {
        bail!("the line that is too long was not passed over: {:?}", long.notices);
    }
    let fits = (LINE_MAX - FRAME).to_string();
    let fits: Peak = run(bench, &["long", name, &fits, &folder(bench)?])?;
    if fits.messages != 1 {
        bail!("the longest line was not read: {:?}", fits.notices);
    }
    figures.peak.push(f64::from(long.peak_kib));
    figures.longest.push(f64::from(fits.peak_kib));
    Ok(())
}

fn rows(backend: Backend, figures: Figures) -> [Row; 3] {
    let name = backend.name();
    let allowed = f64::from(u32::try_from((LINE_MAX + ROOM) / 1024).unwrap_or(u32::MAX));
    let lines = figures.lines;
    let note = format!("{lines} lines of 1 to 200 KB, 22 KB in the mean, none lost");
    let memory = |line: String, peaks: Vec<f64>| {
        Row {
        what: format!(
            "peak memory (RSS) of the {name} adapter with {line} / 16 MiB, the longest line, + 32 MB"
        )
        .into(),
        unit: "KiB",
        bound: Bound::AtMost(1.0),
        anchor: vec![allowed; peaks.len()],
        subject: peaks,
        notes: Vec::new(),
    }
    };
    [
        Row {
            what: format!(
                "child's output to events of the {name} adapter / to a bare pipe, parsed"
            )
            .into(),
            unit: "MB/s",
            bound: Bound::AtLeast(0.7),
            subject: figures.adapter,
            anchor: figures.bare,
            notes: vec![note],
        },
        memory("a line of 100 MB, which is passed over".to_owned(), figures.peak),
        memory(format!("a line of {} bytes, which is read", LINE_MAX - FRAME), figures.longest),
    ]
}

fn folder(bench: &Bench) -> Result<String> {
    Ok(bench.place.folder()?.display().to_string())
}

fn run<T: serde::de::DeserializeOwned>(bench: &Bench, arguments: &[&str]) -> Result<T> {
    let text = shell::read(bench.place.command(Program::AdapterBench).args(arguments))?;
    figures(&text)
}

pub(super) fn figures<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let line = text.lines().rfind(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).context("cannot read the last line of bench_adapters")
}
