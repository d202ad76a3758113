//! A hub with daemons, as `gangline up` starts them, in a folder of their own; or a hub whose
//! daemons are started here. All of them have ended when the [`Fleet`] is dropped.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::backend::Backend;
use super::place::{Place, Program};
use super::procfs;
use crate::shell;

/// How long the hub and its daemons may take to stand.
const READY: Duration = Duration::from_secs(60);
/// How long they may take to end.
const END: Duration = Duration::from_secs(20);

/// What the hub writes for programs once all agents are in their rooms.
#[derive(Deserialize)]
struct Ready {
    irc: String,
}

/// The name of the n-th agent, from 1.
pub(super) fn agent(number: usize) -> String {
    format!("bench-a{number}")
}

/// The room that all agents are in.
pub(super) const ROOM: &str = "#general";

/// The running processes.
pub(super) struct Fleet {
    hub: Child,
    program: PathBuf,
    folder: PathBuf,
    /// Where its IRC server listens.
    pub(super) irc: String,
    /// The daemons' processes.
    pub(super) daemons: Vec<u32>,
}

/// Who starts the daemons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Starts {
    Hub,
    Bench,
}

impl Fleet {
    /// Starts that many agents of the native backend, with the model at a port of this machine,
    /// and waits until all are ready.
    pub(super) fn start(place: &Place, count: usize, model: u16) -> Result<Self> {
        Self::with(place, Starts::Hub, count, (Backend::Native, model))
    }

    /// Starts one agent of this backend; what its model or its program reaches is at that port.
    pub(super) fn of(place: &Place, backend: Backend, port: u16) -> Result<Self> {
        Self::with(place, Starts::Hub, 1, (backend, port))
    }

    /// Starts a hub that knows one agent of this backend and does not run it. Its program reaches
    /// nobody.
    pub(super) fn without_daemon_of(place: &Place, backend: Backend) -> Result<Self> {
        let port = match backend {
            Backend::Native => super::model::nobody()?,
            _ => 0,
        };
        Self::with(place, Starts::Bench, 1, (backend, port))
    }

    /// Starts a hub that knows so many agents and runs none of them.
    pub(super) fn without_daemons(place: &Place, count: usize) -> Result<Self> {
        Self::with(place, Starts::Bench, count, (Backend::Native, super::model::nobody()?))
    }

    /// Starts the daemon of the n-th agent.
    pub(super) fn daemon(&self, place: &Place, number: usize) -> Result<Daemon> {
        let log = fs::File::create(self.folder.join("daemon.log"));
        let mut command = place.command(Program::Gangline);
        command
            .args(["daemon", &agent(number), "--irc", &self.irc])
            .arg("--config")
            .arg(self.folder.join("agents.yaml"))
            .arg("--state")
            .arg(self.folder.join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.context("cannot make the daemon's log")?);
        command.spawn().map(Daemon).context("cannot start a daemon")
    }

    /// Returns the password of the n-th agent at the IRC server.
    pub(super) fn secret(&self, number: usize) -> Result<String> {
        let file = self.folder.join("state/agents").join(agent(number)).join("irc.secret");
        let text = fs::read_to_string(file).context("cannot read an agent's secret")?;
        Ok(text.trim().to_owned())
    }

