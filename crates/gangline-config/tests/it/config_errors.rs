//! What is said about a configuration that cannot be used: every text, as a person sees it.

use gangline_config::{Backend, ConfigError, Environment, MAX_CONFIG_BYTES, parse, parse_known};

/// Shows each text and what is said about it.
fn told(cases: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (what, text) in cases {
        let names = |_: Option<&std::path::Path>| Backend::BUILT_IN.map(str::to_owned).to_vec();
        let said = match parse_known(text, "agents.yaml", &names, &Environment::default()) {
            Ok(config) => {
                let warnings = config.warnings.iter().map(|warning| format!("warning: {warning}"));
                format!("accepted\n{}", warnings.collect::<Vec<_>>().join("\n"))
            }
            Err(error) => error.to_string(),
        };
        out.push_str(&format!("### {what}\n{}\n\n", said.trim_end()));
    }
    out
}

/// Compares with the golden file of the test that calls.
fn check(said: String) {
    let thread = std::thread::current();
    let name = thread.name().unwrap().rsplit("::").next().unwrap().to_owned();
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, said) });
}

const AGENT: &str = "agents:\n  - nick: spark-ada\n    directory: /srv/ada\n";

#[test]
fn syntax_errors_name_the_line_and_help() {
    check(told(&[
        ("empty", ""),
        ("only comments", "# nothing here\n---\n"),
        ("not a mapping", "hello"),
        ("a list at the top", "- nick: spark-ada\n"),
        ("tab", "server:\n\tname: spark\n"),
        ("tab after spaces", "server:\n  name: spark\n \tport: 6667\n"),
        (
            "bare channel in brackets",
            "agents:\n  - nick: spark-ada\n    directory: /\n    channels: [#general]\n",
        ),
        (
            "bare channel in a list",
            "agents:\n  - nick: spark-ada\n    directory: /\n    channels:\n      - #general\n",
        ),
        (
            "bare channel as value",
            "agents:\n  - nick: spark-ada\n    directory: /\n    channels: #general\n",
        ),
        ("unclosed quote", "server:\n  name: \"spark\n"),
        ("bad indentation", "server:\n  name: spark\n host: localhost\n"),
        ("duplicate key", "server:\n  name: spark\n  name: other\n"),
        ("two documents", "server: {}\n---\nserver: {}\n"),
        ("unknown alias", "server: *nowhere\n"),
        ("list as key", "? [a, b]\n: 1\n"),
        ("carriage returns", "server:\r\n  prt: 6667\r\n"),
    ]));
}

#[test]
fn unknown_keys_name_the_nearest() {
    check(told(&[
        ("top", "serever:\n  name: spark\n"),
        ("top, nothing near", "zebra: 1\n"),
        ("server", "server:\n  prot: 6667\n"),
        ("supervisor", "supervisor:\n  windowsize: 20\n"),
        ("webhooks", "webhooks:\n  channel: \"#alerts\"\n"),
        ("network", "network:\n  embeded: false\n"),
        ("http", "http: {hots: 127.0.0.1}\n"),
        (
            "agent, one edit",
            "agents:\n  - nick: spark-ada\n    directory: /\n    permissons: bypass\n",
        ),
        ("agent, swapped", "agents:\n  - nick: spark-ada\n    directory: /\n    modle: o3\n"),
        ("control characters", "\"ser\\u001b[31mver\": 1\n"),
    ]));
}

