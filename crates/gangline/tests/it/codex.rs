//! The real Codex program, from the room to its answer, its model being the stand-in.

use std::{fs, path::PathBuf};

use gangline_testkit::{IrcPeer, Running, World, database, eventually, irc, programs};

use crate::claude::kill_hard;

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// The model: it runs what it is told to, and says what came of it.
const SCRIPT: &str = r#"
rules:
  - when: {user: '^\[SUPERVISOR/CORRECTION\] ask #help$'}
    reply: [text: "waited, and heard"]
  - when: {user: 'was not run: (.+)'}
    reply: [text: "refused: $1"]
  - when: {tool: exec_command}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: '\[IRC @mention in \S+\] <\S+> .*say exactly (\w+)'}
    reply: [text: "$1"]
  - when: {user: 'run (.+)'}
    reply: [tool_use: {name: exec_command, input: {cmd: "$1", yield_time_ms: 30000}}]
  - reply: [text: "what?"]
"#;

/// One hub with one agent, `lab-ada`, whose backend is the real program.
struct Rig {
    world: World,
    config: String,
    irc: String,
    standin: Running,
}

impl Rig {
    /// `each` is YAML of the agent.
    fn new(each: &str) -> Self {
        let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
        world.set("LAB_KEY", "sk-standin-0123456789abcdef");
        let listen = format!("127.0.0.1:{}", gangline_testkit::stage::free_port());
        let record = world.path("requests").display().to_string();
        let script = world.file("script.yaml", SCRIPT);
        let standin = world.start(&[
            "standin", "serve", "--listen", &listen, "--record", &record, "--script", &script,
        ]);
        let port = gangline_testkit::stage::free_port();
        let work = world.path("work");
        fs::create_dir_all(&work).unwrap();
        let mut yaml = format!(
            "server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n  \
             - nick: lab-ada\n    agent: codex\n    command: [\"{}\"]\n    directory: {}\n    \
             model: gpt-5.5\n    base_url: http://{listen}/v1\n    api_key_env: LAB_KEY\n    \
             channels: [\"#general\"]\n",
            programs::codex().display(),
            work.display(),
        );
        each.lines().for_each(|line| yaml.push_str(&format!("    {line}\n")));
        let config = world.file("agents.yaml", &yaml);
        Self { world, config, irc: format!("127.0.0.1:{port}"), standin }
    }

