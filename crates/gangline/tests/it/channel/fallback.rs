//! Without a daemon: the chat server itself is asked, over a connection of a moment.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
};

use gangline_testkit::{IrcPeer, Running, World, irc::said, stage::free_port};

use super::{NICK, OK, daemon, shell, socket};

/// The small IRC server alone, and a configuration that names it.
fn with_server(world: &World) -> (Running, IrcPeer) {
    let server = world.start_ready(&["ircd", "--listen", "127.0.0.1:0", "--name", "oak"]);
    let address = server.field("irc");
    configure(world, &address, "true");
    let mut eve = IrcPeer::connect(&address, "eve", None);
    eve.join("#general");
    (server, eve)
}

/// `embedded` says whether the server is the installation's own, which is asked by its socket.
fn configure(world: &World, address: &str, embedded: &str) {
    let (host, port) = address.rsplit_once(':').unwrap();
    let _ = world.file(
        "agents.yaml",
        &format!(
            "server:\n  name: oak\n  host: {host}\n  port: {port}\nnetwork: {{embedded: {embedded}}}\n\
             agents: []\n"
        ),
    );
}

/// As culture does: `list`, `read`, `message` and `who` work without a daemon, and say so.
#[test]
fn the_chat_server_is_asked_when_the_daemon_is_down() {
    let world = shell();
    let (_server, mut eve) = with_server(&world);
    let warned = |ran: &gangline_testkit::Ran, command: &str| {
        let first = "warning: the daemon of oak-ada cannot be reached: cannot connect to ";
        assert!(ran.stderr.starts_with(first), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("`channel {command}` goes over a connection")));
        assert!(ran.stderr.ends_with("is it running? gangline status oak-ada\n"));
    };
    let ran = world.run(&["channel", "list"]);
    warned(&ran, "list");
    assert_eq!(ran.ok(), "Active channels:\n  #general\n");
    let ran = world.run(&["channel", "who", "#general"]);
    warned(&ran, "who");
    assert_eq!(ran.ok(), "Users in #general:\n  eve\n");
    let ran = world.run(&["channel", "message", "general", r"one\ntwo"]);
    warned(&ran, "message");
    assert!(ran.stderr.contains("will not appear under oak-ada"), "{}", ran.stderr);
    assert_eq!(ran.ok(), "Sent to #general\n");
    let from = eve.wait("the first line", |line| {
        let said = said(line)?;
        (said.text == "one").then(|| said.from.to_owned())
    });
    assert!(from.starts_with("oak-ada__peek"), "the nick says on whose behalf: {from}");
    eve.hears(&from, "#general", "two");
    let ran = world.run(&["channel", "read", "#general", "1"]);
    warned(&ran, "read");
    assert_eq!(ran.ok(), format!("<{from}> two\n"));
    for words in [["channel", "list", "--json"], ["--json", "channel", "list"]] {
        let frame = world.run(&words).json();
        assert_eq!(frame["id"], serde_json::Value::Null);
        assert_eq!(frame["data"]["members"]["#general"], 1);
    }
}

