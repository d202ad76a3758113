//! A larger fleet through a bad day: kills, another program on the disk, a new agent.

use std::path::{Path, PathBuf};

use gangline_testkit::IrcPeer;
use nix::sys::signal::Signal;

use super::{Fleet, gone, send};

/// The program in a folder of its own, so that it can be replaced.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let installed = Self { folder: tempfile::tempdir().unwrap() };
        installed.put();
        installed
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("gangline")
    }

    /// Puts a new file in the program's place, as package managers do: written whole, renamed.
    fn put(&self) {
        let new = self.folder.path().join("new");
        std::fs::copy(env!("CARGO_BIN_EXE_gangline"), &new).unwrap();
        std::fs::rename(&new, self.program()).unwrap();
    }
}

fn program_of(pid: i32) -> PathBuf {
    std::fs::read_link(format!("/proc/{pid}/exe")).unwrap()
}

/// Tells every agent one thing and remembers it. What the server took is there: echoed.
fn tell(peer: &mut IrcPeer, (nicks, round): (&[&str], &str), told: &mut Vec<String>) {
    for nick in nicks {
        let token = format!("{round}-{nick}");
        peer.say("#general", &format!("@{nick} say exactly {token}"));
        let from = peer.nick.clone();
        peer.hears(&from, "#general", &token);
        told.push(token);
    }
}

/// R1-48, R1-49: eight agents; hub and daemons are killed, one daemon is adopted and dies, the
/// program is replaced and the fleet rolled, an agent comes, one is stopped, one paused. Every line
/// that the server took is answered, and once.
#[test]
fn a_fleet_of_eight_loses_nothing_on_a_bad_day() {
    let nicks: Vec<String> = (1..=8).map(|n| format!("oak-a{n}")).collect();
    let nicks: Vec<&str> = nicks.iter().map(String::as_str).collect();
    let installed = Installed::new();
    let program = installed.program().display().to_string();
    let fleet = Fleet::with(&program, &nicks, ("", ""));
    let mut told = Vec::new();
    fleet.up();
    tell(&mut fleet.person("one"), (&nicks, "fresh"), &mut told);

    // The hub dies; lines of before are still being worked on.
    send(fleet.hub(), Signal::SIGKILL);
    gone(fleet.hub());
    fleet.up();
    let mut alice = fleet.person("two");
    tell(&mut alice, (&nicks, "adopted"), &mut told);

    // Two daemons that no hub of now has started die.
    for nick in ["oak-a1", "oak-a2"] {
        let (pid, epoch) = (fleet.pid(nick), fleet.epoch(nick));
        send(pid, Signal::SIGKILL);
        tell(&mut alice, (&[nick], "while-dead"), &mut told);
        fleet.begins(nick, epoch + 1);
    }

    // Stopped and paused ones miss nothing.
    assert_eq!(fleet.run(&["stop", "oak-a3"]).code, 0);
    let _ = fleet.run(&["pause", "oak-a4"]).ok();
    tell(&mut alice, (&nicks, "away"), &mut told);

    // Another program lies there; a new agent is configured.
    installed.put();
    let more = fleet.another("oak-a9");
    fleet.configure(&more);
    assert_eq!(fleet.ps()["oak-a5"]["replaced"], true);
    let old = fleet.pid("oak-a5");
    assert!(program_of(old).to_string_lossy().ends_with(" (deleted)"));
    let text = fleet.run(&["ps"]).ok();
    assert!(text.contains(" old"), "{text}");
    let ran = fleet.run(&["restart", "--hub"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fleet.pid("oak-a5"), old, "adopted once more");
    let mut alice = fleet.person("three");
    tell(&mut alice, (&nicks, "upgraded-hub"), &mut told);
    let ran = fleet.run(&["restart", "--all", "--when-idle"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fleet.standing("oak-a3"), "stopped", "who is stopped is not rolled");
    tell(&mut alice, (&nicks, "rolled"), &mut told);
    tell(&mut alice, (&["oak-a9"], "new"), &mut told);
    assert_eq!(fleet.run(&["start", "oak-a3"]).code, 0);
    let _ = fleet.run(&["resume", "oak-a4"]).ok();
    for (nick, listed) in fleet.ps() {
        assert_eq!(listed["replaced"], false, "{nick}");
        assert_eq!(program_of(fleet.pid(&nick)), installed.program(), "{nick}");
    }
    assert_eq!(Path::new(fleet.about()["program"].as_str().unwrap()), installed.program());

    fleet.all_answered(&told);
    assert_eq!(told.len(), 5 * 8 + 2 + 1);
    assert_eq!(fleet.run(&["down"]).code, 0);
    fleet.none_left("gangline --");
}

/// A hub starts what lies in its program's place by now, without being restarted itself.
#[test]
fn a_replaced_program_is_what_new_daemons_run() {
    let installed = Installed::new();
    let program = installed.program().display().to_string();
    let fleet = Fleet::with(&program, &["oak-ada"], ("", ""));
    fleet.up();
    installed.put();
    let ran = fleet.run(&["restart", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(program_of(fleet.pid("oak-ada")), installed.program());
    let ps = fleet.run(&["ps"]).ok();
    assert!(ps.contains("hub: process") && ps.contains(" old, up"), "the hub is the old one: {ps}");
}
