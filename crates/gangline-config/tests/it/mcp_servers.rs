//! MCP servers of an agent: what is read, and what is said about those that cannot be used.

use std::collections::BTreeMap;

use gangline_config::{McpPlaceConfig, McpServerConfig, ServerKey, parse, parse_servers};

const AGENT: &str = "agents:\n  - nick: spark-ada\n    directory: /\n    mcp_servers:\n";

fn servers(text: &str) -> Result<BTreeMap<String, McpServerConfig>, String> {
    let indented: String = text.lines().map(|line| format!("      {line}\n")).collect();
    let config = parse(&format!("{AGENT}{indented}"), "agents.yaml").map_err(|e| e.to_string())?;
    Ok(config.agents[0].mcp_servers.clone())
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn expected() -> BTreeMap<String, McpServerConfig> {
    let program = McpPlaceConfig::Program {
        command: "npx".to_owned(),
        args: vec!["-y".to_owned(), String::new(), "--root=${HOME}".to_owned()],
        env: texts(&[("API_KEY", "${GIT_KEY}"), ("LEVEL", "debug")]),
    };
    let address = McpPlaceConfig::Address {
        url: "http://127.0.0.1:9/mcp".to_owned(),
        headers: texts(&[("Authorization", "Bearer ${DOCS_TOKEN}")]),
    };
    let server = |place, tools: &[&str]| McpServerConfig {
        place,
        allowed_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    BTreeMap::from([
        ("git".to_owned(), server(program, &["log", "diff_*"])),
        ("docs-2".to_owned(), server(address, &[])),
    ])
}

/// R2-34: both kinds of servers are read from `agents.yaml`.
#[test]
fn servers_of_an_agent_are_read() {
    let text = r#"
git:
  command: npx
  args: [-y, "", "--root=${HOME}"]
  env: {API_KEY: "${GIT_KEY}", LEVEL: debug}
  allowed_tools: [log, diff_*]
docs-2:
  url: http://127.0.0.1:9/mcp
  headers: {Authorization: "Bearer ${DOCS_TOKEN}"}
"#;
    assert_eq!(servers(text).unwrap(), expected());
    assert_eq!(expected()["git"].variables(), ["GIT_KEY", "HOME"].into());
}

/// R2-34, C40: a file in hyperhive's form is read, and one in the form of other programs.
#[test]
fn a_file_of_servers_is_read() {
    let bare = r#"{
      "git": {"command": "npx", "args": ["-y", "", "--root=${HOME}"],
              "env": {"API_KEY": "${GIT_KEY}", "LEVEL": "debug"}, "allowedTools": ["log", "diff_*"]},
      "docs-2": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}
    }"#;
    assert_eq!(parse_servers(bare, "extra-mcp.json").unwrap(), (expected(), vec![]));
    let wrapped = format!(r#"{{"mcpServers": {bare}}}"#);
    assert_eq!(parse_servers(&wrapped, "extra-mcp.json").unwrap(), (expected(), vec![]));
    assert_eq!(parse_servers("{}", "extra-mcp.json").unwrap().0, BTreeMap::new());
    assert_eq!(parse_servers(" \n", "extra-mcp.json").unwrap().0, BTreeMap::new());
    let typed = r#"{"a": {"type": "stdio", "command": "x"}}"#;
    let (_, warnings) = parse_servers(typed, "extra-mcp.json").unwrap();
    assert_eq!(warnings.len(), 1);
    let error = parse_servers("{\"a\": {\n  \"comand\": \"x\"}}", "extra-mcp.json").unwrap_err();
    assert!(error.to_string().starts_with("extra-mcp.json:"), "{error}");
}

/// R2-34: every fault has its place; no secret that stands in the file is told.
#[test]
fn what_cannot_be_used_is_said() {
    const CASES: &[(&str, &str)] = &[
        ("no mapping", "git: npx"),
        ("neither", "git: {args: [x]}"),
        ("both", "git: {command: x, url: 'http://localhost/'}"),
        ("headers of a program", "git: {command: x, headers: {A: b}}"),
        ("env of an address", "git: {url: 'http://localhost/', env: {A: b}}"),
        ("slip", "git: {command: x, arg: [y]}"),
        ("unknown key", "git: {command: x, timeout: 5}"),
        ("two spellings", "git: {command: x, allowed_tools: [a], allowedTools: [b]}"),
        ("the daemon's own key", "gangline: {command: x}\nhyperhive: {command: y}"),
        ("key", "a__b: {command: x}\n_a: {command: x}\na b: {command: x}\n'': {command: x}"),
        ("tool with the key", "git: {command: x, allowed_tools: [mcp__git__log, '*log', 5]}"),
        ("no address", "git: {url: 'ftp://x'}"),
        ("not text", "git: {command: x, args: [5], env: {A: 5, B: null}}"),
        ("variable", "git: {command: x, env: {'A B': c}}"),
        ("header", "git: {url: 'http://localhost/', headers: {'A B': c, D: \"e\\nf\"}}"),
        (
            "a reference without an end",
            "git:\n  command: x${\n  args: ['${A B}']\n  env: {A: '${}'}",
        ),
        ("an empty command", "git: {command: ''}"),
    ];
    let mut said = String::new();
    for (what, text) in CASES {
        said.push_str(&format!("### {what}\n{}\n\n", servers(text).unwrap_err()));
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("what_cannot_be_used_is_said", said);
    });
}

/// C35: the older key of the daemon's own tools is one word away, and no other can be written.
#[test]
fn the_key_of_the_daemons_own_tools_is_one_of_two() {
    let read = |text: &str| parse(&format!("{text}agents: []\n"), "agents.yaml");
    assert_eq!(read("").unwrap().mcp.server_key, ServerKey::Gangline);
    let older = read("mcp: {server_key: hyperhive}\n").unwrap();
    assert_eq!(older.mcp.server_key.as_str(), "hyperhive");
    let error = read("mcp: {server_key: other}\n").unwrap_err().to_string();
    assert!(error.starts_with("agents.yaml:1:19: unknown server key `other`"), "{error}");
}

/// A literal that is, or looks like, a secret is refused without being shown.
#[test]
fn a_secret_in_the_file_is_refused_and_not_shown() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for text in [
        "git:\n  command: x\n  env:\n    API_KEY: sesame-open".to_owned(),
        "git:\n  command: x\n  env: {GIT_TOKEN: sesame-open}".to_owned(),
        "git: {url: 'http://localhost/', headers: {Authorization: Bearer sesame-open}}".to_owned(),
        "git: {url: 'http://localhost/', headers: {X-Api-Key: sesame-open}}".to_owned(),
        "git: {url: 'http://ada:sesame-open@localhost/'}".to_owned(),
        format!("git: {{command: x, env: {{PLAIN: {key}}}}}"),
        format!("git: {{command: x, args: [--token, {key}]}}"),
        format!("git: {{url: 'http://localhost/?k={key}'}}"),
    ] {
        let error = servers(&text).unwrap_err();
        assert!(error.contains("environment"), "{text}: {error}");
        assert!(!error.contains("sesame") && !error.contains(&key), "{error}");
    }
    for text in [
        "git: {command: x, env: {API_KEY: '${KEY}', AUTH: '', KEY_FILE: /x}}",
        "git: {url: 'http://localhost/', headers: {Authorization: 'Bearer ${KEY}'}}",
        "git: {url: '${DOCS_URL}'}",
    ] {
        assert!(servers(text).is_ok(), "{text}: {:?}", servers(text));
    }
}
