//! The arguments of a tool as somebody sees them who decides on the call, and as they are stored.
//!
//! Known values are shown as their sources. What has the form of a secret is hidden where
//! [`gangline_core::redact::Maskable`] lets it: of a command in its plain argument words, of a file's
//! content and of all else line by line, of a path never. A command that does not parse is for owners
//! alone, since nothing of it is hidden. Start at [`shown`].

use std::ops::Range;

use gangline_core::{
    approval::Audience,
    redact::{Maskable, Redactor, names_a_secret},
};
use gangline_runtime::shell;
use serde_json::{Map, Value};

/// The tool that runs commands, as every adapter calls it.
const SHELL: &str = "Bash";
/// Its arguments that are commands.
const COMMANDS: [&str; 2] = ["command", "commands"];
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
                    true => writer.command(value),
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

struct Writer<'a> {
    redactor: &'a Redactor,
    audience: Audience,
}

impl Writer<'_> {
    fn text(&self, text: &str, maskable: Maskable<'_>) -> String {
        self.redactor.decided(text, maskable).text.into_string()
    }

    /// A command, or a list of them.
    fn command(&mut self, value: &Value) -> Value {
        match value {
            Value::String(script) => {
                let words: Vec<Range<usize>> = shell::arguments(script).unwrap_or_else(|_| {
                    self.audience = Audience::Owners;
                    Vec::new()
                });
                Value::String(self.text(script, Maskable::Words(&words)))
            }
            // The words of a program, or commands: which of them runs what, nobody says.
            Value::Array(values) => values.iter().map(|it| self.listed(it)).collect(),
            other => self.argument("", other),
        }
    }

    fn listed(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match shell::arguments(text) {
                Ok(words) => Value::String(self.text(text, Maskable::Words(&words))),
                Err(_) => Value::String(self.text(text, Maskable::Nothing)),
            },
            other => self.argument("", other),
        }
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
