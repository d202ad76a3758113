//! culture's files, and the Gangline configuration that each becomes.

use std::{collections::BTreeMap, path::Path};

use gangline_config::{
    AgentConfig, Backend, Permissions,
    import::{Fate, Import, ImportError, Look, Source, import},
    parse,
};

/// Files by their paths.
pub(crate) type Files<'a> = BTreeMap<&'a str, &'a str>;

/// Imports the files named; others are found where agents' folders name them.
pub(crate) fn run(named: &[&str], files: &Files<'_>) -> Result<Import, ImportError> {
    let source = |path: &&str| Source::new(path.into(), files[path].to_owned());
    let sources: Vec<Source> = named.iter().map(source).collect();
    import(&sources, &|path| found(path, files))
}

fn found(path: &Path, files: &Files<'_>) -> Look {
    match files.get(path.to_str().unwrap()) {
        Some(text) => Look::Text((*text).to_owned()),
        None => Look::Absent,
    }
}

/// Returns what is written and what is told, for a golden file.
fn told(import: &Import) -> String {
    let notes = import.notes.iter().map(|note| format!("{:<8} {note}\n", note.fate));
    format!("{}---\n{}", import.text, notes.collect::<String>())
}

/// Compares with the golden file of the test that calls.
pub(crate) fn check(said: String) {
    let thread = std::thread::current();
    let name = thread.name().unwrap().rsplit("::").next().unwrap().to_owned();
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, said) });
}

/// Imports one file and makes sure that what is written has no fault and no warning.
fn one(path: &str, text: &str) -> Import {
    let import = run(&[path], &Files::from([(path, text)])).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(import.config.warnings, [], "{}", import.text);
    import
}

/// The seeds' own file, as S0 and S1 have it.
pub(crate) const SEED: &str = r##"
server:
  name: spark
  host: localhost
  port: 6667
supervisor:
  agent: claude
  model: claude-sonnet-4-6
  thinking: medium
  window_size: 10
  eval_interval: 5
  escalation_threshold: 3
webhooks:
  url: "https://example.org/hook"
  irc_channel: "#alerts"
  events:
    - agent_spiraling
    - agent_error
buffer_size: 300
agents:
  - nick: spark-culture
    agent: claude
    directory: /home/spark/git/culture
    channels:
      - "#general"
    model: claude-opus-4-6
    thinking: high
    tags: [rust, irc]
  - nick: spark-codex
    agent: codex
    directory: ~/git/codex
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

/// R0-61 … R0-65, R1-43: culture's older file means the same read directly and imported.
#[test]
fn a_file_of_the_seeds_means_the_same_imported_and_read_as_it_is() {
    let import = one("/home/spark/.culture/agents.yaml", SEED);
    assert_eq!(import.config, parse(SEED, "agents.yaml").unwrap());
    assert!(import.config.agents.iter().all(|agent| agent.permissions == Permissions::Ask));
    check(told(&import));
}

const SERVER: &str = r##"server:
  name: thor
  host: 0.0.0.0
  port: 6700
  archived: false
  archived_at: ''
  archived_reason: ''
  links:
    - {name: odin, host: odin.example.org, port: 6667, password: hunter22, trust: full}
supervisor:
  model: claude-sonnet-4-6
  thinking: medium
  window_size: 0
  eval_interval: 7
  escalation_threshold: 3
  prompt_override: Be strict.
webhooks:
  url: null
  irc_channel: alerts
  events: [agent_error, agent_complete, agent_bored]
telemetry: {enabled: true, otlp_endpoint: "http://localhost:4317"}
presence: {heartbeat_interval_seconds: 30, stale_after_seconds: 90}
attention: {enabled: true}
buffer_size: 100
poll_interval: 60
sleep_start: '23:00'
sleep_end: 08:00
system_bots: {welcome: {enabled: true}}
webhook_port: 7680
data_dir: ~/.culture/data
frobnicate: 3
agents:
  ada: /src/ada
  bob: /src/pair
  cleo: /src/pair/
  gone: /src/gone
  lost: /src/ada
