//! Secrets of the installation: the owner's token and the agents' IRC passwords.
//!
//! Each lies in a file of its own (0600) in the state folder, random, made once and kept. The IRC
//! server stores their hashes only.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangline_core::{AgentName, digest::sha256_hex, trust};
use gangline_os::{
    fsio,
    paths::Paths,
    secret::{Secret, random_password, random_token},
};

/// The owner's account.
pub const OWNER: &str = trust::OWNER;
/// The account and nick of the hub's own client on the embedded server.
pub const SERVICE: &str = "gangline";
/// The file of an agent's IRC password, in its folder.
pub const AGENT_SECRET: &str = "irc.secret";
/// A token file is one short line.
const TOKEN_MAX: u64 = 4096;

/// Returns where the owner's token lies.
#[must_use]
pub fn owner_token_file(paths: &Paths) -> PathBuf {
    paths.state.join("owner.token")
}

/// Returns where an agent's IRC password lies.
#[must_use]
pub fn agent_secret_file(paths: &Paths, agent: &AgentName) -> PathBuf {
    paths.agent_dir(agent.as_str()).join(AGENT_SECRET)
}

/// Returns the mark of an agent that has come by the server's own socket once: from then on its
/// password counts there alone. Delete it to let a daemon of an older version in again.
#[must_use]
pub fn socket_mark(state: &Path, agent: &str) -> PathBuf {
    state.join("agents").join(agent).join("irc.by-socket")
}

/// Returns the secret in the file; makes one first if the file does not exist.
///
/// # Errors
/// When the file can be neither read nor made.
pub fn load_or_make(path: &Path) -> io::Result<Secret> {
    load_or(path, random_token)
}

/// As [`load_or_make`], of the owner's password, which people paste: it is short.
///
/// # Errors
/// When the file can be neither read nor made.
pub fn load_or_make_owner(path: &Path) -> io::Result<Secret> {
    load_or(path, random_password)
}

fn load_or(path: &Path, make: fn() -> Secret) -> io::Result<Secret> {
    match fsio::read_text_capped(path, TOKEN_MAX) {
        Ok(text) if !text.trim().is_empty() => return Ok(Secret::new(text.trim())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(folder) = path.parent() {
        fsio::private_dir(folder)?;
    }
    let secret = make();
    fsio::write_private(path, format!("{}\n", secret.expose()).as_bytes())?;
    Ok(secret)
}

/// Replaces the owner's password in the file by a new one.
///
/// # Errors
/// When the file cannot be written; the old one is then still there.
pub fn replace(path: &Path) -> io::Result<()> {
    fsio::write_private(path, format!("{}\n", random_password().expose()).as_bytes())
}

/// Returns the form that is stored: hexadecimal SHA-256. Enough for 128 random bits or
/// more, and quick when fifty daemons come back at once.
#[must_use]
pub fn hash(secret: &Secret) -> String {
    sha256_hex(secret.expose().as_bytes(), 32)
}
