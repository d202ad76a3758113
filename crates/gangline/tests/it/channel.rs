//! `gangline channel`, `irc_client` and `gangline attach`, as an agent's shell and people call them.
//!
//! Here the daemon is one that says what it is told to, byte for byte. The real one is in
//! `channel/agent.rs`, the chat server alone in `channel/fallback.rs`.

mod agent;
mod attach;
mod fallback;

use std::{
    fs::{self, Permissions},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::Stdio,
    thread::JoinHandle,
};

use gangline_testkit::{Ran, World, eventually, stage};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");
const NICK: &str = "oak-ada";

/// A world in which a shell belongs to `oak-ada`.
fn shell() -> World {
    let mut world = World::new(BINARY);
    world.set("CULTURE_NICK", NICK);
    world
}

/// The socket at which `oak-ada`'s daemon listens.
fn socket(world: &World) -> PathBuf {
    world.path("run/gangline-oak-ada.sock")
}

/// A daemon that answers each request by the next of `answers`, in which `ID` is the request's id;
/// one connection. What it heard has `ID` for the id.
fn daemon(socket: &Path, answers: &[&str]) -> JoinHandle<Vec<String>> {
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    std::thread::spawn(move || {
        let (stream, _) = eventually("somebody to call the daemon", || listener.accept().ok());
        stream.set_nonblocking(false).unwrap();
        serve(&stream, &answers)
    })
}

fn serve(stream: &UnixStream, answers: &[String]) -> Vec<String> {
    let mut out = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let mut heard = Vec::new();
    for answer in answers {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let request: serde_json::Value = serde_json::from_str(&line).unwrap();
        let id = request["id"].as_str().unwrap().to_owned();
        heard.push(line.replace(&id, "ID"));
        out.write_all(answer.replace("ID", &id).as_bytes()).unwrap();
    }
    heard
}

/// Runs a command against a daemon that answers once; returns what it did and what was asked.
fn asked(world: &World, args: &[&str], answer: &str) -> (Ran, String) {
    let daemon = daemon(&socket(world), &[&format!("{answer}\n")]);
    let ran = world.run(args);
    let mut heard = daemon.join().unwrap();
    (ran, heard.remove(0))
}

const OK: &str = r#"{"type":"response","id":"ID","ok":true,"data":{}}"#;

