//! A tmux server of our own: one per agent, with one session and one pane. Never the user's.
//!
//! The server is a child of ours. Its socket lies in the agent's folder and is named from there, so
//! that it is never too long for the system. Each command is a short-lived client.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::{
    exit::Exit,
    proc::Ending,
    process::{self, Child, Group, KillPolicy, Output, Spawn, Stdin},
    terminal,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time,
};

use super::{
    profile::Profile,
    screen::{self, Screen},
    text::Captured,
};

/// The name of the socket in the agent's folder.
pub(super) const SOCKET: &str = "tmux.sock";
/// The pane.
const PANE: &str = "%0";
/// The name under which a prompt waits to be pasted.
const BUFFER: &str = "gangline";
/// A client that takes longer hangs.
const COMMAND_WITHIN: Duration = Duration::from_secs(10);
/// A server that does not end itself within this is ended.
const END_WITHIN: Duration = Duration::from_secs(2);
/// From its start until the server takes commands.
const SERVE_WITHIN: Duration = Duration::from_secs(10);
const SERVE_AGAIN: Duration = Duration::from_millis(20);
/// The most that is read of what a client writes.
const OUTPUT_MAX: u64 = 8 * 1024 * 1024;
/// Lines of history that are kept.
const HISTORY: usize = 10_000;
/// Since this version a server can stay in the foreground.
const OLDEST: (u32, u32) = (3, 2);

/// What is to run in the pane.
#[derive(Debug, Clone)]
pub(super) struct Pane {
    /// The name of the session.
    pub(super) name: String,
    pub(super) workdir: PathBuf,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
}

/// See the module.
pub(super) struct Server {
    child: Child,
    /// That of the program. Not asked of tmux: of one child in fifty it misses the end for ever
    /// (3.3a), and then its `pane-died` never comes.
    ending: Ending,
    client: Client,
    socket: PathBuf,
    inode: Option<(u64, i64, i64)>,
    /// The pid of the program.
    pub(super) program: u32,
}

/// How commands are given.
#[derive(Debug, Clone)]
struct Client {
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
}

impl Server {
    /// Starts a server and the program in it, after ending one that an earlier daemon has left.
    /// Not cancel-safe: a server may be left until the sweep.
    ///
    /// # Errors
    /// One line for the operator.
    pub(super) async fn start(
        folder: &Path,
        env: Vec<(OsString, OsString)>,
        pane: Pane,
        profile: &Profile,
    ) -> Result<Self, String> {
        let client = Client { folder: folder.to_owned(), env };
        client.check_version().await?;
        // Only its socket is believed to be an old server's: nobody else may write here.
        let kill = client.run(&["kill-server"], None);
        let _ = time::timeout(END_WITHIN, kill).await;
        let socket = folder.join(SOCKET);
        let _ = fs::remove_file(&socket);
        let mut spawn = client.spawn(&["-f", "/dev/null", "-D"]);
        spawn.stdout = Output::Null;
        let mut child = process::spawn(spawn).map_err(|error| error.to_string())?;
        client.await_server(&mut child).await?;
        let program = client.open(pane, profile).await?;
        let ending = Ending::of(program).map_err(|error| error.to_string())?;
        let inode = inode(&socket);
        Ok(Self { child, ending, client, socket, inode, program })
    }

    /// Waits until the program, or the server, has ended. Cancel-safe: yes.
    pub(super) async fn gone(&mut self) {
        tokio::select! {
            _ = self.child.wait() => (),
            () = self.ending.ended() => (),
        }
    }

    /// Returns the screen.
    pub(super) async fn screen(&self) -> Result<Screen, String> {
        let look = [
            "display-message",
            "-p",
            "-t",
            PANE,
            screen::FORMAT,
            ";",
            "capture-pane",
            "-p",
            "-t",
            PANE,
        ];
        let output = self.client.run(&look, None).await?;
        let mut screen = Screen::parse(&output).ok_or_else(|| "tmux told no screen".to_owned())?;
        screen.lent = terminal::in_foreground(self.program) == Some(false);
        screen.line_mode = terminal::gathers_lines(&screen.tty) == Some(true);
        Ok(screen)
    }

