//! A machine of one's own: a private home, the binary under test, and nothing left behind.

mod changes;

use std::{
    fs::{self, File},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::wait::{self, eventually, eventually_seeing};

/// How long the processes of a world may take to be gone after they were killed.
const ENDING: Duration = Duration::from_secs(2);

/// A private home. Every process started in it carries its path in the environment, by which
/// all of them are found again, whoever started them.
pub struct World {
    home: TempDir,
    binary: PathBuf,
    extra: Vec<(String, String)>,
    absent: Vec<String>,
    started: AtomicUsize,
}

/// What a command that ended left.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; -1 after a signal.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ran {
    /// Returns standard output after making sure that the command succeeded.
    ///
    /// # Panics
    /// When it failed; shows both outputs.
    #[must_use]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stdout
    }

    /// Returns standard output as JSON.
    ///
    /// # Panics
    /// When the command failed or printed something else.
    #[must_use]
    pub fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A process in the foreground, ended when dropped.
pub struct Running {
    child: Child,
    log: PathBuf,
    /// The line of `--ready-file`, if it was asked for.
    pub ready: Value,
}

impl World {
    /// Makes an empty home for the binary at `binary`.
    ///
    /// # Panics
    /// When there is no place for it.
    #[must_use]
    pub fn new(binary: &str) -> Self {
        let home = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
        fs::create_dir(home.path().join("run")).unwrap();
        Self {
            home,
            binary: PathBuf::from(binary),
            extra: Vec::new(),
            absent: Vec::new(),
            started: AtomicUsize::new(0),
        }
    }

    /// Adds a variable to the environment of all that is started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.extra.retain(|(known, _)| known != name);
        self.extra.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable out of the environment of all that is started from now on.
    pub fn unset(&mut self, name: &str) {
        self.absent.push(name.to_owned());
    }

    /// Returns a path in the home.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.home.path().join(relative)
    }

    /// Writes a file in the home and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn file(&self, relative: &str, text: &str) -> String {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if relative == "agents.yaml" {
            self.allow(&path);
        }
        path.display().to_string()
    }

    /// Records that the person of this home has allowed a configuration which commands find in their
    /// working folder.
    fn allow(&self, config: &Path) {
        let state = self.state();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&state).unwrap();
        let known = serde_json::json!([fs::canonicalize(config).unwrap()]);
        let record = state.join("known-configurations.json");
        fs::write(&record, known.to_string()).unwrap();
        fs::set_permissions(record, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Returns the state folder that commands use by default.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path("state/gangline")
    }

    /// Returns the command, not started yet.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    pub fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .current_dir(home)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env("TMPDIR", "/tmp")
            .envs(self.extra.iter().map(|(name, value)| (name, value)));
        for name in &self.absent {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run(&self, args: &[&str]) -> Ran {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Starts a command that stays, its output going to a file.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(&self, args: &[&str]) -> Running {
        self.start_with(&[], args)
    }

    /// Like [`Self::start`] with more variables.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start_with(&self, env: &[(&str, &str)], args: &[&str]) -> Running {
        let name = format!("log-{}.txt", self.started.fetch_add(1, Ordering::SeqCst));
        let log = self.path(&name);
        let file = File::create(&log).unwrap();
        let child = self
            .command(args)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Running { child, log, ready: Value::Null }
    }

    /// Starts a command with `--ready-file` and waits for its line.
    ///
    /// # Panics
    /// When the line does not come in time; shows the command's output.
    #[must_use]
    pub fn start_ready(&self, args: &[&str]) -> Running {
        let number = self.started.fetch_add(1, Ordering::SeqCst);
        let ready = self.path(&format!("ready-{number}"));
        let ready_text = ready.display().to_string();
        let mut all = args.to_vec();
        all.extend(["--ready-file", &ready_text]);
        let mut running = self.start(&all);
        running.ready = eventually(&format!("{args:?} to be ready"), || {
            if let Ok(Some(status)) = running.child.try_wait() {
                panic!("{args:?} ended with {status}:\n{}", running.output());
            }
            let text = fs::read_to_string(&ready).ok()?;
            text.ends_with('\n').then(|| serde_json::from_str(&text).unwrap())
        });
        running
    }

    /// Returns the processes of this world that run now, with their command lines. The binary's
    /// folder is left out: it may be called like a command. One that was killed and has only not had
    /// the time to be gone runs no more.
    #[must_use]
    pub fn processes(&self) -> Vec<(i32, String)> {
        let needle = format!("HOME={}\0", self.home.path().display());
        let own = std::process::id().to_string();
        let folder = self.binary.parent().unwrap_or(Path::new("")).display().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(pid) = name.parse::<i32>() else { continue };
            if name == own {
                continue;
            }
            let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
            if contains(&environment, needle.as_bytes()) && !is_over(&entry.path()) {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                found.push((pid, line.replace(&folder, "")));
            }
        }
        found
    }

    /// Returns the processes whose command line contains `part`.
    #[must_use]
    pub fn processes_like(&self, part: &str) -> Vec<i32> {
        self.processes().into_iter().filter(|(_, line)| line.contains(part)).map(|p| p.0).collect()
    }
}