/// R0-49, R0-57, R0-58, R0-60, C20: each command in both spellings,
/// what it sends and what it prints, byte for byte.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn each_command_sends_its_frame_and_prints_cultures_words() {
    let world = shell();
    let read = r#"{"type":"response","id":"ID","ok":true,"data":{"messages":[{"nick":"eve","text":"hello","timestamp":1795296828.5}]}}"#;
    let channels = r##"{"type":"response","id":"ID","ok":true,"data":{"channels":["#general"]}}"##;
    let who =
        r#"{"type":"response","id":"ID","ok":true,"data":{"users":[{"nick":"eve","modes":"H@"}]}}"#;
    let topic = r#"{"type":"response","id":"ID","ok":true,"data":{"topic":"release"}}"#;
    let sent =
        r##"{"type":"irc_send","id":"ID","channel":"#general","message":"hello","create":false}"##;
    let reads = r##"{"type":"irc_read","id":"ID","channel":"#general","limit":5}"##;
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&["send", "#general", "hello"], sent, OK, "Sent to #general\n"),
        (&["message", "general", "hello"], sent, OK, "Sent to #general\n"),
        (
            &["message", "general", r"one\ntwo", "--create"],
            r##"{"type":"irc_send","id":"ID","channel":"#general","message":"one\ntwo","create":true}"##,
            OK,
            "Sent to #general\n",
        ),
        (
            &["send", "general", "- an item", "of a list"],
            r##"{"type":"irc_send","id":"ID","channel":"#general","message":"- an item of a list","create":false}"##,
            OK,
            "Sent to #general\n",
        ),
        (
            &["send", "@eve", "hello"],
            r#"{"type":"irc_send","id":"ID","channel":"eve","message":"hello","create":false}"#,
            OK,
            "Sent to eve\n",
        ),
        (&["read", "#general", "5"], reads, read, "<eve> hello\n"),
        (&["read", "general", "--limit", "5"], reads, read, "<eve> hello\n"),
        (&["read", "general", "-n", "5"], reads, read, "<eve> hello\n"),
        (
            &["read", "general"],
            r##"{"type":"irc_read","id":"ID","channel":"#general","limit":50}"##,
            r#"{"type":"response","id":"ID","ok":true,"data":{"messages":[]}}"#,
            "No messages in #general\n",
        ),
        (
            &["join", "ops"],
            r##"{"type":"irc_join","id":"ID","channel":"#ops"}"##,
            OK,
            "Joined #ops\n",
        ),
        (
            &["part", "#ops"],
            r##"{"type":"irc_part","id":"ID","channel":"#ops"}"##,
            OK,
            "Left #ops\n",
        ),
        (
            &["channels"],
            r#"{"type":"irc_channels","id":"ID"}"#,
            channels,
            "Active channels:\n  #general\n",
        ),
        (
            &["list"],
            r#"{"type":"irc_channels","id":"ID"}"#,
            channels,
            "Active channels:\n  #general\n",
        ),
        (
            &["who", "#general"],
            r##"{"type":"irc_who","id":"ID","target":"#general"}"##,
            who,
            "Users in #general:\n  eve\n",
        ),
        (
            &["topic", "general"],
            r##"{"type":"irc_topic","id":"ID","channel":"#general"}"##,
            topic,
            "Topic for #general: release\n",
        ),
        (
            &["topic", "general", "release", "day"],
            r##"{"type":"irc_topic","id":"ID","channel":"#general","topic":"release day"}"##,
            topic,
            "Topic set for #general\n",
        ),
        (&["compact"], r#"{"type":"compact","id":"ID"}"#, OK, "Context window compacted\n"),
        (&["clear"], r#"{"type":"clear","id":"ID"}"#, OK, "Context window cleared\n"),
    ];
    for (words, request, answer, printed) in cases {
        let args = [&["channel"], *words].concat();
        let (ran, heard) = asked(&world, &args, answer);
        assert_eq!(heard, format!("{request}\n"), "{words:?}");
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (*printed, ""), "{words:?}");
        assert_eq!(ran.code, 0, "{words:?}");
    }
}

