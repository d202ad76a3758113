//! What a good configuration becomes.

use std::path::{Path, PathBuf};

use gangline_config::{
    AgentConfig, Backend, Compaction, Config, Gastown, Hooks, MentionWhenBusy, OnCrash,
    Permissions, Process, PromptBy, ReplyMode, Sasl, Thinking, parse, resolve_path, schema,
};
use gangline_core::hook::HookEvent;
use serde_json::json;

/// R0-65, C44: a word that the file does not say is known as the default, and one that it says as said.
#[test]
fn thinking_is_known_to_be_said_or_usual() {
    let of = |line: &str| {
        let yaml = format!(
            "server: {{name: spark}}\nagents:\n  - nick: spark-a\n    directory: /w\n{line}"
        );
        let thinking = parse(&yaml, "c").unwrap().agents[0].thinking.clone();
        (thinking.word().to_owned(), thinking == Thinking::Usual)
    };
    assert_eq!(of(""), ("medium".to_owned(), true));
    assert_eq!(of("    thinking: medium\n"), ("medium".to_owned(), false));
}

fn agent(nick: &str, directory: &str) -> AgentConfig {
    AgentConfig::new(nick.parse().unwrap(), directory.into())
}

/// R0-61, R0-62, R0-63, R1-43: what is not written has S0's and S1's defaults.
#[test]
fn the_shortest_file_has_every_default() {
    let config =
        parse("agents:\n  - nick: spark-ada\n    directory: ~/ada\n", "agents.yaml").unwrap();
    let expected = Config { agents: vec![agent("spark-ada", "~/ada")], ..Config::default() };
    assert_eq!(config, expected);
    insta::assert_json_snapshot!(config);
}

