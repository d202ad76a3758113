//! The tool calls of one turn, put together from three sources: the call, its updates, and the
//! question about it. Each of them may come first, and any may be missing.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::update::{Patch, text_of};

/// How many calls of one turn are remembered; a program that makes more is not followed.
const CALLS_MAX: usize = 4096;
/// How many files of one call are remembered.
const PLACES_MAX: usize = 64;
/// The longest result that is passed on, in bytes.
const RESULT_MAX: usize = 256 * 1024;

/// What is known of one call.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Call {
    pub(super) id: String,
    /// The title that it had at first: with some programs the only place where the tool's own
    /// name stands.
    pub(super) first_title: String,
    /// The title that it has now: some programs put the arguments there and nowhere else.
    title: String,
    pub(super) kind: String,
    pub(super) input: Value,
    /// Somebody was asked whether it may run, or a rule was.
    pub(super) asked: bool,
    /// The program asked about it by an id of its own, without a word of what it would do: the
    /// call stands for the one that was announced.
    pub(super) presumed: bool,
    /// Files that the program says it uses.
    pub(super) places: Vec<String>,
    told: bool,
    over: bool,
    result: String,
}

/// What the daemon is told of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum News {
    /// The model wants it; its arguments are known.
    Wanted(Call),
    /// It is over. `call` has its arguments no longer; here they are, if nobody was asked.
    Over { call: Call, is_error: bool, content: String, unasked: Option<Value> },
}

/// The calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Call>,
    /// Ids of questions about calls that nothing else was told of: some programs ask by an id of
    /// their own, so each of them may be about any call.
    loose: Vec<String>,
}

impl Calls {
    /// Forgets everything: a new turn begins.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.loose.clear();
    }

    /// Takes what is told of a call, and returns what is new of it.
    pub(super) fn update(&mut self, mut patch: Patch) -> Vec<News> {
        // A heartbeat of a call that nobody knows makes none.
        if !patch.tells() && !self.known.contains_key(&patch.id) {
            return Vec::new();
        }
        let input = patch.raw_input.take();
        let Some(call) = self.entry(&patch) else { return Vec::new() };
        // What stands in a question is about the call, and nothing of what came of it.
        if let Some(result) = result_of(&patch) {
            call.result = result;
        }
        // Until the call is over: arguments come in pieces, while the model writes them.
        if let Some(input) = input.filter(|_| !call.over && !call.asked) {
            merge(&mut call.input, input);
        }
        let mut news = Vec::new();
        let ends = patch.ends();
        // A command or a change of files is nothing without them.
        let needs = ["execute", "edit", "delete", "move"].contains(&call.kind.as_str());
        if ends && needs && !call.over && !has_arguments(&call.input) {
            let unknown = if has_sentence(Some(&call.title)) { &call.title } else { NOTHING_KNOWN };
            merge(&mut call.input, json!({ "title": call.first_title, "asks": unknown }));
        }
        if !call.told && (ends || has_arguments(&call.input)) {
            call.told = true;
            news.push(News::Wanted(call.clone()));
        }
        if ends && !call.over {
            call.over = true;
            let failed = patch.status.as_deref() == Some("failed");
            let exit = exit_code(&patch).filter(|code| *code != 0);
            let mut content = std::mem::take(&mut call.result);
            if let Some(code) = exit {
                content = format!("{}\n(exit code {code})", content.trim_end());
            }
            // Only the name is of use from now on.
            let input = std::mem::take(&mut call.input);
            let (call, own) = (call.clone(), call.asked);
            let at = self.loose.iter().position(|id| *id == call.id);
            let asked = match at.or(if own { None } else { self.loose.len().checked_sub(1) }) {
                Some(at) => {
                    self.loose.remove(at);
                    true
                }
                None => own,
            };
            // One that failed may have been refused by the program itself; a command's exit code shows
            // that it ran.
            let unasked = (!asked && !failed).then_some(input);
            let is_error = failed || exit.is_some();
            news.push(News::Over { call, is_error, content, unasked });
        }
        news
    }

    /// Says whether a call is over.
    pub(super) fn is_over(&self, id: &str) -> bool {
        self.known.get(id).is_some_and(|call| call.over)
    }

    /// Takes what a question tells of a call. Returns the call, and whether it is new.
    pub(super) fn asked(&mut self, patch: &Patch) -> (Call, Vec<News>) {
        let known = self.known.get(&patch.id).is_some_and(|call| !call.over);
        let announced = if known { Vec::new() } else { self.announced() };
        // Ids come from the model's provider, and not all of them count on: a question about a call
        // that is over is about another one, of which nothing is known but what it says itself.
        if self.known.get(&patch.id).is_some_and(|call| call.over) {
            self.known.remove(&patch.id);
        }
        if !known && announced.is_empty() && self.loose.len() < CALLS_MAX {
            self.loose.push(patch.id.clone());
        }
        for call in self.known.values_mut() {
            call.asked |= announced.iter().any(|it| it.id == call.id);
        }
        let Some(call) = self.entry(patch) else { return (Call::default(), Vec::new()) };
        call.asked = true;
        // What is asked about counts, whatever was announced before.
        if let Some(input) = &patch.raw_input {
            merge(&mut call.input, input.clone());
        }
        if let Some(kind) = &patch.kind {
            call.kind.clone_from(kind);
        }
        if !has_arguments(&call.input) {
            call.show(patch, announced);
        }
        let mut news = Vec::new();
        // The call that was announced is told for itself.
        if !std::mem::replace(&mut call.told, true) && !call.presumed {
            news.push(News::Wanted(call.clone()));
        }
        (call.clone(), news)
    }

    /// Returns the calls that the program has announced and nobody was asked about.
    fn announced(&self) -> Vec<Call> {
        let open = self.known.values().filter(|call| !call.over && !call.asked);
        let mut open: Vec<Call> = open.cloned().collect();
        open.sort_by(|a, b| a.id.cmp(&b.id));
        open
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
        if let Some(title) = patch.title.as_ref().filter(|title| !title.trim().is_empty()) {
            call.title.clone_from(title);
        }
        if let Some(kind) = patch.kind.as_ref().filter(|_| call.kind.is_empty()) {
            call.kind.clone_from(kind);
        }
        let places = patch.locations.as_ref().and_then(Value::as_array).into_iter().flatten();
        for place in places.filter_map(|place| place["path"].as_str()).take(PLACES_MAX) {
            if !call.places.iter().any(|known| known == place) && call.places.len() < PLACES_MAX {
                call.places.push(place.to_owned());
            }
        }
        Some(call)
    }
}

