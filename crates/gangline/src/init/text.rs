//! The text of a first `agents.yaml`: an agent for each program that can work, the others as
//! comments that become agents when their `# ` is taken away.

use std::fmt::Write as _;

use gangline_config::import::scalar;

use super::programs::{Found, NATIVE_KEY, PROGRAMS, Program};
use crate::versions::Version;

#[cfg(test)]
mod tests;

/// What a configuration is made of.
pub(crate) struct Plan<'a> {
    /// The server's name; checked.
    pub(crate) server: &'a str,
    /// The chat server's port.
    pub(crate) port: u16,
    /// Where the agents work.
    pub(crate) directory: &'a str,
    /// A state folder that is not the usual one.
    pub(crate) state: Option<&'a str>,
    /// The programs of this machine.
    pub(crate) found: &'a [Found],
    /// Says whether this build has a backend.
    pub(crate) has: &'a dyn Fn(&str) -> bool,
    /// The variable of this shell that holds a key for Gangline's own model loop.
    pub(crate) native_key: Option<&'a str>,
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is an agent of this nick.
    Agent(String),
    /// It is a comment, for this reason.
    Comment(String),
}

impl Plan<'_> {
    /// Returns what becomes of a program.
    pub(crate) fn place(&self, found: &Found) -> Place {
        let Program { backend, .. } = found.program;
        if !(self.has)(backend) {
            return Place::Comment(format!("this build has no backend `{backend}`"));
        }
        match &found.version {
            Version::Known(_) | Version::Unknown | Version::Late => {
                Place::Agent(self.nick(found.program.name))
            }
            Version::Broken(why) => Place::Comment(format!("it does not work: {why}")),
            Version::Namesake(line) => {
                Place::Comment(format!("this is another program of that name: {line}"))
            }
        }
    }

    /// Returns the nicks of the agents, in order.
    pub(crate) fn nicks(&self) -> Vec<String> {
        let nick = |found: &Found| match self.place(found) {
            Place::Agent(nick) => Some(nick),
            Place::Comment(_) => None,
        };
        let mut nicks: Vec<String> = self.found.iter().filter_map(nick).collect();
        if nicks.is_empty() && self.native_key.is_some() {
            nicks.push(self.nick("native"));
        }
        nicks
    }

    /// Returns whether Gangline's own model loop is the only agent.
    pub(crate) fn is_native(&self) -> bool {
        let is_agent = |found: &Found| matches!(self.place(found), Place::Agent(_));
        self.native_key.is_some() && !self.found.iter().any(is_agent)
    }

    fn nick(&self, name: &str) -> String {
        format!("{}-{name}", self.server)
    }

    /// Returns the text of the configuration.
    pub(crate) fn text(&self) -> String {
        let mut out = self.head();
        let (agents, comments): (Vec<_>, Vec<_>) =
            self.found.iter().partition(|it| matches!(self.place(it), Place::Agent(_)));
        let nobody = agents.is_empty() && !self.is_native();
        out.push_str(if nobody { "\nagents: []\n" } else { "\nagents:\n" });
        if agents.len() > 1 {
            out.push_str(SHARED);
        }
        agents.iter().for_each(|found| self.agent(found, &mut out));
        if nobody {
            out.push_str(NOBODY);
        }
        comments.iter().for_each(|found| self.comment(found, &mut out));
        self.absent(&mut out);
        self.native(&mut out);
        out
    }

    fn head(&self) -> String {
        let mut out = String::from(HEAD);
        let _ = write!(
            out,
            "\nserver:\n  name: {}   # every nick begins with it\n  host: localhost   # Gangline's \
             own chat server, for this machine only\n  port: {}\n",
            scalar(self.server),
            self.port
        );
        if let Some(state) = self.state {
            let _ = write!(out, "\nstate: {}   # database, chat history, secrets\n", scalar(state));
        }
        out
    }

    fn agent(&self, found: &Found, out: &mut String) {
        let Program { title, name, .. } = found.program;
        let version = match &found.version {
            Version::Known(version) => version.as_str(),
            Version::Unknown | Version::Late | Version::Broken(_) | Version::Namesake(_) => {
                "version unknown"
            }
        };
        let _ = write!(out, "\n  # {title}: {name}, {version}\n");
        self.item((found.program, found.key), "  ", out);
    }

    fn comment(&self, found: &Found, out: &mut String) {
        if let Place::Comment(why) = self.place(found) {
            let Program { title, name, .. } = found.program;
            let _ = write!(out, "\n  # {title}: {name} is here, but {why}.\n");
            self.item((found.program, found.key), "  # ", out);
        }
    }

    /// Writes the lines of one agent behind a margin.
    fn item(&self, (program, key): (&Program, Option<&str>), margin: &str, out: &mut String) {
        let mut lines = vec![
            format!("- nick: {}", self.nick(program.name)),
            format!("  agent: {}", program.backend),
        ];
        lines.extend(key.map(|key| format!("  api_key_env: {key}   # it has no login of its own")));
        lines.extend(self.common());
        lines.iter().for_each(|line| out.push_str(&format!("{margin}{line}\n")));
    }

    fn common(&self) -> [String; 3] {
        [
            format!("  directory: {}", scalar(self.directory)),
            "  channels: [\"#general\"]".to_owned(),
            "  permissions: ask   # ask | allowlist | bypass (for sandboxes)".to_owned(),
        ]
    }

    /// Names the programs that are not here.
    fn absent(&self, out: &mut String) {
        let missing = |program: &&Program| self.found.iter().all(|it| it.program != *program);
        let names: Vec<&str> = PROGRAMS.iter().filter(missing).map(|it| it.name).collect();
        if !names.is_empty() {
            let _ = write!(out, "\n  # Not found on the PATH: {}.\n", names.join(", "));
        }
    }

    fn native(&self, out: &mut String) {
        out.push_str(NATIVE);
        let mut lines = vec![
            format!("- nick: {}", self.nick("native")),
            "  agent: native".to_owned(),
            format!("  api_key_env: {NATIVE_KEY}   # the variable, never the key"),
        ];
        lines.extend(self.common());
        let margin = if self.is_native() { "  " } else { "  # " };
        lines.iter().for_each(|line| out.push_str(&format!("{margin}{line}\n")));
    }
}

const HEAD: &str = "\
# The fleet of this machine. Written once by `gangline init`; from now on it is yours.
# Check it after a change: gangline config check
# Start it:                gangline up -d
# To use an agent that is commented out, remove the `# ` from each of its lines.
";

const SHARED: &str = "  \
  # They all work in the same folder. So that they do not overwrite each other's changes, give each
  # its own folder, such as one made by `git worktree add`.
";

const NOBODY: &str = "  \
  # No coding program that this build can run was found. To have an agent, write `agents:` without
  # the `[]`, and remove the `# ` from each line of an agent below.
";

const NATIVE: &str = "
  # Gangline's own model loop needs no other program, only a key for the model.
";
