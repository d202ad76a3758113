//! Backends that hang, crash and refuse: what the agent and the people in the room hear of it, and
//! that the next message works. The far side is a script that speaks Claude Code's wire.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use gangline_testkit::{IrcPeer, Running, World, database, eventually, stage::free_port};

/// What every script begins with. `life` counts the starts; what the program is told is kept in
/// the files `ids`, `arguments` and `prompts`.
const WIRE: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.330 (Claude Code)'; exit 0; }
cd "$GT_WORKDIR" || exit 9
echo x >> lives; life=$(wc -l < lives)
echo "$GT_SESSION_ID" >> ids
echo "$*" | grep -o -e '--resume\|--session-id' >> arguments
say() { printf '%s\n' "$1"; }
ready() {
  read -r init
  say '{"type":"control_response","response":{"subtype":"success","request_id":"gangline-1","response":{}}}'
}
prompt() {
  read -r line
  printf '%s\n' "$line" >> prompts
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
    fn new(body: &str, each: &str) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let program = world.file("claude", &format!("{WIRE}{body}\n"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(world.path("work")).unwrap();
        let port = free_port();
        let config = world.file(
            "agents.yaml",
            &format!(
                "server: {{name: lab, host: 127.0.0.1, port: {port}}}\nagents:\n  - nick: lab-ada\n    \
                 agent: claude\n    command: [\"{program}\"]\n    directory: {}\n    {}\n",
                world.path("work").display(),
                each.replace('\n', "\n    "),
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

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.work(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    fn alerts(&self) -> Vec<String> {
        self.query(
            "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'alert' ORDER BY seq",
        )
    }

    fn outcomes(&self) -> Vec<String> {
        self.query("SELECT outcome FROM turns WHERE ended_at IS NOT NULL ORDER BY epoch, number")
    }
}

const TIMED_OUT: &str = "no answer: the turn showed no activity and was stopped";

/// A turn without a sign of life is interrupted; who asked is told, and the session goes on. The
/// time may have a fraction of a second (C36); it is long enough for the turn that follows.
#[test]
fn a_silent_turn_is_interrupted_and_its_asker_told() {
    let rig = Rig::new(
        r#"ready; prompt
        read -r interrupt
        id=${interrupt##*'"request_id":"'}; id=${id%%'"'*}
        say "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$id\",\"response\":{}}}"
        say "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"user_message_uuids\":[\"$uuid\"]}"
        serve"#,
        "turn_timeout_seconds: 3.7",
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    let asked = Instant::now();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", TIMED_OUT);
    assert!(asked.elapsed() > Duration::from_millis(3650), "{:?}", asked.elapsed());
    eve.say("#general", "@lab-ada again");
    eve.hears("lab-ada", "#general", "answer of life 1");
    assert_eq!(rig.outcomes(), ["timed_out", "completed"]);
}

/// A question that the program takes back needs no answer any more: those who were asked are told,
/// nobody can decide it, and the time of the turn, which stood still meanwhile, runs again.
#[test]
fn a_question_that_is_taken_back_is_nobodys_any_more() {
    let rig = Rig::new(
        r#"ready; prompt
        say '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}'
        until [ -e back ]; do sleep 0.05; done
        say '{"type":"control_cancel_request","request_id":"q1"}'
        read -r interrupt
        id=${interrupt##*'"request_id":"'}; id=${id%%'"'*}
        say "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$id\",\"response\":{}}}"
        say "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"user_message_uuids\":[\"$uuid\"]}"
        serve"#,
        "turn_timeout_seconds: 4",
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
    eve.hears("lab-ada", "#general", TIMED_OUT);
    let logs = rig.run(&["logs", "lab-ada"]);
    assert!(logs.contains(gone), "{logs}");
    eve.say("#general", "@lab-ada again");
    eve.hears("lab-ada", "#general", "answer of life 1");
    assert_eq!(rig.outcomes(), ["timed_out", "completed"]);
}

/// One that does not react to the interrupt is ended by the ladder, with all that it started.
#[test]
fn a_turn_that_ignores_its_interrupt_is_ended_and_the_next_message_works() {
    let rig = Rig::new(
        "ready; [ $life = 1 ] && { trap '' TERM INT; prompt; setsid sleep 600; sleep 600; }; serve",
        "turn_timeout_seconds: 4",
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", TIMED_OUT);
    eve.say("#general", "@lab-ada again");
    eve.hears("lab-ada", "#general", "answer of life 2");
    assert_eq!(rig.outcomes(), ["timed_out", "completed"]);
    let codes = rig.query(
        "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
         json_extract(payload, '$.code') LIKE '%timeout' ORDER BY seq",
    );
    assert_eq!(codes, ["turn_timeout", "interrupt_timeout"]);
    assert!(rig.world.processes_like("sleep 600").is_empty());
    // What we ended has not crashed.
    assert!(rig.alerts().iter().all(|text| !text.contains("[ERROR]")), "{:?}", rig.alerts());
}

/// R3-10: a hook that runs while the backend ends runs on: only what the backend left is ended.
#[test]
fn a_hook_outlives_the_backend() {
    let rig = Rig::new(
        "ready; [ $life -le 1 ] && { prompt; (setsid sleep 301 &) ; exit 7; }; serve",
        "hooks: {command: [sh, -c, 'until [ -e go ]; do sleep 0.1; done; echo ran >> hooked'], \
         events: [OnMessage], timeout_seconds: 600}",
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", "answer of life 2");
    fs::write(rig.work("go"), "").unwrap();
    eventually("both hooks to run", || (rig.lines("hooked").len() == 2).then_some(()));
    let failed = "SELECT count(*) FROM events WHERE payload LIKE '%hook_failed%'";
    assert_eq!(rig.query(failed), ["0"]);
    assert!(rig.world.processes_like("sleep 301").is_empty());
}
