//! What a tool is, what it is given, and how it fails (R4-04, R4-18).

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use gangline_os::{CancellationToken, fsio};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A tool that the model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name by which the model calls it; unique within a harness.
    fn name(&self) -> &str;
    /// What it does, for the model.
    fn description(&self) -> &str;
    /// JSON Schema of its input, an object.
    fn input_schema(&self) -> Value;
    /// Runs it. When `ctx.cancel` is cancelled it should stop soon; after
    /// [`Limits::tool_grace`](crate::Limits::tool_grace) its future is dropped.
    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError>;
}

/// What a tool is given beside its input.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// The file or folder that the call was allowed to use; no part of the path is a link.
    pub judged: Option<PathBuf>,
    /// What a search leaves out; links resolved.
    pub closed: Vec<PathBuf>,
    /// Cancelled when the prompt is.
    pub cancel: CancellationToken,
}

impl ToolContext {
    /// Returns the path that the model means; absolute paths stay as they are.
    pub fn path(&self, path: &str) -> PathBuf {
        self.cwd.join(Path::new(path)).components().collect()
    }

    /// Returns the file or folder that stands behind a path: the judged one, if one was.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        self.judged.clone().unwrap_or_else(|| fsio::resolved(path))
    }
}

/// Why a tool gave no result. The text goes to the model, never to the harness's caller.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The input does not fit; names the field.
    #[error("invalid input: {0}")]
    Input(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
    /// The prompt was cancelled meanwhile.
    #[error("cancelled")]
    Cancelled,
}

impl ToolError {
    /// Returns an input error about one field.
    pub fn field(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::Input(format!("`{name}` {reason}"))
    }

    /// Returns a failure with this text.
    pub fn failed(text: impl std::fmt::Display) -> Self {
        Self::Failed(text.to_string())
    }
}

/// A tool's input, taken field by field so that each error names its field.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn new(input: Value) -> Result<Self, ToolError> {
        match input {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(ToolError::Input("the input is not an object".to_owned())),
        }
    }

    pub(crate) fn required<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, ToolError> {
        self.optional(name)?.ok_or_else(|| ToolError::field(name, "is missing"))
    }

    /// Takes a field that may be absent or null.
    pub(crate) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, ToolError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value)
                .map(Some)
                .map_err(|error| ToolError::field(name, format!("does not fit: {error}"))),
        }
    }
}

/// One call, as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The API's id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Its input, an object.
    pub input: Value,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The API's id of the call.
    pub id: String,
    /// Result or error text.
    pub content: String,
    /// Whether `content` is an error.
    pub is_error: bool,
}

impl ToolResult {
    pub(crate) fn error(id: &str, text: &str) -> Self {
        Self { id: id.to_owned(), content: text.to_owned(), is_error: true }
    }
}

/// Shortens a text to at most `limit` bytes of its own by leaving out the middle.
pub(crate) fn shorten(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests;
