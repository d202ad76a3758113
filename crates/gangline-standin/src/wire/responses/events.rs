//! The events of a Responses stream, numbered in their order.

use serde_json::{Value, json};

use super::item::{Content, Item, summary_part, text_part};
use crate::wire::body::{Chunk, event, input_pieces, text_pieces};

/// Numbers the events of one stream.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next: u64,
}

impl Sequence {
    /// Returns the next event of the stream.
    pub(super) fn event(&mut self, kind: &str, mut fields: Value) -> Chunk {
        fields["type"] = kind.into();
        fields["sequence_number"] = self.next.into();
        self.next += 1;
        event(kind, fields)
    }

    /// Returns all events of an item.
    pub(super) fn item(&mut self, item: &Item, output_index: usize) -> Vec<Chunk> {
        let mut out = Vec::new();
        let mut push = |kind: &str, fields: Value| {
            let mut fields = fields;
            fields["output_index"] = output_index.into();
            if !kind.starts_with("response.output_item.") {
                fields["item_id"] = item.done["id"].clone();
            }
            out.push(self.event(kind, fields));
        };
        push("response.output_item.added", json!({ "item": item.begun() }));
        match item.content {
            Content::Text => text_events(&mut push, text_in(&item.done["content"][0]["text"])),
            Content::Summary => {
                summary_events(&mut push, text_in(&item.done["summary"][0]["text"]));
            }
            Content::Arguments => {
                let arguments = text_in(&item.done["arguments"]);
                for piece in input_pieces(arguments) {
                    push("response.function_call_arguments.delta", json!({ "delta": piece }));
                }
                let done = json!({ "arguments": arguments, "name": item.done["name"] });
                push("response.function_call_arguments.done", done);
            }
            Content::Input => {
                let input = text_in(&item.done["input"]);
                for piece in input_pieces(input) {
                    push("response.custom_tool_call_input.delta", json!({ "delta": piece }));
                }
                push("response.custom_tool_call_input.done", json!({ "input": input }));
            }
            Content::Nothing => {}
        }
        push("response.output_item.done", json!({ "item": item.done }));
        out
    }
}

fn text_in(field: &Value) -> &str {
    field.as_str().unwrap_or("")
}

fn text_events(push: &mut impl FnMut(&str, Value), text: &str) {
    let at = |field: &str, value: Value| json!({ "content_index": 0, field: value });
    push("response.content_part.added", at("part", text_part("")));
    for piece in text_pieces(text) {
        let mut delta = at("delta", piece.into());
        delta["logprobs"] = json!([]);
        push("response.output_text.delta", delta);
    }
    let mut done = at("text", text.into());
    done["logprobs"] = json!([]);
    push("response.output_text.done", done);
    push("response.content_part.done", at("part", text_part(text)));
}

fn summary_events(push: &mut impl FnMut(&str, Value), text: &str) {
    let at = |field: &str, value: Value| json!({ "summary_index": 0, field: value });
    push("response.reasoning_summary_part.added", at("part", summary_part("")));
    for piece in text_pieces(text) {
        push("response.reasoning_summary_text.delta", at("delta", piece.into()));
    }
    push("response.reasoning_summary_text.done", at("text", text.into()));
    push("response.reasoning_summary_part.done", at("part", summary_part(text)));
}
