//! Units for systemd, and what a service manager is told.

use std::process::Stdio;

use gangline_testkit::{ServiceManager, eventually, stage};
use nix::sys::signal::Signal;

use super::{Fleet, send};

#[test]
fn units_are_printed_written_and_removed() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob_2"]);
    let folder = fleet.world().path("config/systemd/user");
    let dry = fleet.run(&["service", "install", "--dry-run"]).ok();
    assert!(!folder.exists(), "a dry run writes nothing");
    assert!(
        dry.contains("enable --now gangline gangline-agent@oak-ada gangline-agent@oak-bob_2\n"),
        "{dry}"
    );
    let told = fleet.run(&["service", "install"]).ok();
    assert!(told.contains("systemctl --user daemon-reload"), "{told}");
    for (name, args) in
        [("gangline.service", "up --service --no-agents"), ("gangline-agent@.service", "daemon %i")]
    {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(dry.contains(&text), "{name} is what was printed");
        let start = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        assert!(start.ends_with(args), "{start}");
        assert!(start.contains(&fleet.stage.config) && start.contains("--state"), "{start}");
    }
    let removed = fleet.run(&["service", "install", "--uninstall"]).ok();
    assert!(removed.contains("gangline-agent@.service"), "{removed}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let again = fleet.run(&["service", "install", "--uninstall"]).ok();
    assert!(again.starts_with("no units of Gangline's"), "{again}");
    let nobody = fleet.run(&["service", "install", "--system", "--dry-run"]);
    assert_eq!(nobody.code, 1, "the machine's units need a user: {}", nobody.stdout);
    let system =
        fleet.run(&["service", "install", "--system", "--run-as", "otto", "--dry-run"]).ok();
    assert!(system.contains("User=otto") && system.contains("multi-user.target"), "{system}");
}

/// R1-48: systemd itself finds nothing wrong with the units.
#[test]
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
fn systemd_takes_the_units() {
    let verify = |paths: &[std::path::PathBuf]| {
        let mut command = std::process::Command::new("systemd-analyze");
        command.arg("verify").args(paths).env("SYSTEMD_LOG_LEVEL", "warning").output()
    };
    if verify(&[]).is_err() {
        let why = "systemd-analyze is not installed (Debian package `systemd`)";
        return stage::skip("fleet::service::systemd_takes_the_units", why);
    }
    let fleet = Fleet::new(&["oak-ada"]);
    let folder = fleet.world().path("config/systemd/user");
    let _ = fleet.run(&["service", "install"]).ok();
    // A template is looked at by one of its instances.
    let instance = folder.join("gangline-agent@oak-ada.service");
    std::fs::copy(folder.join("gangline-agent@.service"), &instance).unwrap();
    let output = verify(&[folder.join("gangline.service"), instance]).unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("gangline")).collect();
    assert!(ours.is_empty(), "{said}");
    // It does see mistakes.
    let broken = folder.join("gangline-broken.service");
    std::fs::write(&broken, "[Service]\nType=nonsense\nExecStart=/bin/true\n").unwrap();
    let said = String::from_utf8_lossy(&verify(&[broken]).unwrap().stderr).into_owned();
    assert!(said.contains("nonsense"), "{said}");
}

/// `sd_notify`: ready when the chat server listens, a status line, alive, stopping; and a SIGTERM
/// leaves the daemons.
#[test]
fn a_service_manager_hears_of_the_hubs_life() {
    let fleet = Fleet::new(&["oak-ada"]);
    let manager = ServiceManager::listen(&fleet.world().path("run/notify"));
    let mut hub = fleet
        .world()
        .command(&["--config", &fleet.stage.config, "up", "--service"])
        .env("NOTIFY_SOCKET", &manager.socket)
        .env("WATCHDOG_USEC", "400000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = i32::try_from(hub.id()).unwrap();
    manager.hears("READY=1");
    manager.hears("STATUS=1 of 1 daemons run");
    for _ in 0..3 {
        manager.hears("WATCHDOG=1");
    }
    fleet.becomes("oak-ada", "idle");
    assert_eq!(fleet.about()["supervised"], true);
    let daemon = fleet.pid("oak-ada");
    let environment = std::fs::read(format!("/proc/{daemon}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("NOTIFY_SOCKET"));
    let ran = fleet.run(&["restart", "--hub"]);
    assert_eq!(ran.code, 1, "that is the service manager's: {}", ran.stderr);
    send(pid, Signal::SIGTERM);
    manager.hears("STOPPING=1");
    let status = eventually("the hub's end", || hub.try_wait().unwrap());
    assert!(status.success(), "{status}");
    assert_eq!(fleet.pid("oak-ada"), daemon, "left running");
    assert_eq!(fleet.run(&["down"]).code, 0);
}
