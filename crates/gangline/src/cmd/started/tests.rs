//! What is read here is what the whole command line reads.

use clap::Parser as _;

use super::*;

fn words(line: &str) -> Vec<OsString> {
    std::iter::once("gangline").chain(line.split(' ')).map(OsString::from).collect()
}

fn read(line: &str) -> Option<String> {
    plain(words(line).into_iter()).map(|cli| format!("{cli:?}"))
}

#[test]
fn the_words_of_a_hub_mean_what_they_mean_to_everybody() {
    for line in [
        "daemon oak-ada --irc 127.0.0.1:6667 --config /a/agents.yaml --state /s",
        "daemon oak-ada --config agents.yaml --state s --runtime codex --irc h:1",
        "daemon oak-ada --state s --config c",
    ] {
        let usual = format!("{:?}", Cli::try_parse_from(words(line)).unwrap());
        assert_eq!(read(line), Some(usual), "{line}");
    }
}

#[test]
fn everything_else_is_left_to_those_who_can_say_what_is_wrong() {
    for line in [
        "daemon",
        "daemon --help",
        "daemon oak-ada",
        "daemon oak-ada --config c",
        "daemon oak-ada --state s",
        "daemon oak-ada --config c --state s --json",
        "daemon oak-ada --config c --state s --irc",
        "daemon oak-ada --config c --state s --irc -x",
        "daemon oak-ada --config c --state s --state t",
        "daemon oak-ada --config=c --state=s",
        "daemon oak-ada --config c --state s more",
        "daemon o!k --config c --state s",
        "--config c --state s daemon oak-ada",
        "up --config c --state s",
    ] {
        assert_eq!(read(line), None, "{line}");
    }
}
