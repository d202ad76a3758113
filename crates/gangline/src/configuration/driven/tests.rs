use std::{collections::BTreeSet, fs};

use gangline_config::Environment;
use gangline_runtime::registry::{Places, Registry};

use super::*;

const ENTRIES: &str = r#"{"runtimes": {
    "native": {"base_url": "http://127.0.0.1:9", "api_key_env": "LOCAL_KEY"},
    "bare": {"adapter": "native"},
    "beta": {"adapter": "claude", "bin": "claude-beta"},
    "work": {"adapter": "claude", "env": {"A": "b"}},
    "pair": {"bin": "aider", "delivery": "tmux"}
}}"#;

/// The agent whose keys these are, and a registry with [`ENTRIES`].
fn loaded(keys: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runtimes.json");
    fs::write(&file, ENTRIES).unwrap();
    let registry = Registry::load(&Places { ours: Some(file), ..Places::default() });
    assert_eq!(registry.problems(), []);
    let yaml =
        format!("server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: /w\n{keys}");
    let names = |_: Option<&std::path::Path>| registry.names();
    let config =
        gangline_config::parse_known(&yaml, "agents.yaml", &names, &Environment::default())
            .unwrap();
    Loaded {
        config,
        file: "/c/agents.yaml".into(),
        registry,
        unread: BTreeSet::new(),
        marks: Default::default(),
    }
}

const KEYS: &str = "    agent: claude\n    command: [/opt/claude]\n    account_dir: /l\n    \
                      model: opus\n    base_url: http://127.0.0.1:1\n    api_key_env: KEY\n    \
                      process: per_turn\n    background_tasks: true\n    thinking: high\n";

fn driven(keys: &str, runtime: &str) -> Driven {
    let loaded = loaded(keys);
    loaded.driven(&loaded.config.agents[0], Some(runtime)).unwrap()
}

/// R3-17: nothing that is configured for one program reaches another.
#[test]
fn what_is_configured_for_one_program_is_left_out_with_another() {
    let driven = driven(KEYS, "native");
    let mut bare = loaded("    agent: claude\n    thinking: high\n").config.agents.remove(0);
    bare.base_url = Some("http://127.0.0.1:9".to_owned());
    bare.api_key_env = Some("LOCAL_KEY".to_owned());
    assert_eq!(driven.agent, bare, "the entry's own are in their place");
    let keys = [
        "command",
        "account_dir",
        "model",
        "base_url",
        "api_key_env",
        "process",
        "background_tasks",
    ];
    let instead_of = driven.instead_of.clone().unwrap();
    assert_eq!(instead_of.left_out, keys);
    assert_eq!((instead_of.name.as_str(), instead_of.owner.as_str()), ("claude", "claude"));
    let told = driven.notice().unwrap();
    assert!(told.starts_with("oak-ada gets native instead of claude; "), "{told}");
    assert!(
        told.ends_with(
            "command, account_dir, model, base_url, api_key_env, process, \
                            background_tasks"
        ),
        "{told}"
    );
}

#[test]
fn another_entry_for_the_same_program_takes_the_place_of_its_command_alone() {
    for (name, left_out) in [("beta", vec!["command"]), ("work", vec![])] {
        let driven = driven(KEYS, name);
        let mut same = loaded(KEYS).config.agents.remove(0);
        if name == "beta" {
            same.command = None;
        }
        assert_eq!(driven.agent, same, "{name}");
        assert_eq!(driven.instead_of.unwrap().left_out, left_out, "{name}");
        assert_eq!(driven.found.owner(), "claude");
    }
}

#[test]
fn the_configured_name_is_no_other_backend() {
    let loaded = loaded(KEYS);
    let agent = &loaded.config.agents[0];
    for runtime in [None, Some("claude")] {
        let driven = loaded.driven(agent, runtime).unwrap();
        assert_eq!((&driven.agent, driven.instead_of.as_ref()), (agent, None));
        assert_eq!(driven.notice(), None);
    }
}

/// A program in a terminal stays there under another entry, and another program is not put there.
#[test]
fn a_terminal_is_for_the_program_that_it_was_configured_for() {
    let keys = "    agent: claude\n    process: tmux\n";
    assert_eq!(driven(keys, "beta").found.entry.name, "tmux");
    let native = driven(keys, "native");
    assert_eq!((native.found.entry.name, native.agent.process), ("native", Process::Resident));
    assert_eq!(native.instead_of.unwrap().owner, "claude");
    assert_eq!(driven(keys, "pair").found.command.unwrap(), ["aider"]);
}