    fn up(&self) -> Running {
        self.world.start_ready(&["--config", &self.config, "up", "--restart-delay-max", "1"])
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
    fn put_away(mut self, mut hub: Running) {
        assert_eq!(hub.terminate(), 0, "{}", hub.output());
        self.standin.kill();
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

/// The agent's lines in the room, in order.
fn agent_said(peer: &mut IrcPeer) -> Vec<String> {
    let history = peer.history("#general");
    let said = history.iter().filter_map(|line| irc::said(line));
    said.filter(|said| said.from == "lab-ada").map(|said| said.text.to_owned()).collect()
}

/// R1-02, R0-18, R0-36, C5: a mention, a shell command that waits for the owner, the answer; what
/// was refused is not run, and the model is told why.
#[test]
fn a_mention_runs_a_command_that_the_owner_approved_and_is_answered() {
    let rig = Rig::new("");
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada run touch made-by-ada.txt");
    let asked = owner.hears("lab-ada", "#general", "lab-ada wants to ");
    assert!(asked.contains("`touch made-by-ada.txt`"), "{asked}");
    assert!(!rig.work("made-by-ada.txt").exists());
    owner.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "Process exited with code 0");
    assert!(rig.work("made-by-ada.txt").exists());
    ori.say("#general", "@lab-ada run touch never.txt");
    owner.hears("lab-ada", "#general", "never.txt");
    owner.say("#general", "@lab-ada no 2");
    let refused = ori.hears("lab-ada", "#general", "refused: ");
    assert!(refused.contains("a person refused this"), "{refused}");
    assert!(!rig.work("never.txt").exists());
    assert_eq!(rig.query("SELECT state FROM messages ORDER BY id"), ["answered", "answered"]);
    rig.put_away(hub);
}

/// R0-12, R0-14, C3: three people ask while it is busy; each gets their own answer, in order.
#[test]
fn three_people_who_ask_while_it_is_busy_are_answered_in_order() {
    let rig = Rig::new("permissions: bypass");
    let hub = rig.up();
    let mut judge = rig.member("judge");
    let mut people: Vec<IrcPeer> =
        ["ann", "bob", "cat"].iter().map(|nick| rig.member(nick)).collect();
    judge.say("#general", "@lab-ada run touch busy; while [ ! -e go ]; do sleep 0.1; done");
    eventually("the first turn to be busy", || rig.work("busy").exists().then_some(()));
    for (peer, word) in people.iter_mut().zip(["one", "two", "three"]) {
        let text = format!("@lab-ada say exactly {word}");
        peer.say("#general", &text);
        // The server's echo fixes the order.
        judge.wait(word, |line| (irc::said(line)?.text == text).then_some(()));
    }
    fs::write(rig.work("go"), "").unwrap();
    judge.hears("lab-ada", "#general", "three");
    let said = agent_said(&mut judge);
    assert_eq!(said[said.len() - 3..], ["one", "two", "three"]);
    assert_eq!(rig.query("SELECT count(*) FROM turns WHERE outcome = 'completed'"), ["4"]);
    rig.put_away(hub);
}

/// R0-21, C7: the daemon dies in mid-turn. Its successor ends the old program, goes on with the
/// same session, and the message is answered once; the old turn does not end behind its back. What
/// the agent says by its command line from within a command is said in the room.
#[test]
fn a_daemon_killed_in_mid_turn_leaves_no_program_and_answers_once_in_the_same_session() {
    let rig = Rig::new("permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada say exactly first");
    ori.hears("lab-ada", "#general", "first");
    let session = rig.query("SELECT session FROM agents");
    // The first time it waits for what never comes; a second time it ends at once.
    let command = "echo begun >> log; test -e again || { touch again; while [ ! -e go ]; \
                   do sleep 0.1; done; }; echo ended >> log; echo all well";
    ori.say("#general", &format!("@lab-ada run {command}"));
    let log = rig.work("log");
    eventually("the tool to wait", || rig.work("again").exists().then_some(()));
    // What it starts has its command line for a moment.
    let one = || {
        eventually("one program", || {
            let found = rig.world.processes_like("app-server");
            (found.len() == 1).then_some(found)
        })
    };
    let old = one();
    for pid in rig.world.processes_like("daemon lab-ada") {
        kill_hard(pid);
    }
    ori.hears("lab-ada", "#general", "all well");
    fs::write(rig.work("go"), "").unwrap();
    let said = agent_said(&mut ori);
    let answers = said.iter().filter(|text| text.contains("it said:")).count();
    assert_eq!(answers, 1, "{said:#?}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "begun\nbegun\nended\n", "the old turn went on");
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    let now = one();
    assert_ne!(now, old);
    let row = "SELECT state || ' ' || attempt FROM messages WHERE body LIKE '%log%'";
    assert_eq!(rig.query(row), ["answered 2"]);

    ori.say("#general", "@lab-ada run gangline channel message '#general' 'by shell'");
    ori.hears("lab-ada", "#general", "by shell");
    rig.put_away(hub);
}

/// R3-09, C22, C42: Codex chooses its session's id itself; its shells and hooks know ours, in the first life
/// and in the next one, and `gangline sessions` says which is which.
#[test]
fn its_shells_and_hooks_know_the_session_by_one_id() {
    let rig = Rig::new("permissions: bypass\n");
    let shell = |eve: &mut IrcPeer, file: &str| {
        eve.say("#general", &format!("@lab-ada run printenv GT_SESSION_ID > {file}; echo written"));
        eve.hears("lab-ada", "#general", "written");
        fs::read_to_string(rig.world.path(&format!("work/{file}"))).unwrap().trim().to_owned()
    };
    let mut hub = rig.up();
    let mut eve = rig.member("eve");
    let first = shell(&mut eve, "one");
    let query = "SELECT json_extract(payload, '$.session_id') FROM events WHERE kind = \
                 'session_start'";
    let path = rig.world.state().join("gangline.db");
    let told = eventually("the hook", || database::query(&path, query).pop());
    assert_eq!(told, first);
    let sessions = || rig.world.run(&["sessions", "lab-ada", "--json"]).json();
    let all = sessions();
    let known = &all["sessions"][0];
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1, "{all}");
    assert_eq!((known["id"].as_str(), known["current"].as_bool()), (Some(&*first), Some(true)));
    let theirs = known["session"].as_str().unwrap().to_owned();
    assert_ne!(theirs, first, "Codex has an id of its own");
    // Its own list has the same session, and nothing that is not known.
    let listed = rig.world.run(&["--config", &rig.config, "sessions", "lab-ada", "--all"]).ok();
    assert!(listed.contains(&first) && listed.contains(&theirs), "{listed}");
    assert!(listed.contains("0 more in its folder"), "{listed}");
    assert_eq!(hub.terminate(), 0);
    let hub = rig.up();
    let mut eve = rig.member("eve");
    assert_eq!(shell(&mut eve, "two"), first);
    assert_eq!(sessions()["sessions"][0]["session"], *theirs);
    rig.put_away(hub);
}

/// C9: a whisper that comes while a command runs is put into the turn behind that command's output;
/// nothing of the turn is lost, and no room sees it.
#[test]
fn a_whisper_reaches_the_running_turn_behind_a_commands_output() {
    let rig = Rig::new("permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let gate = rig.work("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    ori.say("#general", "@lab-ada run cat gate; echo waited");
    eventually("the command to run", || {
        let running = "SELECT count(*) FROM events WHERE kind = 'assistant' AND payload LIKE \
                       '%cat gate%'";
        (rig.query(running) == ["1"]).then_some(())
    });
    let said = rig.world.run(&["--config", &rig.config, "whisper", "ada", "ask", "#help"]).ok();
    assert_eq!(said.trim(), "whisper 1 for lab-ada is stored");
    let noted = "SELECT count(*) FROM events WHERE kind = 'whisper'";
    eventually("the whisper", || (rig.query(noted) == ["1"]).then_some(()));
    fs::write(&gate, "\n").unwrap();
    ori.hears("lab-ada", "#general", "waited");
    let roads = "SELECT road FROM whispers";
    eventually("the delivery", || (rig.query(roads) == ["steer"]).then_some(()));
    let asked: Vec<String> = fs::read_dir(rig.world.path("requests"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter(|text| text.contains("[SUPERVISOR/CORRECTION] ask #help"))
        .collect();
    assert!(!asked.is_empty(), "the model saw it");
    assert_eq!(asked[0].matches("[SUPERVISOR/CORRECTION] ask #help").count(), 1);
    assert!(!ori.history("#general").iter().any(|line| line.contains("#help")));
    rig.put_away(hub);
}

/// R1-11: who is told to think deeper has a higher effort in the turn that is told so, and the model's
/// own in the next one.
#[test]
fn a_whisper_raises_the_effort_for_its_turn() {
    let rig = Rig::new("permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let mut efforts = Vec::new();
    for word in ["plum", "quince", "medlar"] {
        if word == "quince" {
            let whisper = ["whisper", "ada", "--type", "think-deeper", "weigh", "both"];
            let said = rig.world.run(&[&["--config", &rig.config], &whisper[..]].concat()).ok();
            assert_eq!(said.trim(), "whisper 1 for lab-ada is stored");
        }
        ori.say("#general", &format!("@lab-ada say exactly {word}"));
        ori.hears("lab-ada", "#general", word);
        let mut files: Vec<_> = fs::read_dir(rig.world.path("requests"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "json"))
            .collect();
        files.sort();
        let request = fs::read_to_string(files.pop().unwrap()).unwrap();
        assert!(request.contains(word), "{request}");
        let request: serde_json::Value = serde_json::from_str(&request).unwrap();
        efforts.push(request["body"]["reasoning"]["effort"].to_string());
    }
    assert_eq!((efforts[1].as_str(), &efforts[2]), ("\"high\"", &efforts[0]), "{efforts:?}");
    assert_ne!(efforts[0], efforts[1]);
    rig.put_away(hub);
}
