//! The doctor: looks for programs, and tries them.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use gangline_testkit::{World, eventually, programs, stage::free_port};

use crate::standin::world;

mod deep;
mod supervisor;

/// A world with Claude Code on the PATH, and no other backend.
fn with_claude() -> World {
    let mut world = world();
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    symlink(programs::claude(), bin.join("claude")).unwrap();
    world.set("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    world
}

/// Puts a program on the path.
fn program(world: &World, name: &str, text: &str) {
    let _ = world.file(&format!("bin/{name}"), text);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path(&format!("bin/{name}")), mode).unwrap();
}

/// A world with these programs on its path, each saying this of its version.
fn with(programs: &[(&str, &str)]) -> World {
    let mut world = world();
    for (name, script) in programs {
        program(&world, name, &format!("#!/bin/sh\n{script}\n"));
    }
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    world.set("PATH", &path);
    world.set("GANGLINE_VERSION_SECONDS", "5");
    world
}

/// Returns what it printed, with what differs from run to run left out.
fn plain(world: &World, text: &str) -> String {
    let home = world.path("").display().to_string();
    let text = text.replace(home.trim_end_matches('/'), "HOME");
    let line = |line: &str| match (line.split_once("disk  "), line.split_once("tmux 3")) {
        (Some((before, _)), _) => format!("{before}disk ROOM\n"),
        (_, Some((before, _))) => format!("{before}TMUX\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// R3-16: what is installed is found with its version; what is not is named with its remedy.
#[test]
fn programs_are_found_with_their_versions() {
    let world = with_claude();
    let told = world.run(&["runtime", "doctor"]).ok();
    let place = world.path("bin/claude").display().to_string();
    assert!(told.contains(&format!("2.1.330 (tested): {place}")), "{told}");
    assert!(told.contains("not on the PATH, and used by no agent: codex, opencode"), "{told}");
    let found = world.run(&["doctor", "claude", "native", "--json"]).json();
    let program = &found["checks"][0];
    assert_eq!(
        (&program["about"], &program["name"], &program["check"], &program["result"]),
        (&"backend".into(), &"claude".into(), &"program".into(), &"ok".into())
    );
    assert_eq!((&found["version"], &found["counts"]["fail"]), (&1.into(), &0.into()));
    let absent = world.run(&["doctor", "codex"]);
    assert_eq!(absent.code, 1, "{}", absent.stdout);
    assert!(
        absent.stdout.contains("-> `npm install -g @openai/codex@0.169.0`"),
        "{}",
        absent.stdout
    );
    let ran = world.run(&["runtime", "doctor", "nobody"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is: native, claude"), "{}", ran.stderr);
}

/// A new user: nothing is there, nothing is broken, and the next step stands there. Nothing is made
/// by looking.
#[test]
fn an_empty_home_is_told_what_to_begin_with() {
    let world = with(&[]);
    let before = fs::read_dir(world.path("")).unwrap().count();
    let ran = world.run(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(plain(&world, &ran.stdout), @r#"
    Installation
      warn  configuration  there is none: HOME/config/gangline/agents.yaml
                           -> `gangline init` writes a first one
                           -> or try `gangline demo`, which needs none
      note  state          HOME/state/gangline is not there yet; the first start makes it
      note  store          there is none yet; the first start makes it
      warn  sockets        HOME/run can be read by others: its mode is 0755
                           -> `chmod 700 HOME/run`, or start Gangline, which does it too
      ok    disk ROOM
      note  hub            none runs
      warn  programs       no coding program is on the PATH
                           -> `npm install -g @anthropic-ai/claude-code@latest`, or another one
                           -> or write `agent: native`, which needs only a model key

    `gangline doctor --deep` also tests the backends: no network, no tokens
    3 warnings, 3 notes, 1 ok
    "#);
    assert_eq!(fs::read_dir(world.path("")).unwrap().count(), before);
}

/// A configuration with faults is told with lines; the rest is looked at all the same.
#[test]
fn a_broken_configuration_is_told_with_its_lines() {
    let world = with(&[("claude", "echo '1.0.0 (Claude Code)'")]);
    let text = "agents:\n  - nick: spark-a\n    directory: .\n    permissons: ask\n";
    let _ = world.file("agents.yaml", text);
    let _ = world.file("config/gangline/runtimes.json", "{\"default\": ");
    let ran = world.run(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(plain(&world, &ran.stdout), @r#"
    Installation
      fail  configuration  HOME/agents.yaml cannot be used
            HOME/agents.yaml:4:5: unknown key `permissons`: did you mean `permissions`?
            4 |     permissons: ask
              |     ^^^^^^^^^^
            help: if the backend really has a field of this name, write it under `extra:`
                           -> correct the file, then run `gangline config check`
      fail  runtimes       HOME/config/gangline/runtimes.json:1: this is no JSON: EOF while parsing a value
                           -> correct the file: until then this entry is ignored
      ok    state          HOME/state/gangline
      note  store          there is none yet; the first start makes it
      warn  sockets        HOME/run can be read by others: its mode is 0755
                           -> `chmod 700 HOME/run`, or start Gangline, which does it too
      ok    disk ROOM
      note  hub            none runs
      note  programs       not on the PATH, and used by no agent: codex, opencode, cline, copilot, gemini, kiro-cli, goose, qwen

    Backend claude
      warn  program        1.0.0 is too old, at least 2.1.270 is needed: HOME/bin/claude
                           -> `npm install -g @anthropic-ai/claude-code@2.1.330`
      warn  login          HOME/.claude/.credentials.json is not there
                           -> log in by `claude`, then `/login`, as the agent's user

    `gangline doctor --deep` also tests the backends: no network, no tokens
    2 failures, 3 warnings, 3 notes, 2 ok
    "#);
    let named = world.run(&["doctor", "--config", "gone.yaml", "--json"]);
    assert_eq!(named.code, 1, "a file that was named has to be there");
}

const SICK: &str = r#"
server: {port: PORT}
agents:
  - nick: spark-a
    agent: claude
    directory: work
    api_key_env: MY_KEY
    mcp_servers:
      git: {command: nosuch}
      web: {url: "https://example.org/mcp", headers: {Authorization: "Bearer ${TOK}"}}
      ok: {command: sh}
  - nick: spark-b
    agent: codex
    directory: nowhere
    account_dir: accounts/b
    hooks: {command: [./notify.sh]}
  - {nick: spark-c, agent: copilot, directory: work, env: {COPILOT_GITHUB_TOKEN: hunter22}}
  - {nick: spark-d, agent: tmux, command: [claude], directory: work}
  - {nick: spark-e, agent: acp, directory: work}
  - {nick: spark-f, agent: acp, acp_command: [codex-acp], directory: work}
  - {nick: spark-g, agent: claude, directory: work, enabled: false}
  - {nick: spark-h, agent: native, directory: work, base_url: "http://127.0.0.1:9", command: [foo]}
  - {nick: spark-i, agent: lazy, directory: work}
"#;

/// A script that goes on when the other's has begun as well: all are asked at once.
fn meets(one: &str, other: &str) -> String {
    format!("touch ~/met-{one}; until [ -e ~/met-{other} ]; do sleep 0.01; done;")
}

/// Each agent: old, known to be bad, newer than tested, hanging, without interpreter, missing; logins,
/// MCP servers, hooks, folders. Each line that is not well says what to do.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn what_is_wrong_with_agents_is_told_with_what_to_do() {
    let mut world = with(&[
        ("claude", &format!("{} echo '2.1.83 (Claude Code)'", meets("claude", "copilot"))),
        ("codex", "exec sleep 1000"),
        ("copilot", &format!("{} echo 9.9.9", meets("copilot", "claude"))),
        ("codex-acp", "echo codex-acp 0.16.0"),
        ("lazy", "exit 3"),
    ]);
    program(&world, "opencode", "#!/usr/bin/env nodejsx\n");
    world.set("ANTHROPIC_API_KEY", "hunter23");
    let _ = world.file("work/x", "");
    let port = free_port().to_string();
    let _ = world.file("agents.yaml", &SICK.replace("PORT", &port));
    let lazy = r#"{"runtimes": {"lazy": {"bin": "lazy", "delivery": "rpc"}}}"#;
    let _ = world.file("config/gangline/runtimes.json", lazy);
    fs::create_dir_all(world.state()).unwrap();
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = world.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    // On a slow machine others are waited for too.
    let said =
        |line: &str| line.starts_with("still asking ") && line.ends_with(" for its version …");
    assert!(ran.stderr.lines().all(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("still asking codex for"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("hunter"), "{}", ran.stdout);
    let told = plain(&world, &ran.stdout).replace(&port, "PORT");
    insta::assert_snapshot!(told, @r#"
    Installation
      ok    configuration  HOME/agents.yaml: 9 agents
      warn  state          HOME/state/gangline can be read by others: its mode is 0755
                           -> `chmod 700 HOME/state/gangline`, or start Gangline, which does it too
      note  store          there is none yet; the first start makes it
      warn  sockets        HOME/run can be read by others: its mode is 0755
                           -> `chmod 700 HOME/run`, or start Gangline, which does it too
      ok    disk ROOM
      note  hub            none runs
                           -> `gangline up -d` starts one
      ok    irc            127.0.0.1:PORT is free for the hub
      ok    tmux           TMUX
      note  switched off   spark-g; name one to check it
      note  programs       not on the PATH, and used by no agent: cline, gemini, kiro-cli, goose, qwen

    Agent spark-a: claude
      ok    backend        claude (built in)
      fail  program        2.1.83 is too old, at least 2.1.270 is needed: HOME/bin/claude
                           -> `npm install -g @anthropic-ai/claude-code@2.1.330`
      fail  login          the variable MY_KEY is not set
                           -> set MY_KEY where the hub is started
      ok    directory      HOME/work
      ok    reading        outside its folder: asked
      fail  mcp git        `nosuch` is not on the PATH
                           -> install it, or correct `command` of the server; the agent starts without it
      ok    mcp ok         /usr/bin/sh
      fail  mcp web        the variable TOK is not set
                           -> its entry names this variable: set it where the hub is started

    Agent spark-b: codex
      ok    backend        codex (built in)
      warn  program        HOME/bin/codex: version unknown (took longer than 5 s)
                           -> run `HOME/bin/codex --version` yourself, as the agent's user
      warn  login          HOME/accounts/b/auth.json is not there
                           -> log in by `CODEX_HOME=HOME/accounts/b codex login`
      fail  directory      HOME/nowhere is not there
                           -> `mkdir -p HOME/nowhere`, or write another `directory`
      ok    reading        outside its folder: asked
      fail  hooks          HOME/nowhere/./notify.sh is not there
                           -> correct `hooks.command`; turns do not wait for it

    Agent spark-c: copilot
      ok    backend        copilot (built in)
      warn  program        9.9.9 is newer than the tested 1.0.102: HOME/bin/copilot
                           -> `gangline doctor --deep spark-c` tries it
      ok    login          COPILOT_GITHUB_TOKEN is in its environment
      ok    directory      HOME/work
      note  reading        outside its folder: asked if the program asks, otherwise unrestricted

    Agent spark-d: tmux
      ok    backend        tmux (built in)
      fail  program        2.1.83 is known to be bad (Gangline reads a blank screen from it): HOME/bin/claude
                           -> `npm install -g @anthropic-ai/claude-code@2.1.330`
      warn  login          HOME/.claude/.credentials.json is not there
                           -> log in by `claude`, then `/login`, as the agent's user
                           -> ANTHROPIC_API_KEY is set here, but agents do not get it: write `api_key_env: ANTHROPIC_API_KEY`
      note  permissions    no approvals in a terminal: its owner can run anything in its shell
      ok    directory      HOME/work
      note  reading        outside its folder: unrestricted, since the program does not ask

    Agent spark-e: acp
      ok    backend        acp (built in)
      fail  program        HOME/bin/opencode is a script, and `nodejsx` is not on the PATH
                           -> `npm install -g opencode-ai@1.18.33`
                           -> or write its path as `command`, as a list of words
      ok    directory      HOME/work
      note  reading        outside its folder: asked if the program asks, otherwise unrestricted

    Agent spark-f: acp
      ok    backend        acp (built in)
      fail  program        0.16.0 is known to be bad (it leaves processes behind and does not end with its input; a package of another name took its place): HOME/bin/codex-acp
                           -> `npm install -g @agentclientprotocol/codex-acp@2.6.0`
      note  login          unknown: only the program knows
      ok    directory      HOME/work
      note  reading        outside its folder: asked if the program asks, otherwise unrestricted

    Agent spark-h: native
      ok    backend        native (built in)
      ok    program        part of Gangline
      ok    login          its model is on this machine and needs no key
      ok    directory      HOME/work
      ok    reading        outside its folder: asked

    Agent spark-i: lazy
      ok    backend        lazy (HOME/config/gangline/runtimes.json:1), driven as acp
      note  program        HOME/bin/lazy: version unknown (`lazy --version` ended with code 3)
      note  login          unknown: only the program knows
      ok    directory      HOME/work
      note  reading        outside its folder: asked if the program asks, otherwise unrestricted

    Backend opencode
      warn  program        HOME/bin/opencode is a script, and `nodejsx` is not on the PATH
                           -> `npm install -g opencode-ai@1.18.33`

    `gangline doctor --deep` also tests the backends: no network, no tokens
    9 failures, 7 warnings, 13 notes, 26 ok
    "#);
    assert_eq!(world.processes(), [], "all that was started is gone");
    let json = world.run(&["doctor", "--json", "c", "spark-g"]);
    let found: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    for check in found["checks"].as_array().unwrap() {
        let well = check["result"] == "ok" || check["result"] == "note";
        assert!(well || check["do"] != serde_json::json!([]), "{check}");
        assert!(["spark-c", "spark-g"].contains(&check["name"].as_str().unwrap()), "{check}");
    }
}

/// Whether a login is there shows by its file, in the agent's own account first.
#[test]
fn a_login_is_seen_by_its_file() {
    let world = with(&[("claude", "echo '2.1.330 (Claude Code)'"), ("codex", "echo 0.169.0")]);
    let _ = world.file(
        "agents.yaml",
        &format!(
            "server: {{port: {}}}\nagents:\n  - {{nick: spark-a, agent: claude, directory: .}}\n  \
             - {{nick: spark-b, agent: claude, directory: ., account_dir: accounts/b}}\n  \
             - {{nick: spark-c, agent: codex, directory: ., env: {{CODEX_HOME: /opt/none}}}}\n",
            // The usual port may be another server's.
            free_port()
        ),
    );
    let logins = || {
        let found = world.run(&["doctor", "--json"]).json();
        let checks = found["checks"].as_array().unwrap().clone();
        let login = checks.iter().filter(|it| it["check"] == "login");
        login.map(|it| it["result"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(logins(), ["warn", "warn", "warn"]);
    let told = world.run(&["doctor"]).ok();
    let account = world.path("accounts/b").display().to_string();
    assert!(
        told.contains(&format!("`CLAUDE_CONFIG_DIR={account} claude`, then `/login`")),
        "{told}"
    );
    assert!(told.contains("/opt/none/auth.json is not there"), "{told}");
    let _ = world.file(".claude/.credentials.json", "hunter22");
    assert_eq!(logins(), ["ok", "warn", "warn"]);
    let _ = world.file("accounts/b/settings.json", "{}");
    assert_eq!(logins(), ["ok", "note", "warn"]);
    let _ = world.file("accounts/b/.credentials.json", "hunter22");
    assert_eq!(logins(), ["ok", "ok", "warn"]);
    assert!(!world.run(&["doctor"]).ok().contains("hunter22"));
}

/// A store that no program could open fails, and is left as it is; so does a port that another
/// program has.
#[test]
fn a_damaged_store_and_a_taken_port_fail() {
    let world = with(&[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let _ = world.file(
        "agents.yaml",
        &format!("server: {{port: {port}}}\nagents:\n  - {{nick: spark-a, agent: native, directory: ., base_url: \"http://127.0.0.1:9\"}}\n"),
    );
    let text = "no database at all\n".repeat(500);
    let file = world.file("state/gangline/gangline.db", &text);
    let found = world.run(&["doctor", "--json"]);
    assert_eq!(found.code, 1);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let failed: Vec<_> = checks.iter().filter(|it| it["result"] == "fail").collect();
    let words: Vec<_> = failed.iter().map(|it| it["check"].as_str().unwrap()).collect();
    assert_eq!(words, ["store", "irc"], "{failed:#?}");
    assert!(failed[0]["found"].as_str().unwrap().contains("is not a database"), "{failed:#?}");
    assert!(failed[1]["found"].as_str().unwrap().contains("another program listens"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    drop(taken);
    fs::remove_file(file).unwrap();
    let _ = world.run(&["doctor"]).ok();
}

/// While a hub runs it is found with its IRC server, and nothing of its store is disturbed.
#[test]
fn a_running_hub_is_found() {
    let mut world = world();
    world.set("PATH", "/usr/bin:/bin");
    let demo = crate::demo::start(&world);
    let found = world.run(&["doctor", "--json"]).json();
    let checks = found["checks"].as_array().unwrap();
    let of = |word: &str| checks.iter().find(|it| it["check"] == word).unwrap();
    for word in
        ["configuration", "state", "store", "history", "sockets", "hub", "irc", "irc socket"]
    {
        assert_eq!(of(word)["result"], "ok", "{}", of(word));
    }
    ["backend", "login"].iter().for_each(|it| assert_eq!(of(it)["result"], "ok", "{}", of(it)));
    let pid = format!("process {},", demo.pid());
    assert!(of("hub")["found"].as_str().unwrap().starts_with(&pid), "{}", of("hub"));
    let said = world.run(&["prompt", "demo-guide", "say exactly kumquat", "--wait"]).ok();
    assert!(said.contains("kumquat"), "{said}");
}

/// In a terminal of 80 columns no line is longer than it, but for what is there to be copied.
#[test]
fn a_terminal_of_80_columns_is_enough() {
    let world = with(&[("claude", "echo '1.0.0 (Claude Code)'")]);
    let text = "agents:\n  - {nick: spark-a, agent: claude, directory: nowhere, hooks: {command: [gone]}}\n";
    let _ = world.file("agents.yaml", text);
    let socket = world.path("tmux.sock").display().to_string();
    let command = world.command(&["doctor"]);
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    let tmux = |args: &[&str]| {
        let mut tmux = std::process::Command::new("tmux");
        tmux.env_clear().env("TERM", "xterm").env("PATH", "/usr/bin:/bin");
        tmux.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = tmux.args(["-u", "-f", "/dev/null", "-S", &socket]).args(args).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let program = command.get_program().to_str().unwrap().to_owned();
    let line = format!("cd {}; {program} doctor; exec sleep 1000", world.path("").display());
    let _ = tmux(&["new-session", "-d", "-x", "80", "-y", "60", &line]);
    let screen = eventually("the whole answer", || {
        // Lines that tmux itself has broken are joined again.
        let screen = tmux(&["capture-pane", "-p", "-J"]);
        screen.contains(" ok\n").then_some(screen)
    });
    let _ = tmux(&["kill-server"]);
    let long: Vec<&str> =
        screen.lines().filter(|line| line.trim_end().chars().count() > 80).collect();
    assert!(long.iter().all(|line| line.contains('/') || line.contains('`')), "{screen}");
    assert!(screen.contains("\n                       "), "{screen}");
    assert!(screen.contains("`npm install -g @anthropic-ai/claude-code@2.1.330`"), "{screen}");
}

/// A short name is an agent's, as for every other command; a backend of that name is looked at with it,
/// by itself only if the agent runs another program.
#[test]
fn a_short_name_is_an_agent_before_it_is_a_backend() {
    let world = with(&[("claude", "echo '2.1.330 (Claude Code)'"), ("other", "echo 1")]);
    let check = |command: &str, expect: &[&str]| {
        let yaml = "agents:\n  - {nick: spark-claude, agent: claude, directory: .";
        let _ = world.file("agents.yaml", &format!("{yaml}{command}}}\n"));
        let ran = world.run(&["doctor", "--json", "claude"]);
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let mut names: Vec<_> =
            found["checks"].as_array().unwrap().iter().map(|it| it["name"].as_str()).collect();
        names.dedup();
        assert_eq!(names, expect.iter().map(|it| Some(*it)).collect::<Vec<_>>(), "{found}");
    };
    check("", &["spark-claude"]);
    check(", command: [other]", &["spark-claude", "claude"]);
}

/// An adapter that wants a certain age refuses a program that does not tell one; others do not ask.
#[test]
fn a_program_that_does_not_tell_its_version_fails_where_it_is_asked() {
    let world = with(&[("claude", "exit 0"), ("codex", "echo hello"), ("opencode", "exit 0")]);
    let found = world.run(&["doctor", "claude", "codex", "opencode", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let programs = checks.iter().filter(|it| it["check"] == "program");
    let results: Vec<_> = programs.map(|it| it["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["fail", "fail", "warn"], "{checks:#?}");
}

/// A socket's path has few bytes: an agent that could not have one is told before its start.
#[test]
fn a_path_that_no_socket_can_have_fails() {
    let mut world = with(&[]);
    let _ = world.file(
        "agents.yaml",
        "agents:\n  - {nick: spark-a, agent: native, directory: ., base_url: \"http://127.0.0.1:9\"}\n",
    );
    let deep = world.path(&"deep/".repeat(30));
    world.set("XDG_RUNTIME_DIR", deep.to_str().unwrap());
    let ran = world.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("is too long for a socket: at most"), "{}", ran.stdout);
    assert!(ran.stdout.contains("-> set XDG_RUNTIME_DIR"), "{}", ran.stdout);
}
