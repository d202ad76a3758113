//! What a daemon that died left running comes to the hub, if the hub is above it, and is ended.

use std::time::Duration;

use gangline_os::{
    process,
    run_id::RunId,
    sweep::{Root, Sweep, sweep},
};
use tracing::info;

/// What was left gets this long between TERM and KILL.
const GRACE: Duration = Duration::from_secs(3);

/// Ends the orphans that the hub has adopted. A daemon that runs adopts those of its own programs, so
/// these belong to none that runs.
pub(super) async fn end(installation: &str) {
    let ours = |found: &RunId| found.installation == installation;
    let report = sweep(Sweep { ours: &ours, roots: &[Root::Adopted] }, GRACE).await;
    let reaped = process::reap_adopted();
    if !report.is_empty() {
        info!(
            ended = report.ended.len(),
            killed = report.killed.len(),
            left = report.left.len(),
            reaped,
            "swept what a daemon left"
        );
    }
}
