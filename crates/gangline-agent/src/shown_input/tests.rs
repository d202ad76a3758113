use gangline_api::approval::wanted_of_row;
use gangline_core::{KnownSecret, approval::view::Wanted};
use serde_json::json;

use super::*;

const KEY: &str = "sk-ant-api03-0123456789abcdefghijklmnopqrst";

fn redactor() -> Redactor {
    Redactor::named([KnownSecret::new("ANTHROPIC_API_KEY", "known-value-of-the-key")])
}

fn of(tool: &str, input: &Value) -> Value {
    shown(tool, input, &redactor()).input
}

fn hidden() -> String {
    format!("sk-a…‹{} characters›", KEY.len())
}

/// What the room, `show` and `approvals --json` have of a command is the command.
#[test]
fn a_command_is_shown_as_it_runs() {
    for command in [
        "git ls-remote https://ci:x;touch${IFS}pwn;@localhost:1/team/repo.git",
        "echo ok # -----BEGIN PRIVATE KEY-----\nid > PROOF\n# -----END PRIVATE KEY-----",
        ": -----BEGIN PRIVATE KEY-----; id > PROOF; : -----END PRIVATE KEY-----",
        "TOKEN=abcdef1234 make",
    ] {
        let Shown { input, audience } = shown("Bash", &json!({"command": command}), &redactor());
        assert_eq!(input, json!({"command": command}));
        assert_eq!(audience, Audience::Everybody);
        let stored = redactor().sourced(&input.to_string()).into_string();
        let Wanted::Run { command: told, .. } = wanted_of_row("Bash", &stored) else { panic!() };
        assert_eq!(told, command);
    }
}

#[test]
fn a_secret_is_hidden_in_a_plain_word_and_a_known_one_is_named() {
    let input = json!({
        "command": format!("login {KEY} known-value-of-the-key"),
        "cwd": "/srv/password=abcdefgh",
        "description": format!("with {KEY}"),
    });
    let hidden = hidden();
    let expect = json!({
        "command": format!("login {hidden} ‹ANTHROPIC_API_KEY›"),
        "cwd": "/srv/password=abcdefgh",
        "description": format!("with {hidden}"),
    });
    assert_eq!(of("Bash", &input), expect);
    let both = json!({"command": format!("a {KEY}; b"), "commands": [format!("a {KEY}"), "b"]});
    let Wanted::Run { more, .. } = wanted_of_row("Bash", &of("Bash", &both).to_string()) else {
        panic!()
    };
    assert_eq!(more, None, "the list still says what the command says");
}

#[test]
fn a_command_that_does_not_parse_is_whole_and_for_owners() {
    for command in ["echo \"--token=abcdef12", "curl --token=abcdef12\r\nid", "if x; then y"] {
        let told = shown("Bash", &json!({"command": command}), &redactor());
        assert_eq!(told.input, json!({"command": command}));
        assert_eq!(told.audience, Audience::Owners, "{command}");
    }
    let known = shown("Bash", &json!({"command": "echo \"known-value-of-the-key"}), &redactor());
    assert_eq!(known.input, json!({"command": "echo \"‹ANTHROPIC_API_KEY›"}));
}

