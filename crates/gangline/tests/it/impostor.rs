//! Another user of the machine takes the chat server's port while the hub is down.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio};

use gangline_testkit::{
    Impostor, IrcPeer, ServiceManager, Stage, eventually,
    impostor::NOBODY,
    irc,
    stage::{is_root, skip},
    world::{go_on, stands_still},
};
use nix::sys::signal::Signal;

use crate::claude::kill_hard;

const ADA: &str = "im-ada";
/// So many attempts to connect show that a daemon goes on without believing the port.
const ATTEMPTS: usize = 5;

/// Prepares a hub that tells what its daemons do.
fn telling() -> Stage {
    let mut stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""));
    stage.world.set("GANGLINE_LOG", "gangline=debug,warn");
    stage
}

/// Starts such a hub and kills it.
fn without_hub() -> Stage {
    let stage = telling();
    let mut hub = stage.up();
    kill_hard(hub.pid());
    hub.wait();
    stage
}

fn attempts(stage: &Stage) -> usize {
    let log = stage.world.state().join("agents").join(ADA).join("daemon.log");
    let log = fs::read_to_string(log).unwrap_or_default();
    log.lines().filter(|line| line.contains("off IRC") && line.contains("irc.sock")).count()
}

/// Returns the number that answers this password: 001 or 464.
fn answer_to(stage: &Stage, token: &str) -> String {
    let mut peer = IrcPeer::open(&stage.irc, "boss");
    peer.send(&format!("PASS owner:{token}\r\nNICK boss\r\nUSER boss 0 * :boss"));
    peer.wait("001 or 464", |line| {
        ["001", "464"].contains(&irc::command(line)).then(|| irc::command(line).to_owned())
    })
}

