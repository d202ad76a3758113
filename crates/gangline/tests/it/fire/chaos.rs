//! Who is killed, and when: chosen at random, by a seed.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use gangline_testkit::Running;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{Fire, LINES_A_KILL};

/// Kills hub, model and daemons until `done`, counting the kills.
pub(super) fn chaos(
    fire: &Fire,
    seed: u64,
    (hub, standin): (&Mutex<Running>, &Mutex<Running>),
    (done, lines, kills): (&AtomicBool, &AtomicUsize, &AtomicUsize),
) {
    let mut dice = Dice(seed);
    while !done.load(Ordering::SeqCst) {
        // sleep: the random moment of the kill is what is tested.
        thread::park_timeout(Duration::from_millis(200 + dice.roll(900)));
        if kills.load(Ordering::SeqCst) > lines.load(Ordering::SeqCst) / LINES_A_KILL {
            continue;
        }
        match dice.roll(10) {
            0 | 1 => {
                let mut hub = hub.lock().unwrap();
                hub.kill();
                *hub = fire.hub();
            }
            2 => {
                let mut standin = standin.lock().unwrap();
                standin.kill();
                *standin = fire.standin();
            }
            _ => {
                let agent = dice.roll(5);
                for pid in fire.world.processes_like(&format!("daemon fire-a{agent}")) {
                    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                }
            }
        }
        kills.fetch_add(1, Ordering::SeqCst);
    }
}

/// A small generator, so that a seed repeats the same choices.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}
