//! The real Claude Code program, from the room to its answer, its model being the stand-in.

use std::{fs, path::PathBuf, process::Command};

use gangline_testkit::{IrcPeer, Running, World, database, eventually, irc, programs};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// One hub with agents whose backend is the real program.
pub(crate) struct Rig {
    pub(crate) world: World,
    pub(crate) config: String,
    pub(crate) irc: String,
    standin: Running,
}

impl Rig {
    /// Prepares agents `lab-…`; `script` is the stand-in's, the guide's sentences without one;
    /// `each` is YAML of every agent.
    pub(crate) fn new(agents: &[&str], script: Option<&str>, each: &str) -> Self {
        let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
        world.set("LAB_KEY", "sk-ant-standin-0123456789abcdef");
        let listen = format!("127.0.0.1:{}", gangline_testkit::stage::free_port());
        let record = world.path("requests").display().to_string();
        let mut args = vec!["standin", "serve", "--listen", &listen, "--record", &record];
        let script = script.map(|text| world.file("script.yaml", text));
        if let Some(script) = &script {
            args.extend(["--script", script]);
        }
        let standin = world.start(&args);
        let port = gangline_testkit::stage::free_port();
        let mut yaml =
            format!("server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n");
        let program = programs::claude();
        for nick in agents {
            let work = world.path(&format!("work-{nick}"));
            fs::create_dir_all(&work).unwrap();
            yaml.push_str(&format!(
                "  - nick: {nick}\n    agent: claude\n    command: [\"{}\"]\n    directory: {}\n    \
                 base_url: http://{listen}\n    api_key_env: LAB_KEY\n    channels: [\"#general\"]\n",
                program.display(),
                work.display(),
            ));
            each.lines().for_each(|line| yaml.push_str(&format!("    {line}\n")));
        }
        let config = world.file("agents.yaml", &yaml);
        Self { world, config, irc: format!("127.0.0.1:{port}"), standin }
    }

    pub(crate) fn up_args(&self) -> [&str; 5] {
        ["--config", &self.config, "up", "--restart-delay-max", "1"]
    }

    pub(crate) fn up(&self) -> Running {
        self.world.start_ready(&self.up_args())
    }

    pub(crate) fn owner(&self) -> IrcPeer {
        let token = fs::read_to_string(self.world.state().join("owner.token")).unwrap();
        let password = format!("owner:{}", token.trim());
        let mut peer = IrcPeer::connect_with(&self.irc, ("boss", Some(&password)), CAPS);
        peer.join("#general");
        peer
    }