#[test]
fn bad_values_are_quoted_with_their_line() {
    let agent = |line: &str| format!("{AGENT}    {line}\n");
    check(told(&[
        ("backend, near", &agent("agent: cluade")),
        ("backend, far", &agent("agent: zebra")),
        ("backend that is not a word", &agent("agent: open code")),
        ("backend in capitals", &agent("agent: Claude")),
        ("permissions", &agent("permissions: yes")),
        ("permissions word", &agent("permissions: bypas")),
        ("reply", &agent("reply: relay-if-silent")),
        ("busy", &agent("mention_when_busy: que")),
        ("crash", &agent("on_crash: resum")),
        ("compaction", &agent("compaction: harnes")),
        ("watermark in percent", &agent("compact_watermark: 75%")),
        ("watermark below 0", &agent("compact_watermark: -1")),
        ("process", &agent("process: per-turn")),
        ("pronouns as number", &agent("operator_pronouns: 3")),
        ("number as text", &agent("model: 4.6")),
        ("text as number", &agent("max_attempts: five")),
        ("number too large", &agent("max_attempts: 1000")),
        ("negative time", &agent("turn_timeout_seconds: -0.5")),
        ("hooks without command", &agent("hooks: {events: [OnError]}")),
        ("hook event", &agent("hooks: {command: [x], events: [onError]}")),
        ("hook time", "hooks: {command: [x], timeout_seconds: 0}\n"),
        ("gastown", &agent("gastown: {roel: x}")),
        ("channel without #", &agent("channels: [general]")),
        ("channel with a space", &agent("channels: [\"#a b\"]")),
        ("channels as text", &agent("channels: \"#general\"")),
        ("acp command as text", &agent("acp_command: opencode acp")),
        ("command as text", &agent("command: claude")),
        ("acp command empty", &agent("acp_command: []")),
        ("enabled as text", &agent("enabled: \"no\"")),
        ("env number", &agent("env: {PORT: 80}")),
        ("env name", &agent("env: {\"A B\": \"x\"}")),
        ("base url", &agent("base_url: localhost:8080")),
        ("port", "server: {port: 66670}\n"),
        ("server name", "server: {name: Spark!}\n"),
        ("host with port", "server: {host: \"irc.example.org/x\"}\n"),
        ("event", "webhooks: {events: [agent_eror]}\n"),
        ("supervisor", "supervisor: {agent: ruls}\n"),
        ("no window", "supervisor: {window_size: 0}\n"),
        ("no interval", "supervisor: {eval_interval: 0}\n"),
        ("no threshold", "supervisor: {escalation_threshold: 0}\n"),
        ("two prompts", "supervisor: {prompt: a, prompt_override: b}\n"),
        ("a model that nobody asks", "supervisor: {agent: rules, model: x, prompt: Be strict.}\n"),
        ("url", "webhooks: {url: ftp://example.org}\n"),
        ("buffer", "buffer_size: 0\n"),
        ("no turns", "turns_per_cause: 0\n"),
        ("turns that an agent raises", &agent("turns_per_cause: 31")),
        ("sasl", "network: {embedded: false, sasl: {account: bots}}\n"),
        ("section as text", "server: spark\n"),
        ("agents as mapping", "agents:\n  nick: spark-ada\n"),
        ("agent as text", "agents: [spark-ada]\n"),
        ("extra as text", &agent("extra: x")),
    ]));
}

/// An address of a webhook is in no fault; what would tell nobody is warned of.
#[test]
fn faults_of_webhooks_do_not_show_their_addresses() {
    check(told(&[
        ("an address without its scheme", "webhooks:\n  url: example.org/api/webhooks/12/s3cret\n"),
        (
            "a fault beside an address",
            "webhooks:\n  targets: [{name: X, url: 'https://x.org/api/webhooks/12/s3cret', kind: irc}]\n",
        ),
        ("a fault beside a login", "webhooks: {url: 'https://me:s3cret@x.org', retries: 99}\n"),
        ("a template without its text", "webhooks: {template: '{{{text}}}'}\n"),
        (
            "words that no template has",
            "agents: []\nwebhooks:\n  template: '{\"a\": \"{{ text }} {{txt}}\", \"b\": \"{{Agent}}\"}'\n",
        ),
        (
            "no events",
            "agents: []\nwebhooks:\n  events: []\n  targets:\n    - {name: a, url: 'https://x.org', events: []}\n",
        ),
    ]));
}

/// R0-62.
#[test]
fn bad_nicks_say_what_a_nick_is() {
    check(told(&[
        ("no nick", "agents:\n  - directory: /\n"),
        ("no directory", "agents:\n  - nick: spark-ada\n"),
        ("one part", "agents:\n  - {nick: ada, directory: /}\n"),
        ("path", "agents:\n  - {nick: spark-../../etc, directory: /}\n"),
        ("only dots", "agents:\n  - {nick: .., directory: /}\n"),
        ("capitals", "agents:\n  - {nick: spark-Ada, directory: /}\n"),
        ("number", "agents:\n  - {nick: 7, directory: /}\n"),
        ("too long", &format!("agents:\n  - {{nick: spark-{}, directory: /}}\n", "a".repeat(60))),
        (
            "twice",
            "agents:\n  - {nick: spark-ada, directory: /}\n  - {nick: spark-bob, directory: /}\n  - {nick: spark-ada, directory: /x}\n",
        ),
        ("several faults at once", "server: {prt: 1}\nagents:\n  - {nick: ada, agent: cluade}\n"),
    ]));
}

