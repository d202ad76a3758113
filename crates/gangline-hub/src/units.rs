//! Units for systemd: one for the hub, and a template with one instance an agent (R1-48). Pure.

use std::{fmt::Write as _, path::PathBuf};

use crate::{kept::DRAIN_BUDGET, restart::EXIT_CONFIG};

#[cfg(test)]
mod tests;

/// The hub's unit.
pub const HUB: &str = "gangline.service";
/// The template of the agents' units.
pub const AGENT: &str = "gangline-agent@.service";
/// What a daemon ends with when another one has its agent.
const EXIT_TAKEN: i32 = 3;
/// What the command line is refused with.
const EXIT_USAGE: i32 = 64;

/// Whose systemd runs the units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// A user's own.
    User,
    /// The machine's, as this user.
    System {
        /// The name of the user.
        user: String,
    },
}

/// Where the agents' chat server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The hub's own: agents want the hub.
    Embedded,
    /// Elsewhere: agents need no hub.
    Elsewhere,
}

/// What the units are made of; paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Whose systemd.
    pub scope: Scope,
    /// The program.
    pub program: PathBuf,
    /// The configuration.
    pub config: PathBuf,
    /// The state folder.
    pub state: PathBuf,
    /// A file of variables, such as the keys of models; need not exist.
    pub environment: PathBuf,
    /// Where backends are looked for.
    pub path: String,
    /// The chat server.
    pub server: Server,
}

/// Why systemd would not read a unit as it is meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A line break or another control character would begin a line of its own.
    #[error(
        "{what} has a line break or another control character, which a unit cannot hold: {word:?}"
    )]
    Control {
        /// What it is.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// A unit is text.
    #[error("{what} is not UTF-8, which a unit cannot hold: {path:?}")]
    NotText {
        /// What it is.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// systemd takes no such name of a program, quoted or not.
    #[error("systemd starts no program whose path has one of ' \" \\: {}", .0.display())]
    Program(PathBuf),
}

impl Installation {
    /// Refuses what no unit can hold.
    ///
    /// # Errors
    /// The first word that would be read back differently.
    pub fn check(&self) -> Result<(), Unfit> {
        let paths = [
            ("the program's path", &self.program),
            ("the configuration's path", &self.config),
            ("the state folder's path", &self.state),
            ("the path of the file of variables", &self.environment),
        ];
        let mut words = vec![("PATH", self.path.as_str())];
        for (what, path) in paths {
            let word = path.to_str().ok_or_else(|| Unfit::NotText { what, path: path.clone() })?;
            words.push((what, word));
        }
        if let Scope::System { user } = &self.scope {
            words.push(("the user's name", user));
        }
        let bad = words.into_iter().find(|(_, word)| word.chars().any(char::is_control));
        if let Some((what, word)) = bad {
            return Err(Unfit::Control { what, word: word.to_owned() });
        }
        let program = self.program.to_string_lossy();
        match program.contains(['\'', '"', '\\']) {
            true => Err(Unfit::Program(self.program.clone())),
            false => Ok(()),
        }
    }
}

/// Returns the hub's unit: the chat server, while systemd itself keeps the agents.
#[must_use]
pub fn hub(installation: &Installation) -> String {
    let mut unit = begin("Gangline hub: the chat server", "", &installation.scope);
    service(&mut unit, installation, &["up", "--service", "--no-agents"]);
    unit.push_str("ExecReload=/bin/kill -HUP $MAINPID\n");
    unit.push_str("RestartSec=2\nWatchdogSec=60\nTimeoutStartSec=90\nTimeoutStopSec=20\n");
    end(unit, &installation.scope)
}

/// Returns the template of the agents' units; the instance is the nick.
#[must_use]
pub fn agent(installation: &Installation) -> String {
    let wants = match installation.server {
        Server::Embedded => "Wants=gangline.service\nAfter=gangline.service\n",
        Server::Elsewhere => "",
    };
    let mut unit = begin("Gangline agent %i", wants, &installation.scope);
    service(&mut unit, installation, &["daemon", "%i"]);
    // A turn may settle, and its backend be ended; then the daemon has ended by itself.
    let stop = DRAIN_BUDGET.as_secs() + 5;
    let _ =
        writeln!(unit, "RestartSec=5\nWatchdogSec=180\nTimeoutStartSec=120\nTimeoutStopSec={stop}");
    end(unit, &installation.scope)
}

fn begin(description: &str, wants: &str, scope: &Scope) -> String {
    let network = match scope {
        Scope::User => "",
        Scope::System { .. } => "Wants=network-online.target\nAfter=network-online.target\n",
    };
    format!(
        "[Unit]\nDescription={description}\n{wants}{network}StartLimitIntervalSec=300\n\
         StartLimitBurst=20\n\n[Service]\n"
    )
}

fn service(unit: &mut String, installation: &Installation, args: &[&str]) {
    let Installation { program, config, state, environment, path, .. } = installation;
    let path_of = |path: &PathBuf| argument(&path.display().to_string());
    let _ = writeln!(
        unit,
        "Type=notify\nNotifyAccess=main\nExecStart={} --config {} --state {} {}",
        // The name of a program has no variables.
        quoted(&program.display().to_string()),
        path_of(config),
        path_of(state),
        args.join(" ")
    );
    if let Scope::System { user } = &installation.scope {
        let _ = writeln!(unit, "User={user}");
    }
    let _ = writeln!(unit, "Environment={}", quoted(&format!("PATH={path}")));
    let _ = writeln!(unit, "EnvironmentFile=-{}", pattern(&environment.display().to_string()));
    let _ = writeln!(
        unit,
        "Restart=on-failure\nRestartPreventExitStatus={EXIT_CONFIG} {EXIT_TAKEN} {EXIT_USAGE}\n\
         KillMode=mixed"
    );
}

fn end(unit: String, scope: &Scope) -> String {
    let target = match scope {
        Scope::User => "default.target",
        Scope::System { .. } => "multi-user.target",
    };
    format!("{unit}\n[Install]\nWantedBy={target}\n")
}

/// Returns one word of a command line as systemd reads it back.
fn argument(word: &str) -> String {
    quoted(&word.replace('$', "$$"))
}

fn quoted(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in specifiers(word).chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// Returns the pattern that matches this path alone: systemd looks for the file by one.
fn pattern(path: &str) -> String {
    let mut pattern = String::new();
    for c in specifiers(path).chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}
