//! MCP servers for backends to call: one over standard streams, one over streamable HTTP.
//!
//! Both have the tools `echo {text}` (`echo: <text>`), `fail` (an error, `it failed`), `slow {ms}`
//! (`slow but sure`) and `env {name}` (the variable's value), and record what they are sent. They
//! are written for Node, which the tests need anyway.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::wait::eventually;

const SCRIPT: &str = include_str!("mcp/server.js");
const RECORD: &str = "mcp-record.jsonl";

/// Returns the command of a server over standard streams, whose files lie in `folder`.
///
/// # Panics
/// When they cannot be written, or there is no Node.
#[must_use]
pub fn stdio(folder: &Path) -> Vec<String> {
    let record = folder.join(RECORD);
    let words = [node(), script(folder), record].map(|path| path.display().to_string());
    words.into_iter().chain(["stdio".to_owned()]).collect()
}

/// Returns every message that servers of this folder were sent, in order: `{pid, headers,
/// message}`, the names of headers in lower case. Empty before the first.
///
/// # Panics
/// When the record is none.
#[must_use]
pub fn record(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(RECORD)).unwrap_or_default();
    // The last line may be half written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the calls among them: `{name, arguments, …}`.
#[must_use]
pub fn calls(folder: &Path) -> Vec<Value> {
    let called = |record: &Value| record["message"]["method"] == "tools/call";
    let calls = record(folder).into_iter().filter(called);
    calls.map(|record| record["message"]["params"].clone()).collect()
}

/// A server over HTTP that runs until it is dropped.
pub struct HttpServer {
    /// Its address.
    pub url: String,
    folder: tempfile::TempDir,
    child: Child,
}

/// Starts a server over streamable HTTP on a free port of loopback.
///
/// # Panics
/// When it does not listen in time.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
pub fn http() -> HttpServer {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("url");
    let child = Command::new(node())
        .arg(script(folder.path()))
        .args([&folder.path().join(RECORD), Path::new("http"), &url])
        // It ends with its input: with this process at the latest.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let url = eventually("the address of an MCP server", || fs::read_to_string(&url).ok());
    HttpServer { url, folder, child }
}

impl HttpServer {
    /// Returns every message that it was sent, as [`record`] does.
    #[must_use]
    pub fn record(&self) -> Vec<Value> {
        record(self.folder.path())
    }

    /// Returns the calls among them, as [`calls`] does.
    #[must_use]
    pub fn calls(&self) -> Vec<Value> {
        calls(self.folder.path())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn script(folder: &Path) -> PathBuf {
    let path = folder.join("mcp-server.js");
    fs::write(&path, SCRIPT).unwrap();
    path
}

/// Returns Node itself: who starts the server may have another search path.
fn node() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join("node"));
    places.find(|program| program.is_file()).expect("Node on the PATH")
}
