//! How a request asks the model to think; pure.
//!
//! Models differ: some take an effort, some a number of tokens, some can do without and some
//! cannot. What is asked of each is decided by the model table and nowhere else.

use serde_json::{Value, json};

use crate::config::{Config, Level, Thinking};
use crate::models::{self, Thinks};

/// What a request says about thinking.
#[derive(Debug, PartialEq)]
pub(super) struct Thought {
    /// The field `thinking`.
    pub(super) thinking: Option<Value>,
    /// The field `effort` of `output_config`.
    pub(super) effort: Option<&'static str>,
    /// Limit of the response, with room for the thoughts: the API counts them together.
    pub(super) max_tokens: u32,
}

/// Returns what the request of this configuration says.
pub(super) fn asked(config: &Config) -> Thought {
    let plain = Thought { thinking: None, effort: None, max_tokens: config.max_tokens };
    match config.thinking {
        Thinking::Off => plain,
        Thinking::Adaptive => Thought { thinking: Some(json!({"type": "adaptive"})), ..plain },
        Thinking::Budget(tokens) => budget(config.max_tokens, tokens),
        Thinking::Level(level) => at_level(config, level),
    }
}

fn budget(max_tokens: u32, tokens: u32) -> Thought {
    let thinking = json!({"type": "enabled", "budget_tokens": tokens});
    let max_tokens = max_tokens.saturating_add(tokens);
    Thought { thinking: Some(thinking), effort: None, max_tokens }
}

fn at_level(config: &Config, level: Level) -> Thought {
    let max_tokens = config.max_tokens;
    let Some(model) = models::find(&config.model) else {
        return Thought { thinking: None, effort: None, max_tokens };
    };
    let thought = match (model.thinks, level) {
        (Thinks::Never, _) | (Thinks::Budget, Level::Off) => {
            Thought { thinking: None, effort: None, max_tokens }
        }
        (Thinks::Adaptive, Level::Off) => {
            Thought { thinking: Some(json!({"type": "disabled"})), effort: None, max_tokens }
        }
        (Thinks::Budget, _) => budget(max_tokens, room(level)),
        (Thinks::Always, Level::Off) => adaptive(max_tokens, Level::Low),
        (Thinks::Always | Thinks::Adaptive, _) => adaptive(max_tokens, level),
    };
    Thought { max_tokens: thought.max_tokens.min(model.max_output), ..thought }
}

fn adaptive(max_tokens: u32, level: Level) -> Thought {
    Thought {
        // Without `display` newer models send thoughts, and what they say between two tool calls,
        // as empty blocks.
        thinking: Some(json!({"type": "adaptive", "display": "summarized"})),
        effort: effort(level),
        max_tokens: max_tokens.saturating_add(room(level)),
    }
}

fn effort(level: Level) -> Option<&'static str> {
    match level {
        Level::Off => None,
        Level::Low => Some("low"),
        Level::Medium => Some("medium"),
        Level::High => Some("high"),
    }
}

/// Returns how many tokens thoughts of this level may take.
fn room(level: Level) -> u32 {
    match level {
        Level::Off => 0,
        Level::Low => 2_048,
        Level::Medium => 8_192,
        Level::High => 24_576,
    }
}

#[cfg(test)]
mod tests;