/// A program gets its words as they are. A script that one of them hands to a shell is read as a command.
#[test]
fn a_list_of_words_is_the_words_of_one_program() {
    let check = |words: Value, expect: Value, audience: Audience| {
        let told = shown("Bash", &json!({ "command": words }), &redactor());
        assert_eq!(told.input, json!({ "command": expect }));
        assert_eq!(told.audience, audience, "{expect}");
    };
    let whole = json!(["bash", "-lc", "echo \"--token=abcdef12"]);
    check(whole.clone(), whole, Audience::Owners);
    let whole = json!(["env", "A=1", "sh", "-c", "echo 'x"]);
    check(whole.clone(), whole, Audience::Owners);
    let script = |key: &str| json!(["bash", "-lc", format!("login {key}; touch pwn")]);
    check(script(KEY), script(&hidden()), Audience::Everybody);
    let whole = json!(["sudo", KEY, "don't"]);
    check(whole.clone(), whole, Audience::Everybody);
    let login = |key: &str| json!(["login", key, "don't (", "two words --token=abcdef12"]);
    check(login(KEY), login(&hidden()), Audience::Everybody);
    let named = json!(["git", "-c", "alias.token=push", "token", "known-value-of-the-key"]);
    let shown = json!(["git", "-c", "alias.token=push", "token", "‹ANTHROPIC_API_KEY›"]);
    check(named, shown, Audience::Everybody);
    let both = json!({"command": "ls; x", "commands": ["ls", "echo \"x"]});
    assert_eq!(shown_to("Bash", &both), Audience::Owners, "each of a list is a command");
}

fn shown_to(tool: &str, input: &Value) -> Audience {
    shown(tool, input, &redactor()).audience
}

/// What ran is recorded as it would have been shown; what the agent says is conversation.
#[test]
fn a_call_is_recorded_as_it_would_be_shown() {
    let command =
        json!({"command": ": -----BEGIN PRIVATE KEY-----; id; : -----END PRIVATE KEY-----"});
    assert_eq!(recorded("Bash", &command, &redactor()).input, command);
    let broken = json!({"command": "echo \"--token=abcdef12"});
    assert!(is_for_owners("Bash", &broken) && !is_for_owners("Bash", &command));
    let said =
        json!({"to": "#lab", "text": format!("known-value-of-the-key {KEY} password: hunter22")});
    let expect = json!({"to": "#lab", "text": "[masked] [masked] password: [masked]"});
    assert_eq!(recorded("send", &said, &redactor()).input, expect);
}

/// No line of a file disappears.
#[test]
fn what_is_written_is_masked_line_by_line() {
    let script =
        "#!/bin/sh\n# -----BEGIN PRIVATE KEY-----\nid > PROOF\n# -----END PRIVATE KEY-----\n";
    for (tool, input) in [
        ("Write", json!({"file_path": "/w/x.sh", "content": script})),
        ("Edit", json!({"file_path": "/w/x.sh", "old_string": "a", "new_string": script})),
        (
            "MultiEdit",
            json!({"file_path": "/w/x", "edits": [{"old_string": script, "new_string": ""}]}),
        ),
        ("Edit", json!({"changes": [{"path": "/w/x", "kind": "update", "diff": script}]})),
        ("mcp__db__run", json!({"query": script})),
    ] {
        assert_eq!(of(tool, &input), input, "{tool}");
    }
    let input = json!({"file_path": "/w/.env", "content": format!("A=1\nAPI_KEY={KEY}\nB=2\n")});
    let told = of("Write", &input);
    assert_eq!(told["content"], format!("A=1\nAPI_KEY={}\nB=2\n", hidden()));
    let Wanted::Write { files, .. } = wanted_of_row("Write", &told.to_string()) else { panic!() };
    assert_eq!(files[0].change.hidden().characters, KEY.len() - 4);
}

#[test]
fn other_tools_hide_one_plain_word_of_an_argument() {
    let input = json!({
        "url": "https://ci:hunter2@host/x?token=abcdef12;id",
        "password": "hunter2hunter2",
        "token": "two words",
        "api_key": ["known-value-of-the-key", "$X"],
        "known-value-of-the-key": 1,
        "path": "/x/sk-ant-api03-0123456789abcdefghij",
    });
    let expect = json!({
        "url": "https://ci:‹7 characters›@host/x?token=‹8 characters›;id",
        "password": "hunt…‹14 characters›",
        "token": "two words",
        "api_key": ["‹ANTHROPIC_API_KEY›", "$X"],
        "‹ANTHROPIC_API_KEY›": 1,
        "path": "/x/sk-ant-api03-0123456789abcdefghij",
    });
    assert_eq!(of("mcp__web__get", &input), expect);
}
