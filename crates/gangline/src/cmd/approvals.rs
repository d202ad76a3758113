//! `gangline approvals`: what waits for a decision.

use gangline_api::approval::Approval;
use gangline_os::clock;

use crate::{cli::Global, failure::Failure, output, place, show, store, view};

pub(super) async fn run(global: &Global, all: bool) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let broker = store::existing(&paths).await?;
    let rows = broker.approvals(None, !all).await?;
    let approvals: Vec<Approval> = rows.iter().map(view::approval).collect();
    if global.json {
        output::json(&approvals)?;
    } else {
        output::print(&show::approvals::list(&approvals, clock::system().now()))?;
    }
    Ok(0)
}
