//! The tools that a Responses request offers, and the names by which the script knows them.

use serde_json::Value;

use crate::wire::{
    Refusal,
    openai::{text_at, wrong_type},
    takes_description,
};

/// The namespace in which tools stand that are called without one.
const NO_NAMESPACE: &str = "functions";

/// How a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With arguments, as JSON.
    Function,
    /// With a text.
    Custom,
    /// With a command and its words.
    LocalShell,
    /// With arguments, by the client; it finds tools that were not offered at once.
    ToolSearch,
}

/// A tool as it is called on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    /// The namespace it is in.
    pub(super) namespace: Option<String>,
    /// Its name there.
    pub(super) name: String,
    /// How it is called.
    pub(super) kind: Kind,
    /// Whether it takes a description of the call.
    pub(super) described: bool,
}

impl Tool {
    /// Returns the name by which a script and the rules know the tool.
    pub(super) fn full_name(&self) -> String {
        full_name(self.namespace.as_deref(), &self.name)
    }

    /// Returns the tool of this full name, whether it is offered or not. One that is not offered is
    /// freeform if it is given a text, and in a namespace if its name looks like that of an MCP
    /// server's tool: those may be found later than at once.
    pub(super) fn named(offered: &[Self], full_name: &str, input: &Value) -> Self {
        if let Some(tool) = offered.iter().find(|tool| tool.full_name() == full_name) {
            return tool.clone();
        }
        let kind = if input.is_string() { Kind::Custom } else { Kind::Function };
        let (namespace, name) = match full_name.rsplit_once("__") {
            Some((server, name)) if server.starts_with("mcp__") => (Some(server.to_owned()), name),
            Some(_) | None => (None, full_name),
        };
        Self { namespace, name: name.to_owned(), kind, described: false }
    }
}

/// Returns the name by which a script and the rules know a tool.
pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        None | Some("" | NO_NAMESPACE) => name.to_owned(),
        Some(namespace) => format!("{namespace}__{name}"),
    }
}

/// Adds the tools of a list. Those that the vendor runs by itself are left out: nobody runs them
/// here.
pub(super) fn add(tools: &mut Vec<Tool>, list: &[Value], path: &str) -> Result<(), Refusal> {
    add_in(tools, list, path, None)
}

fn add_in(
    tools: &mut Vec<Tool>,
    list: &[Value],
    path: &str,
    namespace: Option<&str>,
) -> Result<(), Refusal> {
    for (at, tool) in list.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let (name, kind) = match text_at(tool, &path, "type")? {
            "function" => (text_at(tool, &path, "name")?, Kind::Function),
            "custom" => (text_at(tool, &path, "name")?, Kind::Custom),
            "local_shell" => ("local_shell", Kind::LocalShell),
            "tool_search" => ("tool_search", Kind::ToolSearch),
            "namespace" if namespace.is_none() => {
                let name = text_at(tool, &path, "name")?;
                let inner = match tool.get("tools") {
                    Some(Value::Array(inner)) => inner,
                    other => {
                        let got = other.unwrap_or(&Value::Null);
                        return wrong_type(&format!("{path}.tools"), "an array of objects", got);
                    }
                };
                add_in(tools, inner, &format!("{path}.tools"), Some(name))?;
                continue;
            }
            _ => continue,
        };
        let namespace = namespace.filter(|namespace| *namespace != NO_NAMESPACE);
        let (namespace, name) = (namespace.map(str::to_owned), name.to_owned());
        let described = takes_description(tool.get("parameters"));
        tools.push(Tool { namespace, name, kind, described });
    }
    Ok(())
}
