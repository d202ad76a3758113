//! The services of an IRC network, as far as a login goes: links to an InspIRCd as a server and
//! answers its SASL. Real ones (Anope, Atheme) do the same, and much more.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Shutdown, TcpStream},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    ircd::Link,
    wait::{PATIENCE, eventually_within},
};

/// Their name as a server.
pub const NAME: &str = "services.foreign.test";
/// Their three characters in the network.
const ID: &str = "9SS";

/// What InspIRCd needs beside a link so that it asks these services.
#[must_use]
pub fn configuration() -> String {
    format!(
        "<module name=\"services_account\"><module name=\"sasl\"><sasl target=\"{NAME}\"><uline \
         server=\"{NAME}\" silent=\"yes\">"
    )
}

/// Returns the link by which a server knows them.
#[must_use]
pub fn link() -> Link {
    Link { name: NAME.to_owned(), address: None }
}

/// Services that run until they are dropped.
pub struct Services {
    stream: TcpStream,
}

impl Services {
    /// Links to the server at `address`, where servers are expected, and knows these accounts and
    /// their passwords.
    ///
    /// # Panics
    /// When the server does not take the link.
    #[must_use]
    pub fn start(address: &str, accounts: &[(&str, &str)]) -> Self {
        let stream = eventually_within(PATIENCE, &format!("a server on {address}"), || {
            TcpStream::connect(address).ok()
        });
        let known = accounts
            .iter()
            .map(|(account, password)| (sasl_plain(account, password), (*account).to_owned()))
            .collect();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut work = Work {
            stream: stream.try_clone().unwrap(),
            known,
            server: String::new(),
            burst: false,
        };
        work.send("CAPAB START 1205");
        work.send("CAPAB CAPABILITIES :PROTOCOL=1205");
        work.send("CAPAB END");
        work.send(&format!("SERVER {NAME} link 0 {ID} :services"));
        while !work.burst {
            assert!(work.next(&mut reader), "the server refused the services");
        }
        thread::spawn(move || while work.next(&mut reader) {});
        Self { stream }
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

struct Work {
    stream: TcpStream,
    /// What a client sends to log in, and as whom.
    known: Vec<(String, String)>,
    server: String,
    burst: bool,
}

impl Work {
    fn send(&mut self, line: &str) {
        let _ = write!(self.stream, "{line}\r\n");
    }

    /// Reads a line and answers it; false when the link is gone.
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    fn next(&mut self, reader: &mut BufReader<TcpStream>) -> bool {
        let mut line = String::new();
        if !matches!(reader.read_line(&mut line), Ok(1..)) {
            return false;
        }
        let line = line.trim_end().trim_start_matches(':');
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["SERVER", _, _, _, id, ..] => {
                self.server = (*id).to_owned();
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
                self.send(&format!(":{ID} BURST {now}"));
                self.send(&format!(":{ID} METADATA * saslmechlist :PLAIN"));
                self.send(&format!(":{ID} ENDBURST"));
                self.send(&format!(":{ID} PING {id}"));
            }
            [_, "PONG", ..] => self.burst = true,
            [from, "PING", ..] => {
                let from = (*from).to_owned();
                self.send(&format!(":{ID} PONG {from}"));
            }
            [_, "ENCAP", _, "SASL", user, _, "S", ..] => {
                let user = (*user).to_owned();
                self.sasl(&user, "C +");
            }
            [_, "ENCAP", _, "SASL", user, _, "C", said] => {
                let user = (*user).to_owned();
                let known = self.known.iter().find(|(plain, _)| plain == said);
                match known.map(|(_, account)| account.clone()) {
                    Some(account) => {
                        self.send(&format!(":{ID} METADATA {user} accountname :{account}"));
                        self.sasl(&user, "D S");
                    }
                    None => self.sasl(&user, "D F"),
                }
            }
            _ => {}
        }
        true
    }

    fn sasl(&mut self, user: &str, what: &str) {
        let server = self.server.clone();
        self.send(&format!(":{ID} ENCAP {server} SASL {ID} {user} {what}"));
    }
}

/// Returns what a client sends after `AUTHENTICATE` to log in by PLAIN.
#[must_use]
pub fn sasl_plain(account: &str, password: &str) -> String {
    base64(format!("{account}\0{account}\0{password}").as_bytes())
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut bits = [0; 4];
        bits[1..=chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes(bits);
        for at in 0..4 {
            let sign = SIGNS[((number >> (18 - 6 * at)) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(sign) } else { '=' });
        }
    }
    text
}
