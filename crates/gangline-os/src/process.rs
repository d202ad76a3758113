//! Child processes: explicit environment and folder, a process group of their own, a kill policy.
//!
//! The only place that starts a program. What a child's output means is nobody's business here.
//! Start at [`spawn`]; the end is [`Child::end`].

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use nix::errno::Errno;
use nix::libc::O_NOFOLLOW;
use nix::unistd::{getpid, getsid, setsid};
use thiserror::Error;
use tokio::process::Command;

pub use child::{Child, KillPolicy};
pub use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub(crate) mod adopted;
mod child;
#[cfg(test)]
mod tests;

pub use adopted::{become_subreaper, reap_adopted};

/// What to start and how. There are no defaults that inherit: folder and environment are said.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// The program: a name to look for on the `PATH` of `env`, or a path (a relative one with a
    /// slash starts at `cwd`).
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Its working folder; must exist.
    pub cwd: PathBuf,
    /// Its whole environment. [`base_env`] is where to begin.
    pub env: Vec<(OsString, OsString)>,
    /// Where it reads from.
    pub stdin: Stdin,
    /// Where its output goes.
    pub stdout: Output,
    /// Where its error output goes.
    pub stderr: Output,
    /// Whose signals reach it and whether it dies with its [`Child`].
    pub group: Group,
}

/// A child's standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Empty.
    Null,
    /// A pipe: [`Child::take_stdin`].
    Piped,
}

/// A child's standard or error output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Thrown away.
    Null,
    /// A pipe: [`Child::take_stdout`], [`Child::take_stderr`].
    Piped,
    /// Our own.
    Inherit,
    /// Appended to this file, made with mode 0600.
    File(PathBuf),
}

/// What a child belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A new process group that is killed when the [`Child`] is dropped.
    New,
    /// A daemon that outlives us: it calls [`detach_session`] itself, and dropping the [`Child`]
    /// lets it run.
    Session,
}

/// Why a program could not be started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no program of this name on the `PATH`.
    #[error(
        "cannot start {program}: it is not on PATH ({path}); install it, or name it by its whole path"
    )]
    NotOnPath {
        /// The name looked for.
        program: String,
        /// The `PATH` of the environment that was given.
        path: String,
    },
    /// There is no file of this path.
    #[error("cannot start {program}: there is no such file")]
    NoSuchFile {
        /// The path.
        program: String,
    },
    /// The working folder is none.
    #[error("cannot start {program}: its folder {} is not there", cwd.display())]
    NoFolder {
        /// The program.
        program: String,
        /// The folder.
        cwd: PathBuf,
    },
    /// The file for its output cannot be opened.
    #[error("cannot start {program}: cannot write to {}", file.display())]
    OutputFile {
        /// The program.
        program: String,
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses, for instance because the file is no program or memory is short.
    #[error("cannot start {program}")]
    System {
        /// The program, as found.
        program: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Starts a program. All descriptors but the three standard ones are closed in it, provided that
/// they are close-on-exec as everything that Rust opens is. Must be called within a tokio runtime.
///
/// # Errors
/// [`SpawnError`] says what is missing.
pub fn spawn(spec: Spawn) -> Result<Child, SpawnError> {
    let program = find(&spec)?;
    let name = program.display().to_string();
    let mut command = command(&program, &spec)?;
    adopted::spawn(&mut command)
        .and_then(|child| Child::new(child, spec.group))
        .map_err(|source| SpawnError::System { program: name, source })
}

#[allow(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
fn command(program: &Path, spec: &Spawn) -> Result<Command, SpawnError> {
    let mut command = Command::new(program);
    command.args(&spec.args).current_dir(&spec.cwd);
    command.env_clear().envs(spec.env.iter().map(|(key, value)| (key, value)));
    command.stdin(match spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Piped => Stdio::piped(),
    });
    command.stdout(output(spec, &spec.stdout)?).stderr(output(spec, &spec.stderr)?);
    match spec.group {
        Group::New => command.process_group(0).kill_on_drop(true),
        Group::Session => command.kill_on_drop(false),
    };
    Ok(command)
}

fn output(spec: &Spawn, output: &Output) -> Result<Stdio, SpawnError> {
    match output {
        Output::Null => Ok(Stdio::null()),
        Output::Piped => Ok(Stdio::piped()),
        Output::Inherit => Ok(Stdio::inherit()),
        Output::File(file) => {
            let mut options = OpenOptions::new();
            // A link would have another file written.
            options.create(true).append(true).mode(0o600).custom_flags(O_NOFOLLOW);
            let opened = options.open(file);
            opened.map(Stdio::from).map_err(|source| SpawnError::OutputFile {
                program: spec.program.display().to_string(),
                file: file.clone(),
                source,
            })
        }
    }
}

/// Finds the program's file before the system does, since its own error names neither the program
/// nor which of program and folder is missing.
fn find(spec: &Spawn) -> Result<PathBuf, SpawnError> {
    let program = spec.program.display().to_string();
    if !spec.cwd.is_dir() {
        return Err(SpawnError::NoFolder { program, cwd: spec.cwd.clone() });
    }
    // The child changes its folder before it looks for the file.
    let cwd = std::path::absolute(&spec.cwd).unwrap_or_else(|_| spec.cwd.clone());
    if spec.program.components().count() > 1 || spec.program.is_absolute() {
        let path = cwd.join(&spec.program);
        return if path.exists() { Ok(path) } else { Err(SpawnError::NoSuchFile { program }) };
    }
    let path = spec.env.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.clone());
    let path = path.unwrap_or_default();
    let found = find_on_path(&spec.program, &path);
    found.ok_or_else(|| SpawnError::NotOnPath { program, path: path.display().to_string() })
}

