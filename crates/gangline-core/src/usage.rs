//! Who spends what a model costs.

use crate::words;

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