/// Holds a process that the test did not start itself, as [`Running::hold`] does.
///
/// # Panics
/// When it has ended.
pub fn hold(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
}

/// Lets a process go on after [`hold`].
///
/// # Panics
/// When it has ended.
pub fn go_on(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGCONT).unwrap();
}

/// Many processes make many logs; the last lines of each are shown unless that is switched off.
fn print_logs() -> bool {
    std::env::var_os("GANGLINE_TEST_QUIET").is_none()
}

/// Whether none of its own instructions runs any more: it has ended, or SIGKILL is on its way to it.
fn is_over(process: &Path) -> bool {
    let Ok(status) = fs::read_to_string(process.join("status")) else { return true };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_none_or(|state| state.starts_with(['Z', 'X']));
    let is_killed = |set: &str| {
        let pending = u64::from_str_radix(set, 16).unwrap_or(0);
        pending & (1 << (Signal::SIGKILL as u32 - 1)) != 0
    };
    has_ended || ["SigPnd:", "ShdPnd:"].into_iter().filter_map(field).any(is_killed)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// Returns the state of every thread of a process, as the system calls them; none once it is gone.
#[must_use]
pub fn thread_states(pid: i32) -> Vec<char> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let state = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    };
    threads.filter_map(state).collect()
}

/// Waits until a SIGSTOP has reached every thread of a process.
///
/// # Panics
/// When it goes on.
pub fn stands_still(pid: i32) {
    eventually_seeing(&format!("process {pid} to stand still"), || {
        let states = thread_states(pid);
        let still = !states.is_empty() && states.iter().all(|state| *state == 'T');
        if still { Ok(()) } else { Err(format!("threads: {states:?}")) }
    });
}

/// Prints the end of a log, for whoever looks into a failure.
fn print_tail(path: &Path) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let tail: Vec<&str> = text.lines().rev().take(40).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    eprintln!("--- {}\n{}", path.display(), tail.join("\n"));
}

impl World {
    /// What was started in the foreground, then the hub and the daemons behind the scenes.
    fn logs(&self) -> Vec<PathBuf> {
        let files = |folder: &Path| -> Vec<PathBuf> {
            let mut files: Vec<PathBuf> =
                fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
            files.sort();
            files
        };
        let named = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "txt");
        let daemons = files(&self.state().join("agents"));
        files(self.home.path())
            .into_iter()
            .filter(named)
            .chain([self.state().join("hub.log")])
            .chain(daemons.iter().map(|folder| folder.join("daemon.log")))
            .collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && print_logs() {
            self.logs().iter().for_each(|log| print_tail(log));
        }
        // Parents first may start children anew, so look again until nobody is left.
        let _ = wait::within(ENDING, || {
            let left = self.processes();
            for (pid, _) in &left {
                let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
            }
            left.is_empty().then_some(())
        });
    }
}

impl Running {
    /// Returns the process id.
    ///
    /// # Panics
    /// Never on Linux: process ids fit.
    #[must_use]
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Returns what it printed so far.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has printed this; returns all that it printed so far.
    ///
    /// # Panics
    /// When it does not in time, or ends without it; shows its output.
    pub fn says(&mut self, part: &str) -> String {
        eventually_seeing(&format!("`{part}`"), || {
            // Asked before its last words are read.
            let ended = self.ended();
            let output = self.output();
            if output.contains(part) {
                return Ok(output);
            }
            assert!(ended.is_none(), "ended with {ended:?} without `{part}`:\n{output}");
            Err(output)
        })
    }

    /// Returns the file its output goes to.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.pid()), signal);
    }

    /// Waits until a SIGSTOP has reached all of it.
    ///
    /// # Panics
    /// When it goes on.
    pub fn stands_still(&self) {
        stands_still(self.pid());
    }

    /// Returns its exit code if it has ended; -1 after a signal.
    ///
    /// # Panics
    /// When the system does not say.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(|status| status.code().unwrap_or(-1))
    }

    /// Kills it with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end and returns its exit code.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn terminate(&mut self) -> i32 {
        self.signal(Signal::SIGTERM);
        self.wait()
    }

    /// Holds it: it neither runs nor ends before [`Self::go_on`], and who asks it something waits.
    ///
    /// # Panics
    /// When it has ended.
    pub fn hold(&self) {
        hold(self.pid());
    }

    /// Lets it go on after [`Self::hold`].
    ///
    /// # Panics
    /// When it has ended.
    pub fn go_on(&self) {
        go_on(self.pid());
    }

    /// Waits for its end and returns its exit code; -1 after a signal.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait(&mut self) -> i32 {
        let what = format!("the end of the process that writes {}", self.log.display());
        eventually(&what, || self.ended())
    }

    /// Returns a field of the ready line as text.
    ///
    /// # Panics
    /// When there is no such field.
    #[must_use]
    pub fn field(&self, name: &str) -> String {
        self.ready[name]
            .as_str()
            .unwrap_or_else(|| panic!("no {name} in {}", self.ready))
            .to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