/// C8: `ask` waits 30 s by default here and prints the response frame.
#[test]
fn ask_prints_the_response_as_json() {
    let world = shell();
    let answer = r#"{"type":"response","id":"ID","ok":true,"data":{"answer":{"nick":"eve","text":"ship it","timestamp":1.5}}}"#;
    let (ran, heard) = asked(&world, &["channel", "ask", "general", "ok?"], answer);
    let request =
        r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"ok?","timeout":30}"##;
    assert_eq!(heard, format!("{request}\n"));
    let text = ran.ok();
    assert!(text.starts_with("{\n  \"type\": \"response\",\n  \"id\": \""), "{text}");
    let frame: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(frame["data"]["answer"]["text"], "ship it");
    let args = ["channel", "ask", "general", "--timeout", "7", "are you sure?"];
    let (ran, heard) = asked(&world, &args, answer);
    assert!(heard.contains(r#""message":"are you sure?","timeout":7}"#), "{heard}");
    assert_eq!(ran.code, 0);
}

/// R0-51, R0-55, R0-57: the older client: words in fixed places, JSON of two spaces, whispers on
/// standard error; called by a link of that name, or by its hidden command.
#[test]
fn the_older_client_prints_json_and_whispers() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("irc_client");
    symlink(BINARY, &link).unwrap();
    let mut world = World::new(&link.display().to_string());
    world.set("CULTURE_NICK", NICK);
    let mut plain = shell();
    plain.set("XDG_RUNTIME_DIR", &world.path("run").display().to_string());
    let answer = "{\"type\":\"whisper\",\"message\":\"You retried 3 times.\",\"whisper_type\":\"CORRECTION\"}\n\
                  {\"type\":\"response\",\"id\":\"ID\",\"ok\":true,\"data\":{\"messages\":[]}}\n\
                  {\"type\":\"whisper\",\"message\":\"Tests \\u001b[31mfirst.\",\"whisper_type\":\"REMINDER\"}\n";
    let request = "{\"type\":\"irc_read\",\"id\":\"ID\",\"channel\":\"#general\",\"limit\":5}\n";
    for hidden in [false, true] {
        let daemon = daemon(&socket(&world), &[answer]);
        let words = ["irc-client", "read", "#general", "5"];
        let ran = if hidden { plain.run(&words) } else { world.run(&words[1..]) };
        assert_eq!(daemon.join().unwrap(), [request]);
        let frame: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let id = frame["id"].as_str().unwrap();
        assert_eq!(
            ran.stdout.replace(id, "ID"),
            "{\n  \"type\": \"response\",\n  \"id\": \"ID\",\n  \"ok\": true,\n  \"data\": {\n    \
             \"messages\": []\n  }\n}\n"
        );
        assert_eq!(
            ran.stderr,
            "[whisper:CORRECTION] You retried 3 times.\n[whisper:REMINDER] Tests <U+001B>[31mfirst.\n"
        );
        assert_eq!(ran.code, 0);
    }
    let usage = world.run(&["--help"]).ok();
    assert!(usage.starts_with("Usage: irc_client <subcommand>"), "{usage}");
    let wrong = plain.run(&["irc-client", "dance"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.starts_with("error: unknown subcommand: \"dance\"\nhint: "), "{wrong:?}");
}

/// R0-55: the other client prints them too, and warnings beside them.
#[test]
fn whispers_and_warnings_stand_on_standard_error() {
    let world = shell();
    let answer = "{\"type\":\"whisper\",\"whisper_type\":\"REMINDER\",\"message\":\"Tests first.\"}\n\
                  {\"type\":\"response\",\"id\":\"ID\",\"ok\":true,\"data\":{},\"warnings\":[\"Mentioned nick not found: x\"]}";
    let (ran, _) = asked(&world, &["channel", "message", "general", "@x hi"], answer);
    assert_eq!(ran.stdout, "Sent to #general\n");
    let stderr = "[whisper:REMINDER] Tests first.\nwarning: Mentioned nick not found: x\n";
    assert_eq!(ran.stderr, stderr);
}

#[test]
fn json_prints_the_frame_wherever_it_stands() {
    let world = shell();
    let answer = r##"{"type":"response","id":"ID","ok":true,"data":{"channels":["#a"],"members":{"#a":2}}}"##;
    for args in [
        ["channel", "list", "--json"],
        ["channel", "--json", "list"],
        ["--json", "channel", "channels"],
    ] {
        let (ran, _) = asked(&world, &args, answer);
        let frame = ran.json();
        assert_eq!(frame["data"]["members"]["#a"], 2, "{args:?}");
    }
}

/// What the daemon refuses is an error of the user: exit code 1.
#[test]
fn what_the_daemon_refuses_is_told_and_counts() {
    let world = shell();
    let refused = r#"{"type":"response","id":"ID","ok":false,"error":"Not joined to #ops"}"#;
    let (ran, _) = asked(&world, &["channel", "part", "ops"], refused);
    assert_eq!(
        ran.stderr,
        "error: part #ops failed: Not joined to #ops\n\
         hint: `gangline channel list --agent oak-ada` shows where it is; `gangline channel join \
         #ops --agent oak-ada` makes it join\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let (ran, _) = asked(&world, &["channel", "part", "ops", "--json"], refused);
    assert_eq!(ran.code, 1);
    let frame: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(frame["error"], "Not joined to #ops");
    let absent = r#"{"type":"response","id":"ID","ok":false,"error":"channel '#opps' does not exist on the server"}"#;
    let (ran, _) = asked(&world, &["channel", "message", "opps", "hi"], absent);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: channel '#opps' does not exist on the server\nhint: "));
    assert!(ran.stderr.contains("--create"), "{}", ran.stderr);
    for text in ["", "  ", r"\n"] {
        let ran = world.run(&["channel", "message", "ops", text]);
        assert_eq!(ran.code, 1, "nobody is asked");
        assert!(ran.stderr.starts_with("error: message text "), "{}", ran.stderr);
    }
}

/// C21, R0-59: the variables of an agent's child name the socket and prove who speaks.
#[test]
fn an_agents_child_uses_its_own_socket_and_token() {
    let mut world = World::new(BINARY);
    let own = world.path("own.sock");
    world.set("GANGLINE_NICK", NICK);
    world.set("CULTURE_NICK", "oak-other");
    world.set("GANGLINE_SOCKET", &own.display().to_string());
    world.set("GANGLINE_TOKEN", "s3cret");
    let daemon = daemon(&own, &[&format!("{OK}\n")]);
    assert_eq!(world.run(&["channel", "clear"]).ok(), "Context window cleared\n");
    let heard = daemon.join().unwrap();
    assert_eq!(heard, ["{\"type\":\"clear\",\"id\":\"ID\",\"token\":\"s3cret\"}\n"]);
    // At another agent's socket one looks, without our token, and does no more.
    let listed = r#"{"type":"response","id":"ID","ok":true,"data":{"channels":[]}}"#;
    let bob = self::daemon(&world.path("run/gangline-oak-bob.sock"), &[&format!("{listed}\n")]);
    let _ = world.run(&["channel", "channels", "--agent", "oak-bob"]).ok();
    assert_eq!(bob.join().unwrap(), ["{\"type\":\"irc_channels\",\"id\":\"ID\"}\n"]);
    let ran = world.run(&["channel", "clear", "--agent", "oak-bob"]);
    let told = (ran.code, ran.stderr.contains("oak-ada cannot speak or act as oak-bob"));
    assert_eq!(told, (1, true), "{}", ran.stderr);
    // A person speaks to each.
    world.unset("GANGLINE_TOKEN");
    let bob = self::daemon(&world.path("run/gangline-oak-bob.sock"), &[&format!("{OK}\n")]);
    let _ = world.run(&["channel", "clear", "--agent", "oak-bob"]).ok();
    assert_eq!(bob.join().unwrap(), ["{\"type\":\"clear\",\"id\":\"ID\"}\n"]);
    // A short name needs something that names the agents.
    let yaml = "agents:\n  - {nick: oak-bob, agent: native, directory: .}\n";
    let file = world.file("short.yaml", &format!("server: {{name: oak}}\n{yaml}"));
    let bob = self::daemon(&world.path("run/gangline-oak-bob.sock"), &[&format!("{OK}\n")]);
    let _ = world.run(&["channel", "--config", &file, "--agent", "bob", "clear"]).ok();
    assert_eq!(bob.join().unwrap(), ["{\"type\":\"clear\",\"id\":\"ID\"}\n"]);
    // One with a hyphen has the form of a whole nick.
    let dev = self::daemon(&world.path("run/gangline-oak-bob-dev.sock"), &[&format!("{OK}\n")]);
    let yaml = "agents:\n  - {nick: oak-bob-dev, agent: native, directory: .}\n";
    let dashed = world.file("dashed.yaml", &format!("server: {{name: oak}}\n{yaml}"));
    let _ = world.run(&["channel", "--config", &dashed, "--agent", "bob-dev", "clear"]).ok();
    assert_eq!(dev.join().unwrap(), ["{\"type\":\"clear\",\"id\":\"ID\"}\n"]);
    let ran = world.run(&["channel", "--config", &file, "--agent", "bib", "clear"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean oak-bob?"), "{}", ran.stderr);
}

/// R0-46, R0-47, C2: culture's name for the socket is found too; `/tmp` only when it is asked for
/// and safe.
#[test]
fn cultures_names_of_the_socket_are_found() {
    let mut world = shell();
    let link = world.path("run/culture-oak-ada.sock");
    let daemon = daemon(&link, &[&format!("{OK}\n")]);
    assert_eq!(world.run(&["channel", "clear"]).ok(), "Context window cleared\n");
    daemon.join().unwrap();
    fs::remove_file(&link).unwrap();

    let nick = format!("oak-t{}", std::process::id());
    world.set("CULTURE_NICK", &nick);
    let path = PathBuf::from(format!("/tmp/culture-{nick}.sock"));
    let clear = ["channel", "clear", "--legacy-tmp"];
    for (mode, code) in [(0o666, 1), (0o600, 0)] {
        let daemon = self::daemon(&path, &[&format!("{OK}\n")]);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(world.run(&["channel", "clear"]).code, 1, "not asked for");
        let ran = world.run(&clear);
        assert_eq!(ran.code, code, "{mode:o}: {}", ran.stderr);
        if code == 1 {
            assert!(ran.stderr.contains("is not used: its mode is not 0600"), "{}", ran.stderr);
            drop(UnixStream::connect(&path));
            assert!(daemon.join().is_err(), "it heard nothing");
        } else {
            daemon.join().unwrap();
        }
    }
    fs::remove_file(&path).unwrap();
}

/// A socket in a shared folder may be anybody's: nothing is said to another user's.
#[test]
fn a_socket_of_another_user_hears_nothing() {
    if !stage::is_root() {
        stage::skip("a_socket_of_another_user_hears_nothing", "only root can be another user");
        return;
    }
    let world = shell();
    let path = world.path("run/gangline-oak-ada.sock");
    fs::set_permissions(world.path("."), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.path("run"), Permissions::from_mode(0o777)).unwrap();
    let mut other = other_user(&path);
    // It is there before anybody listens at it.
    eventually("the other user to listen", || UnixStream::connect(&path).ok());
    let ran = world.run(&["channel", "clear"]);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("is not served by this user but by user 65534"), "{}", ran.stderr);
}

#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
fn other_user(path: &Path) -> std::process::Child {
    use std::os::unix::process::CommandExt as _;
    let script = "use IO::Socket::UNIX; my $l = IO::Socket::UNIX->new(Local => $ARGV[0], Listen \
                  => 5) or die $!; <STDIN>;";
    std::process::Command::new("perl")
        .args(["-e", script])
        .arg(path)
        .current_dir("/")
        // It ends with this process at the latest.
        .stdin(Stdio::piped())
        .uid(65_534)
        .gid(65_534)
        .spawn()
        .unwrap()
}

/// What only a daemon can do ends with exit code 1 and says what to look at.
#[test]
fn without_a_daemon_the_error_says_what_to_look_at() {
    let mut world = shell();
    for words in [&["join", "x"][..], &["ask", "x", "y"], &["topic", "x"], &["compact"]] {
        let ran = world.run(&[&["channel"], words].concat());
        assert_eq!(ran.code, 1, "{words:?}");
        let said = "error: cannot reach agent daemon for oak-ada: cannot connect to ";
        assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
        assert!(
            ran.stderr.ends_with("hint: check the agent is running: gangline status oak-ada\n")
        );
    }
    world.set("CULTURE_NICK", "");
    let ran = world.run(&["channel", "join", "x"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("GANGLINE_NICK or CULTURE_NICK must be set"), "{}", ran.stderr);
    world.set("CULTURE_NICK", "claude");
    let ran = world.run(&["channel", "join", "x"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("valid <server>-<agent> nick"), "{}", ran.stderr);
}

/// A request that was sent is never sent again another way: it may have been done.
#[test]
fn a_daemon_that_dies_while_it_is_asked_is_not_passed_by() {
    let world = shell();
    let daemon = daemon(&socket(&world), &["{\"type\":\"whis"]);
    let ran = world.run(&["channel", "message", "general", "hi"]);
    assert_eq!(daemon.join().unwrap().len(), 1);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: no response from the daemon of oak-ada\ncaused by: the daemon closed the \
         connection\nhint: check the agent daemon: gangline status oak-ada\n"
    );
}

/// R1-24, C14: no daemon is needed to read a folder's instructions.
#[test]
fn a_folders_instructions_are_printed() {
    let world = shell();
    let _ = world.file("work/CLAUDE.md", "Be kind.\n\nRun the tests.\n");
    let text = world.run(&["channel", "set_directory", "work"]).ok();
    let work = world.path("work").canonicalize().unwrap().display().to_string();
    assert_eq!(text, format!("Directory: {work}\n\nBe kind.\n\nRun the tests.\n"));
    let frame = world.run(&["channel", "set-directory", "work", "--json"]).json();
    assert_eq!(frame["data"]["path"], format!("{work}/CLAUDE.md"));
    std::fs::remove_file(world.path("work/CLAUDE.md")).unwrap();
    let text = world.run(&["channel", "set-directory", "work"]).ok();
    assert_eq!(text, format!("Directory: {work} (it has no CLAUDE.md)\n"));
    let elsewhere = world.file("elsewhere", "not theirs");
    std::os::unix::fs::symlink(&elsewhere, world.path("work/CLAUDE.md")).unwrap();
    let ran = world.run(&["channel", "set-directory", "work"]);
    assert!(ran.stderr.contains("is a link that leads out of the folder"), "{}", ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let ran = world.run(&["channel", "set-directory", "nowhere"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: there is no folder nowhere\n"), "{}", ran.stderr);
}

#[test]
fn the_help_names_both_spellings() {
    let world = World::new(BINARY);
    let help = world.run(&["channel", "--help"]).ok();
    insta::assert_snapshot!(help, @"
    Send and read messages as an agent

    Usage: gangline channel [OPTIONS] <COMMAND>

    Commands:
      send           Send a message; `@nick` instead of a channel sends it privately [alias: message]
      read           Show the messages since the last read, oldest first
      ask            Ask something and wait for the answer
      join           Join a channel
      part           Leave a channel
      channels       List the channels that the agent is in [alias: list]
      who            List who is in a channel
      topic          Show a channel's topic, or set it
      compact        Shorten the context of the agent's backend
      clear          Begin a new context in the agent's backend
      set-directory  Confirm a folder, and print its CLAUDE.md [alias: set_directory]
      help           Print this message or the help of the given subcommand(s)

    Options:
          --agent <NICK>  Speak as this agent [default: $GANGLINE_NICK, else $CULTURE_NICK]
          --legacy-tmp    Also look for a daemon's socket in /tmp, if only this user can open it
      -h, --help          Print help
      -V, --version       Print version

    Options of every command:
          --state <DIR>    The state folder [default: $XDG_STATE_HOME/gangline; reading commands fall
                           back to the demo's when only that exists] [env: GANGLINE_STATE=]
          --config <FILE>  The configuration [default: ./agents.yaml, else
                           $XDG_CONFIG_HOME/gangline/agents.yaml] [env: GANGLINE_CONFIG=]
          --json           Print JSON instead of text, on every reading command
    ");
    assert_eq!(world.run(&["channel"]).code, 64);
    assert_eq!(world.run(&["channel", "dance"]).code, 64);
    assert_eq!(world.run(&["channel", "read", "x", "0"]).code, 64);
}
