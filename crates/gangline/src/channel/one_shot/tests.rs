//! Tests of the throw-away connection against servers that behave oddly.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    thread::JoinHandle,
    time::Duration,
};

use gangline_api::ipc::{Command, IfAbsent, Lines};
use gangline_core::AgentName;
use serde_json::json;

use super::{OneShotError, Server, answer, link::Link, nicks, within};

/// A server of one connection that answers a line with what `answer` makes of its first word;
/// returns the lines it heard.
fn server(answer: fn(&str) -> String) -> (Server, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut out = stream.try_clone().unwrap();
        let mut heard = Vec::new();
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            let said = answer(&line);
            heard.push(line);
            if out.write_all(said.as_bytes()).is_err() || said.starts_with("ERROR") {
                break;
            }
        }
        heard
    });
    (Server { address: address.into(), name: "oak".to_owned() }, serving)
}

fn send(text: &str) -> Command {
    let channel = "#general".parse().unwrap();
    let (message, absent) = (text.to_owned(), IfAbsent::Create);
    Command::Send { channel, message, absent, in_reply_to: None }
}

fn failed(answered: fn(&str) -> String) -> (OneShotError, Vec<String>) {
    let (server, serving) = server(answered);
    let error = answer(&server, None, &send("hi")).unwrap_err();
    (error, serving.join().unwrap())
}

fn welcome(line: &str) -> String {
    match line.split(' ').next() {
        Some("USER") => ":oak 001 you :Welcome\r\n".to_owned(),
        Some("JOIN") => ":you!you@h JOIN #general\r\n".to_owned(),
        Some("PING") => line.replacen("PING", ":oak PONG oak", 1) + "\r\n",
        Some("QUIT") => "ERROR :bye\r\n".to_owned(),
        _ => String::new(),
    }
}

/// The nick tells on whose behalf, if the agent is of that server; all contain what bots look for.
#[test]
fn nicks_tell_on_whose_behalf() {
    let server = Server { address: "".into(), name: "oak".to_owned() };
    let ada: AgentName = "oak-ada".parse().unwrap();
    let tried = nicks(&server, Some(&ada));
    assert_eq!(tried.len(), 3);
    assert!(tried[0].starts_with("oak-ada__peek"), "{tried:?}");
    assert!(tried[1].starts_with("oak-_peek"), "{tried:?}");
    assert!(tried[2].len() <= 16, "short enough for any server: {tried:?}");
    assert!(tried.iter().all(|nick| nick.contains("_peek")), "{tried:?}");
    let stranger: AgentName = "elm-ada".parse().unwrap();
    assert!(nicks(&server, Some(&stranger))[0].starts_with("oak-_peek"));
    assert_ne!(nicks(&server, None), nicks(&server, None));
}

#[test]
fn a_message_is_cut_into_lines_and_cannot_become_a_command() {
    let (server, serving) = server(welcome);
    let text = format!("one\r\nQUIT :x\n\n{}\u{0}", "ä".repeat(300));
    assert!(answer(&server, None, &send(&text)).unwrap().ok);
    let heard = serving.join().unwrap();
    let said: Vec<&str> =
        heard.iter().filter_map(|line| line.strip_prefix("PRIVMSG #general :")).collect();
    assert_eq!(said[..2], ["one", "QUIT :x"]);
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(said[2..].concat(), "ä".repeat(300));
    assert_eq!(heard.iter().filter(|line| line.starts_with("QUIT")).count(), 1, "its own");
}

/// A channel that nobody is in is not joined to read it: that would make it.
#[test]
fn looking_into_a_channel_does_not_make_it() {
    let (server, serving) = server(|line| match line.split(' ').next() {
        Some("CAP") if line.contains("chathistory") => {
            ":oak CAP * ACK :draft/chathistory\r\n".to_owned()
        }
        Some("LIST") => ":oak 322 you #general 2 :\r\n:oak 323 you :End of LIST\r\n".to_owned(),
        Some("CHATHISTORY") => ":oak BATCH +1 chathistory x\r\n:oak BATCH -1\r\n".to_owned(),
        _ => welcome(line),
    });
    let read = |channel: &str| Command::Read {
        channel: channel.parse().unwrap(),
        limit: 200,
        lines: Lines::Unread,
        own: false,
    };
    let data = answer(&server, None, &read("#generl")).unwrap().data.unwrap();
    assert_eq!(data, json!({"messages": [], "remaining": 0}));
    let heard = serving.join().unwrap();
    assert!(!heard.iter().any(|line| line.starts_with("JOIN")), "{heard:?}");
}

#[test]
fn another_nick_is_tried_until_there_is_none() {
    let (error, heard) = failed(|line| match line.split(' ').next() {
        Some("NICK") => ":oak 432 * x :Erroneous nickname\r\n".to_owned(),
        _ => String::new(),
    });
    let said = error.to_string();
    assert!(said.starts_with("the server refused: oak-_peek"), "{said}");
    assert!(said.ends_with(" Erroneous nickname"), "{said}");
    assert_eq!(heard.iter().filter(|line| line.starts_with("NICK ")).count(), 2, "{heard:?}");
}

#[test]
fn what_the_server_says_at_the_end_is_told() {
    let (error, _) = failed(|line| match line.starts_with("USER") {
        true => "ERROR :Closing Link: \u{1b}[31mno\r\n".to_owned(),
        false => String::new(),
    });
    let said = "the server closed the connection: Closing Link: <U+001B>[31mno";
    assert_eq!(error.to_string(), said);
    let (error, _) = failed(|line| match line.starts_with("JOIN") {
        true => ":oak 473 you #general :Cannot join channel (+i)\r\n".to_owned(),
        false => welcome(line),
    });
    assert_eq!(error.to_string(), "the server refused: #general Cannot join channel (+i)");
    let (error, _) = failed(|line| match line.starts_with("PRIVMSG") {
        true => ":oak 404 you #general :Cannot send to channel\r\n".to_owned(),
        false => welcome(line),
    });
    assert_eq!(error.to_string(), "the server refused: #general Cannot send to channel");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let nicks = ["x".to_owned()];
    let address = address.as_str().into();
    let opening = within(Duration::from_millis(30), Link::open(&address, &nicks));
    let error = opening.await.err().unwrap();
    assert!(matches!(error, OneShotError::Silent), "{error}");
}

/// A line that never ends is cut, and a server that is not there is told from one that says no.
#[test]
fn endless_and_absent_servers_are_survived() {
    let (server, serving) = server(|line| match line.starts_with("USER") {
        true => format!("{}\r\n:oak 001 you :Welcome\r\n", "x".repeat(50_000)),
        false => welcome(line),
    });
    assert!(answer(&server, None, &send("hi")).unwrap().ok);
    serving.join().unwrap();

    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for address in [nobody.as_str(), "no port"] {
        let server = Server { address: address.into(), name: "oak".to_owned() };
        let error = answer(&server, None, &send("hi")).unwrap_err();
        assert!(matches!(error, OneShotError::Down(_)), "{error}");
        assert!(error.to_string().starts_with("cannot connect: "), "{error}");
    }
}
