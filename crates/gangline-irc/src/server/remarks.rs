//! What the server tells the author of a line about it: the rule comes from outside.

/// Who can be meant in the channel where a line was said.
pub struct Names<'a> {
    /// Whether somebody in that channel has a nick, or somebody anywhere has an account of that name.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Whether somebody in that channel has a nick now.
    pub is_inside: &'a dyn Fn(&str) -> bool,
}

/// Judges lines. Called on the server's task: it must be quick and must not block.
pub trait Remarks: Send + Sync + 'static {
    /// Returns what a person is told, alone, who said this in a channel.
    fn about(&self, text: &str, names: &Names<'_>) -> Option<String>;
}
