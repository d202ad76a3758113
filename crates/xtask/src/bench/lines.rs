//! P11: what a line of a channel costs the daemon that keeps it for its agent, who is not addressed.
//! A bare client in the same room gets the same lines at the same moments.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Bench;
use super::bare::Bare;
use super::control::Control;
use super::fleet::{self, Daemon, Fleet};
use super::irc::Person;
use super::place::Program;
use super::procfs;
use super::row::{Bound, Row, median};

/// Lines of a round that come as fast as the server takes them, and those that come alone.
const MANY: usize = 5000;
const FEW: usize = 500;
/// Before the first of them, neither of which is measured.
const WARM_UP: usize = 200;
/// Between two lines that come alone.
const ALONE: Duration = Duration::from_millis(5);
/// From the moment at which the bare client has all to the reading of both clocks.
const SETTLE: Duration = Duration::from_millis(300);
/// What culture's daemon computed for a line, in nanoseconds, and the part of it that is the goal.
const CULTURE: f64 = 227_000.0;
const PART: f64 = 20.0;

/// Nanoseconds a line.
#[derive(Default)]
struct Figures {
    daemon: Vec<f64>,
    bare: Vec<f64>,
    daemon_alone: Vec<f64>,
    bare_alone: Vec<f64>,
}

/// P11.
pub(super) fn to_buffer(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Figures::default();
    bench.each_round(|| round(bench, &mut all))?;
    let (daemon, bare) = (median(&all.daemon), median(&all.bare));
    let (daemon_alone, bare_alone) = (median(&all.daemon_alone), median(&all.bare_alone));
    let notes = vec![
        format!(
            "of a bare client in the same room, which keeps the same lines: {bare:.0} ns, ratio \
             {:.1}",
            daemon / bare
        ),
        format!(
            "lines that come alone, every {} ms: {daemon_alone:.0} ns; of the bare client: \
             {bare_alone:.0} ns, ratio {:.1}",
            ALONE.as_millis(),
            daemon_alone / bare_alone
        ),
    ];
    Ok(vec![Row {
        what: "processor time of the daemon a line of its channel / 1/20 of culture's 227 µs"
            .into(),
        unit: "ns",
        bound: Bound::AtMost(1.0),
        anchor: vec![CULTURE / PART; all.daemon.len()],
        subject: all.daemon,
        notes,
    }])
}

/// What takes part in a round.
struct Room {
    daemon: Daemon,
    bare: Bare,
    speaker: Person,
    said: usize,
    /// The bare client tells when it has another so many.
    step: usize,
}

fn round(bench: &Bench, all: &mut Figures) -> Result<()> {
    let place = &bench.place;
    // The second agent has no daemon: we speak as it, since agents are not slowed down.
    let fleet = Fleet::without_daemons(place, 2)?;
    let daemon = fleet.daemon(place, 1)?;
    let mut agent = Control::dial(&place.control_socket(&fleet::agent(1)))?;
    let step = bench.some(100);
    let mut command = place.command(Program::BareLines);
    command.arg(&fleet.irc).arg(fleet::ROOM).arg(step.to_string());
    let bare = Bare::start(&mut command)?;
    let speaker = Person::join_as(&fleet.irc, &fleet::agent(2), &fleet.secret(2)?, fleet::ROOM)?;
    let mut room = Room { daemon, bare, speaker, said: 0, step };
    room.await_daemon(&mut agent)?;
    room.say(bench.some(WARM_UP), Duration::ZERO)?;
    let (daemon, bare) = room.say(bench.some(MANY), Duration::ZERO)?;
    all.daemon.push(daemon);
    all.bare.push(bare);
    room.confirm(&mut agent)?;
    let (daemon, bare) = room.say(bench.some(FEW), ALONE)?;
    all.daemon_alone.push(daemon);
    all.bare_alone.push(bare);
    room.confirm(&mut agent)?;
    drop(room);
    drop(fleet);
    Ok(())
}

impl Room {
    /// Waits until the daemon is in the room: it keeps a line that was said there.
    fn await_daemon(&mut self, agent: &mut Control) -> Result<()> {
        for _ in 0..100 {
            if agent.ask("{\"type\":\"irc_channels\",\"id\":\"1\"}\n").is_ok()
                && agent.data()?["channels"][0] == fleet::ROOM
            {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        bail!("the daemon does not join the room")
    }

    /// Says so many lines, the last of which everybody has at the end; returns the nanoseconds a
    /// line that the daemon and the bare client computed.
    fn say(&mut self, count: usize, pause: Duration) -> Result<(f64, f64)> {
        let used = |room: &Self| -> Result<(f64, f64)> {
            let bare = procfs::processor_time_of(room.bare.pid())?;
            Ok((procfs::processor_time_of(room.daemon.pid())?, bare))
        };
        let before = used(self)?;
        for _ in 0..count {
            self.said += 1;
            let text = format!("line {} of what people say to one another in a room", self.said);
            self.speaker.say(fleet::ROOM, &text)?;
            if !pause.is_zero() {
                sleep(pause);
            }
        }
        let last = self.said / self.step * self.step;
        while self.bare.line()? != last.to_string() {}
        sleep(SETTLE);
        let after = used(self)?;
        let lines = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        Ok(((after.0 - before.0) * 1e3 / lines, (after.1 - before.1) * 1e3 / lines))
    }

    /// Fails unless the daemon keeps the last line.
    fn confirm(&self, agent: &mut Control) -> Result<()> {
        agent.ask(&format!(
            "{{\"type\":\"irc_read\",\"id\":\"1\",\"channel\":\"{}\",\"limit\":1,\"latest\":true}}\n",
            fleet::ROOM
        ))?;
        let data = agent.data()?;
        let text = data["messages"][0]["text"].as_str().context("the daemon keeps no line")?;
        if !text.starts_with(&format!("line {} ", self.said)) {
            bail!("after line {} the daemon's last is {text:?}", self.said);
        }
        Ok(())
    }
}
