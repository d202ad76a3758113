//! Limits of keys that several sections have.

use gangline_core::cause;

/// The most turns that one root cause may have.
pub(super) const TURNS_PER_CAUSE_MAX: i128 = 100_000;
/// The longest name of an agent in a container, in characters (C30).
pub(super) const CONTAINER_NAME_MAX: usize = 9;
/// No context holds more tokens.
pub(super) const WATERMARK_MAX: u32 = 100_000_000;

/// Returns how many turns one root cause may have where the file says nothing.
pub(super) fn turns_per_cause() -> u32 {
    u32::try_from(cause::TURNS_PER_CAUSE).unwrap_or(u32::MAX)
}
