//! P6: durable cycles. The broker's own example `storage_bench` measures both sides in turn, since
//! only it knows the layout; here its figures are read and judged.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Bench, Measured};
use crate::shell;

/// The last line of the example's output.
#[derive(Deserialize)]
struct Figures {
    /// Cycles a second of the broker, one a round.
    subject: Vec<f64>,
    /// Cycles a second of a bare single-writer loop, one a round.
    anchor: Vec<f64>,
}

/// P6.
pub(super) fn producers(bench: &Bench) -> Result<Measured> {
    if !shell::root().join("crates/gangline-broker/examples/storage_bench.rs").exists() {
        return Ok(Measured::NotYet("gangline-broker has no example storage_bench"));
    }
    let mut example = shell::cargo();
    example
        .args(["run", "--quiet", "--package", "gangline-broker", "--example", "storage_bench"])
        .args(bench.profile)
        .args(["--", "--json", "--rounds", &bench.rounds.to_string()]);
    let text = shell::read(&mut example)?;
    let line = text.lines().rfind(|line| line.starts_with('{')).unwrap_or_default();
    let figures: Figures = serde_json::from_str(line).context(
        "the last line of storage_bench is not {\"subject\":[…],\"anchor\":[…]}, one figure a round",
    )?;
    Ok(Measured::Figures { subject: figures.subject, anchor: figures.anchor })
}
