//! The tool calls of one turn, put together from three sources: the call, its updates, and the
//! question about it. Each of them may come first, and any may be missing.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::update::{Patch, text_of};

/// How many calls of one turn are remembered; a program that makes more is not followed.
const CALLS_MAX: usize = 4096;
/// The longest result that is passed on, in bytes.
const RESULT_MAX: usize = 256 * 1024;

/// What is known of one call.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Call {
    pub(super) id: String,
    /// The title that it had at first: with some programs the only place where the tool's own
    /// name stands.
    pub(super) first_title: String,
    pub(super) kind: String,
    pub(super) input: Value,
    told: bool,
    over: bool,
    result: String,
}

/// What the daemon is told of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum News {
    /// The model wants it; its arguments are known.
    Wanted(Call),
    /// It is over.
    Over { call: Call, is_error: bool, content: String },
}

/// The calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Call>,
}

impl Calls {
    /// Forgets everything: a new turn begins.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    /// Takes what is told of a call, and returns what is new of it.
    pub(super) fn told(&mut self, mut patch: Patch) -> Vec<News> {
        let input = patch.raw_input.take();
        let Some(call) = self.entry(&patch) else { return Vec::new() };
        // What stands in a question is about the call, and nothing of what came of it.
        if let Some(result) = result_of(&patch) {
            call.result = result;
        }
        if let Some(input) = input.filter(|_| !call.told) {
            merge(&mut call.input, input);
        }
        let mut news = Vec::new();
        let ends = matches!(patch.status.as_deref(), Some("completed" | "failed"));
        if !call.told && (ends || has_arguments(&call.input)) {
            call.told = true;
            news.push(News::Wanted(call.clone()));
        }
        if ends && !call.over {
            call.over = true;
            let is_error = patch.status.as_deref() == Some("failed");
            let content = std::mem::take(&mut call.result);
            // Only the name is of use from now on.
            call.input = Value::Null;
            news.push(News::Over { call: call.clone(), is_error, content });
        }
        news
    }

    /// Takes what a question tells of a call. Returns the call, and whether it is new.
    pub(super) fn asked(&mut self, patch: &Patch) -> (Call, Vec<News>) {
        // Ids come from the model's provider, and not all of them count on: a question about a call
        // that is over is about another one, of which nothing is known but what it says itself.
        if self.known.get(&patch.id).is_some_and(|call| call.over) {
            self.known.remove(&patch.id);
        }
        let Some(call) = self.entry(patch) else { return (Call::default(), Vec::new()) };
        // What is asked about counts, whatever was announced before.
        if let Some(input) = &patch.raw_input {
            merge(&mut call.input, input.clone());
        }
        if let Some(kind) = &patch.kind {
            call.kind.clone_from(kind);
        }
        // Whoever is asked has to see what is asked: with some programs it stands nowhere else.
        if let (Some(title), false) = (&patch.title, has_arguments(&call.input)) {
            merge(&mut call.input, json!({ "title": title }));
        }
        let mut news = Vec::new();
        if !call.told {
            call.told = true;
            news.push(News::Wanted(call.clone()));
        }
        (call.clone(), news)
    }

    fn entry(&mut self, patch: &Patch) -> Option<&mut Call> {
        if !self.known.contains_key(&patch.id) && self.known.len() >= CALLS_MAX {
            return None;
        }
        let call = self.known.entry(patch.id.clone()).or_default();
        call.id.clone_from(&patch.id);
        if let Some(title) = patch.title.as_ref().filter(|_| call.first_title.is_empty()) {
            call.first_title.clone_from(title);
        }
        if let Some(kind) = patch.kind.as_ref().filter(|_| call.kind.is_empty()) {
            call.kind.clone_from(kind);
        }
        Some(call)
    }
}

/// Adds what is new; what is told again later may be less than what is known.
fn merge(known: &mut Value, told: Value) {
    match (&mut *known, told) {
        (Value::Object(known), Value::Object(told)) => known.extend(told),
        (_, Value::Null) => {}
        (known, told) => *known = told,
    }
}

/// Says whether the arguments are there: a folder alone stands in a call that has none yet.
fn has_arguments(input: &Value) -> bool {
    match input {
        Value::Null => false,
        Value::Object(fields) => fields.keys().any(|name| name != "cwd"),
        _ => true,
    }
}

/// Returns what a tool has returned so far, as text.
fn result_of(patch: &Patch) -> Option<String> {
    let blocks = patch.content.as_ref().and_then(Value::as_array);
    let texts: Vec<String> =
        blocks.into_iter().flatten().filter_map(|block| text_of(&block["content"])).collect();
    let text =
        if texts.is_empty() { patch.raw_output.as_ref().map(raw)? } else { texts.join("\n") };
    Some(cut(text))
}

/// Returns the text of a raw output, in whichever field the program puts it.
fn raw(output: &Value) -> String {
    const FIELDS: [&str; 4] = ["output", "content", "error", "message"];
    match output {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            FIELDS
                .iter()
                .find_map(|name| text(name))
                .map_or_else(|| output.to_string(), str::to_owned)
        }
        _ => output.to_string(),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > RESULT_MAX {
        let end = (0..=RESULT_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str(" […]");
    }
    text
}

/// Returns the arguments as a tool's input: an object, with a command's words where the rest of
/// the daemon looks for them.
pub(super) fn input(call: &Call) -> Value {
    let mut fields = match &call.input {
        Value::Object(fields) => fields.clone(),
        Value::Null => Map::new(),
        other => return json!({ "input": other }),
    };
    if let (None, Some(Value::Array(commands))) = (fields.get("command"), fields.get("commands")) {
        let words: Vec<&str> = commands.iter().filter_map(Value::as_str).collect();
        let command = words.join("; ");
        fields.insert("command".to_owned(), Value::String(command));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests;
