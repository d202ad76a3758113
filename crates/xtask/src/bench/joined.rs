//! P2: what a daemon computes from its start until others see it in its room, beside `/bin/true`.
//! Its processor time is read when a person in the room hears its JOIN; that of its backend's program
//! is not counted.

use std::process::Stdio;

use anyhow::{Context, Result};

use super::Bench;
use super::backend::Backend;
use super::fleet::{self, Fleet};
use super::irc::Person;
use super::procfs;
use super::row::{Bound, Row, median};
use crate::shell;

/// Starts in a round, after one that is not measured: it makes what later ones find.
const STARTS: usize = 8;
/// `/bin/true` is run so often before each.
const TRUES: usize = 10;

/// Medians of rounds, in microseconds.
#[derive(Default)]
struct Figures {
    joined: Vec<f64>,
    nothing: Vec<f64>,
    wall: Vec<f64>,
    life: Vec<f64>,
    first: Vec<f64>,
}

/// P2.
pub(super) fn from_exec(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Backend::ALL.map(|backend| (backend, Figures::default()));
    bench.each_round(|| {
        for (backend, figures) in &mut all {
            let round = round(bench, *backend)?;
            figures.joined.push(median(&round.joined));
            figures.nothing.push(median(&round.nothing));
            figures.wall.push(median(&round.wall));
            figures.life.push(median(&round.life));
            figures.first.push(round.first);
        }
        Ok(())
    })?;
    Ok(all.into_iter().map(|(backend, figures)| row(backend, figures)).collect())
}

fn row(backend: Backend, figures: Figures) -> Row {
    let (wall, life) = (median(&figures.wall) / 1e3, median(&figures.life));
    let (when, end) = match backend {
        Backend::Native => ("of all threads, ", "with an orderly end"),
        Backend::Claude | Backend::Codex | Backend::Acp => {
            ("without the program's, ", "with an orderly end, and with the program's")
        }
    };
    let notes = vec![
        format!(
            "processor time {when}read when a person in the room hears the JOIN, {wall:.0} ms \
             after the start; {end}: {life:.0} µs"
        ),
        format!(
            "the first start of all, which makes what others find: {:.0} µs",
            median(&figures.first)
        ),
    ];
    let name = backend.name();
    Row {
        what: format!("processor time of a daemon ({name}) from exec to joined / of `/bin/true`")
            .into(),
        unit: "µs",
        bound: Bound::AtMost(40.0),
        subject: figures.joined,
        anchor: figures.nothing,
        notes,
    }
}

/// Microseconds.
#[derive(Default)]
struct Starts {
    nothing: Vec<f64>,
    joined: Vec<f64>,
    wall: Vec<f64>,
    life: Vec<f64>,
    first: f64,
}

fn round(bench: &Bench, backend: Backend) -> Result<Starts> {
    let fleet = Fleet::without_daemon_of(&bench.place, backend)?;
    let mut person = Person::join(&fleet.irc, "watcher", fleet::ROOM)?;
    let mut starts = Starts::default();
    let prefix = format!(":{}!", fleet::agent(1));
    for number in 0..=bench.some(STARTS).max(2) {
        let nothing = nothing()?;
        let ended = procfs::processor_time_of_ended()?;
        let start = shell::now();
        let daemon = fleet.daemon(&bench.place, 1)?;
        person.hear(&[&prefix, " JOIN "])?;
        let wall = start.elapsed().as_secs_f64() * 1e6;
        let joined = procfs::processor_time_of(daemon.pid())?;
        drop(daemon);
        person.hear(&[&prefix, " QUIT "])?;
        if number == 0 {
            starts.first = joined;
            continue;
        }
        starts.nothing.push(nothing);
        starts.joined.push(joined);
        starts.wall.push(wall);
        starts.life.push(procfs::processor_time_of_ended()? - ended);
    }
    Ok(starts)
}

/// Returns the processor time of one `/bin/true`.
fn nothing() -> Result<f64> {
    let program = shell::find_program("true").context("there is no `true`")?;
    let before = procfs::processor_time_of_ended()?;
    for _ in 0..TRUES {
        let mut command = shell::command(&program);
        shell::run(command.env_clear().stdin(Stdio::null()))?;
    }
    let times = f64::from(u32::try_from(TRUES).unwrap_or(u32::MAX));
    Ok((procfs::processor_time_of_ended()? - before) / times)
}
