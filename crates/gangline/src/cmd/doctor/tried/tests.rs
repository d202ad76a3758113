//! What the suite is run over: each program once, by whichever way it is driven.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use gangline_runtime::registry::{Found, built_in};

use super::*;

fn program(folder: &Path, name: &str) -> String {
    let file = folder.join(name);
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

fn entry(name: &str, adapter: &str, words: &[&str]) -> Found {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut found = Found::built_in(built_in(adapter).unwrap());
    found.name = name.to_owned();
    found.command = Some(words).filter(|words| !words.is_empty());
    found
}

fn round(all: Vec<Found>) -> Round {
    let mut round = Round::default();
    let version = Version::Known("claude 2.1.330".to_owned());
    for found in all {
        let subject = Subject::of_backend(found);
        round.add(subject.found.name.clone(), &subject, (Some(&version), true));
    }
    round
}

#[test]
fn each_program_is_tried_once_with_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let claude = program(folder.path(), "claude");
    let copilot = program(folder.path(), "copilot");
    let round = round(vec![
        entry("native", "native", &[]),
        entry("a", "claude", &[&claude]),
        entry("b", "claude", &[&claude]),
        entry("c", "claude", &[&claude, "--extra"]),
        // Driven as any ACP agent it is another path through our own code.
        entry("d", "copilot", &[&copilot]),
        entry("e", "acp", &[&copilot, "--acp"]),
        entry("f", "tmux", &[&claude]),
    ]);
    let told = |it: &Target| {
        format!("{} {} {} {}", it.name, it.found.entry.name, it.dialect.backend, it.words.len())
    };
    let told: Vec<String> = round.targets.iter().map(told).collect();
    assert_eq!(
        told,
        [
            "native native native 0",
            "a claude claude 1",
            "c claude claude 2",
            "d copilot copilot 1",
            "e acp copilot 2",
            "f tmux tmux 1",
        ]
    );
    assert_eq!(round.targets[1].version, "2.1.330");
    assert_eq!(left_out(&round.not_tried), "");
}

#[test]
fn what_cannot_be_tried_is_counted_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mine = program(folder.path(), "mine");
    let mut round = round(vec![
        entry("term", "tmux", &[&mine]),
        entry("own", "acp", &[&mine]),
        entry("kiro", "kiro", &[&mine]),
        entry("gone", "claude", &["/opt/none/claude"]),
    ]);
    let subject = Subject::of_backend(entry("old", "claude", &[&mine]));
    round.add("old".to_owned(), &subject, (None, false));
    assert_eq!(round.targets.len(), 0);
    assert_eq!(
        left_out(&round.not_tried),
        "5 not tried:\n  \
         term: a terminal program, whose screen the tests do not know\n  \
         own: Gangline cannot pass it a model's address: name its variables in the agent, `model_env: {base_url: NAME, key: NAME}`\n  \
         kiro: Gangline cannot pass it a model's address: name its variables in the agent, `model_env: {base_url: NAME, key: NAME}`\n  \
         gone: /opt/none/claude is not there\n  \
         old: its program cannot run, see above\n"
    );
}