"##;

const ADA: &str = r##"suffix: ada
backend: claude
channels: ["#general", builds]
model: claude-opus-4-6
thinking: high
system_prompt: |
  You are ada.
  Be brief: "no" is a sentence. # not a comment
tags: [core, "yes"]
icon: "★"
turn_timeout_seconds: 900.5
attention: {enabled: false}
token_budget: 200000
token_budget_warn_pct: 90
engine: {name: fast, retries: 3, ratio: 0.5, api_key: sk-hunter22}
base_url: http://127.0.0.1:9999
modle: typo
"##;

const PAIR: &str = r##"agents:
  - suffix: bob
    backend: opencode
    model: sonnet
    turn_timeout_seconds: 0
  - suffix: cleo
    backend: codex
    archived: true
    archived_at: '2026-03-01'
    archived_reason: "done\nagents: []"
  - suffix: dora
    backend: claude
"##;

/// R1-43: today's files: a manifest, one `culture.yaml` of each form, and every key that they may
/// have.
#[test]
fn a_manifest_and_the_files_of_its_folders_become_one_configuration() {
    let files = Files::from([
        ("/home/me/.culture/server.yaml", SERVER),
        ("/src/ada/culture.yaml", ADA),
        ("/src/pair/culture.yaml", PAIR),
    ]);
    let import = run(&["/home/me/.culture/server.yaml"], &files).unwrap();
    assert_eq!(import.config.warnings, []);
    let agents = &import.config.agents;
    let nicks: Vec<&str> = agents.iter().map(|agent| agent.nick.as_str()).collect();
    assert_eq!(nicks, ["thor-ada", "thor-bob", "thor-cleo"]);
    let bob = AgentConfig {
        agent: "opencode".parse::<Backend>().ok(),
        turn_timeout_seconds: 0.0,
        ..AgentConfig::new("thor-bob".parse().unwrap(), "/src/pair".into())
    };
    assert_eq!(agents[1], bob);
    assert!(!agents[2].enabled && agents[0].enabled);
    assert!((agents[0].turn_timeout_seconds - 900.5).abs() < f64::EPSILON);
    assert!(!import.text.contains("hunter22") && !told(&import).contains("hunter22"));
    check(told(&import));
}

const MESH: &str = r##"server:
  name: thor
  host: 0.0.0.0
  port: 6667
  links:
    - {name: odin, host: 10.0.0.2, port: 6667, trust: full}
agents:
  - {nick: ada, type: claude, workdir: /src/ada, channels: ["#general"], archived: false}
  - {nick: kim, type: kiro, workdir: ../kim, archived: true}
"##;

#[test]
fn a_mesh_file_is_read_by_its_own_names() {
    check(told(&one("/home/me/.culture/mesh.yaml", MESH)));
}

#[test]
fn an_agent_of_several_files_is_taken_from_the_first() {
    let server = "server: {name: thor}\nbuffer_size: 9\nagents: {ada: /src/ada}\n";
    let old = "server: {name: thor, port: 7000}\nbuffer_size: 10\nagents:\n  \
               - {nick: thor-ada, directory: /src/ada/./, model: old}\n  \
               - {nick: thor-eve, directory: /src/eve}\n";
    let files = Files::from([
        ("/c/server.yaml", server),
        ("/c/agents.yaml", old),
        ("/c/mesh.yaml", MESH),
        ("/src/ada/culture.yaml", "suffix: ada\nmodel: new\n"),
    ]);
    let import = run(&["/c/server.yaml", "/c/agents.yaml", "/c/mesh.yaml"], &files).unwrap();
    check(told(&import));
    let read: Vec<_> = import.read.iter().map(|path| path.to_str().unwrap()).collect();
    let all = ["/c/server.yaml", "/c/agents.yaml", "/c/mesh.yaml", "/src/ada/culture.yaml"];
    assert_eq!(read, all);
}

