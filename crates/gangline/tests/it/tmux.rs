//! A terminal program as an agent, from the room to its answer.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use gangline_testkit::{IrcPeer, Running, World, database, eventually};

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// Answers what is asked of it; takes its time for `slow`, ignores keys after `deafen`.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import os, readline, time, tty
while True:
    line = input("ask> ")
    try:
        if "slow" in line:
            open("busy", "w").close()
            while True:
                time.sleep(0.1) # // sleep: this is what it is slow with
        elif "deafen" in line:
            tty.setraw(0)
            print("la la la\r\nask> ", end="", flush=True)
            while True:
                os.read(0, 4096)
        else:
            print("I heard:", line)
    except KeyboardInterrupt:
        print("stopped")
"#;

/// A hub with one agent, `lab-term`.
struct Rig {
    world: World,
    config: String,
    irc: String,
}

impl Rig {
    fn new() -> Self {
        let rig = |program: &str| format!("agent: tmux\n    command: [\"{program}\"]");
        Self::with(rig, |_, _| ())
    }

    /// `agent` is YAML that says what the program is driven by, `write` makes further files.
    fn with(agent: impl Fn(&str) -> String, write: impl Fn(&World, &str)) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let program = world.file("assistant", PROGRAM);
        write(&world, &program);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(world.path("work")).unwrap();
        let port = gangline_testkit::stage::free_port();
        let yaml = format!(
            "server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n  \
             - nick: lab-term\n    {}\n    \
             directory: {}\n    channels: [\"#general\"]\n    \
             prompt: members\n    screen: {{like: lines, ready: [\"ask> \"], deliver_within_ms: 15000}}\n",
            agent(&program),
            world.path("work").display(),
        );
        let config = world.file("agents.yaml", &yaml);
        Self { world, config, irc: format!("127.0.0.1:{port}") }
    }

    fn up(&self) -> Running {
        self.world.start_ready(&["--config", &self.config, "up", "--restart-delay-max", "1"])
    }

    fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, None), CAPS);
        peer.join("#general");
        peer
    }

    fn owner(&self) -> IrcPeer {
        let token = fs::read_to_string(self.world.state().join("owner.token")).unwrap();
        let password = format!("owner:{}", token.trim());
        let mut peer = IrcPeer::connect_with(&self.irc, ("boss", Some(&password)), CAPS);
        peer.join("#general");
        peer
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    fn put_away(self, mut hub: Running) {
        assert_eq!(hub.terminate(), 0, "{}", hub.output());
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

/// A human's own terminal, in which `gangline` runs.
struct Human {
    socket: String,
}

impl Human {
    fn runs(rig: &Rig, name: &str, args: &[&str]) -> Self {
        let human = Self { socket: rig.world.path(name).display().to_string() };
        let program = rig.world.command(args);
        let env = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let words = ["-f", "/dev/null", "new-session", "-d", "-x", "170", "-y", "60", "--"];
        let mut tmux = Command::new("tmux");
        tmux.env_clear().envs(env).env("TERM", "xterm").args(["-u", "-S", &human.socket]);
        tmux.args(words).arg(program.get_program()).args(program.get_args());
        assert!(tmux.status().unwrap().success());
        human
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-u", "-S", &self.socket]).args(args).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    }

    fn sees(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    fn until_sees(&self, part: &str) {
        eventually(&format!("`{part}` on the screen"), || self.sees().contains(part).then_some(()));
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }
}

impl Drop for Human {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// R3-01, C29, R0-08: a mention is typed into the program and its answer comes back to the room; an
/// interrupt reaches it; what cannot be seen to arrive is told to who asked.
#[test]
fn a_program_in_a_terminal_is_asked_and_answers() {
    let rig = Rig::new();
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-term say hello");
    let heard = ori.hears("lab-term", "#general", "I heard:");
    assert!(heard.contains("say hello"), "{heard}");
    ori.say("#general", "@lab-term be slow");
    eventually("the program to work", || rig.world.path("work/busy").exists().then_some(()));
    owner.say("#general", "@lab-term abort");
    ori.hears("lab-term", "#general", "a person stopped the turn");
    ori.say("#general", "@lab-term still there?");
    let heard = ori.hears("lab-term", "#general", "I heard:");
    assert!(heard.contains("still there?"), "{heard}");
    ori.say("#general", "@lab-term deafen yourself");
    ori.hears("lab-term", "#general", "la la la");
    ori.say("#general", "@lab-term do you hear me?");
    ori.hears("lab-term", "#general", "no answer");
    let notices =
        "SELECT state || ' ' || coalesce(reason, '') FROM messages WHERE body LIKE '%hear me%'";
    assert!(rig.query(notices)[0].starts_with("failed"), "{:?}", rig.query(notices));
    rig.put_away(hub);
}

/// R3-12, C45: the `bin`, `ready` and `delivery` that a file gives a built-in backend are what it is run
/// with, and the person is told that nothing asks in a terminal.
#[test]
fn a_file_drives_a_built_in_backend_through_a_terminal() {
    let file = |world: &World, program: &str| {
        let text = format!(
            "{{\"default\": \"claude\", \"runtimes\": {{\"claude\": {{\"bin\": \"{program}\", \
             \"ready\": \"prompt\", \"delivery\": \"tmux\"}}}}}}"
        );
        let _ = world.file(".gastown/runtimes.json", &text);
    };
    let rig = Rig::with(|_| "thinking: low".to_owned(), file);
    let checked = rig.world.run(&["--config", &rig.config, "config", "check"]);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert!(told.contains("lab-term: works in a terminal, without approvals"), "{told}");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-term say hello");
    let heard = ori.hears("lab-term", "#general", "I heard:");
    assert!(heard.contains("say hello"), "{heard}");
    rig.put_away(hub);
}

/// Trust: nothing is asked before a program in a terminal runs, so only its owner prompts it unless
/// the configuration says otherwise; that is said at the start and by `doctor`.
#[test]
fn a_program_in_a_terminal_hears_its_owner_only() {
    let rig = Rig::new();
    let yaml = fs::read_to_string(&rig.config).unwrap();
    fs::write(&rig.config, yaml.replace("    prompt: members\n", "    permissions: ask\n"))
        .unwrap();
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-term touch a");
    owner.say("#general", "@lab-term touch b");
    let heard = owner.hears("lab-term", "#general", "I heard:");
    assert!(heard.contains("touch b"), "{heard}");
    let states = "SELECT body || ' ' || state FROM messages ORDER BY id";
    assert!(!rig.query(states).iter().any(|row| row.contains("touch a accepted")));
    assert!(!rig.query(states).iter().any(|row| row.contains("touch a answered")));
    let notice = "SELECT payload FROM events WHERE kind = 'notice' AND payload LIKE '%terminal%'";
    assert!(rig.query(notice)[0].contains("run anything in its shell. That is only its owner"));
    let doctor = rig.world.run(&["--config", &rig.config, "doctor", "lab-term"]);
    assert!(doctor.stdout.contains("its owner can run anything in its shell"), "{doctor:?}");
    let check = rig.world.run(&["--config", &rig.config, "config", "check"]);
    let said = format!("{}{}", check.stdout, check.stderr);
    assert!(said.contains("`permissions` has no effect in a terminal"), "{said}");
    let whose =
        "lab-term: works in a terminal, without approvals; its owner may prompt it and can run";
    assert!(said.contains(whose), "{said}");
    rig.put_away(hub);
}

/// C29: an interpreter and a shell are given the command alone, and what they say is the answer.
#[test]
fn an_interpreter_and_a_shell_are_asked_and_answer() {
    let rig = Rig::new();
    let yaml = fs::read_to_string(&rig.config).unwrap();
    let (head, _) = yaml.split_once("  - nick").unwrap();
    let agent = |nick: &str, command: &str| {
        let work = rig.world.path("work");
        let work = work.display();
        format!(
            "  - {{nick: lab-{nick}, agent: tmux, command: {command}, directory: {work}, \
             channels: [\"#general\"], prompt: members}}\n"
        )
    };
    let (sh, py) = (agent("sh", "[bash, --norc, --noprofile]"), agent("py", "[python3, -q]"));
    fs::write(&rig.config, format!("{head}{sh}{py}")).unwrap();
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@py 6 * 7");
    assert!(ori.hears("lab-py", "#general", "").ends_with("42"));
    ori.say("#general", "lab-sh: echo $((3 + 4)); echo that is \"all\"");
    ori.hears("lab-sh", "#general", "7");
    ori.hears("lab-sh", "#general", "that is all");
    ori.say("#general", "@sh echo what's up");
    ori.hears("lab-sh", "#general", "no answer");
    ori.say("#general", "@sh echo still here");
    ori.hears("lab-sh", "#general", "still here");
    ori.say("#general", "@sh mkdir made");
    ori.hears("lab-sh", "#general", "without any text");
    assert!(rig.world.path("work/made").is_dir());
    rig.put_away(hub);
}

/// A daemon that is killed leaves a terminal; its successor ends it and begins a new one.
#[test]
fn a_killed_daemon_leaves_no_terminal_behind() {
    let rig = Rig::new();
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-term one");
    ori.hears("lab-term", "#general", "I heard:");
    let old = rig.world.processes_like("assistant");
    assert!(!old.is_empty());
    rig.world.processes_like("daemon lab-term").into_iter().for_each(super::claude::kill_hard);
    eventually("a new terminal", || {
        let now = rig.world.processes_like("assistant");
        (!now.is_empty() && now.iter().all(|pid| !old.contains(pid))).then_some(())
    });
    ori.say("#general", "@lab-term two");
    ori.wait("two", |line| (line.contains("I heard:") && line.contains("two")).then_some(()));
    rig.put_away(hub);
}

/// `attach` shows the terminal: in a terminal by tmux itself, to look at or to type; else once.
#[test]
fn attach_shows_the_terminal() {
    let rig = Rig::new();
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-term show this");
    ori.hears("lab-term", "#general", "I heard:");
    let attach = ["--config", &rig.config, "attach", "lab-term"];
    let shown = rig.world.run(&attach).ok();
    assert!(shown.contains("I heard:") && shown.contains("ask>"), "{shown}");
    let looks = Human::runs(&rig, "a.sock", &attach);
    looks.until_sees("I heard:");
    looks.types("nobody hears this");
    let types = Human::runs(&rig, "b.sock", &[&attach[..], &["--write"]].concat());
    types.until_sees("I heard:");
    types.types("somebody types this");
    looks.until_sees("somebody types this");
    assert!(!looks.sees().contains("nobody hears"), "{}", looks.sees());
    drop((looks, types));
    // The half line of the human does not come before the next message.
    ori.say("#general", "@lab-term and now");
    let heard = ori.hears("lab-term", "#general", "and now");
    assert!(!heard.contains("somebody"), "{heard}");
    // Whoever an agent started does not type into a terminal.
    let mut marked = rig.world.command(&["attach", "lab-term", "--write"]);
    let refused = marked.env("GANGLINE_RUN", "a/b/1").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("an agent cannot"), "{said}");
    // A server that was killed leaves its socket.
    let _ = rig.world.run(&["stop", "lab-term"]).ok();
    let socket = rig.world.state().join("agents/lab-term/sessions/tmux.sock");
    let _ = fs::remove_file(&socket);
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let closed = rig.world.run(&[&attach[..], &["--write"]].concat());
    assert!(closed.stderr.contains("the terminal of lab-term is closed"), "{closed:?}");
    assert!(closed.stderr.contains("gangline start lab-term"), "{closed:?}");
    // Those of the human end with their terminals.
    eventually("nobody to look on", || {
        rig.world.processes_like(" attach ").is_empty().then_some(())
    });
    rig.put_away(hub);
}
