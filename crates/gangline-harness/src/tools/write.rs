//! `Write`: a whole file, in one step.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Place, blocking};
use crate::tool::{Fields, Tool, ToolContext, ToolError};

/// Writes a file, making the folders above it; an older content is replaced.
pub struct Write;

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &str {
        "Write"
    }

    fn description(&self) -> &str {
        "Writes a file, replacing what it held. Missing folders are made."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file to write"},
                "content": {"type": "string", "description": "Its whole content"},
            },
            "required": ["file_path", "content"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let file_path: String = fields.required("file_path")?;
        let content: String = fields.required("content")?;
        if file_path.is_empty() {
            return Err(ToolError::field("file_path", "is empty"));
        }
        let place = Place::of(ctx, &file_path);
        blocking(move || {
            if place.real.is_dir() {
                return Err(ToolError::field("file_path", "is a folder"));
            }
            place.replace(content.as_bytes())?;
            Ok(format!("wrote {} bytes to {}", content.len(), place.named.display()))
        })
        .await
    }
}
