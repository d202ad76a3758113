//! The script file as it is written.

use std::{collections::BTreeMap, fmt};

use regex::Regex;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};
use serde_json::Value;

use crate::reply::UsageOverride;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    pub(super) rules: Vec<RuleFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    #[serde(default)]
    pub(super) when: When,
    pub(super) reply: Vec<Block>,
    #[serde(default)]
    pub(super) times: Option<u64>,
}

/// Conditions; all that are given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    #[serde(default)]
    pub(super) user: Option<Pattern>,
    #[serde(default)]
    pub(super) tool_result: Option<Pattern>,
    #[serde(default)]
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) turn: Option<u64>,
    #[serde(default)]
    pub(super) system: Option<Pattern>,
    #[serde(default)]
    pub(super) model: Option<Pattern>,
}

/// A pattern: a regular expression, or `{exact: …}` or `{contains: …}`.
#[derive(Debug)]
pub(super) struct Pattern(pub(super) Regex);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse(ToolCall),
    DelayMs(u64),
    HttpError(ErrorBlock),
    StreamError(FaultBlock),
    Drop(DropAt),
    Usage(UsageOverride),
    StopReason(String),
    Overflow,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCall {
    pub(super) name: String,
    #[serde(default = "no_input")]
    pub(super) input: Value,
}

fn no_input() -> Value {
    Value::Object(serde_json::Map::new())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DropAt {
    AfterBytes(usize),
    AfterBlocks(usize),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorBlock {
    pub(super) status: Status,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) body: Option<String>,
}

/// An error in the middle of a stream.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultBlock {
    #[serde(default)]
    pub(super) status: Status,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
}

/// A status code from 400 to 599.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u16")]
pub(super) struct Status(u16);

impl Status {
    pub(super) fn get(self) -> u16 {
        self.0
    }
}

impl Default for Status {
    fn default() -> Self {
        Self(500)
    }
}

impl TryFrom<u16> for Status {
    type Error = String;
    fn try_from(code: u16) -> Result<Self, String> {
        match code {
            400..600 => Ok(Self(code)),
            _ => Err(format!("status {code} is not an error's: write 400 to 599")),
        }
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PatternVisitor)
    }
}

struct PatternVisitor;

impl<'de> Visitor<'de> for PatternVisitor {
    type Value = Pattern;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a regular expression in quotes, {exact: TEXT} or {contains: TEXT}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Pattern, E> {
        let compiled = Regex::new(text);
        compiled
            .map(Pattern)
            .map_err(|error| E::custom(format!("bad pattern: {}", last_line(&error))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pattern, A::Error> {
        const FORMS: &[&str] = &["regex", "exact", "contains"];
        let Some((form, text)) = map.next_entry::<String, String>()? else {
            return Err(de::Error::custom("a pattern is missing"));
        };
        let compiled = match form.as_str() {
            "regex" => Regex::new(&text),
            "exact" => super::whole(&text),
            "contains" => Regex::new(&regex::escape(&text)),
            other => return Err(de::Error::unknown_field(other, FORMS)),
        };
        if map.next_key::<String>()?.is_some() {
            return Err(de::Error::custom("a pattern has one form only"));
        }
        compiled
            .map(Pattern)
            .map_err(|error| de::Error::custom(format!("bad pattern: {}", last_line(&error))))
    }
}

/// The sentence of a pattern's error; the lines before it draw the pattern once more.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
