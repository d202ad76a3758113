//! Taking typed values out of the tree, collecting every fault instead of stopping at the first.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, path::Path, str::FromStr};

use gangline_core::word::Word;
use serde_json::Value as Json;

use super::{
    Environment,
    error::{Place, Problem, Quoted, SHOWN_MAX, Secrecy, Warning, quote, shown},
    nearest::{nearest, slips},
    node::{Key, Node, Value, bare_channel},
};

/// Returns the names of the backends that there are for an agent that works in a folder, as the
/// file names that folder; without one, those that there are everywhere.
pub type Names<'a> = dyn Fn(Option<&Path>) -> Vec<String> + 'a;

/// Collects what is wrong while the tree is read.
pub(super) struct Reader<'a> {
    text: &'a str,
    source_name: &'a str,
    pub(super) problems: Vec<Problem>,
    /// Where the first faults of the text are, as far as it is read: these are shown.
    first: Vec<Place>,
    pub(super) warnings: Vec<Warning>,
    /// Which backends there are, if somebody said so.
    pub(super) names: Option<&'a Names<'a>>,
    /// The limit of the installation, which an agent's may not exceed.
    pub(super) turns_per_cause: u32,
    /// The defaults that the environment changes.
    pub(super) environment: Environment,
}

/// One mapping of the file; what is taken out of it is known, what stays is not.
pub(super) struct Section {
    pub(super) place: Place,
    pub(super) entries: Vec<(Key, Node)>,
}

