//! P1 and P9: what it costs to do nothing. The subject is `gangline up` with agents that nobody
//! speaks to; the anchor the example `bare_tokio`, which holds the same descriptors and no product.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Bench, Measured, procfs};
use crate::shell;

/// How long the hub and its daemons may take to stand.
const READY: Duration = Duration::from_secs(120);
/// How long they may take to end.
const END: Duration = Duration::from_secs(60);
/// From the last daemon's start to the measurement, so that nothing of the start is measured.
const SETTLE: Duration = Duration::from_secs(5);

/// P1.
pub(super) fn one_daemon(bench: &Bench) -> Result<Measured> {
    let (product, bare) = (bench.product()?, bench.anchor("bare_tokio")?);
    bench.in_turn(|| Fleet::start(&product, 1)?.measure_daemons(), || anchors(&bare, 1))
}

/// P9.
pub(super) fn fifty_daemons(bench: &Bench) -> Result<Measured> {
    let (product, bare) = (bench.product()?, bench.anchor("bare_tokio")?);
    bench.in_turn(|| Fleet::start(&product, 50)?.measure_all(), || anchors(&bare, 50))
}

/// A hub with daemons, in a folder of its own; both are gone when it is dropped.
struct Fleet {
    hub: Child,
    program: PathBuf,
    folder: PathBuf,
    daemons: Vec<u32>,
}

impl Fleet {
    fn start(product: &Path, count: usize) -> Result<Self> {
        let folder = fresh_folder("fleet")?;
        let config = folder.join("agents.yaml");
        let text = config_text(&folder, count, free_port()?);
        fs::write(&config, text).context("cannot write the configuration")?;
        let program = fs::canonicalize(product).context("no gangline built")?;
        let ready = folder.join("ready.json");
        let log = fs::File::create(folder.join("hub.log")).context("cannot make the hub's log")?;
        let hub = shell::command(&program)
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
        let mut fleet = Self { hub, program, folder, daemons: Vec::new() };
        fleet.daemons = fleet.wait_for_daemons(&ready, count)?;
        std::thread::sleep(SETTLE);
        Ok(fleet)
    }

    fn wait_for_daemons(&mut self, ready: &Path, count: usize) -> Result<Vec<u32>> {
        let folder = self.folder.to_string_lossy().into_owned();
        let (hub, program) = (&mut self.hub, &self.program);
        let daemons = shell::wait_for(READY, || {
            if let Some(status) = hub.try_wait().context("cannot ask for the hub")? {
                let log =
                    fs::read_to_string(Path::new(&folder).join("hub.log")).unwrap_or_default();
                bail!("gangline up ended with {status}:\n{log}");
            }
            let found = procfs::processes(program, "daemon", &folder)?;
            Ok((ready.exists() && found.len() == count).then_some(found))
        })?;
        daemons.with_context(|| format!("{count} daemons did not stand within {READY:?}"))
    }

    fn measure_daemons(&self) -> Result<f64> {
        self.daemons.iter().map(|pid| procfs::pss_of(*pid)).sum()
    }

    fn measure_all(&self) -> Result<f64> {
        Ok(self.measure_daemons()? + procfs::pss_of(self.hub.id())?)
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
        let folder = self.folder.to_string_lossy().into_owned();
        for pid in procfs::processes(&self.program, "daemon", &folder).unwrap_or_default() {
            let _ = signal("KILL", pid);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Agents with the native loop and a model address where nothing listens: idle, they never ask.
fn config_text(folder: &Path, count: usize, port: u16) -> String {
    let mut text = format!("server:\n  name: bench\n  host: 127.0.0.1\n  port: {port}\nagents:\n");
    for number in 1..=count {
        text.push_str(&format!(
            "  - nick: bench-a{number}\n    agent: native\n    directory: {}\n    \
             channels: [\"#general\"]\n    base_url: http://127.0.0.1:9\n",
            folder.display()
        ));
    }
    text
}

/// A port that was free a moment ago; the configuration wants a number.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    Ok(listener.local_addr().context("cannot tell the port")?.port())
}

/// Starts that many bare programs, each connected to a listener here, and sums their memory.
fn anchors(program: &Path, count: usize) -> Result<f64> {
    let folder = fresh_folder("anchors")?;
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    let address = listener.local_addr().context("cannot tell the port")?.to_string();
    let mut children = Children(Vec::new());
    for number in 0..count {
        let mut child = shell::command(program)
            .arg(&address)
            .arg(folder.join(format!("{number}.sock")))
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start bare_tokio")?;
        let stdout = child.stdout.take().context("bare_tokio has no output")?;
        children.0.push(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context("cannot read of bare_tokio")?;
        if line.trim() != "ready" {
            bail!("bare_tokio said {line:?}");
        }
    }
    // The connections wait in the listener's queue; that is all they have to do.
    let sum = children.0.iter().map(|child| procfs::pss_of(child.id())).sum();
    drop(children);
    fs::remove_dir_all(&folder).context("cannot remove the anchors' folder")?;
    sum
}

/// Kills its processes when dropped.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn fresh_folder(name: &str) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("gangline-bench-{}-{name}", std::process::id()));
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot empty the folder of an older run")?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}