/// Each refusal says what to do about it, where the user can do it.
#[test]
fn what_cannot_run_in_its_place_is_refused_with_what_to_do() {
    let check = |keys: &str, runtime: &str, code: u8, parts: &[&str]| {
        let loaded = loaded(keys);
        let agent = &loaded.config.agents[0];
        let failure = loaded.driven(agent, Some(runtime)).and_then(|it| it.can_run()).unwrap_err();
        assert_eq!(failure.exit().code(), code, "{runtime}");
        for part in parts {
            assert!(failure.text().contains(part), "{part} in {}", failure.text());
        }
    };
    check(KEYS, "nativ", 1, &["no backend `nativ`; there is: native,", "did you mean native?"]);
    check(KEYS, "tmux", 1, &["with `tmux`", "needs the name of a program", "runtimes.json"]);
    check(KEYS, "bare", 1, &["with `bare`", "needs a key", "api_key_env", "runtimes.json"]);
    let near = "    agent: native\n    base_url: http://127.0.0.1:9\n";
    assert!(driven(near, "bare").can_run().is_ok(), "the same program, and its own address");
}

/// R3-15, C47: a Codex with a role in Gas Town is told to run `gt prime`, however it is driven, unless its
/// configuration says something else.
#[test]
fn a_codex_with_a_role_in_gas_town_is_told_to_prime() {
    let prime = Some("Run `gt prime`, and follow the instructions that it prints.");
    let role = "    gastown: {role: polecat}\n";
    for (keys, told) in [
        (format!("    agent: codex\n{role}"), prime),
        (format!("    agent: codex\n    process: tmux\n{role}"), prime),
        ("    agent: codex\n    env: {GT_ROLE: witness}\n".to_owned(), prime),
        (
            format!("    agent: codex\n    initial_prompt: Look around.\n{role}"),
            Some("Look around."),
        ),
        ("    agent: codex\n".to_owned(), None),
        (format!("    agent: claude\n{role}"), None),
    ] {
        let loaded = loaded(&keys);
        let driven = loaded.driven(&loaded.config.agents[0], None).unwrap();
        assert_eq!(driven.agent.initial_prompt.as_deref(), told, "{keys}");
    }
}

/// The native loop runs no program: one that is named all the same is missed by nobody.
#[test]
fn a_command_is_looked_for_only_where_a_program_is_run() {
    for (agent, missing) in [("native", None), ("claude", Some("no-such-program"))] {
        let keys = format!("    agent: {agent}\n    command: [no-such-program]\n");
        let loaded = loaded(&keys);
        let driven = loaded.driven(&loaded.config.agents[0], None).unwrap();
        assert_eq!(driven.missing(), missing, "{agent}");
    }
}

/// R2-04, R2-12, C30, C32, C39: in a container a Claude Code has S2's model, and every agent works in the
/// folder that is mounted; what is configured for the model stands.
#[test]
fn a_container_gives_a_folder_and_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Container { state: folder.path().into(), ..Container::default() };
    let missing = Container { state: folder.path().join("gone"), ..Container::default() };
    let contained = |keys: &str, container: &Container| {
        let loaded = loaded(keys);
        let Driven { mut agent, found, .. } =
            loaded.driven(&loaded.config.agents[0], None).unwrap();
        contain(&mut agent, &found, container);
        (agent.directory, agent.model)
    };
    let state = folder.path().to_owned();
    let haiku = Some("haiku".to_owned());
    assert_eq!(contained("    agent: claude\n", &mounted), (state.clone(), haiku.clone()));
    assert_eq!(contained("    agent: beta\n", &missing), ("/w".into(), haiku));
    let opus = Some("opus".to_owned());
    assert_eq!(contained("    model: opus\n    agent: claude\n", &mounted), (state.clone(), opus));
    assert_eq!(contained("    agent: native\n", &mounted), (state, None));
    let host = loaded("    agent: claude\n");
    assert_eq!(host.driven(&host.config.agents[0], None).unwrap().agent.model, None);
}
