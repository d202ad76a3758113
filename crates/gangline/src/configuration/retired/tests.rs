use std::collections::{BTreeMap, BTreeSet};

use gangline_runtime::registry::{Places, Registry};

use super::advice;
use crate::configuration::Loaded;

/// C24: the word about a retired model names what to use, with or without a provider in front.
#[test]
fn only_retired_models_are_advised_against() {
    for model in ["claude-3-haiku-20240307", "anthropic/claude-3-haiku-20240307"] {
        let said = advice(model).unwrap();
        assert!(said.starts_with("`claude-3-haiku-20240307` was retired on 2026-04-20"), "{said}");
        assert!(said.contains("use `haiku`"), "{said}");
    }
    for model in ["haiku", "claude-opus-4-6", "openai/o3", "my/claude-3", "", "/"] {
        assert_eq!(advice(model), None, "{model}");
    }
}

/// C24: of every backend, when the configuration is looked at.
#[test]
fn a_configuration_with_a_retired_model_is_warned_of_for_every_backend() {
    for (backend, model) in [
        ("claude", "claude-3-opus-20240229"),
        ("codex", "claude-3-opus-20240229"),
        ("acp", "anthropic/claude-3-opus-20240229"),
        ("native", "claude-3-opus-20240229"),
    ] {
        let yaml = format!(
            "server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: /w\n    agent: \
             {backend}\n    model: {model}\n"
        );
        let config = gangline_config::parse(&yaml, "agents.yaml").unwrap();
        let registry = Registry::load(&Places::default());
        let loaded = Loaded {
            config,
            file: "/c/agents.yaml".into(),
            registry,
            unread: BTreeSet::new(),
            marks: BTreeMap::new(),
        };
        let warnings = loaded.warnings();
        let about = "/c/agents.yaml: the model of oak-ada: `claude-3-opus-20240229` was retired on";
        assert!(warnings.iter().any(|text| text.starts_with(about)), "{backend}: {warnings:?}");
    }
}
