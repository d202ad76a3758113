//! How hard a model thinks: the levels that backends have, and the one that it is raised to when the
//! agent is told to think deeper (R1-11).

use crate::words;

#[cfg(test)]
mod tests;

words! {
    /// How hard a model thinks, in the words of the backends; the least first.
    EffortLevel, "effort" {
        /// Not at all, or as little as the model can.
        Off = "off",
        /// Hardly.
        Minimal = "minimal",
        /// A little.
        Low = "low",
        /// As is usual.
        Medium = "medium",
        /// Hard.
        High = "high",
        /// Harder than that.
        XHigh = "xhigh",
        /// As hard as the model can.
        Max = "max",
    }
}

/// What a backend is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Effort {
    /// The level of the configuration, or else the backend's own.
    #[default]
    Ground,
    /// A higher one than that, as [`raised`] says.
    Raised,
}

/// When a change of the effort takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EffortChange {
    /// Never: the backend cannot be told.
    #[default]
    Never,
    /// With the next prompt.
    NextTurn,
    /// With the next request to the model, also in a running turn.
    AtOnce,
}

/// Returns the level that thinking is raised to: `high`, or what the model has above it if `high` is
/// the ground level already; a model that has no `high` is raised as far as it can be. `None`: the
/// ground level is the highest one.
#[must_use]
pub fn raised(ground: EffortLevel, levels: &[EffortLevel]) -> Option<EffortLevel> {
    let above = || levels.iter().copied().filter(|level| *level > ground);
    above().filter(|level| *level >= EffortLevel::High).min().or_else(|| above().max())
}
