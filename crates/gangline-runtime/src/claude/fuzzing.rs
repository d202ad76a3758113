//! A session for [`crate::fuzzing`].

use std::path::Path;

use serde_json::json;

use super::{
    permit::Gate,
    turns::{Setup, Turns},
};
use crate::{
    SessionId, StartOptions, ToolSpec,
    program::protocol::Protocol,
    reading::{Reading, Searches},
};

/// A session that was just started.
pub(crate) fn session() -> impl Protocol {
    let options = StartOptions::within(Path::new("/nowhere"));
    let tools = vec![ToolSpec {
        name: "send",
        description: "says something",
        input_schema: json!({"type": "object"}),
        output_schema: None,
    }];
    let reading = Reading::of(&options, Searches::ReadAll);
    Turns::new(Setup {
        session: SessionId("s".to_owned()),
        gate: Gate::new(reading, "gangline", vec!["send"]),
        tools,
        effort: None,
        login: "home".to_owned(),
    })
}
