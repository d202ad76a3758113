//! Another user of this machine, who has taken a port and plays the chat server there.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use crate::wait::eventually;

/// Every Linux has a user of this number without rights; no files belong to it.
pub const NOBODY: u32 = 65534;

/// Says what a client needs to hear before it sends its password, then closes its sending side, so
/// that the kernel no longer calls the connection established. Prints what it hears.
const SCRIPT: &str = "
const [path] = process.argv.slice(1);
const [host, port] = path.startsWith('/') ? [] : path.split(':');
const server = require('net').createServer({ allowHalfOpen: true }, (client) => {
  console.log('CONNECTED');
  client.on('error', () => {});
  client.on('data', (bytes) => console.log(bytes.toString().trimEnd()));
  client.end(
    ':irc CAP * LS :sasl message-tags\\r\\n:irc CAP * ACK :sasl message-tags\\r\\nAUTHENTICATE +\\r\\n'
  );
});
const listening = () => console.log('LISTENS');
port ? server.listen(Number(port), host, listening) : server.listen(path, listening);
";

/// The process of the other user. It is killed when this is dropped.
pub struct Impostor {
    process: Child,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Impostor {
    /// Takes a port, `host:port`, or the path of a unix socket, and waits until it has it. Only
    /// root can play another user.
    ///
    /// # Panics
    /// When the process cannot be started, or the address is taken.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    pub fn listen(uid: u32, address: &str) -> Self {
        let mut process = Command::new("node")
            .args(["-e", SCRIPT, address])
            .current_dir("/")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .uid(uid)
            .gid(uid)
            .process_group(0)
            .spawn()
            .unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let log = Arc::clone(&heard);
        thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| log.lock().unwrap().push(line));
        });
        let mut impostor = Self { process, heard };
        eventually("the impostor to listen", || {
            assert!(impostor.process.try_wait().unwrap().is_none(), "the port is not to be had");
            impostor.heard.lock().unwrap().iter().any(|line| line == "LISTENS").then_some(())
        });
        impostor
    }

    /// Returns what clients have sent so far; `CONNECTED` for each connection.
    ///
    /// # Panics
    /// When the reader died with the lock.
    #[must_use]
    pub fn heard(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|line| *line != "LISTENS").cloned().collect()
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
