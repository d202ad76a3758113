//! The JSON Schema of `agents.yaml`, for editors; generated from the same types.

use serde_json::Value;

use super::Config;

/// Returns the JSON Schema of `agents.yaml`. Editors find it by a first line
/// `# yaml-language-server: $schema=…/agents.schema.json`.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Config).to_value()
}