/// A daemon of culture's asks the server who is there and does not tell what it heard.
#[test]
fn who_is_asked_of_the_server_when_the_daemon_does_not_tell() {
    let world = shell();
    let (_server, _eve) = with_server(&world);
    let daemon = daemon(&socket(&world), &[&format!("{OK}\n")]);
    let ran = world.run(&["channel", "who", "#general"]);
    assert_eq!(ran.stdout, "Users in #general:\n  eve\n", "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    assert_eq!(daemon.join().unwrap().len(), 1);
}

/// As culture does: a channel that nobody is in is refused, and is not made by looking.
#[test]
fn an_absent_channel_is_refused_unless_it_shall_be_made() {
    let world = shell();
    let (_server, _eve) = with_server(&world);
    let ran = world.run(&["channel", "message", "generl", "hi"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("error: channel '#generl' does not exist on the server\nhint: "));
    let ran = world.run(&["channel", "read", "generl"]);
    assert_eq!(ran.ok(), "No messages in #generl\n");
    let ran = world.run(&["channel", "who", "#generl"]);
    assert_eq!(ran.ok(), "No users in #generl\n");
    assert_eq!(world.run(&["channel", "list"]).ok(), "Active channels:\n  #general\n");
    let ran = world.run(&["channel", "message", "generl", "hi", "--create"]);
    assert_eq!(ran.ok(), "Sent to #generl\n");
}

/// A person without an agent uses the server directly; nobody has to be warned.
#[test]
fn a_person_needs_no_agent() {
    let mut world = shell();
    world.set("CULTURE_NICK", "");
    let (_server, mut eve) = with_server(&world);
    let ran = world.run(&["channel", "message", "#general", "hello"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "Sent to #general\n", ""));
    let from = eve.wait("the line", |line| {
        let said = said(line)?;
        (said.text == "hello").then(|| said.from.to_owned())
    });
    assert!(from.starts_with("oak-_peek"), "{from}");
    let ran = world.run(&["channel", "message", "@eve", "psst"]);
    assert_eq!(ran.ok(), "Sent to eve\n");
    let ran = world.run(&["channel", "message", "@nobody", "psst"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("caused by: the server refused: nobody"), "{}", ran.stderr);
}

#[test]
fn without_a_server_the_failure_is_of_the_surroundings() {
    let world = shell();
    let own = world.state().join("irc.sock").display().to_string();
    let foreign = format!("127.0.0.1:{}", free_port());
    for (embedded, server, hint) in [
        ("true", own, "a hub of an older version has no socket: `gangline restart --hub`\n"),
        ("false", foreign.clone(), "hint: is it running? start it with `gangline up -d`\n"),
    ] {
        configure(&world, &foreign, embedded);
        nobody_answers(&world, &server, hint);
    }
}

fn nobody_answers(world: &World, server: &str, hint: &str) {
    for words in [&["list"][..], &["read", "x"], &["message", "x", "y"], &["who", "x"]] {
        let ran = world.run(&[&["channel"], words].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}");
        let said = format!("error: cannot ask the chat server at {server}\n");
        assert!(ran.stderr.contains(&said), "{ran:?}");
        assert!(ran.stderr.ends_with(hint), "{}", ran.stderr);
    }
}

/// A server of culture's has no CHATHISTORY; it is asked in its own words, and its rule for
/// nicks is kept.
#[test]
fn a_server_of_cultures_is_asked_in_its_own_words() {
    let world = shell();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    configure(&world, &listener.local_addr().unwrap().to_string(), "false");
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut out = stream.try_clone().unwrap();
        let mut heard = Vec::new();
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            let word = line.split(' ').next().unwrap_or_default();
            let answer = match word {
                "CAP" if line.contains("LS") => ":oak CAP * LS :message-tags\r\n",
                "CAP" if line.contains("REQ") => ":oak CAP * ACK :message-tags\r\n",
                "PING" => ":oak PONG oak gangline-up\r\n",
                "QUIT" => "ERROR :bye\r\n",
                "USER" => "PING :x\r\n:oak 001 you :Welcome\r\n",
                "LIST" => ":oak 322 you #general 2 :\r\n:oak 323 you :End\r\n",
                "HISTORY" => {
                    ":oak HISTORY #general eve 1795296828.5 :hello\r\n:oak HISTORYEND #general \
                     :End of history\r\n"
                }
                _ => "",
            };
            heard.push(line.clone());
            out.write_all(answer.as_bytes()).unwrap();
            if word == "QUIT" {
                break;
            }
        }
        heard
    });
    let frame = world.run(&["channel", "read", "general", "3", "--json"]).json();
    let line = serde_json::json!({"nick": "eve", "text": "hello", "timestamp": 1_795_296_828.5});
    assert_eq!(frame["data"]["messages"], serde_json::json!([line]));
    let heard = serving.join().unwrap();
    let nick = heard.iter().find_map(|line| line.strip_prefix("NICK ")).unwrap();
    assert!(nick.starts_with(&format!("{NICK}__peek")), "{nick}");
    for line in ["PONG x", "HISTORY RECENT #general 3", "QUIT done"] {
        assert!(heard.iter().any(|heard| heard.replace(':', "") == line), "{line}: {heard:?}");
    }
    assert!(!heard.iter().any(|line| line.starts_with("JOIN")), "{heard:?}");
}
