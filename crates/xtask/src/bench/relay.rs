//! P13: what the relay adds to a model's streamed response. The relay's own example `relay_bench`
//! measures the relay, a bare reverse proxy and the way without either in turn; here its figures are
//! read and judged.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Bench;
use super::place::Program;
use super::row::{Bound, Row, median};
use crate::shell;

/// Requests of each way in a round; each has 52 events.
const REQUESTS: usize = 200;

/// The last line of the example's output.
#[derive(Deserialize)]
struct Figures {
    first_byte: Ways,
    event: Ways,
}

/// Medians in microseconds, one a round.
#[derive(Deserialize)]
struct Ways {
    direct: Vec<f64>,
    anchor: Vec<f64>,
    subject: Vec<f64>,
}

/// P13.
pub(super) fn added(bench: &Bench) -> Result<Vec<Row>> {
    let mut example = bench.place.command(Program::RelayBench);
    example.args([bench.rounds.to_string(), bench.some(REQUESTS).to_string()]);
    rows(&shell::read(&mut example)?)
}

fn rows(text: &str) -> Result<Vec<Row>> {
    let line = text.lines().rfind(|line| line.starts_with('{')).unwrap_or_default();
    let figures: Figures =
        serde_json::from_str(line).context("cannot read the last line of relay_bench")?;
    let row = |what: &'static str, ways: Ways| {
        let direct = median(&ways.direct);
        let added = |all: &[f64]| all.iter().map(|figure| figure - direct).collect();
        Row {
            what: what.into(),
            unit: "µs",
            bound: Bound::AtMost(1.3),
            subject: added(&ways.subject),
            anchor: added(&ways.anchor),
            notes: vec![format!(
                "without either {direct:.0} µs; through the relay {:.0} µs, through the bare proxy \
                 {:.0} µs",
                median(&ways.subject),
                median(&ways.anchor)
            )],
        }
    };
    Ok(vec![
        row(
            "added until the first byte of a response / by a bare reverse proxy",
            figures.first_byte,
        ),
        row("added to each event of a response / by a bare reverse proxy", figures.event),
    ])
}

#[cfg(test)]
mod tests {
    //! How the figures are read.

    use super::*;

    #[test]
    fn what_is_added_is_compared() {
        let text = "x\n{\"first_byte\":{\"direct\":[10],\"anchor\":[20],\"subject\":[24]},\
                    \"event\":{\"direct\":[10],\"anchor\":[20],\"subject\":[22]}}\n";
        let rows = rows(text).unwrap();
        assert!(!rows[0].met(), "14 / 10");
        assert!(rows[1].met(), "12 / 10");
    }
}
