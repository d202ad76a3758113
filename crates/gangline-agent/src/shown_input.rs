//! The arguments of a tool as somebody sees them who decides on the call or looks at what ran, and as they
//! are stored.
//!
//! Known values are shown as their sources. What has the form of a secret is hidden where
//! [`gangline_core::redact::Maskable`] lets it: of a command in its plain argument words, of a file's
//! content and of all else line by line, of a path never. A command that does not parse is for owners
//! alone, since nothing of it is hidden. Start at [`shown`], and at [`recorded`] for calls that nobody decides on.

use std::ops::Range;

use gangline_core::{
    approval::Audience,
    redact::{Maskable, Redactor, names_a_secret},
};
use gangline_mcp::table::Tool;
use gangline_runtime::shell;
use serde_json::{Map, Value};

/// The tool that runs commands, as every adapter calls it.
const SHELL: &str = "Bash";
/// Its argument that is a command, or the words of one.
const COMMAND: &str = "command";
/// Its arguments that are commands.
const COMMANDS: [&str; 2] = [COMMAND, "commands"];
/// Arguments that are paths, of any tool.
const PATHS: [&str; 9] = [
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "move_path",
    "cwd",
    "workdir",
    "dir_path",
    "directory",
];

/// Arguments for somebody who decides.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) input: Value,
    pub(crate) audience: Audience,
}

/// Returns the arguments of a call as somebody sees them who decides on it.
pub(crate) fn shown(tool: &str, input: &Value, redactor: &Redactor) -> Shown {
    let mut writer = Writer { redactor, audience: Audience::Everybody };
    let input = match (tool, input) {
        (SHELL, Value::Object(fields)) => {
            let field = |(name, value): (&String, &Value)| {
                let value = match COMMANDS.contains(&name.as_str()) {
                    true => writer.command(name, value),
                    false => writer.argument(name, value),
                };
                (writer.text(name, Maskable::Nothing), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        (_, input) => writer.argument("", input),
    };
    Shown { input, audience: writer.audience }
}

/// Returns the arguments of a call that runs or ran, for those who look at it and for the record: what
/// ran is shown as it would have been to somebody who decides. What the agent says by a tool of ours is
/// conversation and masked as that.
pub(crate) fn recorded(tool: &str, input: &Value, redactor: &Redactor) -> Shown {
    match Tool::named(tool) {
        Some(Tool::Send | Tool::NoReply | Tool::Ask | Tool::Answer | Tool::Remind) => {
            Shown { input: said(input, redactor), audience: Audience::Everybody }
        }
        Some(_) | None => shown(tool, input, redactor),
    }
}

/// Returns whether owners alone are shown the arguments of a recorded call.
pub(crate) fn is_for_owners(tool: &str, input: &Value) -> bool {
    shown(tool, input, &Redactor::default()).audience == Audience::Owners
}

/// Returns the arguments with each text masked on its own, before any of it is cut.
fn said(value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact(text).into_string()),
        Value::Array(values) => values.iter().map(|it| said(it, redactor)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                (redactor.redact(name).into_string(), said(value, redactor))
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns the words of one program, if a list is that and not a list of commands.
fn words<'a>(name: &str, values: &'a [Value]) -> Option<Vec<&'a str>> {
    let words = values.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
    words.filter(|_| name == COMMAND)
}

struct Writer<'a> {
    redactor: &'a Redactor,
    audience: Audience,
}

impl Writer<'_> {
    fn text(&self, text: &str, maskable: Maskable<'_>) -> String {
        self.redactor.decided(text, maskable).text.into_string()
    }

    /// A command, its words, or a list of commands.
    fn command(&mut self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(script) => self.script(script),
            Value::Array(values) => match words(name, values) {
                Some(words) => self.words(&words),
                None => values.iter().map(|it| self.command(name, it)).collect(),
            },
            other => self.argument("", other),
        }
    }

    fn script(&mut self, script: &str) -> Value {
        let words: Vec<Range<usize>> = shell::arguments(script).unwrap_or_else(|_| {
            self.audience = Audience::Owners;
            Vec::new()
        });
        Value::String(self.text(script, Maskable::Words(&words)))
    }

    /// The words of one program, which no shell reads.
    fn words(&mut self, words: &[&str]) -> Value {
        let Some((name, arguments)) = words.split_first() else { return Value::Array(Vec::new()) };
        let plain = |text: &str| Value::String(self.text(text, Maskable::Nothing));
        let mut shown = vec![plain(name)];
        if !shell::runs_its_arguments(name, arguments) {
            let whole = |word: &&str| {
                let all = 0..word.len();
                Value::String(self.text(word, Maskable::Words(std::slice::from_ref(&all))))
            };
            shown.extend(arguments.iter().map(whole));
            return Value::Array(shown);
        }
        let has_shell = words.iter().any(|word| shell::is_shell(word));
        for word in arguments {
            // A script that is handed to a shell is read as a command.
            shown.push(match has_shell && !word.starts_with('-') {
                true => self.script(word),
                false => Value::String(self.text(word, Maskable::Nothing)),
            });
        }
        Value::Array(shown)
    }

    /// An argument that is no command, by its name; those of a list have the list's name.
    fn argument(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let maskable = match name {
                    name if PATHS.contains(&name) => Maskable::Nothing,
                    name if names_a_secret(name) => Maskable::Value,
                    _ => Maskable::Lines,
                };
                Value::String(self.text(text, maskable))
            }
            Value::Array(values) => values.iter().map(|it| self.argument(name, it)).collect(),
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    (self.text(name, Maskable::Nothing), self.argument(name, value))
                };
                Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
