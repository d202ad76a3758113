//! How a tool is described to a model, and the server's name.

/// The key of the tools' server unless the host says otherwise.
pub const SERVER_KEY: &str = "gangline";

/// What the model is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// Its arguments as a JSON Schema.
    pub input_schema: serde_json::Value,
    /// What it returns as a JSON Schema, if it returns an object and not a line of text.
    pub output_schema: Option<serde_json::Value>,
}
