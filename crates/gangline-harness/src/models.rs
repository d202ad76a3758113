//! The model table: aliases, current ids with their limits, and ids that are no longer served
//! (R4-03, C24).
//!
//! Data, not policy: a retired id is still sent as asked, since another server behind
//! `base_url` may know it; only when the API does not, the error names what to use instead.

/// What a configuration without a model uses. R4-01's own default is retired; this is its family.
pub const DEFAULT: &str = "haiku";

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Id as the API knows it.
    pub id: &'static str,
    /// Alias whose current model replaces this one.
    pub alias: &'static str,
    /// Day from which the API refuses the id, if it is past.
    pub retired: Option<&'static str>,
    /// How many tokens a conversation may have.
    pub context_window: u64,
    /// How many tokens a response may have, thinking included.
    pub max_output: u32,
    /// How it can be told to think.
    pub thinks: Thinks,
}

/// How a model can be told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinks {
    /// Always, as much as it finds right; an effort steers it.
    Always,
    /// As much as it finds right, steered by an effort; it can be told not to.
    Adaptive,
    /// With a number of tokens that the request gives.
    Budget,
    /// Not at all.
    Never,
}

const K: u64 = 1_000;

const fn current(id: &'static str, alias: &'static str, thinks: Thinks) -> Model {
    let (context_window, max_output) = (1_000 * K, 128_000);
    Model { id, alias, retired: None, context_window, max_output, thinks }
}

const fn retired(id: &'static str, alias: &'static str, day: &'static str) -> Model {
    let (context_window, max_output) = (200 * K, 4_096);
    let thinks = Thinks::Never;
    Model { id, alias, retired: Some(day), context_window, max_output, thinks }
}

/// All known models. The first row of an alias is what the alias means.
pub const TABLE: &[Model] = &[
    current("claude-haiku-5-5", "haiku", Thinks::Adaptive),
    current("claude-sonnet-5-5", "sonnet", Thinks::Adaptive),
    current("claude-opus-5-5", "opus", Thinks::Always),
    current("claude-opus-4-6", "opus", Thinks::Adaptive),
    Model { max_output: 64_000, ..current("claude-sonnet-4-6", "sonnet", Thinks::Adaptive) },
    Model {
        context_window: 200 * K,
        max_output: 64_000,
        ..current("claude-haiku-4-5", "haiku", Thinks::Budget)
    },
    retired("claude-3-haiku-20240307", "haiku", "2026-04-20"),
    retired("claude-3-5-sonnet-20241022", "sonnet", "2025-10-28"),
    retired("claude-3-opus-20240229", "opus", "2026-01-05"),
];

/// Returns the row of an id or alias; nothing for a model that only another server knows.
pub fn find(name: &str) -> Option<&'static Model> {
    let id = resolve(name);
    TABLE.iter().find(|model| model.id == id)
}

/// Returns the id for an alias, or the name itself.
pub fn resolve(name: &str) -> &str {
    TABLE.iter().find(|model| model.alias == name).map_or(name, |model| model.id)
}

/// Returns one sentence about what to use instead of a model that the API does not know.
pub fn advice(name: &str) -> String {
    let id = resolve(name);
    match find(id) {
        Some(Model { alias, retired: Some(day), .. }) => {
            format!("`{id}` was retired on {day}: use `{alias}` ({})", resolve(alias))
        }
        Some(_) | None => {
            format!("`{id}` is not known there: use `haiku`, `sonnet`, `opus` or a current id")
        }
    }
}

#[cfg(test)]
mod tests;
