//! P3: requests at a daemon's control socket, beside an echo that does nothing else.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Bench;
use super::bare::Bare;
use super::control::Control;
use super::disk::Disk;
use super::fleet::{self, Fleet};
use super::place::Program;
use super::procfs;
use super::row::{Bound, Row, median};
use crate::shell;

/// Requests of each kind in a round, and those before them that are not measured.
const REQUESTS: usize = 2000;
const WARM_UP: usize = 50;
/// What is asked of the daemon and said by it in a round as rarely as people do, and the least time
/// between two. What is said is synced before it is answered.
const PACED: usize = 60;
const APART: Duration = Duration::from_millis(70);
/// What the goal allows for a request, and what a durable one may take besides, in syncs.
const ECHOES: f64 = 2.5;
const SYNCS: f64 = 1.5;

const CHANNELS: &str = "{\"type\":\"irc_channels\",\"id\":\"1\"}\n";

/// Medians of rounds in microseconds; the daemon's processor time in microseconds a request.
#[derive(Default)]
struct Figures {
    echo: Vec<f64>,
    /// As rare as the paced ones.
    rare_echo: Vec<f64>,
    channels: Vec<f64>,
    read: Vec<f64>,
    send: Vec<f64>,
    fsync: Vec<f64>,
    daemon: Vec<f64>,
    bare: Vec<f64>,
}

/// P3.
pub(super) fn requests(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Figures::default();
    bench.each_round(|| {
        let round = round(bench)?;
        all.echo.push(median(&round.echo));
        all.rare_echo.push(median(&round.rare_echo));
        all.channels.push(median(&round.channels));
        all.read.push(median(&round.read));
        all.send.push(median(&round.send));
        all.fsync.push(median(&round.fsync));
        all.daemon.extend(round.daemon);
        all.bare.extend(round.bare);
        Ok(())
    })?;
    let durable = |(echo, fsync): (&f64, &f64)| ECHOES * echo + SYNCS * fsync;
    let durable = all.rare_echo.iter().zip(&all.fsync).map(durable).collect();
    let cost = format!(
        "processor time a request: the daemon {:.0} µs, the echo {:.0} µs",
        median(&all.daemon),
        median(&all.bare)
    );
    let disk = format!(
        "4 KiB appended and fdatasync: {:.0} µs; against the echo alone: ratio {:.1}",
        median(&all.fsync),
        median(&all.send) / median(&all.rare_echo)
    );
    let row = |what: &'static str, bound, subject, anchor, note: Option<String>| Row {
        what: what.into(),
        unit: "µs",
        bound,
        subject,
        anchor,
        notes: note.into_iter().collect(),
    };
    let bound = Bound::AtMost(ECHOES);
    let asked = format!("every {} ms", APART.as_millis());
    Ok(vec![
        row("irc_read of nothing, p50 / a bare echo, p50", bound, all.read, all.echo, Some(cost)),
        row(
            "irc_channels, p50 / a bare echo, p50",
            bound,
            all.channels,
            all.rare_echo,
            Some(asked),
        ),
        row(
            "irc_send, p50 / 2.5 × a bare echo + 1.5 × fsync, p50",
            Bound::AtMost(1.0),
            all.send,
            durable,
            Some(disk),
        ),
    ])
}

fn round(bench: &Bench) -> Result<Figures> {
    let place = &bench.place;
    let fleet = Fleet::start(place, 1, super::model::nobody()?)?;
    let folder = place.folder()?;
    let socket = folder.join("echo.sock");
    let echo = Bare::start(place.command(Program::BareEcho).arg(&socket))?;
    let mut bare = Control::dial(&socket)?;
    let mut agent = Control::dial(&place.control_socket(&fleet::agent(1)))?;
    let daemon = *fleet.daemons.first().context("no daemon")?;
    let read = format!("{{\"type\":\"irc_read\",\"id\":\"1\",\"channel\":\"{}\"}}\n", fleet::ROOM);
    let mut figures = Figures::default();
    let requests = bench.some(REQUESTS);
    let mut before = (0.0, 0.0);
    let used = || -> Result<(f64, f64)> {
        Ok((procfs::processor_time_of(daemon)?, procfs::processor_time_of(echo.pid())?))
    };
    for number in 0..WARM_UP + requests {
        if number == WARM_UP {
            figures = Figures::default();
            before = used()?;
        }
        figures.echo.push(bare.exchange(&read)?);
        figures.read.push(agent.ask(&read)?);
    }
    let after = used()?;
    let count = f64::from(u32::try_from(requests).unwrap_or(u32::MAX));
    figures.daemon.push((after.0 - before.0) / count);
    figures.bare.push((after.1 - before.1) / count);
    let mut disk = Disk::within(&folder)?;
    for number in 0..bench.some(PACED) {
        let begin = shell::now();
        figures.rare_echo.push(bare.exchange(CHANNELS)?);
        figures.channels.push(agent.ask(CHANNELS)?);
        figures.fsync.push(disk.append_and_sync()?);
        figures.send.push(agent.ask(&send(number))?);
        sleep(APART.saturating_sub(begin.elapsed()));
    }
    Ok(figures)
}

fn send(number: usize) -> String {
    let room = fleet::ROOM;
    format!(
        "{{\"type\":\"irc_send\",\"id\":\"1\",\"channel\":\"{room}\",\"message\":\"line {number}\"}}\n"
    )
}
