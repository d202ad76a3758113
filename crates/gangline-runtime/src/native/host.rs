//! The daemon's tools, as the loop sees them.

use std::sync::Arc;

use async_trait::async_trait;
use gangline_harness::{Tool, ToolContext, ToolError};
use serde_json::Value;

use super::{events::Events, permit::Permits};
use crate::{ToolCall, ToolHost, ToolSpec};

/// One tool of the daemon.
pub(super) struct HostTool {
    pub(super) spec: ToolSpec,
    pub(super) host: Arc<dyn ToolHost>,
    pub(super) shared: Arc<Events>,
    pub(super) permits: Arc<Permits>,
}

#[async_trait]
impl Tool for HostTool {
    fn name(&self) -> &str {
        self.spec.name
    }

    fn description(&self) -> &str {
        self.spec.description
    }

    fn input_schema(&self) -> Value {
        self.spec.input_schema.clone()
    }

    async fn execute(&self, _ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let turn = self.shared.turn().ok_or(ToolError::Cancelled)?;
        let call =
            ToolCall { turn, id: self.permits.current(), name: self.spec.name.to_owned(), input };
        self.host.call(call).await.map_err(ToolError::Failed)
    }
}
