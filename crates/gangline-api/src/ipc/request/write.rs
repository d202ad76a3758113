//! How a request is written: its fields in the order of the documentation.

use gangline_core::question::OnTimeout;
use serde::{
    Serialize,
    ser::{SerializeMap, Serializer},
};
use serde_json::Value;

use super::{Command, Form, IfAbsent, Lines, ModelChoice, Request};

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let name = match self.form {
            Form::Typed => "type",
            Form::Cmd => "cmd",
        };
        map.serialize_entry(name, self.command.name())?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        self.command.fields(&mut map)?;
        if let Some(token) = &self.token {
            map.serialize_entry("token", token)?;
        }
        map.end()
    }
}

impl Command {
    /// Writes the fields, in the order of the documentation.
    fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Hello { version, client } => {
                map.serialize_entry("version", version)?;
                map.serialize_entry("client", client)
            }
            Self::Send { channel, message, absent, in_reply_to } => {
                map.serialize_entry("channel", channel)?;
                map.serialize_entry("message", message)?;
                absent.field(map)?;
                in_reply_to.map_or(Ok(()), |id| map.serialize_entry("in_reply_to", &id))
            }
            Self::Read { channel, limit, lines, own } => {
                map.serialize_entry("channel", channel)?;
                map.serialize_entry("limit", limit)?;
                lines.field(map)?;
                if *own { map.serialize_entry("own", own) } else { Ok(()) }
            }
            Self::Ask { channel, message, timeout, on_timeout } => {
                map.serialize_entry("channel", channel)?;
                map.serialize_entry("message", message)?;
                map.serialize_entry("timeout", timeout)?;
                action(map, *on_timeout)
            }
            Self::Join { channel } | Self::Part { channel } => {
                map.serialize_entry("channel", channel)
            }
            Self::Who { target } => map.serialize_entry("target", target),
            Self::Topic { channel, topic } => {
                map.serialize_entry("channel", channel)?;
                topic.as_ref().map_or(Ok(()), |topic| map.serialize_entry("topic", topic))
            }
            Self::Status { query: true } => map.serialize_entry("query", &true),
            Self::Pause { ends: Some(ends) } => pause(map, ends),
            Self::SetDirectory { path } => map.serialize_entry("path", path),
            Self::Wake { from, body, key } => {
                map.serialize_entry("from", from)?;
                map.serialize_entry("body", body)?;
                key.as_ref().map_or(Ok(()), |key| map.serialize_entry("key", key))
            }
            Self::Tool { name, input, call } => tool(map, name, input, call),
            Self::Model { choice: Some(ModelChoice::To(model)) } => {
                map.serialize_entry("model", model.as_str())
            }
            Self::Model { choice: Some(ModelChoice::Configured) } => {
                map.serialize_entry("default", &true)
            }
            Self::Subscribe { cursor } => {
                cursor.as_ref().map_or(Ok(()), |cursor| map.serialize_entry("cursor", cursor))
            }
            Self::Channels
            | Self::Compact
            | Self::Clear
            | Self::Status { query: false }
            | Self::Model { choice: None }
            | Self::Pause { ends: None }
            | Self::Resume
            | Self::Interrupt
            | Self::Shutdown => Ok(()),
        }
    }
}

impl IfAbsent {
    fn field<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Send => Ok(()),
            Self::Refuse => map.serialize_entry("create", &false),
            Self::Create => map.serialize_entry("create", &true),
        }
    }
}

impl Lines {
    fn field<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Unread => Ok(()),
            Self::Latest => map.serialize_entry("latest", &true),
            Self::Peek => map.serialize_entry("peek", &true),
        }
    }
}

fn tool<M: SerializeMap>(
    map: &mut M,
    name: &str,
    input: &Value,
    call: &str,
) -> Result<(), M::Error> {
    map.serialize_entry("name", name)?;
    map.serialize_entry("input", input)?;
    map.serialize_entry("call", call)
}

fn action<M: SerializeMap>(map: &mut M, on_timeout: OnTimeout) -> Result<(), M::Error> {
    match on_timeout {
        OnTimeout::None => Ok(()),
        OnTimeout::Pause | OnTimeout::Deny | OnTimeout::Abort => {
            map.serialize_entry("timeout_action", on_timeout.as_str())
        }
    }
}

/// Writes when a pause ends.
fn pause<M: SerializeMap>(map: &mut M, ends: &str) -> Result<(), M::Error> {
    match ends.strip_prefix("for ") {
        Some(length) => map.serialize_entry("for", length),
        None => map.serialize_entry("until", ends.strip_prefix("until ").unwrap_or(ends)),
    }
}
