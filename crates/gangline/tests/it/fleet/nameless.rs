//! `up -d` and `down` beside a hub that begins or ends: it holds the lock and has no name yet.

use std::{
    fs::{self, File},
    sync::mpsc,
    thread::JoinHandle,
};

use gangline_testkit::{Running, eventually};
use nix::{
    fcntl::{FcntlArg, fcntl},
    libc,
    unistd::gettid,
};

use super::{Fleet, is_gone};

/// Holds the hub's lock without a name, as the last thread of a killed hub does, and a new hub in
/// its first moment.
struct Nameless(File);

impl Nameless {
    fn open(fleet: &Fleet) -> Self {
        let path = fleet.world().state().join("hub.lock");
        Self(File::options().write(true).open(path).unwrap())
    }

    fn take(self, how: impl FnOnce(&libc::flock) -> FcntlArg<'_>) -> Self {
        let whole = libc::flock {
            l_type: libc::F_WRLCK as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        fcntl(&self.0, how(&whole)).unwrap();
        self
    }

    fn now(fleet: &Fleet) -> Self {
        Self::open(fleet).take(|whole| FcntlArg::F_OFD_SETLK(whole))
    }

    /// Takes it in the moment in which the hub gives it back; comes back when it stands in line.
    fn next(fleet: &Fleet) -> JoinHandle<Self> {
        let lock = Self::open(fleet);
        let (tell, told) = mpsc::channel();
        let waiting = std::thread::spawn(move || {
            tell.send(gettid()).unwrap();
            lock.take(|whole| FcntlArg::F_OFD_SETLKW(whole))
        });
        let stat = format!("/proc/self/task/{}/stat", told.recv().unwrap());
        eventually("the thread to stand in line", || {
            let stat = fs::read_to_string(&stat).unwrap();
            stat.rsplit_once(')').unwrap().1.starts_with(" S").then_some(())
        });
        waiting
    }
}

/// Starts a command, and waits until it waits for the hub.
fn waits(fleet: &Fleet, command: &[&str]) -> Running {
    let args = [&["--config", fleet.stage.config.as_str()], command].concat();
    let mut running = fleet.world().start(&args);
    running.says("waiting for a hub that is starting or stopping");
    running
}

/// How often a command may look in the moment in which the lock is free.
const TRIES: usize = 20;

/// Starts a command that ends the hub, which waits for whoever takes the lock next; it ends well once
/// the lock is given back. The kernel wakes who stands in line a moment after the lock is free: a
/// command that looked in that moment met nobody, and is tried again.
fn meets_next(fleet: &Fleet, command: &[&str]) {
    let args = [&["--config", fleet.stage.config.as_str()], command].concat();
    for _ in 0..TRIES {
        let lock = Nameless::next(fleet);
        let mut running = fleet.world().start(&args);
        let has_met = eventually("the command to wait or to end", || {
            let ended = running.ended().is_some();
            let waits = running.output().contains("waiting for a hub that is starting or stopping");
            (ended || waits).then_some(waits)
        });
        drop(lock.join().unwrap());
        let code = running.wait();
        if has_met && code == 0 {
            return;
        }
        // Its own hub was too late for the lock.
        let too_late = running.output().contains("a hub already runs");
        assert!(code == 0 || too_late, "{}", running.output());
        fleet.up();
    }
    panic!("{command:?} never met who takes the lock next");
}

/// A hub that was killed gives its lock back with its last thread, and one in its first moment has
/// not said its name: `up -d` waits for either.
#[test]
fn up_d_waits_for_a_hub_that_begins_or_ends() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["down"]).ok();
    let lock = Nameless::now(&fleet);
    let mut up = waits(&fleet, &["up", "-d"]);
    drop(lock);
    assert_eq!(up.wait(), 0, "{}", up.output());
    assert_eq!(fleet.standing("oak-ada"), "idle");
    let _ = fleet.run(&["down"]).ok();
}

/// `down` and `restart --hub` wait as well: for one that they meet, and for the last of the one that
/// they have ended, so that the next finds the place free.
#[test]
fn down_and_restart_wait_for_a_hub_that_begins_or_ends() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let daemon = fleet.pid("oak-ada");
    for command in [&["restart", "--hub"][..], &["down", "--hub-only"]] {
        meets_next(&fleet, command);
        assert_eq!(fleet.pid("oak-ada"), daemon, "{command:?}");
    }
    for (command, code, told) in [
        (&["restart", "--hub"][..], 1, "no hub runs"),
        (&["down"], 0, "the agents have ended; no hub ran"),
    ] {
        let lock = Nameless::now(&fleet);
        let mut running = waits(&fleet, command);
        assert!(!is_gone(daemon));
        drop(lock);
        assert_eq!(running.wait(), code, "{}", running.output());
        assert!(running.output().contains(told), "{}", running.output());
    }
    assert!(is_gone(daemon));
    fleet.up();
    meets_next(&fleet, &["down"]);
}

/// A lock that nobody gives back is told; nobody can be asked to end then.
#[test]
fn a_hub_that_says_nothing_is_told_of() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["down"]).ok();
    let _lock = Nameless::now(&fleet);
    let commands = [&["restart", "--hub"][..], &["down"], &["down", "--hub-only"]];
    // All wait as long as they ever do.
    for mut running in commands.map(|command| waits(&fleet, command)) {
        assert_eq!(running.wait(), 1, "{}", running.output());
        let told = "error: a hub runs already and does not answer: a process that has not said";
        assert!(running.output().contains(told), "{}", running.output());
    }
}
