//! What is looked at besides the installation: an agent of the configuration, or a backend by
//! itself; which program it means and where that lies.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::Read,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use gangline_agent::watching::Judge;
use gangline_config::AgentConfig;
use gangline_os::process::{base_env, find_on_path};
use gangline_runtime::registry::{
    Found,
    known::{self, Known},
};

use crate::{
    cmd::daemon,
    configuration::driven::{Driven, runs_a_program},
    versions::Question,
};

/// The first line of a script is not longer than this.
const FIRST_LINE: u64 = 256;

/// An agent with its backend, or a backend alone.
pub(super) struct Subject {
    pub(super) found: Found,
    /// Of an agent: what its backend gets of its configuration.
    pub(super) driven: Option<Driven>,
    /// The program and the words before our own; empty = it has none, or none is named.
    pub(super) words: Vec<String>,
    /// What the program's environment is.
    pub(super) env: BTreeMap<String, String>,
    /// Where it is started.
    pub(super) folder: PathBuf,
}

/// Where a file to run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// There.
    At(PathBuf),
    /// No file of this name is on the PATH.
    Nowhere(String),
    /// Not there, or not to be run: why.
    Not(String),
}

impl Place {
    /// Returns the file, or why it cannot be run.
    pub(super) fn file(self) -> Result<PathBuf, String> {
        match self {
            Self::At(file) => Ok(file),
            Self::Nowhere(name) => Err(format!("`{name}` is not on the PATH")),
            Self::Not(why) => Err(why),
        }
    }
}

impl Subject {
    pub(super) fn of_agent(driven: Driven) -> Self {
        let (agent, found) = (&driven.agent, driven.found.clone());
        let acp = found.takes_acp_command().then(|| agent.acp_command.clone());
        let usual = || found.program().map(|program| vec![program.to_owned()]);
        let command = agent.command.clone().filter(|_| runs_a_program(&found));
        let words = command.or(acp).or_else(|| found.command.clone()).or_else(usual);
        Self {
            words: words.unwrap_or_default(),
            env: daemon::child_env(agent, &found),
            folder: agent.directory.clone(),
            driven: Some(driven),
            found,
        }
    }

    pub(super) fn of_backend(found: Found) -> Self {
        let usual = || found.program().map(|program| vec![program.to_owned()]);
        let text = base_env().into_iter().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self {
            words: found.command.clone().or_else(usual).unwrap_or_default(),
            env: text.chain(found.env.clone()).collect(),
            folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            driven: None,
            found,
        }
    }

    /// A supervisor, as the daemon of an agent that works in this folder starts it.
    pub(super) fn of_judge(judge: &Judge, folder: &Path) -> Self {
        let found = judge.backend.clone();
        let usual = || found.program().map(|program| vec![program.to_owned()]);
        let words = judge.command.clone().or_else(|| found.command.clone()).or_else(usual);
        let words = words.unwrap_or_default();
        let mut env = judge.env.clone();
        let program = words.first().map_or("", String::as_str);
        let account = known::known(found.entry, program).login.folder_variable;
        if let (Some(name), Some(folder)) = (account, &judge.account_dir) {
            env.insert(name.to_owned(), folder.display().to_string());
        }
        Self { words, env, folder: folder.to_owned(), driven: None, found }
    }

    /// Returns the agent, if it is one.
    pub(super) fn agent(&self) -> Option<&AgentConfig> {
        self.driven.as_ref().map(|driven| &driven.agent)
    }

    /// Returns the variable that holds the key for its model, if one is named.
    pub(super) fn key_variable(&self) -> Option<&str> {
        let agent = self.agent().and_then(|agent| agent.api_key_env.as_deref());
        agent.or(self.found.api_key_env.as_deref())
    }

    /// Returns whether it is driven through a terminal.
    pub(super) fn on_screen(&self) -> bool {
        self.found.entry.needs_command
    }

    /// Returns where its program is; none = it has none, or none is named.
    pub(super) fn place(&self) -> Option<Place> {
        Some(self.locate(self.words.first()?))
    }

    /// Returns where a file is that the program, or something beside it, runs.
    pub(super) fn locate(&self, name: &str) -> Place {
        locate(name, self.env.get("PATH").map_or("", String::as_str), &self.folder)
    }

    /// Returns what is known of its program from outside.
    pub(super) fn known(&self) -> Known {
        known::known(self.found.entry, self.words.first().map_or("", String::as_str))
    }

    /// Returns the release of its program that the tests drive.
    pub(super) fn tested(&self) -> Option<known::Version> {
        let program = self.words.first().map_or("", String::as_str);
        let entry = match self.found.entry.runs_any() {
            true => known::owner(program)?,
            false => self.found.entry,
        };
        known::tested(entry)
    }

    /// Returns how its program is asked for its version; none if it is not there.
    pub(super) fn question(&self) -> Option<Question> {
        let program = self.place()?.file().ok()?;
        // Of `[npx, THE-PROGRAM]` the words behind the first tell the program.
        let alone = self.found.entry.runs_any() || known::owner(self.words.first()?).is_some();
        let before = if alone { &[] } else { self.words.get(1..).unwrap_or_default() };
        let args = before.iter().cloned().chain(["--version".to_owned()]).collect();
        let env = self.env.iter().map(|(name, value)| (name.into(), value.into()));
        let env: Vec<(OsString, OsString)> = env.collect();
        Some(Question { program, args, env, namesake: self.known().namesake })
    }
}

/// Looks for a file to run, as a start in `folder` would.
pub(super) fn locate(name: &str, path: &str, folder: &Path) -> Place {
    if name.is_empty() {
        return Place::Not("no program is named".to_owned());
    }
    let file = match name.contains('/') {
        true => folder.join(name),
        false => match find_on_path(name.as_ref(), path.as_ref()) {
            Some(file) => file,
            None => return Place::Nowhere(name.to_owned()),
        },
    };
    match fs::metadata(&file) {
        Err(_) => Place::Not(format!("{} is not there", file.display())),
        Ok(data) if !data.is_file() => Place::Not(format!("{} is no file", file.display())),
        Ok(data) if data.permissions().mode() & 0o111 == 0 => {
            Place::Not(format!("{} is not executable: `chmod +x` it", file.display()))
        }
        Ok(_) => match interpreter(&file).map(|it| locate(&it, path, folder).file()) {
            Some(Err(why)) => Place::Not(format!("{} is a script, and {why}", file.display())),
            Some(Ok(_)) | None => Place::At(file),
        },
    }
}

/// Returns what a script is run by: the name that `env` looks for, or a path. None for a program,
/// and where it cannot be read.
fn interpreter(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::ffi::OsStr::from_bytes(line).to_str()?;
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    let mut asked = words.skip_while(|word| word.starts_with('-') || word.contains('='));
    asked.next().map(str::to_owned)
}

#[cfg(test)]
mod tests;