/// The daemon and the command line look for their own server, and the impostor hears of neither.
fn hears_nothing(stage: &Stage, impostor: &Impostor) {
    let before = attempts(stage);
    eventually("the daemon to look for its own server", || {
        (attempts(stage) >= before + ATTEMPTS || !impostor.heard().is_empty()).then_some(())
    });
    let ran = stage.world.run(&["channel", "message", "#general", "for our own server"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(impostor.heard(), [""; 0], "not a word, not even a connection");
}

/// The hub has its port again: the daemon answers there, and the former owner's token is refused.
fn is_back(stage: &Stage, refused: &[String]) {
    let mut alice = stage.member("alice");
    alice.say("#general", "@im-ada say exactly back again");
    alice.hears(ADA, "#general", "back again");
    for token in refused {
        assert_eq!(answer_to(stage, token), "464");
    }
    assert_eq!(answer_to(stage, &stage.token()), "001");
}

/// The daemon gives its password to nobody but the installation's own server, and believes nobody
/// else. The impostor closes its sending side at once: the kernel then no longer calls the
/// connection established.
#[test]
fn a_daemon_tells_an_impostor_on_the_port_nothing() {
    if !is_root() {
        return skip("a_daemon_tells_an_impostor", "only root can listen as another user");
    }
    let stage = without_hub();
    let impostor = Impostor::listen(NOBODY, &stage.irc);
    hears_nothing(&stage, &impostor);
    drop(impostor);
    let _hub = stage.up();
    is_back(&stage, &[]);
}

/// `restart --hub`: between the two hubs the port is free. The next hub is held before it binds, so
/// that the impostor surely is first.
#[test]
fn an_impostor_between_two_hubs_of_a_restart_hears_nothing() {
    if !is_root() {
        return skip("an_impostor_between_two_hubs", "only root can listen as another user");
    }
    let stage = telling();
    let mut hub = stage.up();
    let old = stage.token();
    let stops = [("GANGLINE_FAILPOINTS", "hub.begins=stop")];
    let args = ["--config", &stage.config, "restart", "--hub"];
    let mut restart = stage.world.start_with(&stops, &args);
    assert_eq!(hub.wait(), 0, "{}", hub.output());
    let next =
        eventually("the next hub", || stage.world.processes_like("up --service").first().copied());
    stands_still(next);
    let impostor = Impostor::listen(NOBODY, &stage.irc);
    hears_nothing(&stage, &impostor);
    go_on(next);
    assert_eq!(restart.wait(), 2, "{}", restart.output());
    for part in ["user 65534", "new one", "refused"] {
        assert!(restart.output().contains(part), "no {part} in {}", restart.output());
    }
    hears_nothing(&stage, &impostor);
    drop(impostor);
    let _hub = stage.up();
    is_back(&stage, &[old]);
}

/// A hub that leaves its daemons (SIGUSR1, as for an upgrade), and the one that follows it.
#[test]
fn an_impostor_between_a_hub_that_leaves_and_the_next_hears_nothing() {
    if !is_root() {
        return skip(
            "an_impostor_between_a_hub_that_leaves",
            "only root can listen as another user",
        );
    }
    let stage = telling();
    let mut hub = stage.up();
    let old = stage.token();
    hub.signal(Signal::SIGUSR1);
    assert_eq!(hub.wait(), 0, "{}", hub.output());
    let impostor = Impostor::listen(NOBODY, &stage.irc);
    hears_nothing(&stage, &impostor);
    assert_eq!(stage.up_ends().code, 2);
    hears_nothing(&stage, &impostor);
    drop(impostor);
    let _hub = stage.up();
    is_back(&stage, &[old]);
}

/// A hub of a service manager is killed; its socket's file is left. Each hub that the manager starts
/// in its place finds the port taken and ends, with a code that it is started again after.
#[test]
fn an_impostor_between_two_hubs_of_a_service_manager_hears_nothing() {
    if !is_root() {
        return skip("an_impostor_between_two_hubs_of_a", "only root can listen as another user");
    }
    let stage = telling();
    let manager = ServiceManager::listen(&stage.world.path("run/notify"));
    let start = || {
        let mut command = stage.world.command(&["--config", &stage.config, "up", "--service"]);
        command.env("NOTIFY_SOCKET", &manager.socket);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut hub = start();
    manager.hears("READY=1");
    manager.hears("STATUS=1 of 1 daemons run");
    let socket = stage.world.state().join("irc.sock");
    let mut refused = vec![stage.token()];
    hub.kill().unwrap();
    hub.wait().unwrap();
    assert!(socket.exists(), "nobody took it away");
    let impostor = Impostor::listen(NOBODY, &stage.irc);
    for _ in 0..2 {
        hears_nothing(&stage, &impostor);
        let mut next = start();
        let status = eventually("a hub without a port to end", || next.try_wait().unwrap());
        assert_eq!(status.code(), Some(2));
        refused.push(stage.token());
    }
    drop(impostor);
    refused.pop();
    let mut hub = start();
    manager.hears("READY=1");
    is_back(&stage, &refused);
    assert_eq!(stage.world.run(&["--config", &stage.config, "down"]).code, 0);
    hub.wait().unwrap();
}

/// Somebody has opened the state folder to all, and another user puts a socket of their own in the
/// place of the server's. A connection is made, and nothing is said on it.
#[test]
fn an_impostor_at_the_private_socket_hears_nothing() {
    if !is_root() {
        return skip("an_impostor_at_the_private_socket", "only root can listen as another user");
    }
    let stage = without_hub();
    let state = stage.world.state();
    let open = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let home = stage.world.path("");
    for folder in state.ancestors().skip(1).take_while(|folder| folder.starts_with(&home)) {
        open(folder, 0o711);
    }
    open(&state, 0o777);
    let socket = state.join("irc.sock");
    fs::remove_file(&socket).unwrap();
    let impostor = Impostor::listen(NOBODY, socket.to_str().unwrap());
    let before = attempts(&stage);
    eventually("the daemon to turn away from it", || {
        let tries = impostor.heard().iter().filter(|line| *line == "CONNECTED").count();
        (tries >= ATTEMPTS && attempts(&stage) >= before + ATTEMPTS).then_some(())
    });
    let ran = stage.world.run(&["channel", "message", "#general", "for our own server"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let said: Vec<_> = impostor.heard().into_iter().filter(|line| line != "CONNECTED").collect();
    assert_eq!(said, [""; 0]);
}

/// Whoever typed the owner's password while the port was another's has told it to that user.
#[test]
fn a_hub_whose_port_another_user_has_replaces_the_owners_token() {
    if !is_root() {
        return skip("a_hub_whose_port_another_user_has", "only root can listen as another user");
    }
    let stage = without_hub();
    let old = stage.token();
    let impostor = Impostor::listen(NOBODY, &stage.irc);
    let ran = stage.up_ends();
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let file = stage.world.state().join("owner.token").display().to_string();
    let told = |ran: &gangline_testkit::Ran| {
        for part in ["user 65534", "new one", &file, "refused"] {
            assert!(ran.stderr.contains(part), "no {part} in {}", ran.stderr);
        }
    };
    told(&ran);
    let new = stage.token();
    assert_ne!(old, new);
    let ran = stage.world.run(&["--config", &stage.config, "up", "-d", "--timeout", "60"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    told(&ran);
    let newest = stage.token();
    assert_ne!(new, newest, "each time: the last one may have been typed as well");
    drop(impostor);
    let _hub = stage.up();
    assert_eq!([old, new, newest].map(|token| answer_to(&stage, &token)), ["464", "464", "001"]);
    // The daemon ran on, and masks the password that it did not know when it started.
    let mut alice = stage.member("alice");
    alice.say("#general", &format!("@{ADA} say exactly it is {} now", stage.token()));
    alice.hears(ADA, "#general", "it is [masked] now");
}

/// A stolen password of an agent opens nothing: not for another user, and not by TCP at all once
/// the agent has used the socket.
#[test]
fn a_stolen_password_of_an_agent_is_of_no_use_by_tcp() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""));
    let _hub = stage.up();
    let secret = stage.world.state().join("agents").join(ADA).join("irc.secret");
    let secret = fs::read_to_string(secret).unwrap();
    let mut thieves = vec![IrcPeer::open(&stage.irc, "mallory")];
    if is_root() {
        thieves.push(IrcPeer::open_as(NOBODY, &stage.irc, "eve"));
    } else {
        skip("a_stolen_password_of_an_agent: for another user", "only root can be another user");
    }
    for mut thief in thieves {
        thief.send(&format!("PASS {ADA}:{}\r\nNICK thief\r\nUSER t 0 * :t", secret.trim()));
        let answer = thief.wait("a refusal", |line| {
            ["001", "464", "900"].contains(&irc::command(line)).then(|| line.to_owned())
        });
        assert_eq!(irc::command(&answer), "464", "{answer}");
    }
}
