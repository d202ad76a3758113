//! What a program's hooks mean, and how it is told to run them: data of its profile. Pure.
//!
//! A hook says what a screen only shows: that a text was taken, which tool runs, that a turn is
//! over and what was said at last. A program that runs none is believed by its screen (R3-20).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{FailureKind, SessionId, TurnResult, program::one_line};

/// A hook that is not done within so many seconds is given up by the program.
const WITHIN_SECONDS: u64 = 10;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Hooks {
    /// What each of its events means.
    events: BTreeMap<String, Meaning>,
    /// Where in an object something stands, as a JSON pointer.
    fields: Fields,
    /// What its words for a failure mean: the whole of its error, or a part of what it says.
    failures: BTreeMap<String, Failure>,
}

/// What an event of a program means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Meaning {
    /// A session began, or goes on under another id.
    Session,
    /// A text was taken.
    Accepted,
    /// A tool is called.
    Call,
    /// It returned something.
    Result,
    /// It failed.
    ResultFailed,
    /// The turn is over, unless somebody wants it to go on.
    Ended,
    /// The same, by a failure.
    Failed,
    /// It waits for a human.
    Asks,
    /// Its context is being shortened.
    Compacting,
    /// It was.
    Compacted,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    event: String,
    session: String,
    /// The text that was taken, or a list of them.
    text: String,
    /// What was said at last.
    answer: String,
    error: String,
    call: String,
    tool: String,
    input: String,
    /// The first that is there counts.
    result: Vec<String>,
    /// Only in what happens in an agent of the agent.
    inner: String,
}

/// How a turn failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Failure {
    Login,
    RateLimit,
    Provider,
    Request,
    /// The conversation is too long.
    Overflow,
}

/// What a hook has said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HookEvent {
    Session(SessionId),
    Accepted(String),
    Call { id: String, name: String, input: Value },
    Result { id: String, name: String, is_error: bool, content: String },
    Ended(Ending),
    Asks,
    Compacting,
    Compacted,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ending {
    /// What was typed into it, where the program says so.
    pub(super) texts: Vec<String>,
    /// What was said at last; empty = nothing.
    pub(super) answer: String,
    pub(super) result: TurnResult,
}

impl Hooks {
    /// Returns whether the program says that it has taken a text.
    pub(super) fn receipts(&self) -> bool {
        self.has(Meaning::Accepted)
    }

    /// Returns whether the program tells calls of its tools.
    pub(super) fn calls(&self) -> bool {
        self.has(Meaning::Call) && self.has(Meaning::Result)
    }

    /// Returns whether the program tells that a turn failed.
    pub(super) fn failures(&self) -> bool {
        self.has(Meaning::Failed)
    }

    fn has(&self, meaning: Meaning) -> bool {
        self.events.values().any(|it| *it == meaning)
    }

    /// Returns what an object of a hook means to a turn; `None` = nothing.
    pub(super) fn read(&self, object: &Value) -> Option<HookEvent> {
        let text = |pointer: &str| at(object, pointer).and_then(Value::as_str).map(str::to_owned);
        let fields = &self.fields;
        if at(object, &fields.inner).is_some_and(|inner| !inner.is_null()) {
            return None;
        }
        let meaning = self.events.get(&text(&fields.event)?)?;
        let answer = || text(&fields.answer).unwrap_or_default();
        Some(match meaning {
            Meaning::Session => HookEvent::Session(SessionId(text(&fields.session)?)),
            Meaning::Accepted => HookEvent::Accepted(text(&fields.text)?),
            Meaning::Call => HookEvent::Call {
                id: text(&fields.call)?,
                name: text(&fields.tool)?,
                input: at(object, &fields.input).cloned().unwrap_or_default(),
            },
            Meaning::Result | Meaning::ResultFailed => {
                let is_error = *meaning == Meaning::ResultFailed;
                let error = is_error.then_some(&fields.error);
                let mut places = error.into_iter().chain(&fields.result);
                let content = places.find_map(|pointer| at(object, pointer)).map(shown);
                HookEvent::Result {
                    id: text(&fields.call)?,
                    name: text(&fields.tool)?,
                    is_error,
                    content: content.unwrap_or_default(),
                }
            }
            Meaning::Ended => HookEvent::Ended(Ending {
                texts: texts(at(object, &fields.text)),
                answer: answer(),
                result: TurnResult::Completed,
            }),
            Meaning::Failed => HookEvent::Ended(Ending {
                texts: texts(at(object, &fields.text)),
                answer: String::new(),
                result: self.failed(&text(&fields.error).unwrap_or_default(), &answer()),
            }),
            Meaning::Asks => HookEvent::Asks,
            Meaning::Compacting => HookEvent::Compacting,
            Meaning::Compacted => HookEvent::Compacted,
        })
    }

    fn failed(&self, error: &str, words: &str) -> TurnResult {
        let why = one_line(if words.is_empty() { error } else { words });
        let failed = |kind| TurnResult::Failed { kind, why: why.clone() };
        let said = self.failures.iter().find(|(part, _)| words.contains(part.as_str()));
        match said.map(|(_, failure)| failure).or_else(|| self.failures.get(error)) {
            Some(Failure::Login) => TurnResult::NeedsLogin {
                // Nothing tells when somebody has.
                hint: format!(
                    "{why}. Log in by `gangline attach NICK --write`, or give it a key; then \
                     `gangline resume NICK`"
                ),
            },
            Some(Failure::RateLimit) => TurnResult::RateLimited { retry_after: None },
            Some(Failure::Provider) => failed(FailureKind::Provider),
            Some(Failure::Request) => failed(FailureKind::Request),
            Some(Failure::Overflow) => failed(FailureKind::ContextOverflow),
            None => failed(FailureKind::Other),
        }
    }

    /// Returns the hooks for a file of settings: each event runs the words, with its object as their
    /// input.
    pub(super) fn settings(&self, words: &[String]) -> Value {
        let command =
            json!({"type": "command", "command": quiet(words), "timeout": WITHIN_SECONDS});
        let all = self.events.keys().map(|event| (event.clone(), json!([{"hooks": [command]}])));
        Value::Object(all.collect::<Map<_, _>>())
    }
}

/// Returns the words of a program that is given an object as its last argument.
pub(super) fn with_argument(words: &[String]) -> Vec<String> {
    let script = format!("printf %s \"$1\" | {}", quiet(words));
    ["sh", "-c", &script, "gangline"].map(str::to_owned).to_vec()
}

/// Returns a line for a shell. It says nothing and never fails, for either may mean something to
/// the program: what is not heard is seen.
fn quiet(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{} >/dev/null 2>&1 || :", words.join(" "))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn at<'a>(object: &'a Value, pointer: &str) -> Option<&'a Value> {
    // The empty pointer would be the whole object.
    (!pointer.is_empty()).then(|| object.pointer(pointer)).flatten()
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let all = match value {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
