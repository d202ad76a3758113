//! Tests of the command line.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};
use gangline_api::ipc::{ASK_SECONDS, READ_LIMIT};
use gangline_core::question::OnTimeout;

use super::{ASK, plain};
use crate::channel::{Alone, verb::Verb};

fn words(line: &[&str]) -> Vec<OsString> {
    line.iter().map(OsString::from).collect()
}

/// What the parser makes of the words.
fn parsed(line: &[&str]) -> Option<Verb> {
    let all = [&["channel"], line].concat();
    Alone::try_parse_from(all).ok().map(|alone| alone.args.command.verb())
}

#[test]
fn a_plain_call_means_what_the_parser_says() {
    let cases: &[&[&str]] = &[
        &["send", "general", "hello"],
        &["message", "#general", "hello", "there"],
        &["message", "#general", ""],
        &["ask", "general", "ok?"],
        &["ask", "general", "ship", "it?"],
        &["read", "general"],
        &["read", "general", "5"],
        &["read", "general", "4294967295"],
        &["join", "ops"],
        &["part", "@ops"],
        &["channels"],
        &["list"],
        &["who", "eve"],
        &["topic", "ops"],
        &["topic", "ops", "release", "day"],
        &["topic", "ops", ""],
        &["compact"],
        &["clear"],
    ];
    for line in cases {
        let verb = plain(&words(line));
        assert!(verb.is_some(), "{line:?}");
        assert_eq!(verb, parsed(line), "{line:?}");
    }
}

#[test]
fn everything_else_is_left_to_the_parser() {
    let cases: &[&[&str]] = &[
        &[],
        &["--help"],
        &["help"],
        &["help", "send"],
        &["send"],
        &["send", "general"],
        &["send", "general", "hi", "--create"],
        &["send", "general", "- item"],
        &["send", "--json", "general", "hi"],
        &["read", "general", "0"],
        &["read", "general", "x"],
        &["read", "general", "-n", "5"],
        &["read", "general", "4294967296"],
        &["read", "general", "5", "6"],
        &["list", "all"],
        &["join"],
        &["join", "a", "b"],
        &["dance"],
        &["set-directory", "work"],
    ];
    for line in cases {
        assert_eq!(plain(&words(line)), None, "{line:?}");
    }
    use std::os::unix::ffi::OsStringExt as _;
    let no_text = vec!["send".into(), "a".into(), OsString::from_vec(vec![0xff])];
    assert_eq!(plain(&no_text), None);
}

/// R1-55: the page for users names every command, its request and its defaults, and no other command.
#[test]
fn the_page_of_the_chat_tools_is_what_the_program_does() {
    let page = include_str!("../../../../../docs/irc-tools.md");
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| `gangline channel ")).collect();
    let alone = Alone::command();
    let verbs: Vec<&str> = alone.get_subcommands().map(clap::Command::get_name).collect();
    for verb in &verbs {
        let named = |row: &&&str| row.split([' ', '`']).nth(4) == Some(*verb);
        assert_eq!(rows.iter().filter(named).count(), 1, "{verb}: {rows:#?}");
    }
    assert_eq!(rows.len(), verbs.len());
    let buffer = gangline_config::parse(
        "server: {name: oak}\nagents:\n  - nick: oak-ada\n    directory: /w\n",
        "agents.yaml",
    );
    let buffer = buffer.unwrap().buffer_size;
    for part in [
        format!("at most {READ_LIMIT} lines"),
        format!("for the answer: {ASK} s,"),
        format!("the request itself waits {ASK_SECONDS} s"),
        format!("the last {buffer} lines"),
    ] {
        assert!(page.contains(&part), "{part}");
    }
    for word in OnTimeout::ALL {
        assert!(page.contains(&format!("\n| `{word}` | ")), "{word}");
    }
}
