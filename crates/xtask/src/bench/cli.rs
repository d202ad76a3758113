//! P5: `gangline channel send` and `read`, the whole process from its start to its end, beside
//! `/bin/true`. What both cost is mostly the start of a process.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Bench;
use super::control::Control;
use super::fleet::{self, Fleet};
use super::place::Program;
use super::procfs;
use super::row::{Bound, Row, median};
use crate::shell;

/// Runs of each in a round, and those before them that are not measured.
const RUNS: usize = 80;
const WARM_UP: usize = 5;
const BOUND: Bound = Bound::AtMost(4.0);

/// Runs of one program, in microseconds.
#[derive(Default)]
struct Runs {
    wall: Vec<f64>,
    processor: Vec<f64>,
}

impl Runs {
    /// Runs it once.
    fn add(&mut self, command: &mut Command) -> Result<()> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let before = procfs::processor_time_of_ended()?;
        let start = shell::now();
        let mut child = command.spawn().context("cannot start a program")?;
        let status = child.wait().context("cannot wait for a program")?;
        self.wall.push(start.elapsed().as_secs_f64() * 1e6);
        self.processor.push(procfs::processor_time_of_ended()? - before);
        if !status.success() {
            let said = child.stderr.map(std::io::read_to_string).transpose()?.unwrap_or_default();
            bail!("{command:?}: {status}: {said}");
        }
        Ok(())
    }

    fn median_of(&mut self, runs: &Self) {
        self.wall.push(median(&runs.wall));
        self.processor.push(median(&runs.processor));
    }
}

/// Medians of rounds.
#[derive(Default)]
struct Figures {
    bare: Runs,
    version: Runs,
    send: Runs,
    read: Runs,
}

/// P5.
pub(super) fn whole_process(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Figures::default();
    bench.each_round(|| {
        let round = round(bench)?;
        all.bare.median_of(&round.bare);
        all.version.median_of(&round.version);
        all.send.median_of(&round.send);
        all.read.median_of(&round.read);
        Ok(())
    })?;
    let version = format!(
        "`gangline --version`, which asks nobody: {:.0} µs, processor time {:.0} µs",
        median(&all.version.wall),
        median(&all.version.processor)
    );
    let row = |what: &'static str, subject, anchor: &Vec<f64>, notes| {
        let anchor = anchor.clone();
        Row { what: what.into(), unit: "µs", bound: BOUND, subject, anchor, notes }
    };
    let (wall, processor) = (&all.bare.wall, &all.bare.processor);
    let what = [
        "`gangline channel read`, start to end, p50 / `/bin/true`, p50",
        "`gangline channel read`, processor time / `/bin/true`",
        "`gangline channel send`, start to end (it waits for a sync), p50 / `/bin/true`, p50",
        "`gangline channel send`, processor time / `/bin/true`",
    ];
    Ok(vec![
        row(what[0], all.read.wall, wall, vec![version]),
        row(what[1], all.read.processor, processor, Vec::new()),
        row(what[2], all.send.wall, wall, Vec::new()),
        row(what[3], all.send.processor, processor, Vec::new()),
    ])
}

fn round(bench: &Bench) -> Result<Figures> {
    let fleet = Fleet::start(&bench.place, 1, super::model::nobody()?)?;
    let agent = fleet::agent(1);
    // It listens from now on.
    drop(Control::dial(&bench.place.control_socket(&agent))?);
    let nothing = shell::find_program("true").context("there is no `true`")?;
    let mut bare = shell::command(nothing);
    bare.env_clear();
    let mut version = bench.place.command(Program::Gangline);
    version.arg("--version");
    let channel = |words: &[&str]| {
        let mut command = bench.place.command(Program::Gangline);
        command.env("GANGLINE_NICK", &agent).arg("channel").args(words);
        command
    };
    let mut send = channel(&["send", fleet::ROOM, "a line that somebody says"]);
    let mut read = channel(&["read", fleet::ROOM]);
    let mut figures = Figures::default();
    for number in 0..WARM_UP + bench.some(RUNS) {
        if number == WARM_UP {
            figures = Figures::default();
        }
        figures.bare.add(&mut bare)?;
        figures.read.add(&mut read)?;
        figures.version.add(&mut version)?;
        figures.send.add(&mut send)?;
    }
    drop(fleet);
    Ok(figures)
}
