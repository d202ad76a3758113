//! P10: the embedded chat server beside ngIRCd and InspIRCd, which keep no history: deliveries, the
//! memory of idle clients, what a registration costs, and how long a bystander waits in a storm of
//! them. Servers take turns, all of them get the same load.

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Bench;
use super::fleet::{self, Fleet};
use super::place::{Place, Program};
use super::procfs;
use super::row::{Bound, Row, median};
use super::servers::Foreign;
use crate::shell;

/// Clients in the room.
const CLIENTS: usize = 500;
/// How many of them talk; these are agents, whom our server does not slow down.
const SPEAKERS: usize = 10;
/// How long they talk, and how long strangers come.
const TALK: Duration = Duration::from_secs(3);
const STORM: Duration = Duration::from_secs(6);
/// Strangers that come at a time: more than ngIRCd takes wait a second for it each.
const STRANGERS: usize = 8;
/// Until the memory of idle clients is read.
const SETTLE: Duration = Duration::from_secs(1);

/// What one round tells of one server.
#[derive(Default)]
struct Figures {
    /// Lines that arrived, for each second of the server's processor time.
    deliveries: Vec<f64>,
    /// KiB a client.
    idle: Vec<f64>,
    /// Microseconds of the server's processor time.
    registration: Vec<f64>,
    /// Microseconds until PONG, the 99th of a hundred.
    bystander: Vec<f64>,
    /// Strangers that came in the storm.
    came: Vec<f64>,
    /// KiB more than before the clients came, a second after the room was full.
    grown: Vec<f64>,
}

/// P10.
pub(super) fn beside_others(bench: &Bench) -> Result<Vec<Row>> {
    let (mut ours, mut ngircd, mut inspircd) =
        (Figures::default(), Figures::default(), Figures::default());
    bench.each_round(|| {
        let fleet = Fleet::without_daemons(&bench.place, SPEAKERS)?;
        let login = |n| Ok(format!("{}:{}", fleet::agent(n), fleet.secret(n)?));
        let logins = (1..=SPEAKERS).map(login).collect::<Result<Vec<String>>>()?;
        let server = Served { pid: fleet.hub(), address: &fleet.irc, at_once: 20 };
        ours.round(bench, &server, &logins)?;
        drop(fleet);
        let server = Foreign::ngircd(&bench.place)?;
        let served = Served { pid: server.pid(), address: &server.address, at_once: STRANGERS };
        ngircd.round(bench, &served, &[])?;
        drop(server);
        let server = Foreign::inspircd(&bench.place)?;
        // It completes registrations once a second, however many there are.
        let served = Served { pid: server.pid(), address: &server.address, at_once: CLIENTS };
        inspircd.round(bench, &served, &[])
    })?;
    Ok(rows(ours, ngircd, &inspircd))
}

fn rows(ours: Figures, ngircd: Figures, inspircd: &Figures) -> Vec<Row> {
    let beside = |what: &str, us: &[f64], them: &[f64]| {
        format!("InspIRCd's {what}: {:.0}, ratio {:.2}", median(them), median(us) / median(them))
    };
    let room = format!(
        "KiB more with all in one room and after the talk: {:.0}; ngIRCd's {:.0}, InspIRCd's {:.0}",
        median(&ours.grown),
        median(&ngircd.grown),
        median(&inspircd.grown)
    );
    let came = format!(
        "strangers that came meanwhile: {:.0}; to ngIRCd {:.0}",
        median(&ours.came),
        median(&ngircd.came)
    );
    let idle =
        format!("ngIRCd's {:.1}, InspIRCd's {:.1}", median(&ngircd.idle), median(&inspircd.idle));
    vec![
        Row {
            what: "deliveries a second of the server's processor time, 500 clients, 10 of whom \
                   talk / ngIRCd's, which keeps none of them"
                .into(),
            unit: "",
            bound: Bound::AtLeast(0.1),
            notes: vec![beside("deliveries", &ours.deliveries, &inspircd.deliveries)],
            subject: ours.deliveries,
            anchor: ngircd.deliveries,
        },
        Row {
            what: "memory of a registered client / 20 KiB".into(),
            unit: "KiB",
            bound: Bound::AtMost(1.0),
            notes: vec![idle, room],
            anchor: vec![20.0; ours.idle.len()],
            subject: ours.idle,
        },
        Row {
            what: "processor time of the server a registration / ngIRCd's".into(),
            unit: "µs",
            bound: Bound::AtMost(10.0),
            notes: vec![beside("microseconds", &ours.registration, &inspircd.registration)],
            subject: ours.registration,
            anchor: ngircd.registration,
        },
        Row {
            what: "a bystander's PING in a storm of strangers, the 99th of 100 / at ngIRCd".into(),
            unit: "µs",
            bound: Bound::AtMost(3.0),
            notes: vec![came, beside("microseconds", &ours.bystander, &inspircd.bystander)],
            subject: ours.bystander,
            anchor: ngircd.bystander,
        },
    ]
}

/// A server that is measured.
struct Served<'a> {
    pid: u32,
    address: &'a str,
    /// Registrations at a time that it does best with.
    at_once: usize,
}

impl Figures {
    fn round(&mut self, bench: &Bench, server: &Served<'_>, logins: &[String]) -> Result<()> {
        let clients = bench.some(CLIENTS);
        let many = f64::from(u32::try_from(clients).unwrap_or(u32::MAX));
        let part = |time: Duration| if bench.some(10) == 10 { time } else { time / 10 };
        let mut load = Load::start(&bench.place, server.address, logins)?;
        let processor = || procfs::processor_time_of(server.pid);
        let memory = || Ok::<f64, anyhow::Error>(procfs::memory_of(server.pid)?.anonymous);

        let (before, memory_before) = (processor()?, memory()?);
        load.ask(&format!("register {clients} {}", server.at_once))?;
        self.registration.push((processor()? - before) / many);
        std::thread::sleep(SETTLE);
        self.idle.push((memory()? - memory_before) / many);

        load.ask("join")?;
        let before = processor()?;
        let deliveries: f64 = load.ask(&format!("talk {}", part(TALK).as_millis()))?.parse()?;
        self.deliveries.push(deliveries / (processor()? - before) * 1e6);
        std::thread::sleep(SETTLE);
        self.grown.push(memory()? - memory_before);
        drop(load);

        let mut load = Load::start(&bench.place, server.address, &[])?;
        let told = load.ask(&format!("storm {} {STRANGERS}", part(STORM).as_millis()))?;
        let (came, worst) = told.split_once(' ').context("the load said too little")?;
        self.came.push(came.parse()?);
        self.bystander.push(worst.parse()?);
        Ok(())
    }
}

/// The process that the clients are in.
struct Load {
    process: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Load {
    fn start(place: &Place, address: &str, logins: &[String]) -> Result<Self> {
        let mut command = place.command(Program::IrcLoad);
        command.arg(address).args(logins).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("cannot start the load")?;
        let orders = process.stdin.take().context("the load has no input")?;
        let told = process.stdout.take().map(BufReader::new).context("the load has no output")?;
        let mut load = Self { process, orders, told };
        load.line()?;
        Ok(load)
    }

    fn ask(&mut self, order: &str) -> Result<String> {
        writeln!(self.orders, "{order}").context("the load is gone")?;
        self.line().with_context(|| format!("the load did not do {order:?}"))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if std::io::BufRead::read_line(&mut self.told, &mut line)? == 0 {
            bail!("it has ended");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = shell::wait_for(Duration::from_secs(5), || Ok(self.process.try_wait()?));
    }
}