#[test]
fn oddities_are_warned_about() {
    let agent = |line: &str| format!("{AGENT}    {line}\n");
    check(told(&[
        ("no agents", "server: {name: spark}\n"),
        ("empty list", "agents: []\n"),
        ("other server", "server: {name: other}\nagents:\n  - {nick: spark-ada, directory: /}\n"),
        ("acp model", &agent("agent: acp\n    model: sonnet")),
        ("backend of an agent that is off", &agent("enabled: false\n    agent: zebra")),
        ("channel twice", &agent("channels: [\"#a\", \"#A\"]")),
        ("keys of S0's programs", "telemetry: {enabled: true}\nagents: []\n"),
        ("sasl for our own server", "network: {sasl: {password_env: IRC}}\nagents: []\n"),
    ]));
}

/// A secret in the file is refused, and the message does not spread it further.
#[test]
fn secrets_are_refused_and_not_quoted() {
    let agent = |line: &str| format!("{AGENT}    {line}\n");
    let said = told(&[
        ("password", "network:\n  embedded: false\n  sasl: {account: a, password: hunter22}\n"),
        ("api key", &agent("api_key: sk-hunter22")),
        ("api_key_env is the key itself", &agent("api_key_env: sk-ant-hunter22")),
        ("number in env", &agent("env: {PIN: 2222}")),
    ]);
    assert!(!said.contains("hunter22") && !said.contains("2222"), "{said}");
    check(said);
}

#[test]
fn an_alias_bomb_is_refused_by_the_budget() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let refs = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
    }
    let error = parse(&bomb, "agents.yaml").unwrap_err().to_string();
    check(error);
}

/// A file of faults is answered at once, and briefly.
#[test]
fn thousands_of_faults_are_counted_not_shown() {
    let text: String = (0..40_000).map(|number| format!("k{number}: 1\n")).collect();
    let error = parse(&text, "agents.yaml").unwrap_err();
    assert_eq!(error.problems().len(), 40_000);
    let quoted = error.problems().iter().filter(|problem| problem.quoted.is_some());
    assert_eq!(quoted.count(), 20, "finding a line costs a walk through the text");
    let said = error.to_string();
    assert!(said.ends_with("\n… and 39980 more"), "{}", said.len());
    assert!(said.len() < 6_000, "{}", said.len());
    let error = parse(&format!("agents:\n{}", "  - {}\n".repeat(9_000)), "agents.yaml");
    assert_eq!(error.unwrap_err().problems().len(), 18_000);
}

/// What is shown are the first faults of the text, in whatever order its sections are read; each has
/// its line, whatever else is wrong.
#[test]
fn every_fault_that_is_shown_has_its_line() {
    let agents: String =
        (0..25).map(|n| format!("  - {{nick: oak-a{n}, colour: red}}\n")).collect();
    let text = format!("agents:\n{agents}server: {{name: oak, a: 1, b: 2, c: 3}}\n");
    let error = parse(&text, "agents.yaml").unwrap_err();
    let (shown, hidden) = error.problems().split_at(20);
    assert!(shown.iter().all(|problem| problem.quoted.is_some()), "{error}");
    assert!(!hidden.is_empty() && error.to_string().contains("20 | "), "{error}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("a: {}{}", "[".repeat(50_000), "]".repeat(50_000));
    check(parse(&deep, "agents.yaml").unwrap_err().to_string());
}

#[test]
fn a_file_that_is_too_large_is_not_parsed() {
    let large = "#".repeat(MAX_CONFIG_BYTES + 1);
    let error = parse(&large, "agents.yaml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "agents.yaml: the file has 1048577 bytes; at most 1048576 are read"
    );
    assert_eq!(error, ConfigError::too_large("agents.yaml", 1_048_577));
    let fits = format!("{AGENT}#{}", "#".repeat(MAX_CONFIG_BYTES - AGENT.len() - 1));
    assert_eq!(fits.len(), MAX_CONFIG_BYTES);
    assert!(parse(&fits, "agents.yaml").is_ok());
}

/// A path comes from somebody's file too: it is shown, and nothing else.
#[test]
fn a_file_whose_name_has_control_characters_is_named_without_them() {
    let error = parse("", "/c/\t\u{1b}[2J.yaml").unwrap_err().to_string();
    assert!(error.starts_with("/c/→�[2J.yaml: the file is empty"), "{error:?}");
}
