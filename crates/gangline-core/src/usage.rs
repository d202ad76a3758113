//! Who spends what a model costs, and which numbers are believed.

use crate::words;

/// The most tokens that one call of a model is believed to have used, of each kind. What an API tells is
/// foreign: no model has a context of a thousandth of this.
pub const TOKENS_MAX: u64 = 1_000_000_000;
/// The most that one call is believed to have cost, in millionths of a dollar: a million dollars.
pub const MICROS_MAX: u64 = 1_000_000_000_000;

words! {
    /// Who asked the model.
    #[derive(Default)]
    Spender, "spender" {
        /// The agent itself.
        #[default]
        Agent = "agent",
        /// The model that watches the agent (R0-33).
        Supervisor = "supervisor",
    }
}