/// R0-61 … R0-65, R1-43, C43: the seeds' own file is read as it is.
#[test]
fn the_seeds_file_is_read() {
    let text = r##"
server:
  name: spark
  host: localhost
  port: 6667
supervisor:
  agent: claude
  model: claude-sonnet-4-6
  thinking: medium
  window_size: 20
  eval_interval: 5
  escalation_threshold: 3
webhooks:
  url: "https://example.org/hook"
  irc_channel: "#alerts"
  events:
    - agent_spiraling
    - agent_error
buffer_size: 500
agents:
  - nick: spark-culture
    agent: claude
    directory: /home/spark/git/culture
    channels:
      - "#general"
    model: claude-opus-4-6
    thinking: medium
    tags: [rust, irc]
  - nick: spark-codex
    agent: codex
    directory: /home/spark/git/codex
    channels: ["#general"]
    model: o3
    sandbox: {mode: workspace-write, network: false}
    icon: "*"
  - nick: spark-open
    agent: acp
    directory: /home/spark/git/open
    channels: ["#general", "#builds"]
    model: anthropic/claude-sonnet-4-6
    acp_command: ["opencode", "acp"]
"##;
    let config = parse(text, "agents.yaml").unwrap();
    assert_eq!(config.warnings, []);
    insta::assert_json_snapshot!(config);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn our_own_fields_are_read() {
    let text = r##"
state: ~/gangline
network:
  embedded: false
  trust_nicks: true
  sasl: {account: bots, password_env: IRC_PASSWORD}
http: {enabled: false, host: "::1", port: 0}
webhooks: {irc_channel: null}
agents:
  - nick: spark-ada
    directory: /srv
    agent: native
    thinking: off
    channels: []
    permissions: allowlist
    allowed_tools: [Read]
    reply: tools
    mention_when_busy: steer
    on_crash: fresh
    compaction: off
    compact_watermark: 120000
    max_attempts: 2
    turn_timeout_seconds: 90
    base_url: http://127.0.0.1:9000
    command: [nice, /opt/x/bin/claude]
    account_dir: ~/.claude-work
    api_key_env: KEY
    env: {PORT: "80", EMPTY: ""}
    process: per_turn
    operator_pronouns: they/them
    initial_prompt: "Run `gt prime` first."
    enabled: false
    system_prompt: |
      Line one.
      	A tab inside a text is fine.
    extra: {modle: 1}
    gastown: {role: rig/crew/ada, rig: rig, polecat: nux, bead: gt-7, actor: rig/ada}
    hooks: {command: [notify, -q], events: [OnError], timeout_seconds: 3}
  - {nick: spark-bob, directory: /, turn_timeout_seconds: 0, hooks: {command: [x]}}
  - {nick: spark-cy, directory: /, turn_timeout_seconds: 0.5}
"##;
    let config = parse(text, "agents.yaml").unwrap();
    assert_eq!(config.state, Some(PathBuf::from("~/gangline")));
    assert!(!config.network.embedded && config.network.trust_nicks && !config.http.enabled);
    let sasl = Sasl { account: Some("bots".into()), password_env: "IRC_PASSWORD".into() };
    assert_eq!(config.network.sasl, Some(sasl));
    assert_eq!(config.http.address(), "[::1]:0");
    assert_eq!(config.webhooks.irc_channel, None);
    let expected = AgentConfig {
        agent: "native".parse::<Backend>().ok(),
        thinking: Thinking::Said("off".into()),
        channels: vec![],
        permissions: Permissions::Allowlist,
        allowed_tools: vec!["Read".into()],
        reply: ReplyMode::Tools,
        mention_when_busy: MentionWhenBusy::Steer,
        on_crash: OnCrash::Fresh,
        compaction: Compaction::Off,
        compact_watermark: 120_000.0,
        max_attempts: 2,
        turn_timeout_seconds: 90.0,
        base_url: Some("http://127.0.0.1:9000".into()),
        command: Some(vec!["nice".into(), "/opt/x/bin/claude".into()]),
        account_dir: Some("~/.claude-work".into()),
        api_key_env: Some("KEY".into()),
        env: [("PORT".into(), "80".into()), ("EMPTY".into(), String::new())].into(),
        process: Process::PerTurn,
        operator_pronouns: "they/them".into(),
        initial_prompt: Some("Run `gt prime` first.".into()),
        enabled: false,
        system_prompt: Some("Line one.\n\tA tab inside a text is fine.\n".into()),
        extra: [("modle".into(), json!(1))].into(),
        gastown: Gastown {
            role: Some("rig/crew/ada".into()),
            rig: Some("rig".into()),
            polecat: Some("nux".into()),
            bead: Some("gt-7".into()),
            actor: Some("rig/ada".into()),
        },
        hooks: Some(Hooks {
            command: vec!["notify".into(), "-q".into()],
            events: vec![HookEvent::OnError],
            timeout_seconds: 3,
        }),
        ..agent("spark-ada", "/srv")
    };
    assert_eq!(config.agents[0], expected);
    let times: Vec<_> = config.agents.iter().map(|agent| agent.turn_timeout_seconds).collect();
    assert_eq!(format!("{times:?}"), "[90.0, 0.0, 0.5]");
    let all =
        Hooks { command: vec!["x".into()], events: HookEvent::ALL.to_vec(), timeout_seconds: 10 };
    assert_eq!(config.agents[1].hooks, Some(all));
}

/// R0-64: other fields reach the backend with their types.
#[test]
fn unknown_agent_fields_pass_through_with_their_types() {
    let text = "agents:\n  - nick: spark-ada\n    directory: /\n    engine: {a: [1, 2.5, true, ~, -3, \"4\"], big: 18446744073709551615}\n    icon: x\n";
    let config = parse(text, "agents.yaml").unwrap();
    let extra = &config.agents[0].extra;
    assert_eq!(
        serde_json::to_value(extra).unwrap(),
        json!({"engine": {"a": [1, 2.5, true, null, -3, "4"], "big": u64::MAX}, "icon": "x"})
    );
}

#[test]
fn anchors_and_merges_work_for_agents_that_resemble_each_other() {
    let text = "agents:\n  - &base\n    nick: spark-ada\n    directory: /\n    model: o3\n  - <<: *base\n    nick: spark-bob\n";
    let config = parse(text, "agents.yaml").unwrap();
    assert_eq!(config.agents[1].nick.as_str(), "spark-bob");
    assert_eq!(config.agents[1].model.as_deref(), Some("o3"));
}

#[test]
fn paths_are_resolved_against_home_and_the_files_folder() {
    let resolve =
        |path: &str| resolve_path(Path::new(path), Some(Path::new("/home/a")), Path::new("/etc/g"));
    assert_eq!(resolve("~/x"), Path::new("/home/a/x"));
    assert_eq!(resolve("~"), Path::new("/home/a"));
    assert_eq!(resolve("x/y"), Path::new("/etc/g/x/y"));
    assert_eq!(resolve("/x"), Path::new("/x"));
    assert_eq!(resolve("~other/x"), Path::new("/etc/g/~other/x"));
}

/// The committed schema is the one that the types give. `GANGLINE_BLESS=1` rewrites it.
#[test]
fn the_committed_schema_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.schema.json");
    let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("GANGLINE_BLESS").is_some() {
        std::fs::write(path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let committed: serde_json::Value = serde_json::from_str(&committed).unwrap_or_default();
    assert!(
        committed == schema(),
        "docs/agents.schema.json is stale: run again with GANGLINE_BLESS=1"
    );
}

/// Every block of YAML in docs/config.md is a configuration without fault or warning.
#[test]
fn the_examples_of_the_documentation_are_good() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 2, "{}", blocks.len());
    for block in blocks {
        let config = parse(block, "docs/config.md").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.warnings, [], "{block}");
    }
}