/// Returns the first executable file of this name in the folders of `path` (as in `$PATH`). Relative folders
/// and empty ones are passed over, though shells start them at the working folder: that may be a clone of
/// somebody's repository, with a `git` in its `node_modules/.bin`.
#[must_use]
pub fn find_on_path(name: &Path, path: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| {
        fs::metadata(file).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}

/// Returns what of our own environment every child may have: `PATH HOME USER LOGNAME SHELL LANG
/// LC_* TZ TERM TMPDIR XDG_* SSL_CERT_*`. Keys, tokens and run ids are never among it.
#[must_use]
pub fn base_env() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(key, _)| key.to_str().is_some_and(is_base)).collect()
}

fn is_base(key: &str) -> bool {
    const NAMES: [&str; 9] =
        ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR"];
    const PREFIXES: [&str; 3] = ["LC_", "XDG_", "SSL_CERT_"];
    NAMES.contains(&key) || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Returns whether a variable says who a process is, to programs that are hitched to a network of
/// agents: it must not reach another agent's processes (R3-09). Tells too that it runs within a
/// coding agent, and `NODE_OPTIONS`, which would change each program that runs on Node.
#[must_use]
pub fn is_identity(name: &OsStr) -> bool {
    const NAMES: [&str; 10] = [
        "BD_ACTOR",
        "BEADS_AGENT_NAME",
        "CLAUDECODE",
        "CULTURE_NICK",
        "GANGLINE_NICK",
        "GANGLINE_SOCKET",
        crate::run_id::STARTED_BY,
        "GANGLINE_STATE_DIR",
        "GANGLINE_TOKEN",
        "NODE_OPTIONS",
    ];
    let name = name.to_string_lossy();
    name.starts_with("GT_") || name == crate::run_id::RUN_ID || NAMES.contains(&name.as_ref())
}

/// Makes the calling process the leader of a session of its own, away from any terminal. Fine when
/// it is one already.
///
/// # Errors
/// When it leads a process group without leading its session, as a shell's foreground job does.
pub fn detach_session() -> io::Result<()> {
    match setsid() {
        Ok(_) => Ok(()),
        Err(Errno::EPERM) if getsid(None) == Ok(getpid()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
