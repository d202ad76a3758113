//! Events of a response to complete blocks; pure.
//!
//! Unknown events are skipped. Unknown blocks are kept as they came, their deltas merged by field.
//! A known event that does not fit is [`ApiErrorKind::Malformed`]: guessing would corrupt a tool's
//! input without anybody noticing.

use std::collections::BTreeMap;

use gangline_os::json::{self, Edges, Joiner};
use serde_json::{Map, Value, json};

use super::error::{ApiError, ApiErrorKind};
use crate::wire::{Block, Response, Usage};

/// What an event completed.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// A block is complete.
    Block(Completed),
    /// The response is; `blocks` of it is empty, they were given one by one.
    End(Response),
}

/// A complete block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completed {
    pub(crate) block: Block,
    /// Why a tool's input could not be read; the block then has an empty one.
    pub(crate) bad_input: Option<String>,
}

/// A response being put together.
#[derive(Debug, Default)]
pub(crate) struct Accumulator {
    open: BTreeMap<u64, OpenBlock>,
    about: Response,
}

#[derive(Debug)]
struct OpenBlock {
    fields: Map<String, Value>,
    input: Option<String>,
    /// What puts the pieces of each text together.
    joiners: BTreeMap<String, Joiner>,
}

/// The field of a piece of a tool's input.
const INPUT: &str = "partial_json";

impl Accumulator {
    /// Takes one event; `name` is used when the data has no `type`.
    pub(crate) fn feed(&mut self, name: &str, data: &str) -> Result<Option<Step>, ApiError> {
        let (event, edges) = json::read(data, |data| serde_json::from_str::<Value>(data));
        let event = event.map_err(|error| malformed(&format!("an event is not JSON: {error}")))?;
        match event["type"].as_str().unwrap_or(name) {
            "message_start" => self.start(&event["message"]),
            "content_block_start" => return self.open_block(&event).map(|()| None),
            "content_block_delta" => return self.delta(&event, edges).map(|()| None),
            "content_block_stop" => return self.close_block(&event).map(Some),
            "message_delta" => {
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.about.stop_reason = Some(reason.to_owned());
                }
                self.about.usage.update(&event["usage"]);
            }
            "message_stop" => return self.end_of_stream().map(Some),
            "error" => return Err(ApiError::from_event(&event["error"])),
            _ => {}
        }
        Ok(None)
    }

    /// Ends the response; an error if it was not finished.
    pub(crate) fn end_of_stream(&mut self) -> Result<Step, ApiError> {
        if self.about.stop_reason.is_none() || !self.open.is_empty() {
            let text = "the response ended before it was finished";
            return Err(ApiError::new(ApiErrorKind::Dropped, text));
        }
        Ok(Step::End(std::mem::take(&mut self.about)))
    }

    /// Returns id, model and usage as far as they were told.
    pub(crate) fn so_far(&self) -> Response {
        Response { stop_reason: None, ..self.about.clone() }
    }

    fn start(&mut self, message: &Value) {
        message["id"].as_str().unwrap_or_default().clone_into(&mut self.about.id);
        message["model"].as_str().unwrap_or_default().clone_into(&mut self.about.model);
        self.about.usage = Usage::default();
        self.about.usage.update(&message["usage"]);
    }

    fn open_block(&mut self, event: &Value) -> Result<(), ApiError> {
        let (index, Some(fields)) = (index(event)?, event["content_block"].as_object()) else {
            return Err(malformed("a block starts without content"));
        };
        let block = OpenBlock { fields: fields.clone(), input: None, joiners: BTreeMap::new() };
        match self.open.insert(index, block) {
            None => Ok(()),
            Some(_) => Err(malformed("a block starts twice")),
        }
    }

    fn delta(&mut self, event: &Value, edges: Edges) -> Result<(), ApiError> {
        let block = self.open.get_mut(&index(event)?);
        let (Some(block), Some(delta)) = (block, event["delta"].as_object()) else {
            return Err(malformed("a piece belongs to no open block"));
        };
        match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
            "input_json_delta" => {
                let Some(piece) = delta.get(INPUT).and_then(Value::as_str) else {
                    return Err(malformed("a piece of tool input has no text"));
                };
                let piece = block.joined(INPUT, piece, edges);
                block.input.get_or_insert_default().push_str(&piece);
            }
            "citations_delta" => {
                let citation = delta.get("citation").cloned().unwrap_or_default();
                match block.fields.entry("citations").or_insert_with(|| json!([])) {
                    Value::Array(all) => all.push(citation),
                    other => *other = json!([citation]),
                }
            }
            _ => block.merge(delta, edges),
        }
        Ok(())
    }

    fn close_block(&mut self, event: &Value) -> Result<Step, ApiError> {
        let Some(mut block) = self.open.remove(&index(event)?) else {
            return Err(malformed("a block ends that is not open"));
        };
        block.end_texts();
        let OpenBlock { mut fields, input, .. } = block;
        let mut bad_input = None;
        if let Some(text) = input.filter(|text| !text.is_empty()) {
            match json::from_str::<Map<String, Value>>(&text) {
                Ok(input) => {
                    fields.insert("input".to_owned(), Value::Object(input));
                }
                Err(error) => {
                    bad_input = Some(format!("the input is not a JSON object: {error}"));
                    fields.insert("input".to_owned(), json!({}));
                }
            }
        }
        Ok(Step::Block(Completed { block: Block(fields), bad_input }))
    }
}

impl OpenBlock {
    /// Appends strings to the fields of the same name; other values replace.
    fn merge(&mut self, delta: &Map<String, Value>, edges: Edges) {
        for (name, piece) in delta.iter().filter(|(name, _)| *name != "type") {
            let piece = match piece {
                Value::String(piece) => Value::String(self.joined(name, piece, edges)),
                other => other.clone(),
            };
            match (self.fields.get_mut(name), piece) {
                (Some(Value::String(text)), Value::String(piece)) => text.push_str(&piece),
                (_, piece) => {
                    self.fields.insert(name.clone(), piece);
                }
            }
        }
    }

    /// Returns what a piece adds to the text of that name.
    fn joined(&mut self, name: &str, piece: &str, edges: Edges) -> String {
        let piece = piece.to_owned();
        match self.joiners.get_mut(name) {
            Some(joiner) => joiner.join(piece, edges),
            None if edges == Edges::default() => piece,
            None => self.joiners.entry(name.to_owned()).or_default().join(piece, edges),
        }
    }

    /// Adds what its texts still lack: halves that nothing followed.
    fn end_texts(&mut self) {
        for (name, joiner) in &mut self.joiners {
            let Some(half) = joiner.end() else { continue };
            match (name.as_str(), &mut self.input, self.fields.get_mut(name)) {
                (INPUT, Some(input), _) => input.push(half),
                (_, _, Some(Value::String(text))) => text.push(half),
                _ => {}
            }
        }
    }
}

fn index(event: &Value) -> Result<u64, ApiError> {
    event["index"].as_u64().ok_or_else(|| malformed("an event of a block has no index"))
}

fn malformed(text: &str) -> ApiError {
    ApiError::new(ApiErrorKind::Malformed, text)
}

#[cfg(test)]
mod tests;
