//! The model table: aliases, current ids, and ids that are no longer served (R4-03, C24).
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
}

const fn current(id: &'static str, alias: &'static str) -> Model {
    Model { id, alias, retired: None }
}

const fn retired(id: &'static str, alias: &'static str, day: &'static str) -> Model {
    Model { id, alias, retired: Some(day) }
}

/// All known models. The first row of an alias is what the alias means.
pub const TABLE: &[Model] = &[
    current("claude-haiku-5-5", "haiku"),
    current("claude-sonnet-5-5", "sonnet"),
    current("claude-opus-5-5", "opus"),
    retired("claude-3-haiku-20240307", "haiku", "2026-04-20"),
    retired("claude-3-5-sonnet-20241022", "sonnet", "2025-10-28"),
    retired("claude-3-opus-20240229", "opus", "2026-01-05"),
];

/// Returns the id for an alias, or the name itself.
pub fn resolve(name: &str) -> &str {
    TABLE.iter().find(|model| model.alias == name).map_or(name, |model| model.id)
}

/// Returns one sentence about what to use instead of a model that the API does not know.
pub fn advice(name: &str) -> String {
    let id = resolve(name);
    match TABLE.iter().find(|model| model.id == id) {
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
