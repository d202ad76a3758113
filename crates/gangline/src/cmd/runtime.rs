//! `gangline runtime`: which backends there are, which is usual, and whether they work.

pub(super) mod deep;
mod lab;
mod list;
pub(super) mod shown;
mod usual;

use super::doctor;
use crate::{
    cli::{Global, RuntimeCommand, RuntimeSet},
    failure::Failure,
};

pub(super) async fn run(global: &Global, command: RuntimeCommand) -> Result<u8, Failure> {
    match command {
        RuntimeCommand::List(args) => list::run(global, args).await,
        RuntimeCommand::Set(RuntimeSet::Default { name }) => usual::run(&name),
        RuntimeCommand::Doctor(args) => doctor::run(global, &args).await,
    }
}
