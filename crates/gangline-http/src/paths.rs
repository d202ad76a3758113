//! The paths of the interface.

/// Where the description of the interface is.
pub(crate) const OPENAPI: &str = "/api/v1/openapi.json";
/// Shortens an agent's context.
pub(crate) const COMPACT: &str = "/api/v1/agents/{nick}/compact";
/// Begins a new conversation of an agent.
pub(crate) const NEW_SESSION: &str = "/api/v1/agents/{nick}/new-session";
/// Wakes an agent.
pub(crate) const WAKE: &str = "/api/v1/agents/{nick}/wake";
/// What waits for a human.
pub(crate) const ATTENTION: &str = "/api/v1/attention";
/// The changes of that list, as they happen.
pub(crate) const ATTENTION_CHANGES: &str = "/api/v1/attention/changes";
/// The budgets of today.
pub(crate) const BUDGETS: &str = "/api/v1/budgets";
/// One thing that waits, to be answered.
pub(crate) const ATTENTION_ITEM: &str = "/api/v1/attention/{number}";
/// Tells an agent something that nobody else sees.
pub(crate) const WHISPERS: &str = "/api/v1/agents/{nick}/whispers";
/// Stops an agent from beginning new turns.
pub(crate) const PAUSE: &str = "/api/v1/agents/{nick}/pause";
/// Lets an agent continue.
pub(crate) const RESUME: &str = "/api/v1/agents/{nick}/resume";
/// Ends an agent's open turn and its escalation.
pub(crate) const ABORT: &str = "/api/v1/agents/{nick}/abort";
/// S2's own address of [`COMPACT`] (R2-11).
pub(crate) const OLD_COMPACT: &str = "/api/compact";
/// S2's own address of [`NEW_SESSION`] (R2-06).
pub(crate) const OLD_NEW_SESSION: &str = "/api/new-session";
/// An agent's tools, for a person's MCP client.
pub(crate) const MCP: &str = "/mcp/{nick}";
