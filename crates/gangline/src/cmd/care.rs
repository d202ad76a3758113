//! `gangline compact` and `gangline clear`: an agent's context, once no turn is open (R2-06, R2-11).

use super::pause;
use crate::{
    cli::{Global, Whom, who::Who},
    control::Word,
    failure::Failure,
};

pub(super) async fn run(global: &Global, agent: Who, word: Word) -> Result<u8, Failure> {
    let whom = Whom { agents: vec![agent], all: false };
    pause::tell(global, &whom, word).await
}
