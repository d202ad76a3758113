//! A tool's result as text for the model. Pure.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::tool::{ToolError, shorten};

/// Longest result that is handed to the model, in bytes.
pub(super) const RESULT_LIMIT: usize = 100_000;

/// Returns the text of a result, or the error that it is.
pub(super) fn result(result: CallToolResult) -> Result<String, ToolError> {
    let mut parts: Vec<String> = result.content.iter().filter_map(part).collect();
    let has_text = result.content.iter().any(|block| block.as_text().is_some());
    if let Some(value) = result.structured_content.filter(|_| !has_text) {
        // A server that gives both says the same in text.
        parts.push(value.to_string());
    }
    let text = match parts.join("\n") {
        text if text.is_empty() => "[no output]".to_owned(),
        text => shorten(text, RESULT_LIMIT),
    };
    match result.is_error {
        Some(true) => Err(ToolError::Failed(text)),
        Some(false) | None => Ok(text),
    }
}

fn part(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => (!text.text.is_empty()).then(|| text.text.clone()),
        ContentBlock::Image(image) => Some(blob("image", &image.mime_type, &image.data)),
        ContentBlock::Audio(audio) => Some(blob("sound", &audio.mime_type, &audio.data)),
        ContentBlock::ResourceLink(link) => {
            Some(format!("[resource {} at {}]", link.name, link.uri))
        }
        ContentBlock::Resource(resource) => Some(match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[resource {uri}]\n{text}")
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob: data, .. } => {
                let kind = mime_type.as_deref().unwrap_or("data");
                format!("[resource {uri}] {}", blob("a file", kind, data))
            }
            _ => "[a resource of a kind that is not known]".to_owned(),
        }),
        _ => Some("[content of a kind that is not known]".to_owned()),
    }
}

/// Returns a note in the place of what is no text. Base64 has four characters for three bytes.
fn blob(what: &str, kind: &str, data: &str) -> String {
    let bytes = data.trim_end_matches('=').len() * 3 / 4;
    format!("[{what}, {kind}, {bytes} bytes, cannot be shown]")
}

#[cfg(test)]
mod tests;
