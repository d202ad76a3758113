//! Each level, for each kind of model.

use gangline_os::secret::Secret;

use super::*;

fn check(model: &str, level: Level, thinking: Value, effort: Option<&str>, max_tokens: u32) {
    let mut config = Config::new(Secret::new("k"));
    config.model = model.to_owned();
    config.max_tokens = 1_000;
    config.thinking = Thinking::Level(level);
    let body = crate::wire::request(&config, &[], []);
    let found = (&body["thinking"], body["output_config"]["effort"].as_str(), &body["max_tokens"]);
    assert_eq!(found, (&thinking, effort, &json!(max_tokens)), "{model} {level:?}");
}

/// R0-65: a level becomes what the model takes; where it cannot think so, nothing is asked.
#[test]
fn each_model_is_asked_in_its_own_way() {
    let adaptive = || json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    for model in ["haiku", "claude-sonnet-5-5", "claude-opus-4-6"] {
        check(model, Level::Off, json!({"type": "disabled"}), None, 1_000);
        check(model, Level::Low, adaptive(), Some("low"), 3_048);
        check(model, Level::Medium, adaptive(), Some("medium"), 9_192);
        check(model, Level::High, adaptive(), Some("high"), 25_576);
    }
    check("opus", Level::Off, adaptive(), Some("low"), 3_048);
    check("opus", Level::High, adaptive(), Some("high"), 25_576);
    check("claude-haiku-4-5", Level::Off, Value::Null, None, 1_000);
    check("claude-haiku-4-5", Level::Low, budget(2_048), None, 3_048);
    check("claude-haiku-4-5", Level::High, budget(24_576), None, 25_576);
    for level in [Level::Off, Level::Low, Level::Medium, Level::High] {
        check("claude-3-haiku-20240307", level, Value::Null, None, 1_000);
        check("my-gateway/model", level, Value::Null, None, 1_000);
    }
}

#[test]
fn a_response_is_never_longer_than_the_model_can() {
    let mut config = Config::new(Secret::new("k"));
    config.model = "claude-sonnet-4-6".to_owned();
    config.max_tokens = 60_000;
    config.thinking = Thinking::Level(Level::High);
    assert_eq!(asked(&config).max_tokens, 64_000);
}

#[test]
fn levels_are_read_by_their_words() {
    for (word, level) in [
        ("off", Some(Level::Off)),
        ("low", Some(Level::Low)),
        ("medium", Some(Level::Medium)),
        ("high", Some(Level::High)),
        ("ultra", None),
        ("", None),
    ] {
        assert_eq!(Level::parse(word), level, "{word}");
    }
}
