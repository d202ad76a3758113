//! Nearest words, and the key tables against the schema.

use std::collections::BTreeSet;

use gangline_core::{hook::WebhookEvent, word::Word};
use serde::Serialize;

use super::{declared::Declared, nearest, reader::Keys, *};

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

/// The keys that the reader knows and those of the schema, which go by the wire's names, are the same.
#[test]
fn every_key_that_is_read_is_in_the_schema_and_no_other() {
    fn check<T: Declared>(schema: &serde_json::Value) {
        let properties = schema["properties"].as_object().unwrap();
        let properties: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let known = T::KEYS.known.iter().copied().collect();
        assert_eq!(properties, known, "{}", std::any::type_name::<T>());
        let Keys { known, ignored } = T::KEYS;
        assert!(ignored.iter().all(|key| !known.contains(key)), "{ignored:?}");
    }
    let schema = schema();
    let part = |name: &str| &schema["$defs"][name];
    check::<Config>(&schema);
    check::<AgentConfig>(part("AgentConfig"));
    check::<Server>(part("Server"));
    check::<Room>(part("Room"));
    check::<Supervisor>(part("Supervisor"));
    check::<Webhooks>(part("Webhooks"));
    check::<Network>(part("Network"));
    check::<Sasl>(part("Sasl"));
    check::<Http>(part("Http"));
    check::<Mcp>(part("Mcp"));
    check::<Hooks>(part("Hooks"));
    check::<Gastown>(part("Gastown"));
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

#[test]
fn every_word_is_spelled_alike_in_the_reader_and_in_the_schema() {
    fn check<T: Word + schemars::JsonSchema>() {
        let schema = schemars::schema_for!(T).to_value();
        let words = schema["oneOf"].as_array().unwrap().iter();
        let words: Vec<&str> = words.map(|word| word["const"].as_str().unwrap()).collect();
        assert_eq!(words, T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    }
    check::<Guests>();
    check::<ReplyMode>();
    check::<MentionWhenBusy>();
    check::<OnCrash>();
    check::<Compaction>();
    check::<Progress>();
    check::<ServerKey>();
    check::<Process>();
    check::<FolderTrust>();
    check::<PromptBy>();
}