impl Section {
    /// Takes the value of `key`; an empty one (`key:`) counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Node> {
        self.take_if(key, |_| true).filter(|node| !matches!(node.value, Value::Null))
    }

    /// Takes the value of `key` if it is `null`.
    pub(super) fn take_null(&mut self, key: &str) -> Option<Node> {
        self.take_if(key, |node| matches!(node.value, Value::Null))
    }

    fn take_if(&mut self, key: &str, wanted: fn(&Node) -> bool) -> Option<Node> {
        let found = |(name, node): &(Key, Node)| name.text == key && wanted(node);
        let index = self.entries.iter().position(found)?;
        Some(self.entries.remove(index).1)
    }

    /// Returns where the value of `key` is, if it has one.
    pub(super) fn place_of(&self, key: &str) -> Option<Place> {
        let said =
            |(name, node): &&(Key, Node)| name.text == key && !matches!(node.value, Value::Null);
        self.entries.iter().find(said).map(|(_, node)| node.place)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, source_name: &'a str) -> Self {
        Self {
            text,
            source_name,
            problems: Vec::new(),
            first: Vec::new(),
            warnings: Vec::new(),
            names: None,
            turns_per_cause: super::limits::turns_per_cause(),
            environment: Environment::default(),
        }
    }

    /// Returns the text that is read.
    pub(super) fn source(&self) -> &'a str {
        self.text
    }

    fn problem(&mut self, place: Place, message: String, help: Option<String>) -> Problem {
        let quoted = self.quoted(place, Secrecy::Plain);
        Problem { place: Some(place), message, quoted, help }
    }

    /// Quotes the line of a fault that may be shown: one of the first in the text, so far. Finding a line
    /// costs a walk through the text: not for thousands of faults.
    fn quoted(&mut self, place: Place, secret: Secrecy) -> Option<Quoted> {
        let at = self.first.partition_point(|other| *other <= place);
        if at >= SHOWN_MAX {
            return None;
        }
        self.first.insert(at, place);
        self.first.truncate(SHOWN_MAX);
        quote(self.text, place, secret)
    }

    /// Records a fault.
    pub(super) fn fault(&mut self, place: Place, message: impl Into<String>) {
        let problem = self.problem(place, message.into(), None);
        self.problems.push(problem);
    }

    /// Records a fault and what to do about it.
    pub(super) fn fault_help(
        &mut self,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = self.problem(place, message.into(), Some(help.into()));
        self.problems.push(problem);
    }

    /// Records a fault at a key whose value must not be shown.
    pub(super) fn secret_fault(&mut self, place: Place, message: &str, help: &str) {
        let quoted = self.quoted(place, Secrecy::HideValue);
        self.problems.push(Problem {
            place: Some(place),
            message: message.to_owned(),
            quoted,
            help: Some(help.to_owned()),
        });
    }

    /// Records a fault at a value that must not be shown.
    pub(super) fn secret_value_fault(&mut self, place: Place, message: &str, help: &str) {
        self.problems.push(Problem {
            place: Some(place),
            message: message.to_owned(),
            quoted: None,
            help: Some(help.to_owned()),
        });
    }

    /// Records a warning.
    pub(super) fn warn(&mut self, place: Place, message: impl Into<String>, help: Option<String>) {
        if self.warnings.len() == SHOWN_MAX {
            return;
        }
        let quoted = quote(self.text, place, Secrecy::Plain);
        let problem = Problem { place: Some(place), message: message.into(), quoted, help };
        self.warnings.push(Warning::new(self.source_name, problem));
    }

    /// Records a warning at a line that must not be shown.
    pub(super) fn warn_plain(&mut self, place: Place, message: String) {
        if self.warnings.len() == SHOWN_MAX {
            return;
        }
        let problem = Problem { place: Some(place), message, quoted: None, help: None };
        self.warnings.push(Warning::new(self.source_name, problem));
    }

    fn expected(&mut self, key: &str, wanted: &str, node: &Node) {
        let message = format!("{} must be {wanted}, not {}", named(key), node.value.kind());
        let help = match node.value {
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) if wanted == "text" => {
                Some("put it in quotes".to_owned())
            }
            Value::Null => bare_channel(self.text, node.place),
            _ => None,
        };
        let problem = self.problem(node.place, message, help);
        self.problems.push(problem);
    }

    /// Reads a mapping.
    pub(super) fn section(&mut self, key: &str, node: Node) -> Option<Section> {
        match node.value {
            Value::Map(entries) => Some(Section { place: node.place, entries }),
            _ => {
                self.expected(key, "a mapping", &node);
                None
            }
        }
    }

    /// Reads a list.
    pub(super) fn list(&mut self, key: &str, node: Node) -> Option<Vec<Node>> {
        match node.value {
            Value::List(items) => Some(items),
            _ => {
                self.expected(key, "a list", &node);
                None
            }
        }
    }

    /// Reads text that is not empty.
    pub(super) fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) if text.trim().is_empty() => {
                self.fault(node.place, format!("{} is empty", named(key)));
                None
            }
            Value::Text(text) if text.contains('\0') => {
                self.fault(node.place, format!("{} holds a NUL character", named(key)));
                None
            }
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.expected(key, "text", node);
                None
            }
        }
    }

    /// Reads a list of texts.
    pub(super) fn texts(&mut self, key: &str, node: Node) -> Option<Vec<String>> {
        let items = self.list(key, node)?;
        let key = format!("an item of `{key}`");
        Some(items.iter().filter_map(|item| self.text(&key, item)).collect())
    }

    /// Reads a text that has a type of its own.
    pub(super) fn parsed<T: FromStr>(&mut self, key: &str, node: &Node) -> Option<T>
    where
        T::Err: fmt::Display,
    {
        let text = self.text(key, node)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault(node.place, error.to_string());
                None
            }
        }
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self, key: &str, node: &Node) -> Option<bool> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => {
                self.expected(key, "true or false", node);
                None
            }
        }
    }

    /// Reads a whole number within a range.
    pub(super) fn integer<T: TryFrom<i128>>(
        &mut self,
        key: &str,
        node: &Node,
        range: RangeInclusive<i128>,
    ) -> Option<T> {
        let (from, to) = (range.start(), range.end());
        let Value::Integer(number) = node.value else {
            self.expected(key, &format!("a whole number from {from} to {to}"), node);
            return None;
        };
        if !range.contains(&number) {
            let message = format!("`{key}` must be from {from} to {to}, not {number}");
            self.fault(node.place, message);
            return None;
        }
        T::try_from(number).ok()
    }

    /// Reads seconds, with a fraction or without, from 0 to `most`.
    pub(super) fn seconds(&mut self, key: &str, node: &Node, most: u32) -> Option<f64> {
        self.fraction((key, "seconds"), node, most)
    }

    /// Reads a number, with a fraction or without, from 0 to `most`.
    pub(super) fn number(&mut self, key: &str, node: &Node, most: u32) -> Option<f64> {
        self.fraction((key, "a number"), node, most)
    }

    fn fraction(&mut self, (key, what): (&str, &str), node: &Node, most: u32) -> Option<f64> {
        #[allow(clippy::cast_precision_loss, reason = "compared with a small bound next")]
        let number = match node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => {
                self.expected(key, &format!("{what} from 0 to {most}"), node);
                return None;
            }
        };
        if (0.0..=f64::from(most)).contains(&number) {
            return Some(number);
        }
        self.fault(node.place, format!("`{key}` must be from 0 to {most}, not {number}"));
        None
    }

    /// Reads one of a closed set of words.
    pub(super) fn word<T: Word>(&mut self, key: &str, node: &Node) -> Option<T> {
        let all = T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ");
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            other => {
                let message = format!("{} must be a word, not {}", named(key), other.kind());
                self.fault_help(node.place, message, format!("one of {all}"));
                return None;
            }
        };
        if let Some(word) = T::ALL.iter().find(|word| word.as_str() == text) {
            return Some(*word);
        }
        let (what, words) = (T::WHAT, T::ALL.iter().map(|word| word.as_str()));
        let unknown = format!("unknown {what} `{}`", shown(&text));
        match nearest(&text, words, slips(&text)) {
            Some(near) => self.fault_help(
                node.place,
                format!("{unknown}: did you mean `{near}`?"),
                format!("one of {all}"),
            ),
            None => self.fault_help(node.place, unknown, format!("one of {all}")),
        }
        None
    }

    /// Reads a list of words of a closed set.
    pub(super) fn words<T: Word>(&mut self, key: &str, node: Node) -> Option<Vec<T>> {
        let items = self.list(key, node)?;
        let key = format!("an item of `{key}`");
        Some(items.iter().filter_map(|item| self.word(&key, item)).collect())
    }

    /// Reads a mapping of texts; numbers and booleans count as the text they were written as only
    /// when quoted.
    pub(super) fn text_map(&mut self, key: &str, node: Node) -> Option<BTreeMap<String, String>> {
        let section = self.section(key, node)?;
        let mut map = BTreeMap::new();
        for (name, value) in section.entries {
            let known = match &value.value {
                Value::Text(text) if !text.contains('\0') => Some(text.clone()),
                Value::Text(_) => {
                    self.secret_fault(
                        name.place,
                        &format!("`{key}.{}` holds a NUL character", shown(&name.text)),
                        "remove it",
                    );
                    None
                }
                other => {
                    let kind = other.kind();
                    self.secret_fault(
                        name.place,
                        &format!("`{key}.{}` must be text, not {kind}", shown(&name.text)),
                        "put it in quotes",
                    );
                    None
                }
            };
            if let Some(text) = known {
                map.insert(name.text, text);
            }
        }
        Some(map)
    }

    /// Reports whatever was not taken out of `section`.
    pub(super) fn nothing_else(&mut self, name: &str, section: Section, keys: &Keys) {
        for (key, _) in section.entries {
            if keys.ignored.contains(&key.text.as_str()) {
                let message = format!("`{}` is not used by Gangline and is ignored", key.text);
                self.warn(key.place, message, None);
                continue;
            }
            if self.refuse_secret(&key) {
                continue;
            }
            let text = shown(&key.text);
            let within = if name.is_empty() { String::new() } else { format!(" in `{name}`") };
            let known = keys.known.iter().copied();
            match nearest(&key.text, known.clone(), slips(&key.text)) {
                Some(near) => self.fault(
                    key.place,
                    format!("unknown key `{text}`{within}: did you mean `{near}`?"),
                ),
                None => {
                    let all = known.collect::<Vec<_>>().join(", ");
                    self.fault_help(
                        key.place,
                        format!("unknown key `{text}`{within}"),
                        format!("the keys are {all}"),
                    );
                }
            }
        }
    }

    /// Refuses a key that looks as if a secret stood in the file.
    pub(super) fn refuse_secret(&mut self, key: &Key) -> bool {
        let secret = is_secret(&key.text);
        if secret {
            self.secret_fault(
                key.place,
                &format!("`{}` does not belong in this file: secrets come from the environment", key.text),
                "name the variable instead: `api_key_env` for an agent, `password_env` in `network.sasl`",
            );
        }
        secret
    }

    /// Turns a value that passes through into JSON.
    pub(super) fn json(&mut self, key: &str, node: Node) -> Json {
        match node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => value.into(),
            Value::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(small), _) => small.into(),
                (_, Ok(large)) => large.into(),
                _ => {
                    self.fault(node.place, format!("the number in `{key}` is too large"));
                    Json::Null
                }
            },
            Value::Float(value) => value.into(),
            Value::Text(text) => text.into(),
            Value::List(items) => {
                items.into_iter().map(|item| self.json(key, item)).collect::<Vec<_>>().into()
            }
            Value::Map(entries) => entries
                .into_iter()
                .map(|(name, value)| (name.text, self.json(key, value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// Returns whether a key of this name would hold a secret.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(key.as_str(), "password" | "passwd" | "api_key" | "apikey" | "token" | "secret")
}

/// Puts a bare key into backquotes; what is a phrase already stays.
fn named(key: &str) -> String {
    if key.contains(' ') { key.to_owned() } else { format!("`{key}`") }
}

/// The keys that a mapping may have.
pub(super) struct Keys {
    /// Those that mean something.
    pub(super) known: &'static [&'static str],
    /// Those of S0's programs that mean nothing here and do no harm.
    pub(super) ignored: &'static [&'static str],
}
