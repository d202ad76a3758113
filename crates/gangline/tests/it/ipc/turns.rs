//! What the agent's shell says and reads is part of its turn.

use gangline_testkit::{IrcPeer, eventually, eventually_seeing, irc};
use serde_json::json;

use super::{ADA, Scene};

/// What the agent said in the room, in order.
fn answers(peer: &IrcPeer) -> Vec<String> {
    let lines = peer.lines();
    let said = lines.iter().filter_map(|line| irc::said(line));
    let mine = said.filter(|said| said.from == ADA && said.target == "#general");
    mine.map(|said| said.text.to_owned()).collect()
}

/// C12, R0-39, R0-60: what was said to the room by the agent's own shell is its answer, and is not
/// relayed once more; the line belongs to the turn.
#[test]
fn an_answer_that_the_shell_sent_is_not_repeated() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    alice.say("#general", "@oak-ada shell: gangline channel message '#general' 'it is 42'");
    alice.hears(ADA, "#general", "it is 42");
    alice.say("#general", "@oak-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["it is 42", "next"]);
    let turn = scene.stage.query("SELECT turn_number FROM outbox WHERE body = 'it is 42'");
    assert_eq!(turn, ["1"]);
    let state = scene.stage.query("SELECT state FROM messages ORDER BY id");
    assert_eq!(state, ["answered", "answered"]);
}

/// Design §5: a send that names a message is its answer, wherever it goes, and one that names another
/// turn's is refused.
#[test]
fn a_send_that_names_its_message_is_the_answer_wherever_it_goes() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let wrong = "gangline channel send --reply-to m7 '#general' no || echo refused > refused.txt";
    let right = "gangline channel send --reply-to m1 @alice 'just for you'";
    alice.say("#general", &format!("@oak-ada shell: {wrong}; {right}"));
    alice.hears(ADA, "alice", "just for you");
    alice.say("#general", "@oak-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["next"]);
    assert!(scene.stage.world.path("work/refused.txt").exists());
    assert_eq!(scene.stage.query("SELECT state FROM messages"), ["answered", "answered"]);
}

/// C21: the same by culture's clients, who know no token: they descend from the agent's backend.
#[test]
fn a_client_without_a_token_in_the_agents_shell_is_the_agent() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let frame = r##"{"type":"irc_send","id":"1","channel":"#general","message":"by hand"}"##;
    let script = format!(
        "import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect('{}')\ns.sendall(b'''{frame}\\n''')\n\
         print(s.recv(999))\n",
        scene.stage.world.path("run/culture-oak-ada.sock").display()
    );
    let _ = scene.stage.world.file("work/client.py", &script);
    alice.say("#general", "@oak-ada shell: env -u GANGLINE_TOKEN python3 client.py");
    alice.hears(ADA, "#general", "by hand");
    alice.say("#general", "@oak-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["by hand", "next"]);
}

/// Somebody else's words through the socket are no answer of the turn's.
#[test]
fn what_others_send_as_the_agent_is_not_the_turns_answer() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    alice.say("#general", "@oak-ada shell: until [ -e go ]; do sleep 0.05; done");
    eventually("the turn", || {
        (ipc.ok(json!({"type": "status"}))["phase"] == "working").then_some(())
    });
    ipc.ok(json!({"type": "irc_send", "channel": "#general", "message": "from outside"}));
    alice.hears(ADA, "#general", "from outside");
    let _ = scene.stage.world.file("work/go", "");
    alice.hears(ADA, "#general", "the shell is done");
    let turn = scene.stage.query("SELECT count(*) FROM outbox WHERE turn_number IS NULL");
    assert_eq!(turn, ["1"]);
}

