//! Nearest words, and the key tables against the schema.

use std::collections::BTreeSet;

use gangline_core::{hook::WebhookEvent, word::Word};
use serde::Serialize;

use super::{
    agent, nearest,
    reader::Keys,
    schema,
    sections::{HTTP, MCP, NETWORK, SASL, SUPERVISOR, TOP, WEBHOOKS},
    server::{ROOM, SERVER},
    *,
};

#[test]
fn the_distance_counts_each_kind_of_edit_once() {
    for (a, b, far) in [
        ("claude", "claude", 0),
        ("cluade", "claude", 1),
        ("claud", "claude", 1),
        ("claudee", "claude", 1),
        ("clyude", "claude", 1),
        ("", "acp", 3),
        ("naïve", "naive", 1),
        ("abc", "xyz", 3),
    ] {
        assert_eq!(nearest::distance(a, b), far, "{a} {b}");
        assert_eq!(nearest::distance(b, a), far, "{b} {a}");
    }
}

#[test]
fn the_nearest_word_is_none_when_all_are_far() {
    assert_eq!(nearest::nearest("gpt", ["claude", "codex"], 2), None);
    assert_eq!(nearest::nearest("CODEX", ["claude", "codex"], 2), Some("codex"));
    assert_eq!(nearest::nearest(&"a".repeat(100_000), ["claude"], 2), None);
}

fn property_names(schema: &serde_json::Value) -> BTreeSet<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// The reader's key tables and the types (hence the schema) say the same.
#[test]
fn every_key_that_is_read_is_in_the_schema_and_no_other() {
    let schema = schema();
    let check = |name: &str, keys: &Keys| {
        let known: BTreeSet<&str> = keys.known.iter().copied().collect();
        assert_eq!(property_names(&schema["$defs"][name]), known, "{name}");
    };
    check("Server", &SERVER);
    check("Supervisor", &SUPERVISOR);
    check("Webhooks", &WEBHOOKS);
    check("Network", &NETWORK);
    check("Sasl", &SASL);
    check("Http", &HTTP);
    check("Mcp", &MCP);
    check("Room", &ROOM);
    assert_eq!(property_names(&schema), TOP.known.iter().copied().collect());
    let agent_keys: BTreeSet<&str> = agent::KEYS.iter().copied().collect();
    assert_eq!(property_names(&schema["$defs"]["AgentConfig"]), agent_keys);
}

#[test]
fn every_word_is_spelled_alike_in_the_reader_and_on_the_wire() {
    fn check<T: Word + Serialize>() {
        for word in T::ALL {
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        }
    }
    check::<Permissions>();
    check::<ReplyMode>();
    check::<MentionWhenBusy>();
    check::<OnCrash>();
    check::<Progress>();
    check::<ServerKey>();
    check::<WebhookEvent>();
}
