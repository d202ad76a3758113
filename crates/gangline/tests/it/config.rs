//! Configurations that cannot be used: a clear error, exit code 78, and nothing started.

use std::fs::File;

use gangline_os::clock;
use gangline_store::{OpenOptions, Store};
use gangline_testkit::Ran;

use crate::standin::world;

fn check(text: &str) -> Ran {
    let world = world();
    let file = world.file("agents.yaml", text);
    let mut ran = world.run(&["config", "check", &file]);
    let home = world.path("").display().to_string();
    ran.stderr = ran.stderr.replace(&home, "");
    ran.stdout = ran.stdout.replace(&home, "");
    ran
}

fn refused(text: &str, parts: &[&str]) {
    let ran = check(text);
    assert_eq!(ran.code, 78, "{}{}", ran.stdout, ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "no `{part}` in:\n{}", ran.stderr);
    }
}

#[test]
fn a_good_file_is_ok_and_its_agents_are_counted() {
    let ran = check(
        "server: {name: oak}\nagents:\n  - {nick: oak-ada, agent: claude, command: [sh], directory: .}\n",
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "agents.yaml: ok (1 agent)\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "");
}

#[test]
fn an_unknown_backend_of_an_agent_that_is_off_is_a_warning() {
    let ran = check(
        "server: {name: oak}\nagents:\n  - {nick: oak-ada, agent: zebra, directory: ., enabled: false}\n",
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let expect = "warning: agents.yaml:3:28: unknown backend `zebra`";
    assert!(ran.stderr.starts_with(expect), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("warning: ").count(), 1, "{}", ran.stderr);
}

/// R0-62: an unknown backend is named with its place.
#[test]
fn an_unknown_backend_is_named_with_its_line() {
    refused(
        "server: {name: oak}\nagents:\n  - nick: oak-ada\n    agent: claud\n    directory: .\n",
        &["agents.yaml:4:12: ", "claud", "claude", "4 |     agent: claud"],
    );
}

fn of_ada(agent: &str) -> String {
    format!("server: {{name: oak}}\nagents:\n  - {{nick: oak-ada, {agent}, directory: .}}\n")
}

/// R0-64: a key that the agent's backend does not read is warned of with what to write instead. What
/// this shell has not got is warned of as well: the hub may be started where it is.
#[test]
fn keys_without_effect_and_what_is_missing_here_are_warned_of() {
    let acp = "agent: acp, acp_command: [sh]";
    for (agent, warnings) in [
        (
            format!("{acp}, base_url: 'http://127.0.0.1:9/v1'"),
            vec!["`base_url of oak-ada` has no effect"],
        ),
        (
            format!("{acp}, api_key_env: LAB_KEY, account_dir: /x"),
            vec![
                "`api_key_env of oak-ada` has no effect",
                "`account_dir of oak-ada` has no effect",
                "agents.yaml: oak-ada: the variable LAB_KEY is not set here (`api_key_env`): set it in \
                 the shell that starts the hub",
            ],
        ),
        (
            format!("{acp}, base_url: 'http://h/v1', model_env: {{base_url: OPENAI_BASE_URL}}"),
            vec![],
        ),
        ("agent: claude, command: [sh], base_url: 'http://h'".to_owned(), vec![]),
        (
            "agent: native, api_key_env: LAB_KEY".to_owned(),
            vec!["oak-ada: the variable LAB_KEY is not set here (`api_key_env`)"],
        ),
        (
            "agent: acp, acp_command: [no-such-program]".to_owned(),
            vec![
                "agents.yaml: oak-ada: its program cannot be run here: `no-such-program` is not on \
                 the PATH; install it, or name its path",
            ],
        ),
        (
            "agent: codex, command: [/nowhere/codex]".to_owned(),
            vec!["oak-ada: its program cannot be run here: /nowhere/codex is not there"],
        ),
        (
            "agent: claude, command: [sh], mcp_servers: {git: {command: x, env: {A: '${NO_A}'}}}"
                .to_owned(),
            vec!["oak-ada: cannot offer the MCP server `git`: "],
        ),
    ] {
        let ran = check(&of_ada(&agent));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for warning in &warnings {
            assert!(ran.stderr.contains(warning), "{agent}: {}", ran.stderr);
        }
        let told = ran.stderr.matches("warning: ").count();
        assert_eq!(told, warnings.len(), "{agent}: {}", ran.stderr);
    }
}

/// A field with which each start would fail refuses the agent, here and in its daemon.
#[test]
fn an_agent_with_a_field_that_its_backend_cannot_use_is_refused() {
    let acp = "agent: acp, acp_command: [sh]";
    for (agent, fault) in [
        (format!("{acp}, tools: sse"), "`tools` must be http, stdio or none"),
        (
            "agent: tmux, command: [sh], screen: {columns: 1000}".to_owned(),
            "`screen`: `columns` must be 40 to 500",
        ),
        (format!("{acp}, model_env: {{base_url: 'A B'}}"), "`model_env`"),
    ] {
        let hint = "hint: correct that key where it is written, or remove it";
        refused(&of_ada(&agent), &[&format!("error: cannot run oak-ada: {fault}"), hint]);
        let world = world();
        let _ = world.file("agents.yaml", &of_ada(&agent));
        let ran = world.run(&["daemon", "ada"]);
        assert!(ran.code == 78 && ran.stderr.contains(fault), "{}", ran.stderr);
    }
}

/// A configuration that is named and not there: no command takes another one instead.
#[test]
fn a_named_configuration_that_is_not_there_is_an_error_of_every_command() {
    let mut world = world();
    for words in [
        &["ps"][..],
        &["status"],
        &["logs"],
        &["approvals"],
        &["join"],
        &["down"],
        &["up"],
        &["stop", "--all"],
        &["attach", "oak-ada"],
        &["trace", "1"],
        &["runtime", "list"],
        &["config", "check"],
        &["channel", "--agent", "oak-ada", "channels"],
        &["mcp", "--nick", "oak-ada"],
    ] {
        let (first, rest) = words.split_first().unwrap();
        let args = [&[*first, "--config", "/nope.yaml"], rest].concat();
        let ran = world.run(&args);
        let said = "error: there is no configuration /nope.yaml\nhint: `gangline init` writes one";
        assert!(ran.stderr.starts_with(said), "{words:?}: {}", ran.stderr);
        assert_eq!((ran.code, ran.stdout.as_str()), (78, ""), "{words:?}");
    }
    world.set("GANGLINE_CONFIG", "/nope.yaml");
    let ran = world.run(&["ps"]);
    assert!(ran.code == 78 && ran.stderr.contains("no configuration /nope.yaml"), "{}", ran.stderr);
}

/// C21: a person's client is refused at its start, since a message to a mistyped nick would wait for
/// ever.
#[test]
fn tools_of_an_unknown_agent_are_not_served() {
    let world = world();
    let _ = world.file("agents.yaml", &of_ada("agent: native"));
    assert_eq!(world.run(&["mcp", "--nick", "oak-ada"]).ok(), "", "a client that is gone at once");
    let ran = world.run(&["mcp", "--nick", "oak-adda"]);
    let said =
        "error: there is no agent oak-adda\nhint: did you mean oak-ada?\nhint: known are oak-ada";
    assert!(ran.code == 1 && ran.stderr.starts_with(said), "{}: {}", ran.code, ran.stderr);
}

/// Without an agent every command says so, also once a hub has run.
#[test]
fn without_agents_commands_say_what_is_missing() {
    let world = world();
    let file = world.file("agents.yaml", "agents: []\n");
    let ran = world.run(&["prompt", "ada", "hi"]);
    assert!(ran.stderr.contains("nothing has run yet: there is no database"), "{}", ran.stderr);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = world.state().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        store.close().await.unwrap();
    });
    assert_eq!(world.run(&["status"]).ok(), "no agents yet\n");
    let ran = world.run(&["prompt", "ada", "hi"]);
    let said = format!("error: no agent is known yet\nhint: add one below `agents:` in {file}");
    assert!(ran.code == 1 && ran.stderr.starts_with(&said), "{}: {}", ran.code, ran.stderr);
}

