//! Which backends exist: data, and the one place where a name becomes an adapter.

use crate::{Runtime, acp::Acp, claude, codex, native, tmux};

/// A backend that this build does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend `{name}` in this build; there is: {known}")]
pub struct UnknownRuntime {
    name: String,
    known: String,
}

/// One built-in backend.
pub struct Entry {
    /// The word in the configuration.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    make: fn() -> Box<dyn Runtime>,
}

/// Every backend of this build.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "native",
        about: "Gangline's own model loop",
        make: || Box::new(native::Native::default()),
    },
    Entry { name: "claude", about: "Claude Code", make: || Box::new(claude::Claude::default()) },
    Entry { name: "codex", about: "Codex", make: || Box::new(codex::Codex::default()) },
    Entry { name: "acp", about: "any ACP agent", make: || Box::new(Acp::plain()) },
    Entry { name: "opencode", about: "OpenCode", make: || Box::new(Acp::opencode()) },
    Entry { name: "cline", about: "Cline", make: || Box::new(Acp::cline()) },
    Entry { name: "copilot", about: "GitHub Copilot", make: || Box::new(Acp::copilot()) },
    Entry { name: "gemini", about: "Gemini CLI", make: || Box::new(Acp::gemini()) },
    Entry { name: "kiro", about: "Kiro", make: || Box::new(Acp::kiro()) },
    Entry {
        name: "tmux",
        about: "any terminal program, in tmux",
        make: || Box::new(tmux::Tmux::default()),
    },
];

/// Returns what makes a new, unstarted adapter of that name.
///
/// # Errors
/// [`UnknownRuntime`] names the backends there are.
pub fn maker(name: &str) -> Result<fn() -> Box<dyn Runtime>, UnknownRuntime> {
    ENTRIES.iter().find(|entry| entry.name == name).map(|entry| entry.make).ok_or_else(|| {
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        UnknownRuntime { name: name.to_owned(), known: known.join(", ") }
    })
}

/// Returns a new, unstarted adapter.
///
/// # Errors
/// [`UnknownRuntime`] names the backends there are.
pub fn make(name: &str) -> Result<Box<dyn Runtime>, UnknownRuntime> {
    maker(name).map(|make| make())
}
