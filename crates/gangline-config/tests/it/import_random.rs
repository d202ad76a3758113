//! Whatever culture's files say, what is written from them is read without fault or warning, and
//! says the same.

use std::collections::BTreeMap;

use gangline_config::{
    AgentConfig, Backend, Thinking,
    import::{Look, Source, import, scalar},
    parse,
};
use proptest::{collection, option, prelude::*, sample::select};
use serde_json::{Value, json};

/// One agent as culture has it, and as it must come out.
#[derive(Debug, Clone)]
struct Agent {
    backend: Option<&'static str>,
    channels: Option<Vec<String>>,
    model: Option<String>,
    thinking: Option<String>,
    system_prompt: Option<String>,
    tags: Option<Vec<String>>,
    timeout: Option<f64>,
    archived: bool,
    reason: String,
    extra: BTreeMap<String, Value>,
}

fn text() -> impl Strategy<Value = String> {
    let odd = vec![
        "yes",
        "null",
        "~",
        "1",
        "0x1f",
        "1e3",
        "true",
        "off",
        "- a",
        "a: b",
        "#x",
        "|",
        ">",
        "",
        " ",
        "Line one.\nLine two.\n",
        "a\n\n\nb",
        "\n\n",
        " a\n b",
        "a\n  b\n",
        "a \nb\t\n",
        "a\n---\nb\n",
        "\u{feff}a",
        "a\u{85}b",
        "a\u{2028}b",
        "\u{202e}",
        "a\r\nb\r\n",
        "tab\there",
        "\\n",
        "\"q\"",
        "*a",
        "&a",
        "!t",
        "%d",
        "@x",
        "`x`",
        "? a",
        "<<",
        "Ä→\u{1f600}",
        "\u{fffe}",
    ];
    prop_oneof![
        select(odd).prop_map(String::from),
        "[a-zA-Z0-9#:{}\\[\\],&*!|>'\"%@` \n~-]{1,20}",
        any::<String>().prop_map(|text| text.replace('\0', "")),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            collection::btree_map("[a-z]{1,6}|[ :#\"]{1,3}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
    .prop_filter("secrets are left out", |value| !holds_secret(value))
}

fn holds_secret(value: &Value) -> bool {
    const NAMES: [&str; 6] = ["password", "passwd", "api_key", "apikey", "token", "secret"];
    match value {
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Object(map) => {
            map.iter().any(|(key, value)| NAMES.contains(&key.as_str()) || holds_secret(value))
        }
        _ => false,
    }
}

fn empty(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn agent() -> impl Strategy<Value = Agent> {
    let backend = option::of(select(vec![
        "claude", "codex", "copilot", "acp", "opencode", "gemini", "native",
    ]));
    let words = (option::of(text()), option::of(text()), option::of(text()));
    let tags = option::of(collection::vec(
        text().prop_filter("not blank", |t| !t.trim().is_empty()),
        0..3,
    ));
    let rest = (
        option::of(collection::vec("#?[a-z0-9.-]{1,10}", 0..4)),
        option::of(prop_oneof![any::<f64>(), 0.0..2_000_000.0f64, Just(0.0), Just(600.0)]),
        any::<bool>(),
        text(),
        collection::btree_map("x_[a-z]{1,8}|modle|nik|icon|[a-z #:\"\n]{9,14}", value(), 0..4),
    );
    (backend, words, tags, rest).prop_map(|(backend, words, tags, rest)| Agent {
        backend,
        channels: rest.0,
        model: words.0,
        thinking: words.1,
        system_prompt: words.2,
        tags,
        timeout: rest.1,
        archived: rest.2,
        reason: rest.3,
        extra: rest.4,
    })
}

impl Agent {
    /// Writes it as JSON, which is YAML; `named` are the keys that tell which agent it is.
    fn written(&self, named: Value) -> Value {
        let mut map = named.as_object().unwrap().clone();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        if let Some(channels) = &self.channels {
            put("channels", json!(channels));
        }
        for (key, value) in [
            ("model", &self.model),
            ("thinking", &self.thinking),
            ("system_prompt", &self.system_prompt),
        ] {
            if let Some(value) = value {
                put(key, json!(value));
            }
        }
        if let Some(tags) = &self.tags {
            put("tags", json!(tags));
        }
        if let Some(timeout) = self.timeout.filter(|seconds| seconds.is_finite()) {
            put("turn_timeout_seconds", json!(timeout));
        }
        put("archived", json!(self.archived));
        put("archived_reason", json!(self.reason));
        self.extra.iter().for_each(|(key, value)| put(key, value.clone()));
        map.into()
    }

    fn expected(&self, nick: &str, folder: &str) -> AgentConfig {
        let usual = AgentConfig::new(nick.parse().unwrap(), folder.into());
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let agent = self.backend.map(|word| word.parse::<Backend>().unwrap());
        let bare = matches!(self.backend, Some("acp" | "opencode"));
        let mut channels = Vec::new();
        for name in self.channels.iter().flatten() {
            let whole = if name.starts_with('#') { name.clone() } else { format!("#{name}") };
            let channel = whole.parse().unwrap();
            if !channels.contains(&channel) {
                channels.push(channel);
            }
        }
        let seconds = match self.timeout.filter(|seconds| seconds.is_finite()) {
            None => 600.0,
            Some(seconds) if seconds < 0.0 => 600.0,
            Some(seconds) => seconds.min(604_800.0),
        };
        AgentConfig {
            agent,
            channels: if self.channels.is_some() { channels } else { usual.channels.clone() },
            model: said(&self.model).filter(|it| !bare || it.contains('/')),
            thinking: said(&self.thinking).map_or(Thinking::Usual, Thinking::Said),
            system_prompt: said(&self.system_prompt),
            tags: self.tags.clone().unwrap_or_default(),
            turn_timeout_seconds: seconds,
            enabled: !self.archived,
            extra: self.extra.clone().into_iter().filter(|(_, value)| !empty(value)).collect(),
            ..usual
        }
    }
}

/// Returns JSON in which every odd character is escaped as YAML does it.
fn ascii(value: &Value) -> String {
    let escaped = |c: char| match c {
        ' '..='~' => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    value.to_string().chars().map(escaped).collect()
}

/// Imports one text and compares what is written with what was meant.
fn check(path: &str, root: &Value, folders: &BTreeMap<String, String>, agents: &[AgentConfig]) {
    let source = Source::new(path.into(), ascii(root));
    let look = |path: &std::path::Path| match folders.get(path.to_str().unwrap()) {
        Some(text) => Look::Text(text.clone()),
        None => Look::Absent,
    };
    let import = import(&[source], &look).unwrap_or_else(|error| panic!("{error}\n{root:#}"));
    let read =
        parse(&import.text, "agents.yaml").unwrap_or_else(|e| panic!("{e}\n{}", import.text));
    assert_eq!(read.warnings, [], "{}", import.text);
    assert_eq!(read.agents, agents, "{root:#}\n{}", import.text);
    let again = Source::new("/again/agents.yaml".into(), import.text.clone());
    let again = self::import(&[again], &|_| Look::Absent)
        .unwrap_or_else(|e| panic!("{e}\n{}", import.text));
    assert_eq!(again.config, read, "{}", import.text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// R0-61 … R0-65, R1-43.
    #[test]
    fn what_is_written_of_the_older_form_is_read_and_says_the_same(all in collection::vec(agent(), 1..4)) {
        let item = |(n, agent): (usize, &Agent)| {
            let mut named = json!({"nick": format!("oak-a{n}"), "directory": format!("/d{n}")});
            if let Some(backend) = agent.backend {
                named["agent"] = json!(backend);
            }
            agent.written(named)
        };
        let root = json!({
            "server": {"name": "oak"},
            "agents": all.iter().enumerate().map(item).collect::<Vec<_>>(),
        });
        let expected: Vec<_> = (0..).zip(&all)
            .map(|(n, agent)| agent.expected(&format!("oak-a{n}"), &format!("/d{n}"))).collect();
        check("/c/agents.yaml", &root, &BTreeMap::new(), &expected);
    }

    /// R1-43.
    #[test]
    fn what_is_written_of_a_manifest_is_read_and_says_the_same(all in collection::vec(agent(), 1..4)) {
        let mut folders = BTreeMap::new();
        let mut manifest = serde_json::Map::new();
        for (n, agent) in all.iter().enumerate() {
            let mut named = json!({"suffix": format!("a{n}")});
            if let Some(backend) = agent.backend {
                named["backend"] = json!(backend);
            }
            manifest.insert(format!("a{n}"), json!(format!("/d{n}")));
            folders.insert(format!("/d{n}/culture.yaml"), ascii(&agent.written(named)));
        }
        let root = json!({"server": {"name": "oak", "port": 7000}, "agents": manifest});
        let expected: Vec<_> = (0..).zip(&all)
            .map(|(n, agent)| agent.expected(&format!("oak-a{n}"), &format!("/d{n}"))).collect();
        check("/c/server.yaml", &root, &folders, &expected);
    }

    #[test]
    fn a_scalar_is_one_line_and_reads_as_the_text_it_was(text in text()) {
        let scalar = scalar(&text);
        prop_assert!(!scalar.contains('\n'));
        let yaml = format!("agents:\n  - nick: oak-a\n    directory: /\n    x_field: {scalar} # comment\n");
        let config = parse(&yaml, "agents.yaml").unwrap();
        prop_assert_eq!(&config.agents[0].extra["x_field"], &json!(text));
    }
}

/// Pieces that get further than random letters do.
fn fragment() -> impl Strategy<Value = String> {
    let pieces = vec![
        "agents:",
        "- ",
        "nick: ",
        "suffix: ",
        "a",
        "oak-a",
        "directory: /",
        "workdir: x",
        "type: kiro",
        "\n",
        "\n  ",
        "\n    ",
        "server:",
        "name: ",
        "host: 0.0.0.0",
        "links: [{name: x}]",
        "channels: ",
        "archived: true",
        "turn_timeout_seconds: ",
        "99999999999999999999999999",
        ".nan",
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "<<: ",
        "\"",
        "#",
        "\t",
        ": ",
        "~",
        "1e999",
        "backend: ",
        "modle: 1",
        "token: x",
        "extra: ",
        "permissions: ",
        "webhooks:",
        "events: [x]",
        "irc_channel: ",
        "supervisor:",
    ];
    prop_oneof![select(pieces).prop_map(String::from), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn an_import_never_panics_and_what_it_says_has_no_control_characters(
        parts in collection::vec(fragment(), 0..24),
        inner in collection::vec(fragment(), 0..12),
    ) {
        let source = Source::new("/c/agents.yaml".into(), parts.concat());
        let said = match import(&[source], &|_| Look::Text(inner.concat())) {
            Ok(import) => {
                let warnings = &import.config.warnings;
                prop_assert!(warnings.is_empty(), "{:?}\n{}", warnings, import.text);
                import.notes.iter().map(|note| format!("{note}\n")).collect()
            }
            Err(error) => error.to_string(),
        };
        let bad = said.chars().find(|c| c.is_control() && *c != '\n');
        prop_assert!(bad.is_none(), "{bad:?} in {said:?}");
    }
}