    /// Returns the lines from one on. When the screen was emptied since, all that is there.
    pub(super) async fn lines(&self, from: usize) -> Result<Captured, String> {
        let screen = self.screen().await?;
        let from = if from > screen.cursor_line() { 0 } else { from };
        let start = match from.checked_sub(screen.history) {
            Some(row) => row.to_string(),
            None => format!("-{}", screen.history - from),
        };
        let capture = ["capture-pane", "-p", "-J", "-S", &start, "-t", PANE];
        let output = self.client.run(&capture, None).await?;
        Ok(Captured {
            lines: output.lines().map(|line| line.trim_end().to_owned()).collect(),
            // When it is full a tenth is thrown away.
            overflowed: screen.history >= HISTORY - HISTORY / 10,
        })
    }

    /// Presses keys.
    pub(super) async fn keys(&self, keys: &[String]) -> Result<(), String> {
        let mut command = vec!["send-keys", "-t", PANE];
        command.extend(keys.iter().map(String::as_str));
        self.client.run(&command, None).await.map(|_| ())
    }

    /// Pastes a text; it is never on a command line.
    pub(super) async fn paste(&self, text: &str) -> Result<(), String> {
        self.client.run(&["load-buffer", "-b", BUFFER, "-"], Some(text)).await?;
        let paste = ["paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", PANE];
        self.client.run(&paste, None).await.map(|_| ())
    }

    pub(super) async fn leave_mode(&self) -> Result<(), String> {
        let cancel = self.client.run(&["send-keys", "-t", PANE, "-X", "cancel"], None).await;
        match cancel {
            Ok(_) => Ok(()),
            // A list to choose from: it knows no such command, but the key.
            Err(_) => self.keys(&["q".to_owned()]).await,
        }
    }

    pub(super) async fn forget_history(&self) -> Result<(), String> {
        self.client.run(&["clear-history", "-t", PANE], None).await.map(|_| ())
    }

    /// Ends the server, which closes the program's terminal. By a signal: whoever serves on the
    /// socket by now may be another.
    pub(super) async fn end(&mut self, policy: &KillPolicy) -> Exit {
        let exit = self.child.end(policy).await;
        if inode(&self.socket) == self.inode {
            let _ = fs::remove_file(&self.socket);
        }
        exit
    }
}

/// By which a socket is known to be the same: the number of a file that is gone is given again at
/// once, so when it was made counts too.
fn inode(path: &Path) -> Option<(u64, i64, i64)> {
    fs::metadata(path).ok().map(|it| (it.ino(), it.mtime(), it.mtime_nsec()))
}

impl Client {
    fn spawn(&self, args: &[&str]) -> Spawn {
        let mut all: Vec<OsString> = vec!["-u".into(), "-S".into(), SOCKET.into()];
        all.extend(args.iter().map(Into::into));
        Spawn {
            program: "tmux".into(),
            args: all,
            cwd: self.folder.clone(),
            env: self.env.clone(),
            stdin: Stdin::Null,
            stdout: Output::Piped,
            stderr: Output::Piped,
            group: Group::New,
        }
    }

    /// Runs one client to its end and returns what it wrote. Cancel-safe: yes, it is killed.
    async fn run(&self, args: &[&str], input: Option<&str>) -> Result<String, String> {
        let mut words = vec!["-N"];
        words.extend(args);
        self.call(&words, input).await
    }

