//! Adopted orphans: a subreaper gets the children of its dead children and has to wait for them.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::proc;

/// The children that we started ourselves and have not waited for. Their exits are not ours to
/// take here.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Whether orphans come to us.
static ADOPTS: AtomicBool = AtomicBool::new(false);

fn own() -> MutexGuard<'static, BTreeSet<u32>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the command while nobody reaps, so that a child that ends at once is known as ours.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut own = own();
    let child = command.spawn()?;
    own.extend(child.id());
    Ok(child)
}

pub(super) fn forget(pid: u32) {
    own().remove(&pid);
}

/// Makes the calling process the parent of all orphans below it (Linux only; elsewhere nothing
/// happens). Then it has to call [`reap_adopted`] now and then, and must start programs by
/// [`super::spawn`] alone: any other child counts as an adopted orphan. The first process of a
/// container adopts no less, but nothing is ended for it: among its orphans are those of people's
/// own shells there.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub fn become_subreaper() -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    ADOPTS.store(comes_from_us(std::process::id()), Ordering::Relaxed);
    Ok(())
}

/// Returns whether a process descends from the one with this pid if it is adopted by it. The first
/// process of a pid namespace gets the orphans of all others there.
fn comes_from_us(pid: u32) -> bool {
    pid != 1
}

/// Does nothing here.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn become_subreaper() -> io::Result<()> {
    Ok(())
}

/// Returns the children that we started ourselves, as far as nobody has waited for them; nothing if we
/// adopt nobody.
pub(crate) fn own_if_adopting() -> Option<BTreeSet<u32>> {
    ADOPTS.load(Ordering::Relaxed).then(|| own().clone())
}

/// Waits for the orphans that we adopted and that have ended, so that they are no zombies; returns
/// how many. Children started by [`super::spawn`] are left to their owners.
pub fn reap_adopted() -> usize {
    let us = std::process::id();
    let own = own();
    let ended = |pid: &u32| {
        !own.contains(pid) && proc::stat(*pid).is_some_and(|stat| stat.parent == us && !stat.runs())
    };
    let reaped = proc::pids().filter(ended).filter(|pid| {
        let Ok(pid) = i32::try_from(*pid) else { return false };
        let waited = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        matches!(waited, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
    });
    reaped.count()
}
