//! `gangline ps`: the agents, one line each.

use gangline_os::clock;

use super::status;
use crate::{cli::Global, failure::Failure, output, place, show};

pub(super) async fn run(global: &Global) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let agents = status::all(&paths).await?;
    if global.json {
        output::json(&agents)?;
    } else {
        output::print(&show::agents::list(&agents, clock::system().now()))?;
    }
    Ok(0)
}