/// C3, R1-26, R1-29: a message that the agent reads in its turn joins it, and is not fed again.
#[test]
fn a_message_that_is_read_in_a_turn_is_part_of_it() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    let wait = "until [ -e go ]; do sleep 0.05; done; gangline channel read '#general'";
    alice
        .say("#general", &format!("@oak-ada shell: {wait}; gangline channel send '#general' seen"));
    eventually("the turn", || {
        (ipc.ok(json!({"type": "status"}))["phase"] == "working").then_some(())
    });
    alice.say("#general", "@oak-ada and what about this");
    eventually("the second message to wait", || {
        let status = ipc.ok(json!({"type": "status"}));
        (status["pending"] == 1).then_some(())
    });
    let _ = scene.stage.world.file("work/go", "");
    alice.hears(ADA, "#general", "seen");
    let config = scene.stage.config.clone();
    let trace = scene.stage.world.eventually("the end of the turn", || {
        let trace = scene.stage.world.run(&["--config", &config, "trace", "m2", "--json"]).json();
        (trace["message"]["state"] == "answered").then_some(trace)
    });
    assert_eq!(trace["turns"].as_array().unwrap().len(), 1, "{trace}");
    assert_eq!(
        (&trace["turns"][0]["how"], &trace["turns"][0]["turn"]),
        (&json!("read"), &json!("t1.1"))
    );
    let status = eventually_seeing("the turn to be counted", || {
        let status = ipc.ok(json!({"type": "status"}));
        if status["turn_count"] == 1 { Ok(status) } else { Err(status.to_string()) }
    });
    assert_eq!(status["pending"], 0, "{status}");
    assert_eq!(status["unread"], json!(null), "all was read: {status}");
}

/// R2-13, C33: the prompt's later line tells how much there is to read.
#[test]
fn a_prompt_hints_at_lines_that_were_not_read() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    for text in ["one", "two"] {
        alice.say("#general", text);
    }
    eventually("two lines", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#general"] == 2).then_some(())
    });
    alice.say("#general", "@oak-ada say exactly first");
    alice.hears(ADA, "#general", "first");
    let lines = ["<alice> one", "<alice> two"].map(str::to_owned);
    assert_eq!(ipc.read("#general", 500), (lines.into(), 0), "the prompt is not among them");
    alice.say("#general", "@oak-ada say exactly second");
    alice.hears(ADA, "#general", "second");
    let sessions = scene.stage.world.state().join("agents/oak-ada/sessions");
    let session = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let memory = std::fs::read_to_string(session).unwrap();
    let hint = r"say exactly first\n[gangline] 2 unread lines here";
    assert!(memory.contains(hint), "{memory}");
    assert!(memory.contains("say exactly second\""), "no hint: {memory}");
}

/// R0-59, C32, design §8: what a child finds in its environment, and that what it says of its token
/// is masked.
#[test]
fn a_child_knows_its_agent_its_socket_and_its_token() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    alice.say("#general", "@oak-ada shell: env | sort > env.txt; echo $GANGLINE_TOKEN");
    alice.hears(ADA, "#general", "the shell is done");
    let env = std::fs::read_to_string(scene.stage.world.path("work/env.txt")).unwrap();
    let state = scene.stage.world.state().display().to_string();
    let socket = scene.socket().display().to_string();
    for expect in [
        "GANGLINE_NICK=oak-ada".to_owned(),
        "CULTURE_NICK=oak-ada".to_owned(),
        format!("GANGLINE_STATE_DIR={state}/agents/oak-ada"),
        format!("GANGLINE_SOCKET={socket}"),
        format!("TMPDIR={state}/agents/oak-ada/tmp"),
    ] {
        assert!(env.lines().any(|line| line == expect), "no {expect} in {env}");
    }
    assert_eq!(super::mode(&scene.stage.world.state().join("agents/oak-ada/tmp")), 0o700);
    let token = env.lines().find_map(|line| line.strip_prefix("GANGLINE_TOKEN=")).unwrap();
    assert!(token.starts_with("glt_") && token.len() == 36, "{token}");
    let mut ipc = scene.dial();
    assert_eq!(ipc.ok(json!({"type": "status", "token": token}))["nick"], ADA);
    let config = scene.stage.config.clone();
    let logs = scene.stage.world.run(&["--config", &config, "logs", ADA, "--json"]).ok();
    assert!(logs.contains("[masked]") && !logs.contains(token), "{logs}");
}
