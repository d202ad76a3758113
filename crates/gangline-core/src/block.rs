//! A model's message, block by block, in one form for every backend (R0-18).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One block of a model's message. This form is stored and published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text for the reader.
    Text {
        /// The complete text of the block.
        text: String,
    },
    /// A tool that the model wants to use.
    ToolUse {
        /// The backend's id of the call, to which its result refers.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// Reasoning, where the backend shows it.
    Thinking {
        /// The complete text of the block.
        thinking: String,
    },
}
