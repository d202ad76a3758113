//! Whatever the text is, `parse` answers; and what a configuration writes, it reads again.

use gangline_config::{
    AgentConfig, Backend, Compaction, Config, Gastown, Guests, Hooks, Http, Mcp, McpPlaceConfig,
    McpServerConfig, MentionWhenBusy, Network, OnCrash, Permissions, Process, ReplyMode, Sasl,
    Server, ServerKey, Supervisor, Thinking, Watcher, Webhooks, parse,
};
use gangline_core::hook::{HookEvent, WebhookEvent};
use proptest::{collection, option, prelude::*, sample::select};

/// Pieces that get further into the reader than random letters do.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "agents:",
            "- ",
            "nick: ",
            "spark-ada",
            "directory: /",
            "\n",
            "\n  ",
            "\n    ",
            "server:",
            "port: ",
            "99999999999999999999999999",
            "[",
            "]",
            "{",
            "}",
            "&a ",
            "*a",
            "<<: ",
            "|",
            ">",
            "\"",
            "'",
            "#",
            "\t",
            "\r\n",
            "!!",
            "!tag ",
            "? ",
            ": ",
            "~",
            "1e999",
            ".nan",
            "true",
            "channels: ",
            "\u{feff}",
            "\0",
            "\u{202e}",
            "---",
            "...",
            "%YAML 1.2",
            "env: ",
            "extra: ",
        ])
        .prop_map(String::from),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn parse_never_panics_and_errors_never_write_control_characters(parts in collection::vec(fragment(), 0..24)) {
        if let Err(error) = parse(&parts.concat(), "agents.yaml") {
            prop_assert!(!error.problems().is_empty());
            let shown = error.to_string();
            let bad = shown.chars().find(|c| c.is_control() && *c != '\n');
            prop_assert!(bad.is_none(), "{bad:?} in {shown:?}");
        }
    }

    #[test]
    fn a_written_configuration_is_read_again(config in config()) {
        let text = serde_saphyr::to_string(&config).unwrap();
        let read = parse(&text, "agents.yaml");
        prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
        let read = Config { warnings: vec![], ..read.unwrap() };
        prop_assert_eq!(read, config, "{}", text);
    }
}