impl Call {
    /// Puts what a person can decide by in the place of arguments that a question does not have:
    /// its own words, those of its call so far, or what was announced just before. Where there is
    /// nothing of all that, it says so.
    fn show(&mut self, patch: &Patch, mut announced: Vec<Call>) {
        if let Some(title) = &patch.title {
            merge(&mut self.input, json!({ "title": title }));
        }
        // Its own kind may say that it is about something else.
        let kind = patch.kind.as_deref().filter(|kind| *kind != "other");
        announced.retain(|call| kind.is_none_or(|kind| kind == call.kind));
        let said = texts_of(patch).or_else(|| Some(self.result.clone()));
        let said = said.filter(|text| !text.trim().is_empty());
        let changes = changes_of(patch);
        merge(&mut self.input, changes.clone().unwrap_or_default());
        if let Some(said) = said {
            merge(&mut self.input, json!({ "asks": said }));
        } else if changes.is_some() {
            // They say it all.
        } else if let [call] = &mut announced[..] {
            self.presumed = true;
            (self.kind, self.first_title) = (call.kind.clone(), call.first_title.clone());
            merge(&mut self.input, call.shown());
        } else if !announced.is_empty() {
            self.presumed = true;
            let calls: Vec<Value> = announced.iter_mut().map(Call::shown).collect();
            merge(&mut self.input, json!({ "calls": calls }));
        } else if kind.is_none() || !has_sentence(patch.title.as_deref()) {
            merge(&mut self.input, json!({ "unknown": NOTHING_KNOWN }));
        }
    }

    /// Returns what was announced of it, for people.
    fn shown(&mut self) -> Value {
        let mut shown = json!({});
        merge(&mut shown, std::mem::take(&mut self.input));
        if !has_arguments(&shown) {
            let said = if self.result.trim().is_empty() { NOTHING_KNOWN } else { &self.result };
            merge(&mut shown, json!({ "title": self.first_title, "asks": said }));
        }
        shown
    }
}

/// What stands in the place of arguments that nobody knows.
const NOTHING_KNOWN: &str = "the program does not say what it would do";

/// Returns whether a title is more than the name of a tool.
fn has_sentence(title: Option<&str>) -> bool {
    title.is_some_and(|title| title.trim().contains(char::is_whitespace))
}

/// Returns the changes of files that the content shows, by the names that the rest of the daemon
/// looks for.
fn changes_of(patch: &Patch) -> Option<Value> {
    let blocks = patch.content.as_ref().and_then(Value::as_array)?;
    let change = |block: &Value| match &block["oldText"] {
        Value::String(old) => {
            json!({"file_path": block["path"], "old_string": old, "new_string": block["newText"]})
        }
        _ => json!({"file_path": block["path"], "content": block["newText"]}),
    };
    let diffs = blocks.iter().filter(|block| block["type"] == "diff");
    let mut changes: Vec<Value> = diffs.map(change).collect();
    match changes.len() {
        0 => None,
        1 => changes.pop(),
        _ => Some(json!({ "changes": changes })),
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
    texts_of(patch).or_else(|| patch.raw_output.as_ref().map(raw)).map(cut)
}

/// Returns with which code a command ended: OpenCode calls each one `completed`, whatever came of it.
fn exit_code(patch: &Patch) -> Option<i64> {
    patch.raw_output.as_ref()?.pointer("/metadata/exit")?.as_i64()
}

/// Returns the words of the content.
fn texts_of(patch: &Patch) -> Option<String> {
    let blocks = patch.content.as_ref().and_then(Value::as_array);
    let texts: Vec<String> =
        blocks.into_iter().flatten().filter_map(|block| text_of(&block["content"])).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
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
    as_input(&call.input)
}

/// As [`input`], of arguments by themselves.
pub(super) fn as_input(arguments: &Value) -> Value {
    let mut fields = match arguments {
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
