//! A child that runs: its pipes, its exit, and the kill policy by which its whole group ends.

use std::io;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{sleep, timeout};

use super::{Group, adopted};
use crate::exit::Exit;
use crate::kill::{Signal, group_exists, signal_group, signal_pid};
use crate::proc;

/// How long to wait between two looks at a group whose members are waited for: at first, and when
/// it takes long. A look with members left reads the whole of `/proc`.
const LOOKS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(80));

/// How long a killed group may take to be gone. Longer means that the system holds it (a disk
/// that does not answer), and waiting would not help.
const KILLED_WAIT: Duration = Duration::from_secs(5);

/// How long [`Child::end`] waits before each signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KillPolicy {
    /// From closing its input to TERM.
    pub term_after: Duration,
    /// From TERM to KILL.
    pub kill_after: Duration,
}

/// A child process.
///
/// Dropping one with [`Group::New`] kills its whole group at once: one system call (and a look into
/// `/proc` when the child itself was waited for), without waiting.
#[derive(Debug)]
pub struct Child {
    inner: tokio::process::Child,
    pid: u32,
    session: Option<u32>,
    group: Group,
    exit: Option<Exit>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Child {
    pub(super) fn new(mut inner: tokio::process::Child, group: Group) -> io::Result<Self> {
        let pid = inner.id().ok_or_else(|| io::Error::other("it was waited for already"))?;
        let (stdin, stdout, stderr) =
            (inner.stdin.take(), inner.stdout.take(), inner.stderr.take());
        let session = proc::stat(std::process::id()).map(|stat| stat.session);
        Ok(Self { inner, pid, session, group, exit: None, stdin, stdout, stderr })
    }

    /// Returns its pid; with [`Group::New`] also the id of its group. It stays the same after the
    /// end.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns its input when it is piped and was not taken. Whoever takes it has to drop it before
    /// [`Child::end`], or the first step does nothing.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Returns its output when it is piped and was not taken.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Returns its error output when it is piped and was not taken.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.stderr.take()
    }

    /// Waits for the child itself, not for others of its group. Its input stays open. May be called
    /// again and returns the same.
    ///
    /// Cancel-safe: yes; the exit is kept by the system until it is returned.
    ///
    /// # Errors
    /// When the system has no such child any more.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        let exit = Exit::from(self.inner.wait().await?);
        self.ended(exit);
        Ok(exit)
    }

    /// Returns the exit when the child has ended, without waiting.
    pub fn exited(&mut self) -> Option<Exit> {
        if self.exit.is_none()
            && let Ok(Some(status)) = self.inner.try_wait()
        {
            self.ended(status.into());
        }
        self.exit
    }

    fn ended(&mut self, exit: Exit) {
        self.exit = Some(exit);
        adopted::forget(self.pid);
    }

    /// Sends a signal to the child's whole group, or to the child alone as long as it has no group
    /// of its own. Nothing happens when all are gone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn signal_group(&mut self, signal: Signal) -> io::Result<()> {
        let leads = match self.exited() {
            Some(_) => !self.group_members().is_empty(),
            None => self.group == Group::New || self.leads_own_group(),
        };
        match (leads, self.exit) {
            (true, _) => signal_group(self.pid, signal).map(|_| ()),
            // The pid is ours as long as nobody has waited for it.
            (false, None) => signal_pid(self.pid, signal).map(|_| ()),
            (false, Some(_)) => Ok(()),
        }
    }

    fn leads_own_group(&self) -> bool {
        proc::stat(self.pid).is_some_and(|stat| stat.group == self.pid)
    }

    /// Returns the pids of the group that still run, the child's own among them. A process that
    /// left the group (by `setsid`) is not found: see [`crate::sweep`]. Off Linux it is the
    /// child's pid alone, as long as the group has any member.
    #[must_use]
    pub fn group_members(&self) -> Vec<u32> {
        if !group_exists(self.pid) {
            return Vec::new();
        }
        if !cfg!(target_os = "linux") {
            return vec![self.pid];
        }
        let session = match self.group {
            Group::New => self.session,
            Group::Session => Some(self.pid),
        };
        let member = |pid: &u32| {
            proc::stat(*pid).is_some_and(|stat| {
                stat.runs() && stat.group == self.pid && Some(stat.session) == session
            })
        };
        proc::pids().filter(member).collect()
    }

    /// Ends the child and its whole group: closes its input, then TERM to the group, then KILL.
    ///
    /// Goes on to the next step when the time of one is over, and from the first to TERM at once
    /// when only the child has ended and others of its group have not. Returns when the child has
    /// ended and no member of the group runs; after KILL it waits five seconds at most.
    ///
    /// Cancel-safe: yes; another call begins with the first step again.
    pub async fn end(&mut self, policy: &KillPolicy) -> Exit {
        drop(self.stdin.take());
        let _ = timeout(policy.term_after, self.wait()).await;
        if !self.all_gone() {
            self.send(Signal::Term);
            self.send(Signal::Cont);
            let _ = timeout(policy.kill_after, self.gone()).await;
        }
        if !self.all_gone() {
            self.send(Signal::Kill);
            let _ = timeout(KILLED_WAIT, self.gone()).await;
        }
        let left = self.group_members();
        if !left.is_empty() || self.exit.is_none() {
            tracing::error!(pid = self.pid, ?left, "a killed process group is still there");
        }
        self.exit.unwrap_or_default()
    }

    fn send(&mut self, signal: Signal) {
        if let Err(error) = self.signal_group(signal) {
            tracing::warn!(pid = self.pid, ?signal, %error, "cannot signal a process group");
        }
    }

    fn all_gone(&mut self) -> bool {
        self.exited().is_some() && self.group_members().is_empty()
    }

    /// Waits until child and group are gone. Cancel-safe: yes.
    async fn gone(&mut self) {
        if self.wait().await.is_err() {
            return;
        }
        let (mut pause, longest) = LOOKS;
        while !self.group_members().is_empty() {
            sleep(pause).await;
            pause = longest.min(pause * 2);
        }
    }
}

/// The one place where dropping does work: without it, what a child started would outlive us.
impl Drop for Child {
    fn drop(&mut self) {
        if self.group == Group::New {
            let _ = self.signal_group(Signal::Kill);
        }
        adopted::forget(self.pid);
    }
}
