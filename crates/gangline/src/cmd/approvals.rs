//! `gangline approvals`: what waits for a decision, and all of one.

use gangline_agent::card::{self, Reader};
use gangline_api::approval::Approval;
use gangline_core::{ApprovalNumber, approval::ApprovalState, reading::Bounds, redact::Redactor};
use gangline_os::{clock, fsio, paths::Paths};
use gangline_store::{ApprovalRow, ChangeRow, ChangeState, Store};

use super::decide;
use crate::{
    cli::{Global, approval},
    failure::Failure,
    output, place, show, store, view,
};

/// List open approvals, or show one in full
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show this approval in full: the whole command or change, who asked, and why
    #[arg(value_parser = approval::number, conflicts_with = "all")]
    pub(crate) number: Option<ApprovalNumber>,
    /// Also show closed ones
    #[arg(long)]
    pub(crate) all: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    if let Some(number) = args.number {
        return one(global, (&paths, &store), number).await;
    }
    let rows = store.approvals(None, !args.all).await?;
    let changes = store.changes(None, !args.all).await?;
    let approvals = rows.iter().map(view::approval).chain(changes.iter().map(view::change));
    let mut approvals: Vec<Approval> = approvals.collect();
    approvals.sort_by_key(|approval| approval.number);
    if global.json {
        output::json(&approvals)?;
    } else {
        output::print(&show::approvals::list(&approvals, clock::system().now()))?;
    }
    Ok(0)
}

async fn one(
    global: &Global,
    (paths, store): (&Paths, &Store),
    number: ApprovalNumber,
) -> Result<u8, Failure> {
    if let Some(row) = store.change(number).await? {
        return change(global, &row);
    }
    let Some(row) = store.approval(number).await? else {
        let unknown = || {
            Failure::user(format!("there is no approval {number}"))
                .hint("`gangline approvals --all` lists all of them")
        };
        return Err(decide::is_question(store, number).await.unwrap_or_else(unknown));
    };
    if global.json {
        output::json(&view::approval(&row))?;
        return Ok(0);
    }
    for line in whole((paths, store), &row).await? {
        output::print(&format!("{line}\n"))?;
    }
    if row.state == ApprovalState::Open {
        let decide = show::approvals::decide(&row.agent, number);
        output::print(&format!("\n{decide}\n"))?;
    }
    Ok(0)
}

/// Shows what a manager has asked for.
fn change(global: &Global, row: &ChangeRow) -> Result<u8, Failure> {
    if global.json {
        output::json(&view::change(row))?;
        return Ok(0);
    }
    for line in gangline_agent::changes::card(row) {
        output::print(&format!("{line}\n"))?;
    }
    if row.state == ChangeState::Requested {
        let decide = show::approvals::decide(&row.agent, row.number);
        output::print(&format!("\n{decide}\n"))?;
    }
    Ok(0)
}

/// Returns everything that is known of an approval, a line each.
async fn whole(
    (paths, store): (&Paths, &Store),
    row: &ApprovalRow,
) -> Result<Vec<String>, Failure> {
    let asked = match row.message {
        Some(message) => store.message(message).await?,
        None => None,
    };
    let title = show::approvals::title(&view::approval(row), clock::system().now());
    let always = store.offer(row.number).await?.map(|offer| offer.describe());
    // What holds the installation's keys is not shown, as it is not in the chat.
    let bounds = Bounds { open: Vec::new(), closed: vec![fsio::resolved(&paths.state)] };
    let reader = Reader { bounds: &bounds, masks: &Redactor::new([]) };
    Ok(card::lines((&title, always.as_deref()), row, asked.as_ref(), reader))
}
