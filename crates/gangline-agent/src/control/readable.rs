//! What the agent's tools may read, for requests that name a path.

use gangline_core::{permission::Policy, reading::Bounds};

/// What the agent may read without a question.
#[derive(Debug, Clone)]
pub(crate) struct Readable {
    pub(crate) policy: Policy,
    /// With links resolved.
    pub(crate) bounds: Bounds,
}