    async fn call(&self, args: &[&str], input: Option<&str>) -> Result<String, String> {
        let mut spawn = self.spawn(args);
        if input.is_some() {
            spawn.stdin = Stdin::Piped;
        }
        let name = args.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("-V");
        let mut child = process::spawn(spawn).map_err(|error| error.to_string())?;
        let finish = async {
            let (mut stdin, stdout, stderr) =
                (child.take_stdin(), child.take_stdout(), child.take_stderr());
            let write = async {
                if let (Some(stdin), Some(input)) = (&mut stdin, input) {
                    // One that does not read says why itself.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
                drop(stdin);
            };
            let ((), output, errors) = tokio::join!(write, all_of(stdout), all_of(stderr));
            (output, errors, child.wait().await)
        };
        match time::timeout(COMMAND_WITHIN, finish).await {
            Ok((output, _, Ok(exit))) if exit.success() => Ok(output),
            Ok((_, errors, _)) => Err(format!("tmux {name}: {}", errors.trim())),
            Err(_) => Err(format!("tmux {name} took longer than {} s", COMMAND_WITHIN.as_secs())),
        }
    }

    async fn check_version(&self) -> Result<(), String> {
        let told = self.call(&["-V"], None).await?;
        refused(&told).map_or(Ok(()), Err)
    }

    async fn await_server(&self, child: &mut Child) -> Result<(), String> {
        let serves = async {
            loop {
                if child.exited().is_some() {
                    return Err("the tmux server ended as it began".to_owned());
                }
                if self.run(&["start-server"], None).await.is_ok() {
                    return Ok(());
                }
                time::sleep(SERVE_AGAIN).await;
            }
        };
        let late = || Err("the tmux server does not answer".to_owned());
        time::timeout(SERVE_WITHIN, serves).await.unwrap_or_else(|_| late())
    }

    /// Sets the options, makes the one session and returns the program's pid.
    async fn open(&self, pane: Pane, profile: &Profile) -> Result<u32, String> {
        let (columns, rows) = (profile.columns.to_string(), profile.rows.to_string());
        let history = HISTORY.to_string();
        let name = literal(&pane.name);
        let workdir = literal(&pane.workdir.display().to_string());
        let options = [
            "set -g remain-on-exit on",
            "set -g default-terminal screen-256color",
            "set -s set-clipboard off",
            "set -s escape-time 0",
            "set -g update-environment ",
            "set -g allow-rename off",
            "set -g automatic-rename off",
            "set -g bell-action none",
            "set -g destroy-unattached off",
        ];
        let mut command: Vec<&str> = Vec::new();
        for option in &options {
            let mut words = option.splitn(4, ' ');
            command.extend(words.by_ref());
            command.push(";");
        }
        command.extend(["set", "-g", "history-limit", &history, ";"]);
        command.extend(["new-session", "-d", "-s", &name, "-x", &columns, "-y", &rows]);
        command.extend(["-c", &workdir, "-P", "-F", "#{pane_pid}", "--"]);
        let words: Vec<String> =
            pane.command.iter().map(|word| no_separator(&word.to_string_lossy())).collect();
        command.extend(words.iter().map(String::as_str));
        // After the session: a server of some versions falls over a size that nobody has set.
        command.extend([";", "set", "-g", "window-size", "manual"]);
        let output = self.run(&command, None).await?;
        output.trim().parse().map_err(|_| "tmux told no pid of the program".to_owned())
    }
}

/// Returns a word that tmux takes as it is where it would fill in values.
fn literal(word: &str) -> String {
    no_separator(&word.replace('#', "##"))
}

/// Returns a word that is no end of a command.
fn no_separator(word: &str) -> String {
    word.strip_suffix(';').map_or_else(|| word.to_owned(), |rest| format!("{rest}\\;"))
}

/// Reads `tmux 3.3a`.
/// Returns why this tmux cannot be used; `told` is what `tmux -V` says.
pub(super) fn refused(told: &str) -> Option<String> {
    let (major, minor) = OLDEST;
    // A build from its sources names no number.
    let found = version(told).filter(|found| *found < OLDEST)?;
    let (old, minor_of_old) = found;
    Some(format!("tmux is {old}.{minor_of_old}, and at least {major}.{minor} is needed"))
}

fn version(told: &str) -> Option<(u32, u32)> {
    let number = told.trim().strip_prefix("tmux ")?;
    let (major, rest) = number.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

async fn all_of(output: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(output) = output else { return String::new() };
    let mut bytes = Vec::new();
    // What cannot be read was not written.
    let _ = output.take(OUTPUT_MAX).read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
