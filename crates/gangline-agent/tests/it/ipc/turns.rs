//! What the agent's shell says and reads is part of its turn.

use std::fs;

use gangline_testkit::{IrcPeer, eventually, irc};
use serde_json::json;

use super::{Scene, mode};
use crate::rig::ADA;

/// The test speaks in the shell's place: by its token, for as long as the shell runs.
const TELLS_ITS_TOKEN: &str =
    "echo $GANGLINE_TOKEN > token.new; mv token.new token; until [ -e go ]; do sleep 0.05; done";

/// What the agent said in the room, in order.
fn answers(peer: &IrcPeer) -> Vec<String> {
    let lines = peer.lines();
    let said = lines.iter().filter_map(|line| irc::said(line));
    let mine = said.filter(|said| said.from == ADA && said.target == "#general");
    mine.map(|said| said.text.to_owned()).collect()
}

/// Design §5: a send that names a message is its answer, wherever it goes, and one that names another
/// turn's is refused.
#[test]
fn a_send_that_names_its_message_is_the_answer_wherever_it_goes() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    alice.say("#general", &format!("@lab-ada shell: {TELLS_ITS_TOKEN}"));
    let (token, mut ipc) = (scene.rig.first_line("token"), scene.dial());
    let reply = |channel: &str, text: &str, message: &str| {
        json!({"type": "irc_send", "channel": channel, "message": text, "in_reply_to": message,
               "token": token})
    };
    let refused = ipc.error(reply("#general", "no", "m7"));
    assert!(refused.contains("m7"), "{refused}");
    ipc.ok(reply("alice", "just for you", "m1"));
    alice.hears(ADA, "alice", "just for you");
    scene.lets("go");
    alice.say("#general", "@lab-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["next"]);
    assert_eq!(scene.rig.query("SELECT state FROM messages"), ["answered", "answered"]);
}

/// C21: the same by culture's clients, who know no token: they descend from the agent's backend.
#[test]
fn a_client_without_a_token_in_the_agents_shell_is_the_agent() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let frame = r##"{"type":"irc_send","id":"1","channel":"#general","message":"by hand"}"##;
    let script = format!(
        "import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect('{}')\ns.sendall(b'''{frame}\\n''')\n\
         print(s.recv(999))\n",
        scene.rig.run("culture-lab-ada.sock").display()
    );
    fs::write(scene.rig.work("client.py"), &script).unwrap();
    alice.say("#general", "@lab-ada shell: env -u GANGLINE_TOKEN python3 client.py");
    alice.hears(ADA, "#general", "by hand");
    alice.say("#general", "@lab-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["by hand", "next"]);
}

/// Somebody else's words through the socket are no answer of the turn's.
#[test]
fn what_others_send_as_the_agent_is_not_the_turns_answer() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    alice.say("#general", "@lab-ada shell: until [ -e go ]; do sleep 0.05; done");
    ipc.sees("the turn", |status| status["phase"] == "working");
    ipc.ok(json!({"type": "irc_send", "channel": "#general", "message": "from outside"}));
    alice.hears(ADA, "#general", "from outside");
    scene.lets("go");
    alice.hears(ADA, "#general", "the shell is done");
    let turn = scene.rig.query("SELECT count(*) FROM outbox WHERE turn_number IS NULL");
    assert_eq!(turn, ["1"]);
}

/// C3, R1-26, R1-29: a message that the agent reads in its turn joins it, and is not fed again.
#[test]
fn a_message_that_is_read_in_a_turn_is_part_of_it() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    alice.say("#general", &format!("@lab-ada shell: {TELLS_ITS_TOKEN}"));
    let token = scene.rig.first_line("token");
    ipc.sees("the turn", |status| status["phase"] == "working");
    alice.say("#general", "@lab-ada and what about this");
    ipc.sees("the second message to wait", |status| status["pending"] == 1);
    // The room's lines have it a moment after the store.
    let look = json!({"type": "irc_read", "channel": "#general", "peek": true});
    eventually("the line", || {
        ipc.ok(look.clone()).to_string().contains("about this").then_some(())
    });
    let read = ipc.ok(json!({"type": "irc_read", "channel": "#general", "token": token}));
    assert!(read.to_string().contains("and what about this"), "{read}");
    let seen =
        json!({"type": "irc_send", "channel": "#general", "message": "seen", "token": token});
    ipc.ok(seen);
    alice.hears(ADA, "#general", "seen");
    scene.lets("go");
    scene.rig.sees("SELECT state FROM messages WHERE id = 2", &["answered"]);
    let how = "SELECT how || ' t' || epoch || '.' || number FROM turn_messages WHERE message = 2";
    assert_eq!(scene.rig.query(how), ["read t1.1"]);
    let status = ipc.sees("the turn to be counted", |status| status["turn_count"] == 1);
    assert_eq!(status["pending"], 0, "{status}");
    assert_eq!(status["unread"], json!(null), "all was read: {status}");
}

/// R2-13, C33: the prompt's later line tells how much there is to read.
#[test]
fn a_prompt_hints_at_lines_that_were_not_read() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    for text in ["one", "two"] {
        alice.say("#general", text);
    }
    ipc.has_unread("#general", 2);
    alice.say("#general", "@lab-ada say exactly first");
    alice.hears(ADA, "#general", "first");
    let lines = ["<alice> one", "<alice> two"].map(str::to_owned);
    assert_eq!(ipc.read("#general", 500), (lines.into(), 0), "the prompt is not among them");
    alice.say("#general", "@lab-ada say exactly second");
    alice.hears(ADA, "#general", "second");
    let session =
        fs::read_dir(scene.rig.state("sessions")).unwrap().next().unwrap().unwrap().path();
    let memory = fs::read_to_string(session).unwrap();
    let hint = r"say exactly first\n[gangline] 2 unread lines here";
    assert!(memory.contains(hint), "{memory}");
    assert!(memory.contains("say exactly second\""), "no hint: {memory}");
}

/// R0-59, C32, design §8: what a child finds in its environment, and that what it says of its token
/// is masked.
#[test]
fn a_child_knows_its_agent_its_socket_and_its_token() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    alice.say("#general", "@lab-ada shell: env | sort > env.txt; echo $GANGLINE_TOKEN");
    alice.hears(ADA, "#general", "the shell is done");
    let env = fs::read_to_string(scene.rig.work("env.txt")).unwrap();
    let state = scene.rig.state("").display().to_string();
    let state = state.trim_end_matches('/');
    let socket = scene.rig.run("gangline-lab-ada.sock").display().to_string();
    for expect in [
        "GANGLINE_NICK=lab-ada".to_owned(),
        "CULTURE_NICK=lab-ada".to_owned(),
        format!("GANGLINE_STATE_DIR={state}"),
        format!("GANGLINE_SOCKET={socket}"),
        format!("TMPDIR={state}/tmp"),
    ] {
        assert!(env.lines().any(|line| line == expect), "no {expect} in {env}");
    }
    assert_eq!(mode(&scene.rig.state("tmp")), 0o700);
    let token = env.lines().find_map(|line| line.strip_prefix("GANGLINE_TOKEN=")).unwrap();
    assert!(token.starts_with("glt_") && token.len() == 36, "{token}");
    let mut ipc = scene.dial();
    assert_eq!(ipc.ok(json!({"type": "status", "token": token}))["nick"], ADA);
    let logs = scene.rig.query("SELECT payload FROM events").join("\n");
    assert!(logs.contains("[masked]") && !logs.contains(token), "{logs}");
}
