//! A hub with daemons, as `gangline up` starts them, in a folder of their own. All of them have
//! ended when the [`Fleet`] is dropped.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

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

impl Fleet {
    /// Starts that many agents of the native backend, with the model at a port of this machine,
    /// and waits until all are ready.
    pub(super) fn start(place: &Place, count: usize, model: u16) -> Result<Self> {
        let folder = place.folder()?;
        let config = folder.join("agents.yaml");
        fs::write(&config, config_text(&folder, count, (free_port()?, model)))
            .context("cannot write the configuration")?;
        let ready = folder.join("ready.json");
        let log = fs::File::create(folder.join("hub.log")).context("cannot make the hub's log")?;
        let hub = place
            .command(Program::Gangline)
            .arg("up")
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
        fleet.wait_until_ready(&ready, count)?;
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
        let signal = |name: &str, pid: u32| {
            shell::run(shell::command("kill").args(["-s", name, &pid.to_string()]))
        };
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

fn config_text(folder: &Path, count: usize, (irc, model): (u16, u16)) -> String {
    let mut text = format!("server:\n  name: bench\n  host: 127.0.0.1\n  port: {irc}\nagents:\n");
    for number in 1..=count {
        text.push_str(&format!(
            "  - nick: {}\n    agent: native\n    directory: {:?}\n    channels: [{ROOM:?}]\n    \
             model: bench\n    base_url: http://127.0.0.1:{model}\n",
            agent(number),
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
