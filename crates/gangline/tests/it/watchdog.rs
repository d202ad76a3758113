//! What a backend takes back, as the commands show it. The far side is a script that speaks Claude
//! Code's wire; what else such backends do is tested in `gangline-agent`.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use gangline_testkit::{IrcPeer, Running, World, eventually, stage::free_port};

/// What the script begins with. `life` counts the starts.
const WIRE: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.330 (Claude Code)'; exit 0; }
cd "$GT_WORKDIR" || exit 9
echo x >> lives; life=$(wc -l < lives)
say() { printf '%s\n' "$1"; }
ready() {
  read -r init
  say '{"type":"control_response","response":{"subtype":"success","request_id":"gangline-1","response":{}}}'
}
prompt() {
  read -r line
  uuid=${line##*'"uuid":"'}; uuid=${uuid%%'"'*}
  say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"started\"}"
}
words() {
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"user_message_uuids\":[\"$uuid\"]}"
}
serve() { while :; do prompt; words "answer of life $life"; done; }
"#;

struct Rig {
    world: World,
    config: String,
    irc: String,
}

impl Rig {
    fn new(body: &str) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let program = world.file("claude", &format!("{WIRE}{body}\n"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(world.path("work")).unwrap();
        let port = free_port();
        let config = world.file(
            "agents.yaml",
            &format!(
                "server: {{name: lab, host: 127.0.0.1, port: {port}}}\nagents:\n  - nick: lab-ada\n    \
                 agent: claude\n    command: [\"{program}\"]\n    directory: {}\n",
                world.path("work").display(),
            ),
        );
        Self { world, config, irc: format!("127.0.0.1:{port}") }
    }

    fn up(&self) -> Running {
        self.world.start_ready(&["--config", &self.config, "up", "--restart-delay-max", "1"])
    }

    fn run(&self, args: &[&str]) -> String {
        let mut all = vec!["--config", &self.config];
        all.extend(args);
        self.world.run(&all).ok()
    }

    fn eve(&self) -> IrcPeer {
        let caps = "message-tags server-time batch echo-message draft/chathistory";
        let mut peer = IrcPeer::connect_with(&self.irc, ("eve", None), caps);
        peer.join("#general");
        peer
    }

    fn work(&self, file: &str) -> PathBuf {
        self.world.path("work").join(file)
    }
}

/// A question that the program takes back needs no answer any more: those who were asked are told,
/// and nobody can decide it.
#[test]
fn a_question_that_is_taken_back_is_nobodys_any_more() {
    let rig = Rig::new(
        r#"ready; prompt
        say '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}'
        until [ -e back ]; do sleep 0.05; done
        say '{"type":"control_cancel_request","request_id":"q1"}'
        until [ -e on ]; do sleep 0.05; done
        words done; serve"#,
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", "lab-ada wants to run (for eve");
    assert!(rig.run(&["approvals"]).contains("Bash"));
    fs::write(rig.work("back"), "").unwrap();
    let gone = "approval 1 is closed: my program withdrew its request";
    eve.hears("lab-ada", "#general", gone);
    assert_eq!(rig.run(&["approvals"]), "no approval waits\n");
    let refused = rig.world.run(&["--config", &rig.config, "approve", "1"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(refused.stderr.contains("withdrawn"), "{}", refused.stderr);
    let logs = rig.run(&["logs", "lab-ada"]);
    assert!(logs.contains(gone), "{logs}");
    fs::write(rig.work("on"), "").unwrap();
    eve.hears("lab-ada", "#general", "done");
    eve.say("#general", "@lab-ada again");
    eve.hears("lab-ada", "#general", "answer of life 1");
}

/// A hook of the user's that hangs does not keep its turn from the time limit, and is named: in
/// the status while it hangs, and in what is said of the end.
#[test]
fn a_hook_that_hangs_is_named_and_its_turn_ends() {
    let rig = Rig::new(
        r#"ready; [ "$life" = 1 ] || serve; prompt
        call='{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"true"}}'
        say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[$call],\"usage\":{}},\"parent_tool_use_id\":null}"
        beat='"tool_use_id":"hook-PreToolUse-t1-heartbeat-0","tool_name":"PreToolUse","parent_tool_use_id":"t1"'
        while say "{\"type\":\"tool_progress\",$beat,\"heartbeat\":true}"; do sleep 0.2; done"#,
    );
    let config = fs::read_to_string(&rig.config).unwrap();
    fs::write(&rig.config, format!("{config}    turn_timeout_seconds: 4\n")).unwrap();
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eventually("the hook in the status", || {
        rig.run(&["status", "lab-ada"]).contains("the hook PreToolUse").then_some(())
    });
    eventually("the end of the turn in the log", || {
        let log = rig.run(&["logs", "lab-ada"]);
        let end = "no activity and is being stopped: it waited for the hook PreToolUse";
        log.contains(end).then_some(())
    });
}
