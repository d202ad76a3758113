//! The one line that a starting program prints when it can be used.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

/// What `gangline up --json` and `gangline demo --json` print as one line of JSON. `Debug` hides
/// the token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyLine {
    /// The process id of the hub.
    pub pid: u32,
    /// `host:port` of the IRC server.
    pub irc: String,
    /// The address of the HTTP interface; null if there is none.
    #[serde(default)]
    pub http: Option<String>,
    /// The owner's token: password of the IRC account `owner`, bearer token of HTTP; null if an agent reads this.
    #[serde(default)]
    pub token: Option<String>,
    /// The file that holds it.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// The state folder.
    pub state: PathBuf,
}

impl fmt::Debug for ReadyLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyLine")
            .field("pid", &self.pid)
            .field("irc", &self.irc)
            .field("http", &self.http)
            .field("token", &self.token.as_ref().map(|_| "***"))
            .field("token_file", &self.token_file)
            .field("state", &self.state)
            .finish()
    }
}
