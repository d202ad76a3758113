//! What the agent is offered, held against what runs without being asked about.

use gangline_core::permission::OWN;
use gangline_mcp::table::{User, offered};

pub(crate) mod rights;

/// The core names our tools for the permission rule and may not use the crate with their table.
#[test]
fn every_tool_of_a_session_runs_without_a_permission_and_no_other() {
    let offered: Vec<&str> = offered(User::Manager).iter().map(|tool| tool.name).collect();
    assert_eq!(offered, OWN);
}
