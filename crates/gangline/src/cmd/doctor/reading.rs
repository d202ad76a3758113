//! Who hears of it before an agent's tools read what lies outside of its folder.

use gangline_config::{AgentConfig, Permissions};

use super::{report::Check, subject::Subject};

/// Backends whose every reading is decided by Gangline; of the others only what they ask about.
const HELD: [&str; 4] = ["native", "claude", "codex", "opencode"];
/// The backend whose program asks nobody.
const IN_TERMINAL: &str = "tmux";

/// Returns what holds for the agent. Which backend was seen to hold it stands in the manual.
pub(super) fn check(subject: &Subject, agent: &AgentConfig) -> Check {
    const NAME: &str = "reading";
    let adapter = subject.found.entry.name;
    let permissions = match agent.permissions {
        Permissions::Ask => None,
        Permissions::Allowlist => Some("allowlist"),
        Permissions::Bypass => Some("bypass"),
    };
    match (adapter, permissions) {
        (IN_TERMINAL, _) => {
            Check::note(NAME, "outside its folder: unrestricted, since the program does not ask")
        }
        (name, Some(mode)) if HELD.contains(&name) => {
            Check::note(NAME, format!("outside its folder: unasked, by `permissions: {mode}`"))
        }
        (name, None) if HELD.contains(&name) => Check::ok(NAME, "outside its folder: asked"),
        (_, _) => Check::note(
            NAME,
            "outside its folder: asked if the program asks, otherwise \
             unrestricted",
        ),
    }
}
