//! What the backend was told and asked, and gates at which it stands still.

use std::{fs, path::PathBuf};

use gangline_testkit::{IrcPeer, eventually, eventually_seeing};
use serde_json::Value;

use super::{ADA, ROOM, Rig};

/// Where requests to the model are recorded …
pub(super) const ASKED: &str = "requests";
/// … and where those to the supervisor's own model.
pub(super) const JUDGED: &str = "judged";

impl Rig {
    /// Says something in the room and waits until the backend has it.
    pub(crate) fn at_work(&self, peer: &mut IrcPeer, text: &str) {
        peer.say(ROOM, text);
        let folder = match self.model {
            Some(_) => self.paths.agent_dir(ADA).join("sessions"),
            None => self.work(""),
        };
        eventually_seeing("the prompt", || {
            let files = fs::read_dir(&folder).into_iter().flatten().flatten();
            let texts = files.filter(|file| file.file_type().is_ok_and(|it| it.is_file()));
            let texts = texts.filter_map(|file| fs::read_to_string(file.path()).ok());
            let all: String = texts.collect();
            if all.contains(text) { Ok(()) } else { Err(all) }
        });
    }

    /// Waits until the model was asked so many times.
    pub(crate) fn was_asked(&self, times: usize) {
        eventually_seeing(&format!("{times} requests to the model"), || {
            let count = self.recorded(ASKED).len();
            if count >= times { Ok(()) } else { Err(count.to_string()) }
        });
    }

    /// Waits until the program was told so many prompts and commands.
    pub(crate) fn was_told(&self, times: usize) {
        eventually_seeing(&format!("{times} lines to the program"), || {
            let lines = self.lines("told");
            if lines.len() >= times { Ok(()) } else { Err(lines.join("\n")) }
        });
    }

    /// Waits for a file in the agent's folder and returns its first line.
    pub(crate) fn first_line(&self, file: &str) -> String {
        eventually(&format!("the file {file}"), || self.lines(file).into_iter().next())
    }

    /// Returns what the model was asked, in order.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.bodies(ASKED)
    }

    /// Returns what the supervisor's own model was asked, in order.
    pub(crate) fn judged(&self) -> Vec<Value> {
        self.bodies(JUDGED)
    }

    fn bodies(&self, folder: &str) -> Vec<Value> {
        let texts = self.recorded(folder).into_iter().map(|file| fs::read_to_string(file).unwrap());
        texts.map(|text| text.parse::<Value>().unwrap()["body"].take()).collect()
    }

    /// Waits for a request to the model in which this stands, and returns the first one.
    pub(crate) fn request_with(&self, part: &str) -> String {
        eventually(&format!("a request with `{part}`"), || {
            let mut texts = self.requests().into_iter().map(|it| it.to_string());
            texts.find(|text| text.contains(part))
        })
    }

    /// Returns the files of what a model was asked, in order.
    fn recorded(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join(folder)).into_iter().flatten();
        // One that is being written has another name.
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|it| it == "json");
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|it| it.path()).filter(is_whole).collect();
        files.sort();
        files
    }

    /// Returns the lines of a file in the agent's folder.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.work(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Makes a gate at which the program stands still. Make it before the daemon is started.
    pub(crate) fn gate(&self, name: &str) -> Gate {
        let path = self.work(&format!("gate-{name}"));
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        Gate { path }
    }
}

/// See [`Rig::gate`].
pub(crate) struct Gate {
    path: PathBuf,
}

impl Gate {
    /// Waits until the program stands here, and lets it go on.
    pub(crate) fn open(&self) {
        fs::write(&self.path, "\n").unwrap();
    }
}