#[test]
fn a_nick_that_is_no_server_and_name_is_refused() {
    refused(
        "server: {name: oak}\nagents:\n  - {nick: ada, agent: native, directory: .}\n",
        &["agents.yaml:3:", "`ada`", "<server>-<name>"],
    );
}

#[test]
fn a_path_in_a_nick_is_refused() {
    refused(
        "server: {name: oak}\nagents:\n  - {nick: oak-../../etc, agent: native, directory: .}\n",
        &["agents.yaml:3:", "oak-../../etc"],
    );
    let ran = world().run(&["daemon", "oak-../../etc"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains("is not an agent's nick"), "{}", ran.stderr);
}

#[test]
fn a_file_of_a_hundred_megabytes_is_refused_before_it_is_read() {
    let world = world();
    let file = world.file("agents.yaml", "");
    File::options().write(true).open(&file).unwrap().set_len(100 << 20).unwrap();
    let ran = world.run(&["config", "check", &file]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the file has 104857600 bytes; at most 1048576 are read"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let list = vec![before; 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    refused(&bomb, &["agents.yaml"]);
}

#[test]
fn a_file_that_cannot_be_read_is_told_apart_from_one_that_is_missing() {
    let world = world();
    let folder = world.path("folder").display().to_string();
    std::fs::create_dir(&folder).unwrap();
    let ran = world.run(&["config", "check", &folder]);
    assert_eq!(ran.code, 78);
    assert!(ran.stderr.contains("cannot read the configuration\ncaused by: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(&folder), "{}", ran.stderr);

    let binary = world.path("binary").display().to_string();
    std::fs::write(&binary, b"agents: \xff\xfe").unwrap();
    let ran = world.run(&["config", "check", &binary]);
    assert_eq!(ran.code, 78);
    assert!(ran.stderr.contains("UTF-8"), "{}", ran.stderr);

    let ran = world.run(&["up"]);
    assert_eq!(ran.code, 78);
    assert!(ran.stderr.starts_with("error: there is no configuration "), "{}", ran.stderr);
    assert!(ran.stderr.contains("gangline/agents.yaml"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: `gangline init` writes one"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: `gangline demo` needs none"), "{}", ran.stderr);
}

/// Where nobody can run, that is told before anything runs.
#[test]
fn up_starts_nothing_when_no_agent_can_run() {
    let check = |agent: &str, parts: &[&str]| {
        let world = world();
        let text = format!(
            "server: {{name: oak, host: 127.0.0.1, port: 1}}\nagents:\n  \
             - {{nick: oak-ada, agent: native, directory: .}}\n  - {agent}\n"
        );
        let file = world.file("agents.yaml", &text);
        let mut up = world.start(&["up"]);
        assert_eq!(up.wait(), 78, "{}", up.output());
        let checked = world.run(&["config", "check", &file]);
        assert_eq!(checked.code, 78, "{}", checked.stderr);
        for said in [up.output(), checked.stderr] {
            for part in parts.iter().chain(&["cannot run oak-ada: its model needs a key"]) {
                assert!(said.contains(part), "no `{part}` in:\n{said}");
            }
        }
        let made: Vec<_> = std::fs::read_dir(world.state()).unwrap().flatten().collect();
        assert_eq!(made.len(), 1, "nothing but the record of its configuration: {made:?}");
        assert!(world.processes().is_empty());
    };
    check(
        "{nick: oak-bob, agent: tmux, directory: .}",
        &[
            "error: cannot run oak-bob",
            "`tmux` needs the name of a program",
            "hint: write `command",
        ],
    );
    check(
        "{nick: oak-bob, agent: native, directory: nowhere, api_key_env: NONE}",
        &["cannot run oak-bob: its directory ", "nowhere is not there"],
    );
}

/// `config check` sees what `up` refuses, and says it in JSON, too.
#[test]
fn the_check_names_each_agent_that_cannot_run_and_those_in_one_folder() {
    let world = world();
    let file = world.file(
        "agents.yaml",
        "server: {name: oak, host: 0.0.0.0}\nagents:\n  \
         - {nick: oak-ada, agent: claude, command: [sh], directory: .}\n  \
         - {nick: oak-bob, agent: codex, command: [sh], directory: .}\n  \
         - {nick: oak-cleo, agent: claude, directory: nowhere}\n",
    );
    let ran = world.run(&["config", "check", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (78, ""), "{}", ran.stderr);
    for part in [
        "error: the embedded IRC server listens on loopback only, not on `0.0.0.0`",
        "error: cannot run oak-cleo: its directory ",
        "warning: oak-ada and oak-bob work in the same directory",
    ] {
        assert!(ran.stderr.contains(part), "no `{part}` in:\n{}", ran.stderr);
    }
    let ran = world.run(&["config", "check", &file, "--json"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["ok"], false, "{told:#}");
    assert_eq!(told["agents"], serde_json::json!(["oak-ada", "oak-bob", "oak-cleo"]));
    assert_eq!(told["problems"][0].get("agent"), None, "{told:#}");
    assert_eq!(told["problems"][1]["agent"], "oak-cleo", "{told:#}");
    assert_eq!(told["warnings"].as_array().map(Vec::len), Some(1), "{told:#}");
    let broken = world.file("broken.yaml", "agents: 3\n");
    let ran = world.run(&["config", "check", &broken, "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &told["ok"]), (78, &serde_json::json!(false)), "{told:#}");
}

#[test]
fn the_embedded_server_listens_on_loopback_only() {
    let world = world();
    let _ =
        world.file("agents.yaml", "server: {name: oak, host: 0.0.0.0, port: 6667}\nagents: []\n");
    let ran = world.run(&["up"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("loopback only, not on `0.0.0.0`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: write `host: 127.0.0.1`"), "{}", ran.stderr);
}

#[test]
fn a_daemon_of_an_unknown_agent_names_those_that_are_known() {
    let world = world();
    let _ = world.file(
        "agents.yaml",
        "server: {name: oak}\nagents:\n  - {nick: oak-ada, agent: native, directory: .}\n",
    );
    let ran = world.run(&["daemon", "oak-bob"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no agent oak-bob"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: known are oak-ada"), "{}", ran.stderr);
}

#[test]
fn the_schema_is_the_one_that_is_documented() {
    let printed = world().run(&["config", "schema"]).json();
    let documented = include_str!("../../../../docs/agents.schema.json");
    let documented: serde_json::Value = serde_json::from_str(documented).unwrap();
    assert_eq!(printed, documented);
}
