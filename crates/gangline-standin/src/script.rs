//! Scripts: rules in YAML that say what to answer to what.
//!
//! The first rule that matches answers. The wording of the file is in `docs/standin.md`.

use std::sync::atomic::{AtomicU64, Ordering};

use regex::{Captures, Regex};
use serde_json::Value;

use crate::reply::{Answer, Conversation, Cut, HttpError, Reply, Step};

use self::yaml::{Block, DropAt, RuleFile, ScriptFile, When};

mod yaml;

/// The largest script that is read, in bytes.
pub const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;

/// A script that cannot be used; `Display` has line, column and the quoted lines.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// More than [`MAX_SCRIPT_BYTES`].
    #[error("the script has {bytes} bytes; at most {MAX_SCRIPT_BYTES} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Not what a script must be.
    #[error("{0}")]
    Syntax(Box<serde_saphyr::Error>),
}

/// Rules, in the order in which they are tried.
#[derive(Debug)]
pub struct Script {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    when: When,
    reply: Vec<Block>,
    times: Option<u64>,
    used: AtomicU64,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The text is too large, is no YAML, or holds keys, blocks or patterns that are unknown.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > MAX_SCRIPT_BYTES {
            return Err(ScriptError::TooLarge { bytes: text.len() });
        }
        let file: ScriptFile =
            serde_saphyr::from_str(text).map_err(|error| ScriptError::Syntax(Box::new(error)))?;
        let rule =
            |RuleFile { when, reply, times }| Rule { when, reply, times, used: AtomicU64::new(0) };
        Ok(Self { rules: file.rules.into_iter().map(rule).collect() })
    }

    /// Returns the answer of the first rule that matches and is not used up; counts its use.
    #[must_use]
    pub fn answer(&self, conversation: &Conversation) -> Answer {
        for rule in &self.rules {
            if let Some(matched) = rule.when.matches(conversation)
                && rule.claim()
            {
                return play(&rule.reply, &matched, conversation);
            }
        }
        let asked: String = conversation.asked().chars().take(200).collect();
        let tool = conversation.result().map(|result| result.tool);
        let of = tool.map_or_else(String::new, |tool| format!(" after a result of {tool}"));
        Answer::Error(HttpError::new(
            400,
            format!(
                "the stand-in's script has no rule for turn {}{of}: {asked}",
                conversation.turn()
            ),
        ))
    }
}

impl Rule {
    /// Uses the rule once, unless it is used up.
    fn claim(&self) -> bool {
        let Some(times) = self.times else { return true };
        let next = |used: u64| (used < times).then_some(used + 1);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

/// What a rule's patterns found: `$0` … `$9`.
struct Matched(Vec<String>);

impl When {
    fn matches(&self, conversation: &Conversation) -> Option<Matched> {
        let result = conversation.result();
        if self.turn.is_some_and(|turn| turn != conversation.turn()) {
            return None;
        }
        if let Some(tool) = &self.tool
            && !result.as_ref().is_some_and(|result| conversation.means(tool, &result.tool))
        {
            return None;
        }
        let fits = |pattern: &Option<yaml::Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.0.is_match(text))
        };
        if !fits(&self.system, &conversation.system) || !fits(&self.model, &conversation.model) {
            return None;
        }
        let wants_result = self.tool_result.is_some() || self.tool.is_some();
        // A result asks nothing new: a rule about the asker's words alone is for his own turn.
        if self.user.is_some() && !wants_result && result.is_some() {
            return None;
        }
        let mut found = None;
        for (pattern, text) in [
            (&self.user, Some(conversation.asked())),
            (&self.tool_result, result.as_ref().map(|result| result.text.as_str())),
        ] {
            let Some(pattern) = pattern else { continue };
            let captures = pattern.0.captures(text?)?;
            found = found.or_else(|| Some(Matched(groups(&captures))));
        }
        Some(found.unwrap_or(Matched(Vec::new())))
    }
}

fn groups(captures: &Captures<'_>) -> Vec<String> {
    let text =
        |group: Option<regex::Match<'_>>| group.map_or("", |found| found.as_str()).to_owned();
    captures.iter().map(text).collect()
}

fn play(blocks: &[Block], matched: &Matched, conversation: &Conversation) -> Answer {
    let fill = |text: &str| fill(text, matched, conversation);
    let mut reply = Reply::default();
    for block in blocks {
        match block {
            Block::Text(text) => reply.steps.push(Step::Text(fill(text))),
            Block::Thinking(text) => reply.steps.push(Step::Thinking(fill(text))),
            Block::ToolUse(call) => {
                let name = fill(&call.name);
                let name = conversation.tool(&name).map_or(name.clone(), str::to_owned);
                let input = fill_json(&call.input, &fill);
                reply.steps.push(Step::ToolUse { name, input });
            }
            Block::DelayMs(delay) => {
                reply.steps.push(Step::Delay(std::time::Duration::from_millis(*delay)));
            }
            Block::Drop(DropAt::AfterBytes(bytes)) => reply.cut = Some(Cut::Bytes(*bytes)),
            Block::Drop(DropAt::AfterBlocks(blocks)) => reply.cut = Some(Cut::Blocks(*blocks)),
            Block::Usage(usage) => reply.usage = *usage,
            Block::StopReason(reason) => reply.stop_reason = Some(reason.clone()),
            Block::HttpError(error) => {
                return Answer::Error(HttpError {
                    status: error.status.get(),
                    headers: error.headers.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
                    kind: error.kind.clone(),
                    code: error.code.clone(),
                    param: None,
                    message: error.message.as_deref().map(fill).unwrap_or_default(),
                    body: error.body.as_deref().map(fill),
                });
            }
            Block::StreamError(error) => {
                reply.fault = Some(HttpError {
                    kind: error.kind.clone(),
                    code: error.code.clone(),
                    message: error.message.as_deref().map(fill).unwrap_or_default(),
                    ..HttpError::new(error.status.get(), "")
                });
                return Answer::Reply(reply);
            }
            Block::Overflow => return Answer::Overflow,
        }
    }
    Answer::Reply(reply)
}

fn fill_json(value: &Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => fill(text).into(),
        Value::Array(items) => items.iter().map(|item| fill_json(item, fill)).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, value)| (key.clone(), fill_json(value, fill))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Replaces `$0` … `$9`, `${user}`, `${tool_result}`, `${turn}`, and `$$` by a dollar sign; what
/// is none of these stays as it is.
fn fill(text: &str, matched: &Matched, conversation: &Conversation) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(digit) = rest.bytes().next().filter(u8::is_ascii_digit) {
            let group = matched.0.get(usize::from(digit - b'0'));
            out.push_str(group.map_or("", String::as_str));
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix("{user}") {
            out.push_str(conversation.asked());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{tool_result}") {
            out.push_str(&conversation.result().map(|result| result.text).unwrap_or_default());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{turn}") {
            out.push_str(&conversation.turn().to_string());
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

fn whole(text: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("^{}$", regex::escape(text)))
}

#[cfg(test)]
mod tests;