    pub(crate) fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, None), CAPS);
        peer.join("#general");
        peer
    }

    pub(crate) fn work(&self, nick: &str, file: &str) -> PathBuf {
        self.world.path(&format!("work-{nick}")).join(file)
    }

    pub(crate) fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    /// The requests to the model so far, in order, as files.
    pub(crate) fn requests(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.world.path("requests")).unwrap();
        // One that is being written has another name.
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|it| it == "json");
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.unwrap().path()).filter(is_whole).collect();
        files.sort();
        files
    }

    /// The newest request to the model in which this stands.
    pub(crate) fn request_with(&self, part: &str) -> String {
        let texts = self.requests().into_iter().rev().map(|file| fs::read_to_string(file).unwrap());
        let found = texts.into_iter().find(|text| text.contains(part));
        found.unwrap_or_else(|| panic!("no request has `{part}` in it"))
    }

    /// Says something and waits until the agent is at it. It is until [`Self::model_goes_on`].
    pub(crate) fn at_work(&self, peer: &mut IrcPeer, text: &str) {
        self.standin.hold();
        peer.say("#general", text);
        let phase = "SELECT phase FROM agents WHERE agent = 'lab-ada'";
        eventually("a turn", || (self.query(phase) == ["working"]).then_some(()));
    }

    pub(crate) fn model_goes_on(&self) {
        self.standin.go_on();
    }

    /// The one process of an agent's program: what it starts has its command line for a moment.
    pub(crate) fn one_program(&self) -> i32 {
        eventually("one program", || match self.world.processes_like("stream-json")[..] {
            [one] => Some(one),
            _ => None,
        })
    }

    /// Ends everything; nothing may be left.
    pub(crate) fn put_away(mut self, mut hub: Running) {
        assert_eq!(hub.terminate(), 0, "{}", hub.output());
        self.standin.kill();
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

pub(crate) fn kill_hard(pid: i32) {
    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
}

/// Agents' lines in the room, in order.
fn agents_said(peer: &mut IrcPeer) -> Vec<String> {
    let history = peer.history("#general");
    let said = history.iter().filter_map(|line| irc::said(line));
    said.filter(|said| said.from.starts_with("lab-")).map(|said| said.text.to_owned()).collect()
}

/// R1-02, R0-18, R0-36, C5: a mention, a shell command that waits for the owner, the answer.
#[test]
fn a_mention_runs_a_command_that_the_owner_approved_and_is_answered() {
    let rig = Rig::new(&["lab-ada"], None, "");
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada run touch made-by-ada.txt");
    let asked = owner.hears("lab-ada", "#general", "lab-ada wants to ");
    assert!(asked.contains("`touch made-by-ada.txt`"), "{asked}");
    // A member may not decide.
    ori.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "only an owner may decide approvals");
    owner.hears("lab-ada", "#general", "only an owner may decide approvals");
    assert!(!rig.work("lab-ada", "made-by-ada.txt").exists());
    owner.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "(Bash completed with no output)");
    assert!(rig.work("lab-ada", "made-by-ada.txt").exists());
    // What was refused is not run, and the model is told.
    ori.say("#general", "@lab-ada run touch never.txt");
    owner.hears("lab-ada", "#general", "never.txt");
    owner.say("#general", "@lab-ada no 2");
    let refused = ori.hears("lab-ada", "#general", "did not work");
    assert!(refused.contains("a person refused this"), "{refused}");
    assert!(!rig.work("lab-ada", "never.txt").exists());
    assert_eq!(
        rig.query("SELECT state FROM messages ORDER BY id"),
        ["answered", "answered"],
        "the owner's words are no prompts"
    );
    let told = "SELECT kind FROM events WHERE kind LIKE 'approval_%' ORDER BY seq";
    assert_eq!(
        rig.query(told),
        ["approval_asked", "approval_decided", "approval_asked", "approval_decided"]
    );
    rig.put_away(hub);
}

/// R0-12, R0-14, R1-28, C3: three people ask while it is busy; each gets their own answer, in order,
/// and all of them from one process.
#[test]
fn three_people_who_ask_while_it_is_busy_are_answered_in_order() {
    let rig = Rig::new(&["lab-ada"], None, "permissions: bypass");
    let hub = rig.up();
    let mut judge = rig.member("judge");
    let mut people: Vec<IrcPeer> =
        ["ann", "bob", "cat"].iter().map(|nick| rig.member(nick)).collect();
    judge.say("#general", "@lab-ada run sh -c 'touch busy; while [ ! -e go ]; do sleep 0.1; done'");
    eventually("the first turn to be busy", || rig.work("lab-ada", "busy").exists().then_some(()));
    let program = rig.one_program();
    for (peer, word) in people.iter_mut().zip(["one", "two", "three"]) {
        peer.say("#general", &format!("@lab-ada say exactly {word}"));
        // The server's echo fixes the order.
        judge.wait(word, |line| irc::said(line)?.text.ends_with(word).then_some(()));
    }
    fs::write(rig.work("lab-ada", "go"), "").unwrap();
    judge.hears("lab-ada", "#general", "three");
    let said = agents_said(&mut judge);
    assert_eq!(said[said.len() - 3..], ["one", "two", "three"]);
    assert_eq!(rig.one_program(), program, "no other process answered");
    let senders = "SELECT m.sender || ' ' || m.state || ' ' || m.answer FROM messages m \
                   WHERE m.body LIKE '%say exactly%' ORDER BY m.id";
    assert_eq!(rig.query(senders), ["ann answered one", "bob answered two", "cat answered three"]);
    // One turn each: nothing was folded into another.
    assert_eq!(rig.query("SELECT count(*) FROM turns WHERE outcome = 'completed'"), ["4"]);
    rig.put_away(hub);
}

/// R0-08: the owner aborts a running tool; its process ends, the asker is told, work goes on.
#[test]
fn an_interrupt_in_mid_tool_ends_the_tool_and_tells_the_asker() {
    let rig = Rig::new(&["lab-ada"], None, "permissions: bypass");
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada run sh -c 'touch busy; while :; do sleep 0.1; done'");
    eventually("the tool to run", || rig.work("lab-ada", "busy").exists().then_some(()));
    assert!(!rig.world.processes_like("while :").is_empty(), "{:?}", rig.world.processes());
    owner.say("#general", "@lab-ada abort");
    ori.hears("lab-ada", "#general", "a person stopped the turn");
    eventually("the tool to end", || rig.world.processes_like("while :").is_empty().then_some(()));
    ori.say("#general", "@lab-ada say exactly still here");
    ori.hears("lab-ada", "#general", "still here");
    let session = "SELECT count(DISTINCT session) FROM agents WHERE session IS NOT NULL";
    assert_eq!(rig.query(session), ["1"]);
    rig.put_away(hub);
}

