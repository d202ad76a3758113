//! `Edit`: one exact text for another.

use std::io::Read as _;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Place, blocking};
use crate::tool::{Fields, Tool, ToolContext, ToolError};

const SIZE_LIMIT: u64 = 16 << 20;

/// Replaces a text that occurs exactly once, or all its occurrences. Files up to 16 MiB.
pub struct Edit;

struct Change {
    old_string: String,
    new_string: String,
    replace_all: bool,
}

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &str {
        "Edit"
    }

    fn description(&self) -> &str {
        "Replaces old_string by new_string in a file. old_string must occur exactly once, \
         unless replace_all is true."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file to change"},
                "old_string": {"type": "string", "description": "Text to replace, exactly"},
                "new_string": {"type": "string", "description": "What it becomes"},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
            },
            "required": ["file_path", "old_string", "new_string"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let place = Place::of(ctx, &fields.required::<String>("file_path")?);
        let change = Change {
            old_string: fields.required("old_string")?,
            new_string: fields.required("new_string")?,
            replace_all: fields.optional("replace_all")?.unwrap_or_default(),
        };
        if change.old_string.is_empty() {
            return Err(ToolError::field("old_string", "is empty"));
        }
        if change.old_string == change.new_string {
            return Err(ToolError::field("new_string", "is the same as `old_string`"));
        }
        blocking(move || edit(&place, &change)).await
    }
}

fn edit(place: &Place, change: &Change) -> Result<String, ToolError> {
    let (file, about) = place.open_regular()?;
    if about.len() > SIZE_LIMIT {
        return Err(ToolError::field("file_path", format!("is larger than {SIZE_LIMIT} bytes")));
    }
    let mut text = String::new();
    file.take(SIZE_LIMIT)
        .read_to_string(&mut text)
        .map_err(|error| place.failed("read as text", &error))?;
    let count = text.matches(&change.old_string).count();
    let text = match (count, change.replace_all) {
        (0, _) => return Err(ToolError::field("old_string", "does not occur in the file")),
        (1, _) | (_, true) => text.replace(&change.old_string, &change.new_string),
        (_, false) => {
            let reason = format!("occurs {count} times; add context or set `replace_all`");
            return Err(ToolError::field("old_string", reason));
        }
    };
    place.replace(text.as_bytes())?;
    Ok(format!("replaced {count} in {}", place.named.display()))
}
