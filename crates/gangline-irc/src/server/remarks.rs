//! What the server tells the author of a line about it: the rule comes from outside.

/// Judges lines. Called on the server's task: it must be quick and must not block.
pub trait Remarks: Send + Sync + 'static {
    /// Returns what a person is told, alone, who said this in a channel. `is_here` tells whether
    /// somebody in that channel has a nick, or somebody anywhere has an account of that name.
    fn about(&self, text: &str, is_here: &dyn Fn(&str) -> bool) -> Option<String>;
}