/// R0-21, C7: the daemon dies in mid-turn. Its successor ends the old program, goes on with the
/// same session, and the message is answered once; the old turn does not end behind its back.
#[test]
fn a_daemon_killed_in_mid_turn_leaves_no_program_and_answers_once_in_the_same_session() {
    let rig = Rig::new(&["lab-ada"], None, "permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada say exactly first");
    ori.hears("lab-ada", "#general", "first");
    let session = rig.query("SELECT session FROM agents");
    // The first time it waits for what never comes; a second time it ends at once.
    let command = "sh -c 'echo begun >> log; test -e again || { touch again; while [ ! -e go ]; \
                   do sleep 0.1; done; }; echo ended >> log; echo all well'";
    ori.say("#general", &format!("@lab-ada run {command}"));
    let log = rig.work("lab-ada", "log");
    eventually("the tool to wait", || rig.work("lab-ada", "again").exists().then_some(()));
    let old = rig.one_program();
    for pid in rig.world.processes_like("daemon lab-ada") {
        kill_hard(pid);
    }
    ori.hears("lab-ada", "#general", "all well");
    fs::write(rig.work("lab-ada", "go"), "").unwrap();
    let said = agents_said(&mut ori);
    let answers = said.iter().filter(|text| text.contains("said:")).count();
    assert_eq!(answers, 1, "{said:#?}");
    let all: String = fs::read_to_string(&log).unwrap();
    assert_eq!(all, "begun\nbegun\nended\n", "the old turn went on");
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    assert_ne!(rig.one_program(), old);
    let row = "SELECT state || ' ' || attempt FROM messages WHERE body LIKE '%log%'";
    assert_eq!(rig.query(row), ["answered 2"]);
    // The model was told that it is a second attempt, in the conversation that it had.
    let asked = rig.request_with("attempt 2");
    assert!(asked.contains("say exactly first"), "{asked}");
    rig.put_away(hub);
}

