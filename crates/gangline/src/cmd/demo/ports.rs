//! The demo's two ports: kept from start to start, another one only when one is taken.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use gangline_os::{fsio, kill::Signal, lock, paths::Paths, proc};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, keep, output};

#[cfg(test)]
mod tests;

/// The ports, both on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ports {
    /// The IRC server's.
    pub(super) irc: u16,
    /// The stand-in model's.
    pub(super) standin: u16,
}

/// A file of two numbers.
const FILE_MAX: u64 = 4096;

/// Returns the ports of this state folder, and keeps them.
pub(super) fn choose(paths: &Paths, say: bool) -> Result<Ports, Failure> {
    let file = paths.state.join("ports.json");
    let kept = read(&file);
    let irc = pick(kept.map(|kept| kept.irc), &[])?;
    // A stand-in that outlived its hub has its port rightly.
    let lock = keep::standin_lock(paths);
    let standin = match kept {
        Some(kept) if lock::probe(&lock).map_err(Failure::environment)?.is_some() => kept.standin,
        _ => pick(kept.map(|kept| kept.standin), &[irc])?,
    };
    let ports = Ports { irc, standin };
    if let Some(kept) = kept {
        moved("IRC server", (kept.irc, irc), say);
        moved("stand-in model", (kept.standin, standin), say);
        if kept.irc != irc {
            send_away(paths);
        }
    }
    let text = serde_json::to_string(&ports).map_err(Failure::environment)?;
    fsio::write_private(&file, format!("{text}\n").as_bytes()).map_err(Failure::environment)?;
    Ok(ports)
}

/// A file that cannot be read is as good as none.
fn read(file: &Path) -> Option<Ports> {
    let text = fsio::read_text_capped(file, FILE_MAX).ok()?;
    serde_json::from_str(&text).ok()
}

/// Returns the wanted port if it is free, else a free one that is not in `others`.
fn pick(wanted: Option<u16>, others: &[u16]) -> Result<u16, Failure> {
    if let Some(port) = wanted.filter(|port| *port != 0 && !others.contains(port))
        && free(port).is_ok()
    {
        return Ok(port);
    }
    loop {
        let port = free(0).map_err(|error| {
            Failure::environment(error).doing("cannot find a free port on 127.0.0.1")
        })?;
        if !others.contains(&port) {
            return Ok(port);
        }
    }
}

fn free(port: u16) -> io::Result<u16> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Ok(TcpListener::bind(address)?.local_addr()?.port())
}

fn moved(what: &str, (from, to): (u16, u16), say: bool) {
    if from != to && say {
        output::note(&format!("note: port {from} is taken: the {what} now uses port {to}"));
    }
}

/// A daemon that outlived its hub would look for the IRC server on the old port for ever.
fn send_away(paths: &Paths) {
    let folders = std::fs::read_dir(paths.state.join("agents")).into_iter().flatten().flatten();
    let locks = folders.map(|folder| folder.path().join("lock"));
    for holder in locks.filter_map(|path: PathBuf| lock::probe(&path).ok().flatten()) {
        if let (Some(pid), Some(start)) = (holder.pid, holder.start_time) {
            let sent = proc::signal_exact(pid, start, Signal::Term);
            tracing::info!(pid, ok = sent.is_ok(), "a daemon of another port was asked to end");
        }
    }
}