fn words() -> impl Strategy<Value = String> {
    // Texts that YAML would rather read as something else are the interesting ones.
    prop_oneof![
        "[a-zA-Z0-9#:{}\\[\\],&*!|>'\"%@` ~-]{1,12}",
        select(vec![
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
            "Ä→\u{1f600}"
        ])
        .prop_map(String::from),
    ]
    .prop_filter("not blank", |text| !text.trim().is_empty())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        words().prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            collection::hash_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn channels() -> impl Strategy<Value = Vec<gangline_core::name::ChannelName>> {
    collection::btree_set("#[a-z0-9#.-]{1,10}", 0..4)
        .prop_map(|set| set.into_iter().map(|name| name.parse().unwrap()).collect())
}

fn mcp_servers() -> impl Strategy<Value = std::collections::BTreeMap<String, McpServerConfig>> {
    let text = || prop_oneof!["[a-zA-Z0-9 ./:=-]{0,8}[a-z$]", Just("x${A_B}${C}".to_owned())];
    let named = || collection::btree_map("[A-Z]{1,3}X", text(), 0..3);
    let program = (text(), collection::vec(text(), 0..3), named())
        .prop_map(|(command, args, env)| McpPlaceConfig::Program { command, args, env });
    let address = ("https?://[a-z0-9.:-]{1,20}", named())
        .prop_map(|(url, headers)| McpPlaceConfig::Address { url, headers });
    let tools = collection::vec("[a-z]{1,5}[*]?", 0..3);
    let server = (prop_oneof![program, address], tools)
        .prop_map(|(place, allowed_tools)| McpServerConfig { place, allowed_tools });
    collection::btree_map("[a-z][a-z0-9-]{0,6}", server, 0..3)
}

fn backends() -> impl Strategy<Value = Backend> {
    let own = "[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?".prop_map(|word| word.parse().unwrap());
    prop_oneof![select(Backend::BUILT_IN.to_vec()).prop_map(|word| word.parse().unwrap()), own]
}

#[expect(clippy::too_many_lines, reason = "a line or a few for each step or field")]
fn agent(number: usize) -> impl Strategy<Value = AgentConfig> {
    let who = (option::of(backends()), words(), channels(), option::of(words()), words());
    let what =
        (collection::vec(words(), 0..3), collection::vec(words(), 1..3), option::of(words()));
    let rules = (
        select(Permissions::ALL),
        select(ReplyMode::ALL),
        select(MentionWhenBusy::ALL),
        select(OnCrash::ALL),
        1u32..=100,
        prop_oneof![Just(0.0), (1u32..=604_800).prop_map(f64::from), 0.1f64..604_800.0],
        any::<bool>(),
        select(Process::ALL),
    );
    let hooks = option::of((
        collection::vec("[!-~]{1,12}", 1..3),
        proptest::sample::subsequence(HookEvent::ALL, 0..=4),
        1u64..=600,
    ));
    let gastown = (option::of(words()), option::of(words()), option::of(words()));
    let compaction = (select(Compaction::ALL), prop_oneof![0.0f64..=1.0, 1.0f64..1e8]);
    let rules = (rules, hooks, gastown, compaction);
    let rest = (
        option::of("https?://[a-z0-9.:-]{1,20}"),
        option::of("[A-Z_][A-Z0-9_]{0,10}"),
        collection::btree_map("[A-Z_][A-Z0-9_]{0,10}", "[^\0-\u{1f}\u{7f}-\u{9f}]{0,12}", 0..3),
        collection::btree_map("x_[a-z]{1,8}", json(), 0..3),
        option::of(collection::vec("[!-~]{1,12}", 1..3)),
        option::of("[!-~]{1,12}"),
        (mcp_servers(), option::of("[!-~]{1,12}"), words()),
    );
    (who, what, rules, rest).prop_map(move |(who, what, (rules, hooks, gastown, care), rest)| {
        AgentConfig {
            hooks: hooks.map(|(command, events, timeout_seconds)| Hooks {
                command,
                events,
                timeout_seconds,
            }),
            gastown: Gastown {
                role: gastown.0,
                rig: gastown.1,
                actor: gastown.2,
                ..Gastown::default()
            },
            agent: who.0,
            channels: who.2,
            model: who.3,
            thinking: Thinking::Said(who.4),
            tags: what.0.clone(),
            allowed_tools: what.0,
            acp_command: what.1,
            system_prompt: what.2,
            permissions: rules.0,
            reply: rules.1,
            mention_when_busy: rules.2,
            on_crash: rules.3,
            compaction: care.0,
            compact_watermark: care.1,
            max_attempts: rules.4,
            turn_timeout_seconds: rules.5,
            enabled: rules.6,
            process: rules.7,
            operator_pronouns: rest.6.2,
            mcp_servers: rest.6.0,
            mcp_servers_file: rest.6.1.map(Into::into),
            base_url: rest.0,
            api_key_env: rest.1,
            env: rest.2,
            extra: rest.3,
            command: rest.4,
            account_dir: rest.5.map(Into::into),
            ..AgentConfig::new(format!("spark-a{number}").parse().unwrap(), who.1.into())
        }
    })
}

fn watchers() -> impl Strategy<Value = Watcher> {
    prop_oneof![Just(Watcher::Off), Just(Watcher::Rules), backends().prop_map(Watcher::Model)]
}

fn config() -> impl Strategy<Value = Config> {
    let server =
        ("[a-z][a-z0-9_-]{0,10}", "[a-z0-9.-]{1,20}", 1u16.., select(Guests::ALL)).prop_map(
            |(name, host, port, guests)| Server { name, host, port, guests, ..Server::default() },
        );
    let supervisor = (
        (watchers(), option::of(words()), words(), option::of(words())),
        (1u32..=1000, 1u32..=1000, 1u32..=100),
    )
        .prop_map(|((agent, model, thinking, prompt), numbers)| Supervisor {
            agent,
            model,
            thinking,
            prompt,
            window_size: numbers.0,
            eval_interval: numbers.1,
            escalation_threshold: numbers.2,
            ..Supervisor::default()
        });
    let webhooks = (channels(), proptest::sample::subsequence(WebhookEvent::ALL, 0..=5)).prop_map(
        |(channels, events)| Webhooks {
            irc_channel: channels.into_iter().next(),
            events,
            ..Webhooks::default()
        },
    );
    let network = (any::<bool>(), any::<bool>(), option::of(option::of(words()))).prop_map(
        |(embedded, trust_nicks, sasl)| Network {
            embedded,
            trust_nicks,
            sasl: sasl.map(|account| Sasl { account, password_env: "PW".into() }),
        },
    );
    let http = (any::<bool>(), any::<u16>()).prop_map(|(enabled, port)| Http {
        enabled,
        port,
        ..Http::default()
    });
    let sections = (server, supervisor, webhooks, network, http);
    let sections = (sections, select(ServerKey::ALL));
    let all = (sections, 1usize..=100_000, agent(1), agent(2));
    all.prop_map(|((sections, server_key), buffer_size, a, b)| Config {
        server: sections.0,
        supervisor: sections.1,
        webhooks: sections.2,
        network: sections.3,
        http: sections.4,
        mcp: Mcp { server_key },
        buffer_size,
        agents: vec![a, b],
        ..Config::default()
    })
}
