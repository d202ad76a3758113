//! Which agents a command is about.

use clap::Args;

use crate::{fleet::Chosen, who::Who};

/// Some agents, or all of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct Whom {
    /// The agents' nicks
    #[arg(value_name = "NICK", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) agents: Vec<Who>,
    /// All agents
    #[arg(long)]
    pub(crate) all: bool,
}

impl Whom {
    /// Returns which agents are meant.
    pub(crate) fn chosen(self) -> Chosen {
        if self.all { Chosen::All } else { Chosen::Named(self.agents) }
    }
}
