//! Models that their maker no longer serves (C24), whichever backend asks for them. A warning: a
//! server behind `base_url` may know them all the same. Start at [`advice`].

use gangline_harness::models;

/// Returns what to use instead of a model that was retired; none for any other model.
pub(crate) fn advice(model: &str) -> Option<String> {
    // An ACP agent's model names its provider first.
    let id = model.rsplit('/').next().unwrap_or(model);
    let _ = models::find(id)?.retired?;
    Some(models::advice(id))
}

#[cfg(test)]
mod tests;