    fn with(
        place: &Place,
        starts: Starts,
        count: usize,
        (backend, port): (Backend, u16),
    ) -> Result<Self> {
        let folder = place.folder()?;
        let config = folder.join("agents.yaml");
        let settings = backend.settings(&place.program(Program::AdapterBench), port);
        fs::write(&config, config_text(&folder, count, free_port()?, (backend, &settings)))
            .context("cannot write the configuration")?;
        let ready = folder.join("ready.json");
        let log = fs::File::create(folder.join("hub.log")).context("cannot make the hub's log")?;
        let mut hub = place.command(Program::Gangline);
        hub.arg("up");
        if starts == Starts::Bench {
            hub.arg("--no-agents");
        }
        let hub = hub
            .arg("--config")
            .arg(&config)
            .arg("--state")
            .arg(folder.join("state"))
            .arg("--ready-file")
            .arg(&ready)
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("cannot share the hub's log")?)
            .stderr(log)
            .spawn()
            .context("cannot start gangline up")?;
        let program = place.program(Program::Gangline);
        let mut fleet = Self { hub, program, folder, irc: String::new(), daemons: Vec::new() };
        let own = if starts == Starts::Hub { count } else { 0 };
        fleet.wait_until_ready(&ready, own)?;
        Ok(fleet)
    }

    fn wait_until_ready(&mut self, file: &Path, count: usize) -> Result<()> {
        let line = shell::wait_for(READY, || {
            if let Some(status) = self.hub.try_wait().context("cannot ask for the hub")? {
                bail!("gangline up ended with {status}:\n{}", self.log());
            }
            let text = fs::read_to_string(file).unwrap_or_default();
            Ok(text.ends_with('\n').then_some(text))
        })?;
        let Some(line) = line else {
            bail!("{count} daemons did not stand within {READY:?}:\n{}", self.log());
        };
        let ready: Ready = serde_json::from_str(&line).context("cannot read the ready file")?;
        self.irc = ready.irc;
        self.daemons = self.find_daemons()?;
        if self.daemons.len() != count {
            bail!("{} daemons instead of {count}:\n{}", self.daemons.len(), self.log());
        }
        Ok(())
    }

    /// Returns a command of the command line that is about this fleet.
    pub(super) fn command(&self, place: &Place, words: &[&str]) -> Command {
        let mut command = place.command(Program::Gangline);
        command.args(words).arg("--config").arg(self.folder.join("agents.yaml"));
        command.arg("--state").arg(self.folder.join("state"));
        command
    }

    /// Returns the hub's process.
    pub(super) fn hub(&self) -> u32 {
        self.hub.id()
    }

    fn find_daemons(&self) -> Result<Vec<u32>> {
        procfs::processes(&self.program, "daemon", &self.folder.to_string_lossy())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("hub.log")).unwrap_or_default()
    }
}

impl Drop for Fleet {
    /// Ends the hub as Ctrl-C would, which drains the daemons; whoever is left is killed.
    fn drop(&mut self) {
        let _ = signal("INT", self.hub.id());
        let ended = shell::wait_for(END, || Ok(self.hub.try_wait()?));
        if !matches!(ended, Ok(Some(_))) {
            eprintln!("gangline up did not end within {END:?} and is killed");
            let _ = self.hub.kill();
            let _ = self.hub.wait();
        }
        for pid in self.find_daemons().unwrap_or_default() {
            eprintln!("daemon {pid} outlived its hub and is killed");
            let _ = signal("KILL", pid);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn signal(name: &str, pid: u32) -> Result<()> {
    shell::run(shell::command("kill").args(["-s", name, &pid.to_string()]))
}

/// A daemon that no hub keeps; it has ended when it is dropped.
pub(super) struct Daemon(Child);

impl Daemon {
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = signal("TERM", self.0.id());
        let ended = shell::wait_for(END, || Ok(self.0.try_wait()?));
        if !matches!(ended, Ok(Some(_))) {
            eprintln!("a daemon did not end within {END:?} and is killed");
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn config_text(
    folder: &Path,
    count: usize,
    irc: u16,
    (backend, settings): (Backend, &str),
) -> String {
    let mut text = format!("server:\n  name: bench\n  host: 127.0.0.1\n  port: {irc}\nagents:\n");
    for number in 1..=count {
        text.push_str(&format!(
            "  - nick: {}\n    agent: {}\n    directory: {:?}\n    channels: [{ROOM:?}]\n{settings}",
            agent(number),
            backend.name(),
            folder.display().to_string()
        ));
    }
    text
}

/// A port that was free a moment ago; the configuration wants a number.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    Ok(listener.local_addr().context("cannot tell the port")?.port())
}
