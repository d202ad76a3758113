//! YAML as a tree whose every key and value knows its place. Bounded before anything is built.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{Budget, Location, Spanned};

use super::error::{Place, Problem, Secrecy, quote, shown};

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// A key and its place.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) place: Place,
}

/// What YAML's core schema makes of a value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// Returns what it is, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

fn place(at: Location) -> Place {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Place { line: number(at.line()), column: number(at.column()) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { value: spanned.value, place: place(spanned.referenced) })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self { text: spanned.value, place: place(spanned.referenced) })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }
    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }
    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}

/// How deep lists and mappings may nest.
const MAX_DEPTH: usize = 32;

fn budget() -> Budget {
    let mut budget = Budget::default();
    budget.max_depth = MAX_DEPTH;
    budget.flow_nesting_limit = MAX_DEPTH;
    budget.max_nodes = 100_000;
    budget.max_events = 300_000;
    budget.max_aliases = 1_000;
    budget.max_anchors = 1_000;
    budget.max_total_scalar_bytes = 4 * super::MAX_CONFIG_BYTES;
    budget.max_documents = 1;
    budget
}

/// Builds the tree of a text that was checked for size.
pub(super) fn load(text: &str) -> Result<Node, Problem> {
    let mut options = serde_saphyr::Options::default();
    options.budget = Some(budget());
    options.with_snippet = false;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| explain(text, &error))
}

fn explain(text: &str, error: &serde_saphyr::Error) -> Problem {
    let at = error.location().filter(|at| at.line() > 0).map(place);
    if let Some(problem) = at.and_then(|at| tab_near(text, at)) {
        return problem;
    }
    let (message, help) = sentence(error);
    let help = help.map(str::to_owned).or_else(|| at.and_then(|at| bare_channel(text, at)));
    let quoted = at.and_then(|at| quote(text, at, Secrecy::Plain));
    Problem { place: at, message: shown(&message), quoted, help }
}

/// Returns what a fault of the syntax is called here, and what to do about it.
fn sentence(error: &serde_saphyr::Error) -> (String, Option<&'static str>) {
    use serde_saphyr::{Error, budget::BudgetBreach};
    match error {
        Error::AliasError { error, .. } => sentence(error),
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            (format!("key `{key}` appears twice in one mapping"), None)
        }
        Error::MultipleDocuments { .. }
        | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            ("a second document begins here".into(), Some("remove the line `---`"))
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (
            "the file is too large after its aliases are expanded".into(),
            Some("use fewer aliases (`*name`)"),
        ),
        other => {
            let text = other.to_string();
            // The place stands in front of the message already.
            let text = text.split(" at line ").next().unwrap_or_default();
            match text.strip_prefix("error: ").unwrap_or(text) {
                "recursion limit exceeded" => too_deep(),
                text if text.contains("quoted scalar") => {
                    (text.into(), Some("a quote was opened above and not closed"))
                }
                text => (text.into(), None),
            }
        }
    }
}

fn too_deep() -> (String, Option<&'static str>) {
    (format!("this nests deeper than {MAX_DEPTH} levels"), None)
}

/// Blames a tab in the indentation of the fault's line or a neighbour: the nearest to the fault,
/// which is where the parser gave up and not always where the tab is.
fn tab_near(text: &str, at: Place) -> Option<Problem> {
    let lines = text.lines().enumerate().skip(at.line.saturating_sub(2)).take(3);
    let (index, column) = lines
        .filter_map(|(index, line)| {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            line[..indent].find('\t').map(|column| (index, column))
        })
        .last()?;
    let place = Place { line: index + 1, column: column + 1 };
    Some(Problem {
        place: Some(place),
        message: "the indentation has a tab".into(),
        quoted: quote(text, place, Secrecy::Plain),
        help: Some("YAML is indented with spaces only".into()),
    })
}

/// Explains `[#general]`: an unquoted # after a space or bracket begins a comment.
pub(super) fn bare_channel(text: &str, at: Place) -> Option<String> {
    let lines = text.lines().take(at.line).skip(at.line.saturating_sub(3));
    let marks = |line: &str| {
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        ["[#", ", #", "[ #", ": #", "- #"].iter().any(|mark| line.contains(mark))
    };
    lines.into_iter().any(marks).then(|| {
        "a # that is not in quotes begins a comment: write channels as \"#general\"".to_owned()
    })
}
