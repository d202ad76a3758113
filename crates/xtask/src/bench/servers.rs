//! Chat servers of others, as anchors: ngIRCd and InspIRCd, each in a folder of its own and on a
//! free port of loopback. They have ended when the [`Foreign`] is dropped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::place::Place;
use crate::shell;

/// How long one may take until it listens.
const READY: Duration = Duration::from_secs(20);

/// A running server.
pub(super) struct Foreign {
    process: Child,
    /// Where it listens.
    pub(super) address: String,
}

impl Foreign {
    /// Starts an ngIRCd that slows nobody down and asks nobody about its clients.
    pub(super) fn ngircd(place: &Place) -> Result<Self> {
        let (folder, port) = (place.folder()?, free_port()?);
        let config = format!(
            "[Global]\nName = irc.bench.test\nInfo = bench\nListen = 127.0.0.1\nPorts = {port}\n\
             MotdPhrase = hello\n[Limits]\nMaxConnections = 0\nMaxConnectionsIP = 0\n\
             MaxNickLength = 30\nMaxPenaltyTime = 0\n[Options]\nDNS = no\nIdent = no\nPAM = no\n"
        );
        let file = folder.join("ngircd.conf");
        fs::write(&file, config).context("cannot write a configuration")?;
        let mut command = shell::command("ngircd");
        command.arg("-n").arg("-f").arg(&file);
        Self::start(command, &folder, port)
    }

    /// Starts an InspIRCd without modules.
    pub(super) fn inspircd(place: &Place) -> Result<Self> {
        let (folder, port) = (place.folder()?, free_port()?);
        let at = folder.display();
        let config = format!(
            "<config format=\"xml\">\n<server name=\"irc.bench.test\" description=\"bench\" \
             network=\"Bench\" id=\"1AA\">\n<admin name=\"a\" nick=\"a\" email=\"a@a.test\">\n\
             <bind address=\"127.0.0.1\" port=\"{port}\" type=\"clients\">\n\
             <connect name=\"main\" allow=\"*\" timeout=\"60\" pingfreq=\"120\" \
             hardsendq=\"4194304\" softsendq=\"1048576\" recvq=\"65536\" localmax=\"10000\" \
             globalmax=\"10000\" limit=\"10000\" resolvehostnames=\"no\" commandrate=\"100000000\" \
             fakelag=\"no\" threshold=\"100000\">\n<performance softlimit=\"10000\">\n\
             <dns server=\"127.0.0.1\" timeout=\"1\">\n<pid file=\"{at}/pid\">\n\
             <path configdir=\"{at}\" datadir=\"{at}\" logdir=\"{at}\" runtimedir=\"{at}\">\n\
             <log method=\"file\" type=\"*\" level=\"default\" target=\"{at}/log.txt\">\n\
             <options prefixquit=\"Quit: \" defaultmodes=\"not\">\n"
        );
        let file = folder.join("inspircd.conf");
        fs::write(&file, config).context("cannot write a configuration")?;
        let mut command = shell::command("inspircd");
        command.arg("--config").arg(&file).args(["--runasroot", "--nofork"]);
        Self::start(command, &folder, port)
    }

    fn start(mut command: Command, folder: &Path, port: u16) -> Result<Self> {
        let log = folder.join("said.txt");
        let output = fs::File::create(&log).context("cannot make a log")?;
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stderr(output.try_clone().context("cannot share a log")?);
        let process = command.stdout(output).spawn();
        let process = process.with_context(|| format!("cannot start {name}; is it installed?"))?;
        let mut server = Self { process, address: format!("127.0.0.1:{port}") };
        let address = server.address.clone();
        let listens = shell::wait_for(READY, || {
            if let Some(status) = server.process.try_wait().context("cannot ask for a server")? {
                let said = fs::read_to_string(&log).unwrap_or_default();
                bail!("{name} ended with {status}:\n{said}");
            }
            Ok(TcpStream::connect(&address).ok())
        })?;
        listens.with_context(|| format!("{name} does not listen"))?;
        Ok(server)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that was free a moment ago; the configurations want a number.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    Ok(listener.local_addr().context("cannot tell the port")?.port())
}
