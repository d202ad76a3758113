//! Backends that hang, crash and refuse: what the agent and the people in the room hear of it, and
//! that the next message works. The far side is a script that speaks Claude Code's wire.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use gangline_testkit::{IrcPeer, Running, World, database, eventually, irc, stage::free_port};

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

fn answers(peer: &mut IrcPeer) -> Vec<String> {
    let history = peer.history("#general");
    let said = history.iter().filter_map(|line| irc::said(line));
    said.filter(|said| said.from == "lab-ada").map(|said| said.text.to_owned()).collect()
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

/// `turn_timeout_seconds: 0` is no limit.
#[test]
fn without_a_limit_a_silent_turn_is_waited_for() {
    let rig = Rig::new("ready; prompt; sleep 3; words late; serve", "turn_timeout_seconds: 0");
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", "late");
    assert_eq!(rig.outcomes(), ["completed"]);
}

/// R0-20, R0-21, R1-39, R1-42, R1-46, C7: a crash in mid-turn is told as an alert; after 5 s the
/// program is back, with its session or, if configured so, with a new one, and is told that this
/// is the second attempt and what became of the first.
fn crashes_once(each: &str) -> Rig {
    let rig = Rig::new("ready; [ $life = 1 ] && { prompt; exit 1; }; serve", each);
    let hub = rig.up();
    let mut eve = rig.eve();
    let asked = Instant::now();
    eve.say("#general", "@lab-ada build it");
    eve.hears("lab-ada", "#general", "answer of life 2");
    assert!(asked.elapsed() > Duration::from_secs(5), "{:?}", asked.elapsed());
    let prompts = rig.lines("prompts");
    assert_eq!(prompts.len(), 2);
    assert!(!prompts[0].contains("attempt"), "{}", prompts[0]);
    assert!(prompts[1].contains("[gangline] attempt 2: an earlier attempt at this message"));
    assert!(prompts[1].contains("was cut off (process exited with code 1)"), "{}", prompts[1]);
    let expect = [
        "[ERROR] lab-ada crashed: process exited with code 1",
        "[COMPLETE] lab-ada finished task \"@lab-ada build it\". Results in #general.",
    ];
    eventually("both alerts", || (rig.alerts() == expect).then_some(()));
    let grave = "SELECT json_extract(payload, '$.severity') || ' ' || json_extract(payload, \
                 '$.event') FROM events WHERE kind = 'alert' ORDER BY seq";
    assert_eq!(rig.query(grave), ["error agent_error", "info agent_complete"]);
    let hooks = "SELECT kind FROM events WHERE kind LIKE 'on_%' OR kind LIKE 'session_%' ORDER BY \
                 seq";
    assert_eq!(
        rig.query(hooks),
        ["session_start", "on_message", "on_error", "session_stop", "session_start", "on_message"]
    );
    assert_eq!(answers(&mut eve), ["answer of life 2"], "once");
    drop(hub);
    rig
}

/// R0-21, C7.
#[test]
fn after_a_crash_the_session_goes_on() {
    let rig = crashes_once("on_crash: resume");
    let ids = rig.lines("ids");
    assert_eq!(ids[0], ids[1]);
}

/// R1-46, C7.
#[test]
fn after_a_crash_a_new_session_begins_if_configured_so() {
    let rig = crashes_once("on_crash: fresh");
    let ids = rig.lines("ids");
    assert_ne!(ids[0], ids[1]);
    assert_eq!(rig.lines("arguments"), ["--session-id", "--session-id"]);
}

/// C7: a session that is refused twice in a row is given up for a new one, and that is said; the
/// crash before does not make the refusals park the agent.
#[test]
fn a_session_that_is_refused_twice_is_given_up() {
    let rig = Rig::new(
        r#"case $life in
        1) ready; prompt; exit 1;;
        2|3) echo 'No conversation found' >&2; exit 1;;
        *) ready; serve;;
        esac"#,
        "on_crash: resume",
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", "answer of life 4");
    let ids = rig.lines("ids");
    assert_eq!((&ids[0], &ids[1]), (&ids[1], &ids[2]));
    assert_ne!(ids[2], ids[3]);
    let said = "SELECT count(*) FROM events WHERE kind = 'notice' AND json_extract(payload, \
                '$.code') = 'fresh_session'";
    assert_eq!(rig.query(said), ["1"]);
}

