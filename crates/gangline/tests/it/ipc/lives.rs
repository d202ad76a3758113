//! Starts and ends.

use gangline_testkit::{ServiceManager, Stage, eventually};
use serde_json::json;

use super::{ADA, BINARY, Ipc, SCRIPT, Scene};

/// R0-35, R0-37, R1-10, R1-45, C6: the socket and the supervisor stand before the runner starts; the
/// supervisor ends after the runner, then the socket is gone, before IRC is left, and the PID file is last.
#[test]
fn the_socket_comes_before_the_runner_and_goes_after_it() {
    let mut scene = Scene::open();
    let ipc = scene.dial();
    let steps = scene.stage.query(
        "SELECT json_extract(payload, '$.step') || ' ' || json_extract(payload, '$.state') FROM events \
         WHERE kind = 'start_step' ORDER BY seq",
    );
    let expect = [
        "buffer done",
        "irc done",
        "webhook done",
        "socket done",
        "supervisor done",
        "runner done",
    ];
    assert_eq!(steps, expect);
    let link = scene.stage.world.path("run/culture-oak-ada.sock");
    assert!(scene.socket().exists() && link.exists());
    let pid_file = scene.stage.world.state().join("agents/oak-ada/pid");
    let pid: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    let lock = scene.stage.world.state().join("agents/oak-ada/lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    assert!(lock.starts_with(&format!("pid {pid}\n")), "{lock}");
    drop(ipc);
    scene.hub.terminate();
    assert!(!scene.socket().exists() && std::fs::symlink_metadata(link).is_err());
    let log = scene.stage.world.state().join("agents/oak-ada/daemon.log");
    let log = std::fs::read_to_string(log).unwrap();
    let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("no `{text}` in {log}"));
    let watched = at("part=\"supervisor\"");
    assert!(at("agent loop ended") < watched && watched < at("socket closed"), "{log}");
    assert!(at("socket closed") < at("link ended"), "{log}");
    assert!(at("link ended") < at("PID file removed") && !pid_file.exists(), "{log}");
}

/// `sd_notify`: a daemon that a service manager keeps says when it is ready and when it ends.
#[test]
fn a_service_manager_hears_of_the_daemons_life() {
    let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: bypass"));
    let mut args = stage.up_args();
    args.push("--no-agents");
    let _hub = stage.world.start_ready(&args);
    let manager = ServiceManager::listen(&stage.world.path("run/notify"));
    let path = manager.socket.display().to_string();
    let args = ["--config", &stage.config, "daemon", ADA];
    let mut daemon = stage.world.start_with(&[("NOTIFY_SOCKET", &path)], &args);
    manager.hears("READY=1");
    let mut ipc = Ipc::dial(&stage.world.path("run/gangline-oak-ada.sock"));
    eventually("the backend", || {
        (ipc.ok(json!({"type": "status"}))["phase"] == "idle").then_some(())
    });
    daemon.signal(nix::sys::signal::Signal::SIGTERM);
    manager.hears("STOPPING=1");
    assert_eq!(daemon.wait(), 0, "{}", daemon.output());
}
