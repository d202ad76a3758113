//! JSON with the place of each value, so that a fault can be shown where it is.

use std::{collections::BTreeMap, fmt, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::source::{Problem, Source};

/// A file and its text.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    pub(super) lines: &'a Lines,
}

/// Where its line breaks are: each of its values is asked for its line.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(breaks.map(|(at, _)| at).collect())
    }

    /// Returns the line, from 1, of a byte.
    fn line(&self, at: usize) -> usize {
        1 + self.0.partition_point(|end| *end < at)
    }
}

/// One value of it.
#[derive(Clone)]
pub(super) struct Node<'a> {
    of: Text<'a>,
    raw: &'a str,
    path: String,
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl<'de> Visitor<'de> for Take {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    members.push(entry);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Take)
    }
}

impl<'a> Text<'a> {
    /// Returns the whole file as a value.
    ///
    /// # Errors
    /// What is wrong with its form, and in which line.
    pub(super) fn root(self) -> Result<Node<'a>, Problem> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(self.text);
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| Problem {
            source: self.source(error.line().max(1), ""),
            message: format!("this is no JSON: {}", without_place(&error)),
        })?;
        Ok(Node { of: self, raw: raw.get(), path: String::new() })
    }

    fn source(self, line: usize, path: &str) -> Source {
        Source::File { file: self.file.to_owned(), line, path: path.to_owned() }
    }
}

/// The place is said by ourselves.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

impl<'a> Node<'a> {
    /// Returns its place.
    pub(super) fn source(&self) -> Source {
        self.of.source(self.of.lines.line(self.offset()), &self.path)
    }

    /// Returns how many bytes of the file stand before it.
    pub(super) fn offset(&self) -> usize {
        // Its text is a part of the file's.
        let offset = (self.raw.as_ptr() as usize).saturating_sub(self.of.text.as_ptr() as usize);
        if self.of.text.is_char_boundary(offset) { offset } else { 0 }
    }

    /// Returns it as it stands in the file.
    pub(super) fn raw(&self) -> &'a str {
        self.raw
    }

    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        // A file may say anything; a terminal shall not obey it.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        Problem { source: self.source(), message: message.into().chars().map(plain).collect() }
    }

    pub(super) fn is_null(&self) -> bool {
        self.raw == "null"
    }

    fn expected(&self, wanted: &str) -> Problem {
        let kind = match self.raw.bytes().next() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "text",
            Some(b't' | b'f') => "true or false",
            Some(b'n') => "null",
            _ => "a number",
        };
        let what = if self.path.is_empty() { "the file".to_owned() } else { self.shown() };
        self.problem(format!("{what} must be {wanted}, not {kind}"))
    }

    /// Returns the keys down to it, fit to be shown.
    pub(super) fn shown(&self) -> String {
        let plain: String = self.path.chars().filter(|c| !c.is_control()).take(80).collect();
        format!("`{plain}`")
    }

    /// Returns the members of an object, in their order.
    pub(super) fn members(&self) -> Result<Vec<(String, Self)>, Problem> {
        let read: Result<Members<'a>, _> = serde_json::from_str(self.raw);
        let Ok(Members(members)) = read else { return Err(self.expected("an object")) };
        let node = |(key, raw): (String, &'a RawValue)| {
            let path = match self.path.as_str() {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            (key, Self { of: self.of, raw: raw.get(), path })
        };
        Ok(members.into_iter().map(node).collect())
    }

    /// Returns text that is not blank.
    pub(super) fn text(&self) -> Result<String, Problem> {
        let text: String = serde_json::from_str(self.raw).map_err(|_| self.expected("text"))?;
        if text.trim().is_empty() || text.contains('\0') {
            return Err(self.problem(format!("{} is empty or holds a NUL", self.shown())));
        }
        Ok(text)
    }

    /// Returns a list of texts.
    pub(super) fn texts(&self) -> Result<Vec<String>, Problem> {
        let texts: Vec<String> =
            serde_json::from_str(self.raw).map_err(|_| self.expected("a list of texts"))?;
        if texts.iter().any(|text| text.contains('\0')) {
            return Err(self.problem(format!("{} holds a NUL", self.shown())));
        }
        Ok(texts)
    }

    /// Returns an object of texts whose keys are names of variables.
    pub(super) fn variables(&self) -> Result<BTreeMap<String, String>, Problem> {
        let map: BTreeMap<String, String> =
            serde_json::from_str(self.raw).map_err(|_| self.expected("an object of texts"))?;
        let bad = |(name, value): (&String, &String)| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        if map.iter().any(bad) {
            return Err(self.problem(format!("{} has an invalid name", self.shown())));
        }
        Ok(map)
    }

    /// Returns a whole number that is at most `most`.
    pub(super) fn number(&self, most: u64) -> Result<u64, Problem> {
        let number: Option<u64> = serde_json::from_str(self.raw).ok();
        let wanted = || self.expected(&format!("a whole number from 0 to {most}"));
        number.filter(|number| *number <= most).ok_or_else(wanted)
    }
}