/// What a later file says in other words is no contradiction.
#[test]
fn files_that_agree_are_not_told_to_differ() {
    let files = Files::from([
        ("/c/server.yaml", "server: {name: oak, port: 7000}\nbuffer_size: 500\nagents: {}\n"),
        (
            "/c/agents.yaml",
            "server: {host: localhost, port: 7000}\nbuffer_size: 500\nagents:\n  - {nick: a, directory: /}\n",
        ),
    ]);
    let import = run(&["/c/server.yaml", "/c/agents.yaml"], &files).unwrap();
    let dropped = import.notes.iter().filter(|note| note.fate == Fate::Dropped);
    assert_eq!(dropped.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(import.config.server.address(), "localhost:7000");
}

#[test]
fn alerts_go_to_no_channel_if_culture_has_none() {
    let channel = |yaml: &str| {
        let text = format!("webhooks: {{{yaml}}}\nagents:\n  - {{nick: a, directory: /}}\n");
        one("/c/agents.yaml", &text).config.webhooks.irc_channel.map(|name| name.to_string())
    };
    assert_eq!(channel("irc_channel: null"), None);
    assert_eq!(channel("irc_channel: ''"), None);
    assert_eq!(channel("irc_channel: \"#ops\"").as_deref(), Some("#ops"));
    assert_eq!(channel("url: null").as_deref(), Some("#alerts"));
}

#[test]
fn a_server_without_a_name_has_that_of_its_nicks() {
    let name = |text: &str| one("/c/agents.yaml", text).config.server.name;
    let agents =
        "agents:\n  - {nick: oak-ada, directory: /a}\n  - {nick: oak-bob, directory: /b}\n";
    assert_eq!(name(agents), "oak");
    assert_eq!(name(&agents.replace("oak-bob", "elm-bob")), "culture");
    assert_eq!(name("suffix: ada\n"), "culture");
}

/// A nick is put together as culture itself does it.
#[test]
fn a_nick_without_the_servers_name_gets_it() {
    let nick = |nick: &str| {
        let text = format!("server: {{name: oak}}\nagents:\n  - {{nick: {nick}, directory: /a}}\n");
        one("/c/agents.yaml", &text).config.agents[0].nick.to_string()
    };
    assert_eq!(nick("oak-ada"), "oak-ada");
    assert_eq!(nick("ada"), "oak-ada");
    assert_eq!(nick("elm-ada"), "oak-elm-ada");
}

#[test]
fn a_server_elsewhere_is_joined_and_our_own_listens_here() {
    let network = |host: &str| {
        let text = format!(
            "server: {{name: oak, host: \"{host}\"}}\nagents:\n  - {{nick: a, directory: /}}\n"
        );
        let config = one("/c/agents.yaml", &text).config;
        (config.server.host, config.network.embedded)
    };
    for here in ["localhost", "127.0.0.1", "::1", "127.1.2.3"] {
        assert_eq!(network(here), (here.to_owned(), true));
    }
    for any in ["0.0.0.0", "::", "[::]"] {
        assert_eq!(network(any), ("localhost".to_owned(), true));
    }
    for there in ["irc.example.org", "10.0.0.2", "[2001:db8::1]"] {
        assert_eq!(network(there), (there.to_owned(), false));
    }
    let own = "server: {name: oak, host: irc.example.org}\nnetwork: {embedded: false, trust_nicks: true}\n\
               agents:\n  - {nick: a, directory: /}\n";
    assert!(one("/c/agents.yaml", own).config.network.trust_nicks);
}

/// R0-02: each word of culture's for a backend has its place, and one that has none is named.
#[test]
fn backends_are_translated_and_unknown_ones_are_left_out() {
    let agent = |word: &str| {
        let text = format!("agents:\n  - {{suffix: a, backend: {word}}}\n  - {{suffix: b}}\n");
        let import = one("/src/culture.yaml", &text);
        let dropped = import.notes.iter().filter(|note| note.fate == Fate::Dropped);
        (import.config.agents[0].clone(), dropped.map(ToString::to_string).collect::<Vec<_>>())
    };
    for word in Backend::BUILT_IN {
        let (agent, dropped) = agent(word);
        assert_eq!((agent.agent.unwrap().as_str(), dropped), (word, vec![]));
    }
    let (other, dropped) = agent("colleague");
    assert_eq!(other.nick.as_str(), "culture-b");
    assert_eq!(
        dropped,
        ["/src/culture.yaml:2: culture-a: the whole agent: there is no backend `colleague` here"]
    );
    let import = one("/src/culture.yaml", "suffix: a\nbackend: opencode\nacp_command: [oc, acp]\n");
    assert_eq!(import.config.agents[0].acp_command, ["oc", "acp"]);
}

#[test]
fn an_archived_server_starts_nobody() {
    let text = "server: {name: oak, archived: true, archived_reason: moved}\nagents:\n  \
                - {nick: oak-a, directory: /a, enabled: true}\n";
    assert!(!one("/c/agents.yaml", text).config.agents[0].enabled);
}

/// Gangline's own keys in a file of the older form are kept, so importing twice changes nothing.
#[test]
fn what_was_imported_can_be_imported_again() {
    let files = Files::from([
        ("/c/server.yaml", SERVER),
        ("/src/ada/culture.yaml", ADA),
        ("/src/pair/culture.yaml", PAIR),
    ]);
    let first = run(&["/c/server.yaml"], &files).unwrap();
    let again = one("/elsewhere/agents.yaml", &first.text);
    assert_eq!(again.config, first.config);
    let own = "server: {name: oak}\nstate: /var/lib/g\nhttp: {port: 0}\nagents:\n  \
               - {nick: oak-a, directory: /a, permissions: bypass, reply: tools, extra: {modle: 1, token: t}}\n";
    let import = one("/c/agents.yaml", own);
    assert_eq!(import.config, parse(own, "agents.yaml").unwrap());
    let general = import.notes.iter().filter(|note| note.at.is_none()).count();
    assert_eq!(general, 0, "the permissions were written: {:?}", import.notes);
}

#[test]
fn secrets_are_neither_written_nor_told() {
    let text = "suffix: a\napi_key: hunter22\ntoken: hunter22\nengine:\n  - {inner: {password: hunter22, \
                tokens: 5}}\n";
    let import = one("/src/culture.yaml", text);
    assert!(!told(&import).contains("hunter22"), "{}", told(&import));
    let extra = serde_json::to_value(&import.config.agents[0].extra).unwrap();
    assert_eq!(extra, serde_json::json!({"engine": [{"inner": {"tokens": 5}}]}));
}

/// Text from the files can become no line of its own in the written file or the report.
#[test]
fn hostile_texts_stay_where_they_are_put() {
    let text = r##"server: {name: oak, "x\nagents: []": 1}
"telemetry\u2028agents:": 1
data_dir: "a\nnick: eve\u0085\u2029\u202e"
agents:
  - nick: oak-a
    directory: "/a\n  - nick: eve"
    system_prompt: " \nagents:\n  - nick: eve\r\n"
    archived: true
    archived_reason: "x\n  - nick: oak-eve\u2028    directory: /"
    "k\n: \"}": "v\u0000\u2028"
    "<<": {a: 1}
"##;
    let import = one("/c/agents.yaml", text);
    assert_eq!(import.config.agents.len(), 1);
    let agent = &import.config.agents[0];
    assert_eq!(agent.directory, Path::new("/a\n  - nick: eve"));
    assert_eq!(agent.system_prompt.as_deref(), Some(" \nagents:\n  - nick: eve\r\n"));
    assert_eq!(agent.extra["k\n: \"}"], "v\0\u{2028}");
    assert_eq!(agent.extra.len(), 2, "{:?}", agent.extra);
    // To another reader of YAML it would be a merge, if it stood among our keys.
    assert!(import.text.contains("\n    extra:\n      \"<<\": "), "{}", import.text);
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c);
    assert_eq!(told(&import).chars().find(|c| bad(*c)), None, "{}", told(&import));
}
