//! The JSON Schema of `agents.yaml`, for editors; generated from the same types.

use gangline_core::permission::Permissions;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::Config;

/// Returns the JSON Schema of `agents.yaml`. Editors find it by a first line
/// `# yaml-language-server: $schema=…/agents.schema.json`.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Config).to_value()
}

/// Of `permissions`: what each value means is shown by editors.
pub(super) fn permissions(_: &mut SchemaGenerator) -> Schema {
    let value = |mode: &Permissions| {
        let means = match mode {
            Permissions::Ask => "Rules decide the easy ones, a human the rest.",
            Permissions::Allowlist => "Only `allowed_tools` exist; they run unasked.",
            Permissions::Bypass => "Everything runs unasked; shown loudly in status and WHOIS.",
        };
        json_schema!({"const": mode.as_str(), "description": means, "type": "string"})
    };
    let values: Vec<Schema> = Permissions::ALL.iter().map(value).collect();
    json_schema!({"oneOf": values})
}
