//! `Read`: a text file with line numbers, a part at a time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};

use async_trait::async_trait;
use gangline_os::CancellationToken;
use serde_json::{Value, json};

use super::{Place, blocking};
use crate::tool::{Fields, Tool, ToolContext, ToolError};

const DEFAULT_LINES: usize = 2000;
const LINE_LIMIT: usize = 2000;
const OUTPUT_LIMIT: usize = 200_000;
const BINARY_PROBE: usize = 8192;

/// Reads a part of a text file. Lines are cut at 2000 bytes, the output at 200,000.
pub struct Read;

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &str {
        "Read"
    }

    fn description(&self) -> &str {
        "Reads a text file. Each line of the result is its number, a tab and its text. \
         Use offset and limit for a part of a long file."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file to read"},
                "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
                "limit": {"type": "integer", "minimum": 1,
                    "description": "Most lines to read, 2000 if not given"},
            },
            "required": ["file_path"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let file_path: String = fields.required("file_path")?;
        let first: usize = fields.optional("offset")?.unwrap_or(1);
        if first == 0 {
            return Err(ToolError::field("offset", "starts at 1"));
        }
        let limit: usize = fields.optional("limit")?.unwrap_or(DEFAULT_LINES);
        if limit == 0 {
            return Err(ToolError::field("limit", "must be at least 1"));
        }
        let part = Part {
            place: Place::of(ctx, &file_path),
            first,
            last: first.saturating_add(limit - 1),
            cancel: ctx.cancel.clone(),
        };
        blocking(move || part.read()).await
    }
}

/// Lines `first ..= last` of a file.
struct Part {
    place: Place,
    first: usize,
    last: usize,
    cancel: CancellationToken,
}

impl Part {
    fn read(self) -> Result<String, ToolError> {
        let (file, _) = self.place.open_regular()?;
        let mut reader = BufReader::with_capacity(BINARY_PROBE, file);
        let start = reader.fill_buf().map_err(|error| self.place.failed("read", &error))?;
        if start.contains(&0) {
            return Err(ToolError::field("file_path", "is a binary file"));
        }
        let mut text = String::new();
        let mut number = 0;
        while let Some(line) = self.line(&mut reader, number + 1 >= self.first)? {
            number += 1;
            if number > self.last || text.len() > OUTPUT_LIMIT {
                let _ = write!(text, "[more lines follow; go on with offset {number}]");
                return Ok(text);
            }
            if number >= self.first {
                let _ = writeln!(text, "{number:>6}\t{}", show(line));
            }
        }
        match (number, text.is_empty()) {
            (0, _) => Ok("[the file is empty]".to_owned()),
            (_, true) => {
                Err(ToolError::field("offset", format!("is beyond the last line, {number}")))
            }
            (_, false) => Ok(text),
        }
    }

    /// Returns the next line without its end and how long it is; only its start is kept.
    fn line(
        &self,
        reader: &mut BufReader<File>,
        keep: bool,
    ) -> Result<Option<(Vec<u8>, usize)>, ToolError> {
        let (mut kept, mut length, mut seen) = (Vec::new(), 0, false);
        loop {
            if self.cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let chunk = reader.fill_buf().map_err(|error| self.place.failed("read", &error))?;
            if chunk.is_empty() {
                return Ok(seen.then_some((kept, length)));
            }
            seen = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if keep {
                let room = LINE_LIMIT.saturating_sub(kept.len()).min(part.len());
                kept.extend_from_slice(&part[..room]);
            }
            length += part.len();
            let used = part.len() + usize::from(end.is_some());
            reader.consume(used);
            if end.is_some() {
                return Ok(Some((kept, length)));
            }
        }
    }
}

fn show((kept, length): (Vec<u8>, usize)) -> String {
    let text = String::from_utf8_lossy(&kept);
    let text = text.trim_end_matches('\r');
    match length > kept.len() {
        true => format!("{text}[… {length} bytes in this line]"),
        false => text.to_owned(),
    }
}
