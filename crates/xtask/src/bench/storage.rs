//! P6: durable cycles. The store's own example `storage_bench` measures both sides in turn, since
//! only it knows the layout; here its figures are read and judged.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::place::Program;
use super::row::{Bound, Row, median};
use super::{Bench, Pace};
use crate::shell;

/// How long each run of each side lasts: six runs a round.
const SECONDS: usize = 3;
/// More rounds than this would take too long.
const MOST_ROUNDS: usize = 4;

/// The last line of the example's output.
#[derive(Deserialize)]
pub(super) struct Figures {
    /// One process with 50 producers, and one bare loop with 50 statements in a commit.
    pub(super) one: Pair,
    /// 50 processes, and 50 bare loops.
    pub(super) many: Pair,
    /// One bare loop with one statement in a commit.
    pub(super) alone: Vec<f64>,
    /// One process in which 50 agents ask questions that are answered.
    pub(super) asking: Vec<f64>,
    /// Microseconds of `fdatasync` after appending 4 KiB: p50, p99.
    pub(super) fdatasync: (f64, f64),
}

/// Cycles a second, one figure a round.
#[derive(Deserialize)]
pub(super) struct Pair {
    pub(super) subject: Vec<f64>,
    pub(super) anchor: Vec<f64>,
}

/// P6.
pub(super) fn cycles(bench: &Bench) -> Result<Vec<Row>> {
    let mut example = bench.place.command(Program::StorageBench);
    let rounds = bench.rounds.min(MOST_ROUNDS).to_string();
    let seconds = match bench.pace {
        Pace::Full => SECONDS,
        Pace::Quick => 1,
    };
    example
        .args(["--json", "--rounds", &rounds, "50", &seconds.to_string()])
        .current_dir(bench.place.folder()?);
    rows(&shell::read(&mut example)?)
}

pub(super) fn rows(text: &str) -> Result<Vec<Row>> {
    let line = text.lines().rfind(|line| line.starts_with('{')).unwrap_or_default();
    let figures: Figures =
        serde_json::from_str(line).context("cannot read the last line of storage_bench")?;
    let bound = Bound::AtLeast(0.7);
    let asking = median(&figures.asking);
    let asking_ratio = asking / median(&figures.one.anchor);
    let (p50, p99) = figures.fdatasync;
    Ok(vec![
        Row {
            what: "durable cycles of one process with 50 producers / of a bare loop that commits 50 at once".into(),
            unit: "/s",
            bound,
            subject: figures.one.subject,
            anchor: figures.one.anchor,
            notes: vec![
                format!(
                    "a cycle: accept a message, cancel it; each synced. A bare loop that commits \
                     each alone: {:.0} /s",
                    median(&figures.alone)
                ),
                "every store here holds 5,000 open questions and 5,000 waiting reminders".to_owned(),
                format!(
                    "questions asked and answered by 50 agents of one process: {asking:.0} /s, {asking_ratio:.2} of the \
                     bare loop; an answer also makes the message that tells it"
                ),
                format!("4 KiB appended and synced in the same minute: p50 {p50} µs, p99 {p99} µs"),
            ],
        },
        Row {
            what: "durable cycles of 50 processes / of 50 bare loops in the same layout".into(),
            unit: "/s",
            bound,
            subject: figures.many.subject,
            anchor: figures.many.anchor,
            notes: Vec::new(),
        },
    ])
}
