//! Which adapter drives which backend of the registry: the only place that knows both.

use crate::{
    Runtime,
    acp::Acp,
    claude::Claude,
    codex::Codex,
    native::Native,
    registry::{ENTRIES, Entry, Found, UnknownRuntime, built_in},
    tmux::Tmux,
};

#[cfg(test)]
mod tests;

/// Makes a new adapter.
pub type Maker = fn() -> Box<dyn Runtime>;

/// A backend whose adapter this build has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this build has no adapter `{adapter}`, which the backend `{name}` wants")]
pub struct Lacking {
    name: String,
    adapter: &'static str,
}

/// Returns what makes the adapter of a backend.
///
/// # Errors
/// [`Lacking`] in a build without the adapter.
pub fn maker(found: &Found) -> Result<Maker, Lacking> {
    let adapter = found.entry.name;
    of(found.entry).ok_or_else(|| Lacking { name: found.name.clone(), adapter })
}

/// Returns what makes the adapter of a built-in backend.
///
/// # Errors
/// [`UnknownRuntime`] names the backends that this build has adapters of.
pub fn named(name: &str) -> Result<Maker, UnknownRuntime> {
    built_in(name).and_then(of).ok_or_else(|| {
        let here = ENTRIES.iter().filter(|entry| of(entry).is_some()).map(|entry| entry.name);
        UnknownRuntime { name: name.to_owned(), known: here.collect::<Vec<_>>().join(", ") }
    })
}

/// Returns the adapter of a built-in backend.
///
/// # Errors
/// [`UnknownRuntime`] names the backends that this build has adapters of.
pub fn make(name: &str) -> Result<Box<dyn Runtime>, UnknownRuntime> {
    named(name).map(|make| make())
}

fn of(entry: &Entry) -> Option<Maker> {
    let make: Maker = match entry.name {
        "native" => || Box::new(Native),
        "claude" => || Box::new(Claude),
        "codex" => || Box::new(Codex),
        "opencode" => || Box::new(Acp::opencode()),
        "cline" => || Box::new(Acp::cline()),
        "copilot" => || Box::new(Acp::copilot()),
        "gemini" => || Box::new(Acp::gemini()),
        "kiro" => || Box::new(Acp::kiro()),
        "acp" | "goose" | "qwen" => || Box::new(Acp::plain()),
        "tmux" => || Box::new(Tmux::default()),
        _ => return None,
    };
    Some(make)
}
