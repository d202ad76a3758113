//! The body of a line by which the program wants something from us.

use serde::Deserialize;
use serde_json::Value;

use super::{Body, Line, Request};

pub(super) fn request(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        request_id: String,
        request: Value,
    }
    #[derive(Deserialize)]
    struct Kind {
        subtype: String,
    }
    let Whole { request_id: id, request } = body.read()?;
    let Kind { subtype } = Kind::deserialize(&request)?;
    let request = match subtype.as_str() {
        "can_use_tool" => may_use(request)?,
        "hook_callback" => hook(request)?,
        "mcp_message" => mcp(request)?,
        _ => Request::Other { kind: subtype },
    };
    Ok(Line::Request { id, request })
}

fn may_use(request: Value) -> serde_json::Result<Request> {
    #[derive(Deserialize)]
    struct Whole {
        tool_name: String,
        input: Value,
    }
    let Whole { tool_name: tool, input } = serde_json::from_value(request)?;
    Ok(Request::MayUse { tool, input })
}

fn hook(request: Value) -> serde_json::Result<Request> {
    #[derive(Deserialize)]
    struct Whole {
        input: Input,
    }
    #[derive(Deserialize)]
    struct Input {
        hook_event_name: String,
        #[serde(default)]
        tool_name: String,
        #[serde(default)]
        tool_input: Value,
        #[serde(default)]
        cwd: String,
        #[serde(default)]
        agent_id: Option<String>,
    }
    let Whole { input } = serde_json::from_value(request)?;
    let Input { hook_event_name: event, tool_name: tool, tool_input: input, cwd, agent_id } = input;
    Ok(Request::Hook { event, tool, input, cwd, inner: agent_id.is_some() })
}

fn mcp(request: Value) -> serde_json::Result<Request> {
    #[derive(Deserialize)]
    struct Whole {
        server_name: String,
        message: Value,
    }
    let Whole { server_name: server, message } = serde_json::from_value(request)?;
    Ok(Request::Mcp { server, message })
}
