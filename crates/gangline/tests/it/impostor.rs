//! Another user of the machine takes the chat server's port while the hub is down.

use std::fs;

use gangline_testkit::{
    Impostor, IrcPeer, Stage, eventually,
    impostor::NOBODY,
    irc,
    stage::{is_root, skip},
};

use crate::claude::kill_hard;

const ADA: &str = "im-ada";
/// So many attempts to connect show that a daemon goes on without believing the port.
const ATTEMPTS: usize = 5;

/// Starts a hub that tells what its daemons do, and kills it.
fn without_hub() -> Stage {
    let mut stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""));
    stage.world.set("GANGLINE_LOG", "gangline=debug,warn");
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
    let before = attempts(&stage);
    eventually("the daemon to look for its own server", || {
        (attempts(&stage) >= before + ATTEMPTS || !impostor.heard().is_empty()).then_some(())
    });
    assert_eq!(impostor.heard(), [""; 0], "not a word, not even a connection");
    let ran = stage.world.run(&["channel", "message", "#general", "for our own server"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(impostor.heard(), [""; 0], "the command neither");
    drop(impostor);
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@im-ada say exactly back again");
    alice.hears(ADA, "#general", "back again");
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
}

/// A stolen password of an agent opens nothing: not for another user, and not by TCP at all once
/// the agent has used the socket.
#[test]
fn a_stolen_password_of_an_agent_is_of_no_use_by_tcp() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""));
    let _hub = stage.up();
    let secret = stage.world.state().join("agents").join(ADA).join("irc.secret");
    let secret = fs::read_to_string(secret).unwrap();
    let thieves = [
        Some(IrcPeer::open(&stage.irc, "mallory")),
        is_root().then(|| IrcPeer::open_as(NOBODY, &stage.irc, "eve")),
    ];
    for mut thief in thieves.into_iter().flatten() {
        thief.send(&format!("PASS {ADA}:{}\r\nNICK thief\r\nUSER t 0 * :t", secret.trim()));
        let answer = thief.wait("a refusal", |line| {
            ["001", "464", "900"].contains(&irc::command(line)).then(|| line.to_owned())
        });
        assert_eq!(irc::command(&answer), "464", "{answer}");
    }
}
