//! `gangline interrupt`: ends the turn that an agent is in.

use gangline_core::AgentName;

use super::pause;
use crate::{
    cli::{Global, Whom},
    control::Word,
    failure::Failure,
};

pub(super) async fn run(global: &Global, agent: AgentName) -> Result<u8, Failure> {
    let whom = Whom { agents: vec![agent], all: false };
    pause::tell(global, &whom, Word::Interrupt).await
}