/// C4: a word that does nothing for a backend is told.
#[test]
fn a_process_for_each_turn_is_of_claude_only() {
    let text = |backend: &str| {
        format!(
            "agents:\n  - {{nick: spark-ada, directory: /srv, agent: {backend}, process: per_turn}}\n"
        )
    };
    assert_eq!(parse(&text("claude"), "agents.yaml").unwrap().warnings, []);
    let warnings = parse(&text("native"), "agents.yaml").unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].to_string().contains("has no effect for `agent: native`"), "{warnings:?}");
}

/// Trust: nothing is asked in a terminal, so `permissions` there is warned of; who prompts it is said
/// by `prompt`.
#[test]
fn permissions_do_nothing_in_a_terminal() {
    let text = |keys: &str| {
        format!("server: {{name: oak}}\nagents: [{{nick: oak-a, directory: ., {keys}}}]\n")
    };
    for keys in ["agent: tmux, permissions: ask", "process: tmux, permissions: bypass"] {
        let warnings = parse(&text(keys), "agents.yaml").unwrap().warnings;
        assert_eq!(warnings.len(), 1, "{keys}");
        assert!(warnings[0].to_string().contains("has no effect in a terminal"), "{warnings:?}");
    }
    for (keys, prompt) in [
        ("agent: tmux", None),
        ("agent: tmux, prompt: members", Some(PromptBy::Members)),
        ("agent: claude, prompt: owners, permissions: ask", Some(PromptBy::Owners)),
    ] {
        let config = parse(&text(keys), "agents.yaml").unwrap();
        assert_eq!(config.warnings, [], "{keys}");
        assert_eq!(config.agents[0].prompt, prompt);
    }
    assert!(parse(&text("prompt: everybody"), "agents.yaml").is_err());
}

/// R0-33, R0-34, R1-43: who watches the agents. A file that says nothing asks for no second model;
/// a section that names nobody asks for the seed's supervisor. Culture's `prompt_override` is the
/// prompt, unless it is empty.
#[test]
fn a_supervisor_is_asked_for_by_its_section() {
    let check = |text: &str, agent: &str, model: Option<&str>, prompt: Option<&str>| {
        let supervisor = parse(&format!("{text}\nagents: []\n"), "agents.yaml").unwrap().supervisor;
        let said = (supervisor.agent.as_str(), supervisor.model(), supervisor.prompt.as_deref());
        assert_eq!(said, (agent, model, prompt), "{text}");
    };
    let usual = Some("claude-sonnet-4-6");
    check("", "rules", None, None);
    check("supervisor:", "rules", None, None);
    check("supervisor: {}", "claude", usual, None);
    check("supervisor: {eval_interval: 7}", "claude", usual, None);
    check("supervisor: {agent: claude, model: haiku}", "claude", Some("haiku"), None);
    check("supervisor: {agent: codex}", "codex", None, None);
    check("supervisor: {agent: native, model: qwen}", "native", Some("qwen"), None);
    check("supervisor: {agent: rules}", "rules", None, None);
    check("supervisor: {agent: off}", "off", None, None);
    check("supervisor: {prompt_override: \"\"}", "claude", usual, None);
    check("supervisor: {prompt_override: Be strict.}", "claude", usual, Some("Be strict."));
    check("supervisor: {prompt: Be kind.}", "claude", usual, Some("Be kind."));
}

/// R0-52: nobody sleeps unless the file says so; an agent's own hours replace the file's.
#[test]
fn agents_sleep_by_their_own_hours_or_the_files() {
    let hours = |top: &str, own: &str| {
        let text = format!(
            "{top}\nagents:\n  - nick: spark-ada\n    directory: /w\n{}",
            own.lines().map(|line| format!("    {line}\n")).collect::<String>()
        );
        let config = parse(&text, "agents.yaml").map_err(|error| error.to_string())?;
        let sleep = config.sleep_of(&config.agents[0]);
        Ok::<_, String>(sleep.map(|sleep| sleep.to_string()))
    };
    let night = "sleep_start: '23:00'\nsleep_end: 08:00";
    assert_eq!(hours("", ""), Ok(None));
    assert_eq!(hours(night, ""), Ok(Some("23:00 to 08:00".to_owned())));
    let noon = "sleep_start: 12:00\nsleep_end: '13:30'";
    assert_eq!(hours(night, noon), Ok(Some("12:00 to 13:30".to_owned())));
    for (top, own, why) in [
        ("sleep_start: '23:00'", "", "`sleep_start` and `sleep_end` belong together"),
        ("", "sleep_end: '8:00'", "`sleep_start` and `sleep_end` belong together"),
        ("sleep_start: '9:00'\nsleep_end: '09:00'", "", "starts and ends at 09:00"),
        ("sleep_start: late\nsleep_end: '8:00'", "", "`late` is not a time of day"),
        ("sleep_start: '24:00'\nsleep_end: '8:00'", "", "`24:00` is not a time of day"),
    ] {
        let error = hours(top, own).unwrap_err();
        assert!(error.contains(why), "{top} {own}: {error}");
    }
}
