//! What `gangline init` says, word for word.

use std::fs;

use gangline_core::AgentName;
use tempfile::TempDir;

use super::*;
use crate::{cmd::init::Site, configuration};

const UP: &str = "gangline up -d";

fn found(program: usize, version: Version) -> Found {
    let program = &PROGRAMS[program];
    let path = format!("/usr/bin/{}", program.name).into();
    Found { program, path, version, no_login: None, key: None }
}

fn agent(name: &str) -> Place {
    Place::Agent(format!("oak-{name}"))
}

/// What was done for these programs, in a folder of its own; `nicks` are the agents of the configuration.
fn done(found: Vec<(Found, Place)>, nicks: &[&str]) -> (TempDir, Done) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let agents: String = nicks
        .iter()
        .map(|nick| {
            let nick: AgentName = nick.parse().unwrap();
            let directory = folder.path().display();
            format!("\n  - {{nick: {nick}, agent: native, model: m, directory: {directory}}}")
        })
        .collect();
    let agents = if agents.is_empty() { " []".to_owned() } else { agents };
    let text = format!("server: {{name: oak, port: 6667}}\nagents:{agents}\n");
    fs::write(at("agents.yaml"), text).unwrap();
    let loaded = configuration::load(&at("agents.yaml")).unwrap();
    let paths = Paths { config_file: at("agents.yaml"), state: at("state"), runtime: at("run") };
    let site = Site { paths, directory: "/home/me/src".to_owned(), state: None };
    let done = Done {
        site,
        loaded,
        found,
        native: false,
        aside: None,
        owner: gangline_os::secret::Secret::new("t0k"),
        token: Token::Made,
        repository: Repository::NotAsked,
    };
    (folder, done)
}

/// Returns all that is printed, with a plain name for the folder and without the versions to install.
fn told(folder: &TempDir, done: &Done) -> String {
    let text = text(done, "Join.\n", UP).replace(folder.path().to_str().unwrap(), "/c");
    let line = |line: &str| match line.rsplit_once('@').filter(|_| line.contains(" npm install ")) {
        Some((program, _version)) => format!("{program}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_was_found_and_done_is_told() {
    let places = vec![
        (found(0, Version::Known("2.1.330 (Claude Code)".into())), agent("claude")),
        (found(1, Version::Unknown), agent("codex")),
        (found(2, Version::Broken("x".into())), Place::Comment("it does not work: x".into())),
    ];
    let (folder, mut done) = done(places, &["oak-claude", "oak-codex"]);
    done.found[1].0.no_login = Some("log in by `codex login`".to_owned());
    done.aside = Some("/c/agents.yaml.before-20261126T120000".into());
    done.token = Token::Kept;
    done.repository = Repository::Committed;
    insta::assert_snapshot!(told(&folder, &done));
    // A key in place of the login: nothing is missing.
    done.found[1].0.key = Some("OPENAI_API_KEY");
    let text = told(&folder, &done);
    let keyed = "            it has no login and uses the key in OPENAI_API_KEY (`api_key_env`)\n";
    assert!(text.contains(keyed) && !text.contains("missing"), "{text}");
}

#[test]
fn without_a_program_it_says_what_to_install() {
    let (folder, done) = done(Vec::new(), &[]);
    insta::assert_snapshot!(told(&folder, &done));
}

#[test]
fn without_a_program_and_with_a_key_the_model_loop_is_the_agent() {
    let (folder, mut done) = done(Vec::new(), &["oak-native"]);
    done.native = true;
    insta::assert_snapshot!(told(&folder, &done));
}

#[test]
fn each_outcome_of_the_repository_has_its_line() {
    let told = |repository: &Repository| super::told(Path::new("/c/agents.yaml"), repository);
    let inside = "none: the folder is in the repository /top, where you may commit the file";
    for (repository, expected) in [
        (Repository::NotAsked, None),
        (Repository::Made, Some("made in /c; the file is its first commit")),
        (Repository::Committed, Some("/c is one already; the change is committed")),
        (Repository::Unchanged, Some("/c is one already; nothing has changed")),
        (Repository::Inside("/top".into()), Some(inside)),
        (Repository::NoGit, Some("none: git is not installed")),
        (Repository::Failed("no room".to_owned()), Some("none: no room")),
    ] {
        assert_eq!(told(&repository).as_deref(), expected);
    }
}

/// A repository that was asked for alone and could not be made is a failure.
#[test]
fn a_repository_that_cannot_be_made_is_a_failure_that_says_what_stayed() {
    let file = Path::new("/c/agents.yaml");
    let (global, failed) = (
        Global { state: None, config: None, json: false },
        Repository::Failed("no room".to_owned()),
    );
    for (repository, why) in [(failed, "no room"), (Repository::NoGit, "git is not installed")] {
        let failure = kept(&global, (file, &repository)).unwrap_err();
        let expected = format!(
            "error: there is no repository: none: {why}\nhint: the configuration is as it was\n"
        );
        assert_eq!(failure.text(), expected);
    }
}

#[test]
fn a_path_is_quoted_only_where_a_shell_needs_it() {
    for (path, expected) in [
        ("/c/agents.yaml", "/c/agents.yaml"),
        ("/a b/c", "'/a b/c'"),
        ("/it's", r"'/it'\''s'"),
        ("/$HOME", "'/$HOME'"),
    ] {
        assert_eq!(quoted(Path::new(path)), expected);
    }
}

#[test]
fn the_summary_for_programs_has_every_field() {
    let mut keyed = found(0, Version::Known("2.1".into()));
    keyed.no_login = Some("log in by `claude`".to_owned());
    keyed.key = Some("ANTHROPIC_API_KEY");
    let broken = found(1, Version::Broken("x".into()));
    let places = vec![(keyed, agent("claude")), (broken, Place::Comment("it is broken".into()))];
    let (folder, mut done) = done(places, &["oak-claude"]);
    done.aside = Some("/c/before".into());
    done.repository = Repository::Made;
    let summary = serde_json::to_string_pretty(&summary(&done, UP.to_owned())).unwrap();
    insta::assert_snapshot!(summary.replace(folder.path().to_str().unwrap(), "/c"));
    done.repository = Repository::NotAsked;
    done.aside = None;
    let summary = serde_json::to_value(super::summary(&done, UP.to_owned())).unwrap();
    assert_eq!((summary.get("repository"), summary.get("moved_aside")), (None, None));
}