/// R0-18: a call that is still open at the turn's end is told as over, and hides no answer.
#[test]
fn a_call_that_never_came_back_is_closed_with_its_turn() {
    let rig = Rig::new(
        r#"ready; prompt
        say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"call-1\",\"name\":\"Bash\",\"input\":{\"command\":\"true\"}}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
        words "all well"; serve"#,
        "",
    );
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    eve.hears("lab-ada", "#general", "all well");
    let results = "SELECT json_extract(payload, '$.id') || ' ' || json_extract(payload, \
                   '$.is_error') || ' ' || json_extract(payload, '$.preview') FROM events WHERE \
                   kind = 'tool_result'";
    assert_eq!(rig.query(results), ["call-1 1 (the turn ended before it came back)"]);
    eve.say("#general", "@lab-ada again");
    eve.hears("lab-ada", "#general", "answer of life 1");
    assert_eq!(rig.query(results).len(), 1);
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

/// R0-22, R1-46: three crashes in 300 s park the agent; the operator and who waits are told, nothing
/// is lost, and `resume` lets it try again.
#[test]
fn three_crashes_park_the_agent_until_somebody_resumes_it() {
    let rig = Rig::new("ready; [ $life -le 3 ] && { prompt; exit 7; }; serve", "max_attempts: 9");
    let _hub = rig.up();
    let mut eve = rig.eve();
    eve.say("#general", "@lab-ada hello");
    rig.world.eventually("it to be parked", || rig.run(&["ps"]).contains("parked").then_some(()));
    // Who waits is told, once each.
    eve.hears(
        "lab-ada",
        "#general",
        "is stored and waits until my owner has fixed it and says `resume` (m1)",
    );
    eve.say("#general", "@lab-ada and this");
    eve.hears(
        "lab-ada",
        "#general",
        "is stored and waits until my owner has fixed it and says `resume` (m2)",
    );
    let alerts = eventually("the alerts", || Some(rig.alerts()).filter(|all| all.len() == 4));
    assert_eq!(alerts[2], "[ERROR] lab-ada crashed: process exited with code 7");
    assert_eq!(
        alerts[3],
        "[ERROR] lab-ada crashed 3 times and is parked: say `resume` to try again; the last time: \
         claude ended with code 7; it said: nothing. Each time it worked on m1: if that is the \
         cause, say `cancel m1` before `resume`"
    );
    let status = rig.run(&["status", "lab-ada"]);
    let waits = "`gangline resume lab-ada`, once this is fixed: claude ended with code 7";
    assert!(status.contains(waits), "{status}");
    let logs = rig.run(&["logs", "lab-ada"]);
    assert!(logs.contains("circuit_open: the backend died 3 times in a row"), "{logs}");
    assert_eq!(rig.lines("lives").len(), 3, "it is not started again");
    let _ = rig.run(&["resume", "lab-ada"]);
    eventually("both answers", || {
        let heard = answers(&mut eve);
        (heard.iter().filter(|text| text.starts_with("answer of life")).count() == 2).then_some(())
    });
    assert_eq!(rig.query("SELECT count(*) FROM outbox WHERE idem_key LIKE 'k-%'"), ["2"]);
    let waiting = rig.query("SELECT state FROM messages ORDER BY id");
    assert_eq!(waiting, ["answered", "answered"]);
    let prompts = rig.lines("prompts");
    assert!(prompts[3].contains("attempt 4"), "{prompts:?}");
}