/// R0-20, R0-21: the program dies in mid-turn; it is back after its delay, with its session.
#[test]
fn a_program_killed_in_mid_turn_is_back_with_its_session_and_the_message_is_answered_once() {
    let rig = Rig::new(&["lab-ada"], None, "permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let command = "sh -c 'echo begun >> log; test -e again || { touch again; while [ ! -e go ]; \
                   do sleep 0.1; done; }; echo ended >> log; echo all well'";
    ori.say("#general", &format!("@lab-ada run {command}"));
    eventually("the tool to wait", || rig.work("lab-ada", "again").exists().then_some(()));
    rig.world.processes_like("stream-json").into_iter().for_each(kill_hard);
    ori.hears("lab-ada", "#general", "all well");
    // The dead program's shell, which left its group, was ended with it.
    fs::write(rig.work("lab-ada", "go"), "").unwrap();
    let log = fs::read_to_string(rig.work("lab-ada", "log")).unwrap();
    assert_eq!(log, "begun\nbegun\nended\n");
    let said = agents_said(&mut ori);
    assert_eq!(said.iter().filter(|text| text.contains("said:")).count(), 1, "{said:#?}");
    rig.put_away(hub);
}

/// What the provider says is told as what it is; a message that can wait for it waits.
#[test]
fn errors_of_the_provider_are_told_as_what_they_are() {
    let script = r#"
rules:
  - when: {user: '<ori> @lab-ada overloaded'}
    reply: [http_error: {status: 529}]
  - when: {user: '<ori> @lab-ada too long'}
    times: 3
    reply: [overflow]
  - when: {user: '<ori> @lab-ada slow down'}
    times: 2
    reply: [http_error: {status: 429, headers: {retry-after: "1"}}]
  - when: {user: '<ori> @lab-ada no such model'}
    reply: [http_error: {status: 404, type: not_found_error, message: "model: nope"}]
  - reply: [text: "fine: ${turn}"]
"#;
    let env = "env: {CLAUDE_CODE_MAX_RETRIES: \"1\"}";
    let rig = Rig::new(&["lab-ada"], Some(script), env);
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada overloaded");
    let told = ori.hears("lab-ada", "#general", "no answer: ");
    assert!(told.contains("provider"), "{told}");
    ori.say("#general", "@lab-ada no such model");
    let told = ori.hears("lab-ada", "#general", "no answer: ");
    assert!(told.contains("request"), "{told}");
    ori.say("#general", "@lab-ada too long");
    let told = ori.hears("lab-ada", "#general", "no answer: ");
    assert!(told.contains("context_overflow"), "{told}");
    let notices = "SELECT payload FROM events WHERE kind = 'notice'";
    let recorded = rig.query(notices).join("\n");
    for part in ["529", "selected model", "too long"] {
        assert!(recorded.contains(part), "{part} in {recorded}");
    }
    // A limit is waited for: the message stays and is answered.
    ori.say("#general", "@lab-ada slow down");
    let told = ori.hears("lab-ada", "#general", "not yet: ");
    assert!(told.contains("rate limit"), "{told}");
    // It is said once, although the second try meets the limit too.
    let fine = ori.hears("lab-ada", "#general", "");
    assert!(fine.contains("fine: "), "{fine}");
    rig.put_away(hub);
}

/// R2-43: a login that is refused holds everything back; nothing is lost, and a human's `resume`
/// goes on.
#[test]
fn a_refused_login_keeps_messages_until_somebody_resumes() {
    let script = r#"
rules:
  - when: {user: 'hello'}
    times: 4
    reply: [http_error: {status: 401, type: authentication_error, message: "invalid x-api-key"}]
  - reply: [text: "welcome"]
"#;
    let env = "env: {CLAUDE_CODE_MAX_RETRIES: \"1\"}";
    let rig = Rig::new(&["lab-ada"], Some(script), env);
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada hello");
    let told = ori.hears("lab-ada", "#general", "not yet: ");
    assert!(told.contains("your message is stored"), "{told}");
    ori.say("#general", "@lab-ada and you");
    let waits = "SELECT count(*) FROM messages WHERE state = 'accepted'";
    eventually("both messages to wait", || (rig.query(waits) == ["2"]).then_some(()));
    let status = rig.world.run(&["status", "lab-ada", "--json"]).json().to_string();
    assert!(status.contains("waits for a login") && status.contains("\"pending\":2"), "{status}");
    // The provider's four refusals are over after two tries of two requests.
    owner.say("#general", "@lab-ada resume");
    ori.hears("lab-ada", "#general", "not yet: ");
    owner.say("#general", "@lab-ada resume");
    ori.hears("lab-ada", "#general", "welcome");
    ori.hears("lab-ada", "#general", "welcome");
    let states = "SELECT DISTINCT state || ' ' || attempt FROM messages";
    assert_eq!(rig.query(states), ["answered 1"]);
    rig.put_away(hub);
}

/// A program that is not there, or too old, is said before anything is taken.
#[test]
fn a_missing_or_old_program_is_named_with_what_to_do() {
    for (program, expect) in [("/nowhere/claude", "npm install"), ("old-claude", "1.0.3")] {
        let mut rig = Rig::new(&["lab-ada"], None, "");
        let program = if program == "old-claude" {
            let text = "#!/bin/sh\necho '1.0.3 (Claude Code)'\n";
            let path = rig.world.file("old-claude", text);
            Command::new("chmod").args(["+x", &path]).status().unwrap();
            path
        } else {
            program.to_owned()
        };
        let yaml = fs::read_to_string(&rig.config).unwrap();
        let real = programs::claude().display().to_string();
        fs::write(&rig.config, yaml.replace(&real, &program)).unwrap();
        let hub = rig.world.start(&rig.up_args());
        let told = |text: &str| text.contains(expect) && text.contains(&program);
        eventually("the event", || {
            // A daemon that runs has found the store's tables.
            let log = rig.world.state().join("agents/lab-ada/daemon.log");
            let events = log.exists().then(|| rig.query("SELECT payload FROM events"))?;
            events.iter().any(|event| told(event)).then_some(())
        });
        let logs = rig.world.run(&["logs", "lab-ada"]).ok();
        assert!(told(&logs), "{logs}");
        rig.standin.kill();
        drop(hub);
    }
}

/// R0-39, R0-57, R1-18: what the agent says by the command line is its answer, said once.
#[test]
fn what_it_says_by_the_command_line_is_the_answer_and_is_not_repeated() {
    let script = r##"
rules:
  - when: {user: 'answer by shell'}
    reply: [tool_use: {name: Bash, input: {command: "gangline channel message '#general' 'by shell'", description: "say it"}}]
  - when: {tool: Bash}
    reply: [text: "I have said it"]
  - reply: [text: "what?"]
"##;
    let rig = Rig::new(&["lab-ada"], Some(script), "permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada answer by shell");
    ori.hears("lab-ada", "#general", "by shell");
    eventually("the message to be settled", || {
        (rig.query("SELECT state FROM messages") == ["answered"]).then_some(())
    });
    assert_eq!(agents_said(&mut ori), ["by shell"]);
    rig.put_away(hub);
}

/// Nothing of the hub's own environment reaches the program, and what must is there.
#[test]
fn the_program_s_environment_holds_what_it_needs_and_nothing_else() {
    let mut rig = Rig::new(&["lab-ada"], None, "permissions: bypass\nenv: {TEAM: blue}");
    for (name, value) in
        [("CLAUDECODE", "1"), ("NODE_OPTIONS", "--inspect"), ("SOME_PASSWORD", "hunter2hunter2")]
    {
        rig.world.set(name, value);
    }
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada run env > env.txt");
    ori.hears("lab-ada", "#general", "(Bash completed with no output)");
    let env = fs::read_to_string(rig.work("lab-ada", "env.txt")).unwrap();
    for name in ["GANGLINE_NICK=lab-ada", "CULTURE_NICK=lab-ada", "TEAM=blue", "GANGLINE_TOKEN="] {
        assert!(env.contains(name), "{name} in {env}");
    }
    for name in ["NODE_OPTIONS", "SOME_PASSWORD", "LAB_KEY", "owner"] {
        assert!(!env.contains(name), "{name} in {env}");
    }
    let tmp = rig.world.state().join("agents/lab-ada/tmp").display().to_string();
    assert!(env.contains(&format!("TMPDIR={tmp}")), "{env}");
    rig.put_away(hub);
}

/// R0-29, R1-33, C9: a whisper that comes while a command runs reaches the model in the context of the
/// hook after that command, in the same turn and once; no room sees it.
#[test]
fn a_whisper_reaches_the_running_turn_by_a_hook() {
    let rig = Rig::new(&["lab-ada"], None, "permissions: bypass");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let gate = rig.work("lab-ada", "gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    ori.say("#general", "@lab-ada run cat gate; echo waited");
    eventually("the command to run", || {
        let running = "SELECT count(*) FROM events WHERE kind = 'assistant' AND payload LIKE \
                       '%cat gate%'";
        (rig.query(running) == ["1"]).then_some(())
    });
    let said = rig.world.run(&["--config", &rig.config, "whisper", "ada", "ask", "#help"]).ok();
    assert_eq!(said.trim(), "whisper 1 for lab-ada is stored");
    fs::write(&gate, "\n").unwrap();
    ori.hears("lab-ada", "#general", "waited");
    let told = "[SUPERVISOR/CORRECTION] ask #help";
    assert_eq!(rig.request_with("waited").matches(told).count(), 1);
    let roads = "SELECT road FROM whispers";
    eventually("the delivery", || (rig.query(roads) == ["hook"]).then_some(()));
    assert!(!ori.history("#general").iter().any(|line| line.contains("#help")));
    rig.put_away(hub);
}

/// R1-11: who is told to think deeper has a higher effort in the turn that is told so, and the file's
/// in the next one.
#[test]
fn a_whisper_raises_the_effort_for_its_turn() {
    let rig = Rig::new(&["lab-ada"], None, "thinking: low");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    for (word, effort) in [("plum", "low"), ("quince", "high"), ("medlar", "low")] {
        if effort == "high" {
            let whisper = ["whisper", "ada", "--type", "think-deeper", "weigh", "both"];
            let said = rig.world.run(&[&["--config", &rig.config], &whisper[..]].concat()).ok();
            assert_eq!(said.trim(), "whisper 1 for lab-ada is stored");
        }
        ori.say("#general", &format!("@lab-ada say exactly {word}"));
        ori.hears("lab-ada", "#general", word);
        let request: serde_json::Value = serde_json::from_str(&rig.request_with(word)).unwrap();
        assert_eq!(request["body"]["output_config"]["effort"], effort, "{word}");
        assert_eq!(request.to_string().contains("[SUPERVISOR/THINK_DEEPER]"), word != "plum");
    }
    rig.put_away(hub);
}
