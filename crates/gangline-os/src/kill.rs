//! The signals that are sent, to one process or to a whole group. Those that come are in `signals.rs`.

use std::io;

use nix::errno::Errno;
use nix::sys::signal::{Signal as NixSignal, kill, killpg};
use nix::unistd::{Pid, getpgrp};

#[cfg(test)]
mod tests;

/// The signals that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP.
    Hup,
    /// SIGINT.
    Int,
    /// SIGQUIT.
    Quit,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
    /// SIGUSR1.
    Usr1,
    /// SIGSTOP.
    Stop,
    /// SIGCONT.
    Cont,
}

impl Signal {
    pub(crate) fn to_nix(self) -> NixSignal {
        match self {
            Self::Hup => NixSignal::SIGHUP,
            Self::Int => NixSignal::SIGINT,
            Self::Quit => NixSignal::SIGQUIT,
            Self::Term => NixSignal::SIGTERM,
            Self::Kill => NixSignal::SIGKILL,
            Self::Usr1 => NixSignal::SIGUSR1,
            Self::Stop => NixSignal::SIGSTOP,
            Self::Cont => NixSignal::SIGCONT,
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn to_rustix(self) -> rustix::process::Signal {
        use rustix::process::Signal as R;
        match self {
            Self::Hup => R::HUP,
            Self::Int => R::INT,
            Self::Quit => R::QUIT,
            Self::Term => R::TERM,
            Self::Kill => R::KILL,
            Self::Usr1 => R::USR1,
            Self::Stop => R::STOP,
            Self::Cont => R::CONT,
        }
    }
}

/// Sends a signal to a whole process group; `false` when it has no member. Never to our own.
pub(crate) fn signal_group(group: u32, signal: Signal) -> io::Result<bool> {
    let Some(group) = pid(group).filter(|group| group.as_raw() > 1 && *group != getpgrp()) else {
        return Ok(false);
    };
    delivered(killpg(group, signal.to_nix()))
}

/// Says whether a process group has a member, a zombie included.
pub(crate) fn group_exists(group: u32) -> bool {
    pid(group).is_some_and(|group| !matches!(killpg(group, None), Err(Errno::ESRCH)))
}

/// Sends a signal to a process; `false` when it is gone.
pub(crate) fn signal_pid(target: u32, signal: Signal) -> io::Result<bool> {
    match pid(target) {
        Some(target) => delivered(kill(target, signal.to_nix())),
        None => Ok(false),
    }
}

/// Says whether there is a process of this pid.
pub(crate) fn null_signal(target: u32) -> bool {
    pid(target).is_some_and(|target| !matches!(kill(target, None), Err(Errno::ESRCH)))
}

fn delivered(sent: nix::Result<()>) -> io::Result<bool> {
    match sent {
        Ok(()) => Ok(true),
        Err(Errno::ESRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns a pid that means one process: zero would mean our whole group.
fn pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 0).map(Pid::from_raw)
}
