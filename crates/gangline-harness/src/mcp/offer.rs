//! What a server offers, made fit for the API: names, descriptions, schemas.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::names::tool_name;
use super::server::{CallError, Server, TOOLS_LIMIT};
use crate::tool::{Tool, ToolContext, ToolError, shorten};

/// How much of a description is taken, in bytes.
const DESCRIPTION_LIMIT: usize = 8 << 10;
/// Longest schema that is offered, in bytes.
const SCHEMA_LIMIT: usize = 64 << 10;
/// The API refuses a whole request for one tool whose schema has one of these at its top.
const REFUSED_KEYWORDS: [&str; 3] = ["oneOf", "allOf", "anyOf"];

/// Returns the tools that can be offered, and why others cannot.
pub(super) fn usable(
    server: &Arc<Server>,
    tools: Vec<rmcp::model::Tool>,
) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
    let mut odd = Vec::new();
    let mut taken = BTreeSet::new();
    let mut usable: Vec<Arc<dyn Tool>> = Vec::new();
    if tools.len() > TOOLS_LIMIT {
        odd.push(format!("only its first {TOOLS_LIMIT} tools are offered"));
    }
    for tool in tools.into_iter().take(TOOLS_LIMIT) {
        match McpTool::new(server, &tool) {
            Err(why) => odd.push(format!("its tool {:?} is not offered: {why}", tool.name)),
            Ok(made) if taken.insert(made.name.clone()) => usable.push(Arc::new(made)),
            Ok(made) => odd.push(format!("another of its tools is called {} too", made.name)),
        }
    }
    (usable, odd)
}

/// One tool of a server.
struct McpTool {
    name: String,
    remote: String,
    description: String,
    schema: Value,
    server: Arc<Server>,
}

impl McpTool {
    fn new(server: &Arc<Server>, tool: &rmcp::model::Tool) -> Result<Self, &'static str> {
        let name = tool_name(server.key(), &tool.name).ok_or("its name is empty or too long")?;
        let said = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let description = match said.trim() {
            "" => format!("The tool {} of the MCP server {}.", tool.name, server.key()),
            text => shorten(text.to_owned(), DESCRIPTION_LIMIT),
        };
        let schema = schema(&tool.input_schema);
        if schema.to_string().len() > SCHEMA_LIMIT {
            return Err("its schema is too long");
        }
        let (remote, server) = (tool.name.to_string(), Arc::clone(server));
        Ok(Self { name, remote, description, schema, server })
    }
}

/// Returns a schema that the API takes. What is left out of it the server still checks.
pub(super) fn schema(given: &Map<String, Value>) -> Value {
    let mut schema = given.clone();
    for keyword in REFUSED_KEYWORDS {
        schema.remove(keyword);
    }
    schema.insert("type".to_owned(), json!("object"));
    Value::Object(schema)
}

#[async_trait]
impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> Value {
        self.schema.clone()
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let Value::Object(arguments) = input else {
            return Err(ToolError::Input("the input is not an object".to_owned()));
        };
        match self.server.call(&self.remote, arguments, &ctx.cancel).await {
            Ok(result) => super::render::result(result),
            Err(CallError::Cancelled) => Err(ToolError::Cancelled),
            Err(error) => Err(ToolError::failed(error)),
        }
    }
}

#[cfg(test)]
mod tests;
