//! What other rules would have decided about a call that was asked about. Pure.

use super::{Offer, Rule};

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Was {
    /// A person allowed it.
    Allowed,
    /// A person refused it.
    Denied,
    /// A rule allowed it, and nobody was asked.
    Ruled,
    /// Nobody decided before it was void.
    Undecided,
}

/// What becomes of it under other rules, where that is something else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// It runs without asking, by these rules.
    Runs(Vec<i64>),
    /// A person is asked.
    Asks,
}

/// Returns what would be decided otherwise; `None` if nothing would.
#[must_use]
pub fn change(was: Was, offer: &Offer, rules: &[Rule]) -> Option<Change> {
    match (was, offer.allowed_by(rules)) {
        (Was::Ruled, None) => Some(Change::Asks),
        (Was::Ruled, Some(_)) | (Was::Allowed | Was::Denied | Was::Undecided, None) => None,
        (Was::Allowed | Was::Denied | Was::Undecided, Some(numbers)) => Some(Change::Runs(numbers)),
    }
}
