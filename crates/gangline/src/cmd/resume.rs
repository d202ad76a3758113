//! `gangline resume`: a paused or parked agent goes on.

use super::pause;
use crate::{
    cli::{Global, Whom},
    control::Word,
    failure::Failure,
};

pub(super) async fn run(global: &Global, whom: Whom) -> Result<u8, Failure> {
    pause::tell(global, &whom, Word::Resume).await
}
