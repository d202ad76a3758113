//! Tests of the printed lines.

use gangline_api::ipc::{
    Command, IfAbsent, Lines, RequestId, Response, no_such_channel, not_joined,
};
use gangline_core::{AgentName, question::OnTimeout};
use serde_json::{Value, json};

use super::{Printed, refused, text};
use crate::channel::verb::{Escapes, Verb, Written};

fn channel() -> Written {
    Written::Loose("x".to_owned())
}

fn done(data: Value) -> Response {
    Response {
        id: RequestId::new("7").ok(),
        ok: true,
        data: Some(data),
        error: None,
        warnings: vec![],
    }
}

fn failed(error: &str) -> Response {
    Response { ok: false, data: None, error: Some(error.to_owned()), ..done(Value::Null) }
}

fn told(verb: &Verb, data: Value) -> String {
    let Printed { text, notes } = text(verb.name(), &verb.command().unwrap(), &done(data)).unwrap();
    notes.iter().fold(text, |out, note| out + "stderr: " + note + "\n")
}

fn say() -> Verb {
    let absent = IfAbsent::Refuse;
    let (to, text) = (channel(), "hi".to_owned());
    Verb::Send { to, text, escapes: Escapes::Read, absent, in_reply_to: None }
}

fn ask() -> Verb {
    Verb::Ask { to: channel(), text: "ok?".into(), timeout: 30, on_timeout: OnTimeout::None }
}

fn topic(text: Option<&str>) -> Verb {
    Verb::Topic { channel: channel(), text: text.map(str::to_owned) }
}

/// R0-60: the lines that culture's CLI prints, word for word.
#[test]
fn what_was_done_is_told_in_cultures_words() {
    let read = || Verb::Read { from: channel(), limit: 50, lines: Lines::Unread, own: false };
    let messages = json!({"messages": [
        {"nick": "eve", "text": "hello", "timestamp": 1.5},
        {"nick": "bob", "text": "hi \u{1b}[31mred", "timestamp": 2},
        {"nick": "mallory", "text": "psst", "timestamp": 3, "tier": "stranger"},
    ]});
    let cases = [
        (say(), json!({}), "Sent to #x\n"),
        (read(), messages, "<eve> hello\n<bob> hi <U+001B>[31mred\n<mallory> psst [stranger]\n"),
        (read(), json!({"messages": []}), "No messages in #x\n"),
        (
            read(),
            json!({"messages": [{"nick": "e", "text": "t", "timestamp": 0.0}], "remaining": 2}),
            "<e> t\nstderr: 2 more unread: read again\n",
        ),
        (Verb::Join(channel()), json!({}), "Joined #x\n"),
        (Verb::Part(channel()), json!({}), "Left #x\n"),
        (Verb::Channels, json!({"channels": ["#a", "#b"]}), "Active channels:\n  #a\n  #b\n"),
        (Verb::Channels, json!({"channels": []}), "No active channels\n"),
        (
            Verb::Who("#x".into()),
            json!({"users": [{"nick": "eve", "modes": "H@"}, {"nick": "bob"}]}),
            "Users in #x:\n  eve\n  bob\n",
        ),
        (Verb::Who("#x".into()), json!({"users": []}), "No users in #x\n"),
        (topic(Some("t")), json!({"topic": "t"}), "Topic set for #x\n"),
        (topic(None), json!({"topic": "release day"}), "Topic for #x: release day\n"),
        (topic(None), json!({"topic": null}), "No topic set for #x\n"),
        (topic(None), json!({"topic": ""}), "No topic set for #x\n"),
        (topic(None), json!({}), "Topic query sent for #x (result arrives asynchronously)\n"),
        (Verb::Compact, json!({}), "Context window compacted\n"),
        (Verb::Clear, json!({}), "Context window cleared\n"),
        (
            ask(),
            json!({"answer": null}),
            "{\n  \"type\": \"response\",\n  \"id\": \"7\",\n  \"ok\": true,\n  \"data\": {\n    \
             \"answer\": null\n  }\n}\n",
        ),
    ];
    for (verb, data, line) in cases {
        assert_eq!(told(&verb, data), line, "{verb:?}");
    }
    let verb = Verb::SetDirectory("/srv".into());
    let data = json!({"directory": "/srv", "path": "/srv/CLAUDE.md", "text": "Be kind.\n"});
    assert_eq!(told(&verb, data), "Directory: /srv\n\nBe kind.\n");
    let data = json!({"directory": "/srv", "path": null, "text": ""});
    assert_eq!(told(&verb, data), "Directory: /srv (it has no CLAUDE.md)\n");
}

#[test]
fn a_response_that_cannot_be_read_is_a_failure_of_the_surroundings() {
    let error = text("list", &Command::Channels, &done(json!({"channels": 1})));
    let error = error.unwrap_err();
    assert_eq!(error.exit().code(), 2);
    assert!(error.text().contains("cannot read the daemon's response"), "{}", error.text());
}

/// `error: …` and, where something can be done, `hint: …`; exit code 1.
#[test]
fn what_was_refused_is_told_with_a_hint() {
    let nick: AgentName = "oak-ada".parse().unwrap();
    let cases = [
        (say(), "message #x failed: no"),
        (
            Verb::Read { from: channel(), limit: 1, lines: Lines::Unread, own: false },
            "read #x failed: no",
        ),
        (ask(), "ask in #x failed: no"),
        (Verb::Join(channel()), "join #x failed: no"),
        (Verb::Part(channel()), "part #x failed: no"),
        (Verb::Channels, "list failed: no"),
        (Verb::Who("#x".into()), "who #x failed: no"),
        (topic(Some("t")), "topic set for #x failed: no"),
        (topic(None), "topic #x failed: no"),
        (Verb::Compact, "context compact failed: no"),
        (Verb::Clear, "context clear failed: no"),
    ];
    for (verb, said) in cases {
        let failure = refused(verb.name(), &verb.command().unwrap(), &failed("no"), &nick);
        assert_eq!(failure.text(), format!("error: {said}\n"), "{verb:?}");
        assert_eq!(failure.exit().code(), 1);
    }
    let absent = failed(&not_joined(&"#x".parse().unwrap()));
    let failure = refused("part", &Verb::Part(channel()).command().unwrap(), &absent, &nick);
    assert_eq!(
        failure.text(),
        "error: part #x failed: Not joined to #x\nhint: `gangline channel list --agent oak-ada` \
         shows where it is; `gangline channel join #x --agent oak-ada` makes it join\n"
    );
    let absent = failed(&no_such_channel(&"#x".parse().unwrap()));
    let failure = refused("message", &say().command().unwrap(), &absent, &nick);
    assert_eq!(
        failure.text(),
        "error: channel '#x' does not exist on the server\nhint: `gangline channel list` shows \
         the active channels; --create makes one by this message\n"
    );
}
