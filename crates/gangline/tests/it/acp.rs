//! Real agents of the Agent Client Protocol, from the room to their answers, their model being the
//! stand-in.

use std::{fs, path::PathBuf};

use gangline_testkit::{
    IrcPeer, Running, World, database, eventually,
    hostile::{self, Play},
    irc, programs, stage,
};

use crate::claude::kill_hard;

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// One hub with one agent.
struct Rig {
    world: World,
    irc: String,
    standin: Running,
    hub: Running,
}

impl Rig {
    /// Starts an agent `lab-ada`; `backend` is YAML that says which.
    fn up(backend: &str, script: &str) -> Self {
        let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
        world.set("LAB_KEY", "sk-standin-0123456789abcdef");
        let listen = format!("127.0.0.1:{}", stage::free_port());
        let script = world.file("script.yaml", script);
        let standin = world.start(&["standin", "serve", "--listen", &listen, "--script", &script]);
        let port = stage::free_port();
        let work = world.path("work");
        fs::create_dir_all(&work).unwrap();
        let nowhere = "http://127.0.0.1:9";
        let yaml = format!(
            "server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n  - nick: lab-ada\n    \
             {backend}\n    directory: {}\n    base_url: http://{listen}/v1\n    \
             api_key_env: LAB_KEY\n    model: lab/first\n    channels: [\"#general\"]\n    env: \
             {{HTTPS_PROXY: \"{nowhere}\", HTTP_PROXY: \"{nowhere}\", NO_PROXY: \"127.0.0.1\"}}\n",
            work.display(),
        );
        let config = world.file("agents.yaml", &yaml);
        let hub = world.start_ready(&["--config", &config, "up", "--restart-delay-max", "1"]);
        Self { world, irc: format!("127.0.0.1:{port}"), standin, hub }
    }

    fn owner(&self) -> IrcPeer {
        let token = fs::read_to_string(self.world.state().join("owner.token")).unwrap();
        let password = format!("owner:{}", token.trim());
        let mut peer = IrcPeer::connect_with(&self.irc, ("boss", Some(&password)), CAPS);
        peer.join("#general");
        peer
    }

    fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, None), CAPS);
        peer.join("#general");
        peer
    }

    fn work(&self, file: &str) -> PathBuf {
        self.world.path("work").join(file)
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    /// Ends everything; nothing may be left.
    fn put_away(mut self) {
        assert_eq!(self.hub.terminate(), 0, "{}", self.hub.output());
        self.standin.kill();
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {user: 'please run (\w[^\n]*)'}
    reply: [tool_use: {name: TOOL, input: INPUT}]
  - when: {tool_result: '(?s)all well'}
    reply: [text: "it ran"]
  - when: {user: 'tool call was refused: (.+?)\.'}
    reply: [text: "not done: $1"]
  - when: {tool_result: 'ejected'}
    reply: [text: "not done: a person refused this"]
  - reply: [text: "at your service"]
"#;

fn shell(tool: &str, input: &str) -> String {
    SCRIPT.replace("TOOL", tool).replace("INPUT", input)
}

const COMMAND: &str = r#"{command: "$1", description: "x"}"#;
const COMMANDS: &str = r#"{commands: ["$1"]}"#;

/// A mention, a command that the owner approves and one that is refused, and the answers.
fn mention_and_approval(backend: &str, script: &str) {
    let rig = Rig::up(backend, script);
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada please run touch made && echo all well");
    let asked = owner.hears("lab-ada", "#general", "lab-ada wants to ");
    assert!(asked.contains("`touch made && echo all well`"), "{asked}");
    assert!(!rig.work("made").exists());
    owner.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "it ran");
    assert!(rig.work("made").exists());
    ori.say("#general", "@lab-ada please run touch never");
    owner.hears("lab-ada", "#general", "touch never");
    owner.say("#general", "@lab-ada no 2");
    let refused = ori.hears("lab-ada", "#general", "not done");
    assert!(refused.contains("a person refused this"), "{refused}");
    assert!(!rig.work("never").exists());
    assert_eq!(rig.query("SELECT state FROM messages ORDER BY id"), ["answered", "answered"]);
    rig.put_away();
}

fn opencode() -> String {
    format!("agent: acp\n    acp_command: [\"{}\", acp]", programs::opencode().display())
}

/// R0-02, R0-63, C5: OpenCode in a room.
#[test]
fn opencode_runs_what_the_owner_approved_and_answers() {
    mention_and_approval(&opencode(), &shell("bash", COMMAND));
}

/// R0-02, C5: Cline in a room. The process that it would leave behind is not there.
#[test]
fn cline_runs_what_the_owner_approved_and_answers() {
    let backend =
        format!("agent: acp\n    acp_command: [\"{}\", --acp]", programs::cline().display());
    mention_and_approval(&backend, &shell("run_commands", COMMANDS));
}

/// R0-02, C5: GitHub Copilot in a room.
#[test]
fn copilot_runs_what_the_owner_approved_and_answers() {
    let backend = format!("agent: copilot\n    command: [\"{}\"]", programs::copilot().display());
    mention_and_approval(&backend, &shell("Bash", COMMAND));
}

/// R0-21, C7: the daemon dies in mid-turn. Its successor ends the old program, goes on with the
/// same session, and the message is answered once.
#[test]
fn a_daemon_killed_in_mid_turn_answers_once_in_the_same_session() {
    let backend = format!("{}\n    permissions: bypass", opencode());
    let rig = Rig::up(&backend, &shell("bash", COMMAND));
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada hello");
    ori.hears("lab-ada", "#general", "at your service");
    let session = rig.query("SELECT session FROM agents");
    assert!(session[0].starts_with("ses_"), "{session:?}");
    // The first time it waits for what never comes; a second time it ends at once.
    let command = "echo begun >> log; test -e again || { touch again; while [ ! -e go ]; do sleep \
                   0.1; done; }; echo ended >> log; echo all well";
    ori.say("#general", &format!("@lab-ada please run {command}"));
    let log = rig.work("log");
    eventually("the tool to wait", || rig.work("again").exists().then_some(()));
    for pid in rig.world.processes_like("daemon lab-ada") {
        kill_hard(pid);
    }
    ori.hears("lab-ada", "#general", "it ran");
    fs::write(rig.work("go"), "").unwrap();
    let history = ori.history("#general");
    let said = history.iter().filter_map(|line| irc::said(line));
    assert_eq!(said.filter(|said| said.text.contains("it ran")).count(), 1);
    let all = fs::read_to_string(&log).unwrap();
    assert_eq!(all, "begun\nbegun\nended\n", "the old turn went on");
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    let row = "SELECT state || ' ' || attempt FROM messages WHERE body LIKE '%log%'";
    assert_eq!(rig.query(row), ["answered 2"]);
    rig.put_away();
}

const READS: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {user: 'please read (\S+)'}
    reply: [tool_use: {name: read, input: {filePath: "$1"}}]
  - when: {user: 'tool call was refused: (.+?)\.'}
    reply: [text: "not done: $1"]
  - when: {tool: read}
    reply: [text: "got ${tool_result}"]
  - reply: [text: "at your service"]
"#;

/// What it reads in its folder nobody is asked about, of what lies elsewhere the owner is, and the
/// installation it never reads.
#[test]
fn opencode_reads_its_folder_unasked_and_the_installation_never() {
    let rig = Rig::up(&opencode(), READS);
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    fs::write(rig.work("notes.txt"), "needle inside").unwrap();
    let outside = rig.world.path("outside.txt");
    fs::write(&outside, "needle outside").unwrap();
    let mut read = |path: PathBuf| {
        ori.say("#general", &format!("@lab-ada please read {}", path.display()));
    };
    read(rig.work("notes.txt"));
    owner.hears("lab-ada", "#general", "needle inside");
    assert_eq!(rig.query("SELECT count(*) FROM approvals"), ["0"]);
    read(rig.world.state().join("owner.token"));
    loop {
        let next = owner.wait("a refusal, perhaps a question before", |line| {
            let said = irc::said(line).filter(|said| said.from == "lab-ada")?;
            let asks = said.text.contains("approval") || said.text.contains("wants to");
            let refused = said.text.contains("not done: refused: the file belongs");
            (asks || refused).then_some(refused)
        });
        if next {
            break;
        }
        allow(&rig);
    }
    read(outside);
    loop {
        let done = owner.wait("what was read, or a question before", |line| {
            let said = irc::said(line).filter(|said| said.from == "lab-ada")?;
            let asks = said.text.contains("approval") || said.text.contains("wants to");
            let read = said.text.contains("needle outside");
            (asks || read).then_some(read)
        });
        if done {
            break;
        }
        allow(&rig);
    }
    let asked = rig.query("SELECT count(*) FROM approvals WHERE state = 'allowed'");
    assert_ne!(asked, ["0"], "nobody was asked about a file outside");
    rig.put_away();
}

fn allow(rig: &Rig) {
    let open = rig.world.run(&["approvals", "--json"]).json();
    let numbers = open.as_array().into_iter().flatten().map(|it| it["number"].to_string());
    for number in numbers {
        let _ = rig.world.run(&["approve", number.trim_matches('"')]).ok();
    }
}

/// R0-16: what an agent said in private is in no answer to a room, although its program tells the whole
/// conversation again behind the first prompt after it was started again.
#[test]
fn what_was_said_in_private_is_not_said_again_in_a_room() {
    let folder = tempfile::tempdir().unwrap();
    let program = hostile::acp().program(Play::Good, folder.path());
    let command = format!("[env, AGENT_REPLAYS=numbers, node, \"{}\"]", program.display());
    let rig = Rig::up(&format!("agent: acp\n    acp_command: {command}\n    tools: none"), SCRIPT);
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    owner.say("lab-ada", "my secret");
    owner.hears("lab-ada", "boss", "ANSWER-1.");
    ori.say("#general", "@lab-ada first");
    ori.hears("lab-ada", "#general", "ANSWER-2.");
    let program = |what| {
        eventually(what, || match rig.world.processes_like("hostile-acp")[..] {
            [one] => Some(one),
            _ => None,
        })
    };
    let before = program("the program");
    kill_hard(before);
    eventually("another program", || (program("one program") != before).then_some(()));
    ori.say("#general", "@lab-ada second");
    assert_eq!(ori.hears("lab-ada", "#general", "ANSWER-3."), "ANSWER-3.");
    let lines = ori.lines();
    let said = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!((said("ANSWER-1."), said("ANSWER-2.")), (0, 1), "{lines:#?}");
    let log = rig.query("SELECT payload FROM events WHERE kind = 'notice'").join("\n");
    assert!(log.contains("told again what was said before"), "{log}");
    rig.put_away();
}
