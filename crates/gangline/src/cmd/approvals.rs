//! `gangline approvals`: what waits for a decision, and all of one.

use gangline_api::approval::{Approval, wanted_of_row};
use gangline_broker::{ApprovalRow, ApprovalState, Broker};
use gangline_core::{
    ApprovalNumber,
    approval::view::{self as whole, Around, Facts},
};
use gangline_os::clock;

use crate::{
    cli::{Global, deciding::Approvals},
    failure::Failure,
    output, place, show, store, view,
};

pub(super) async fn run(global: &Global, args: &Approvals) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let broker = store::existing(&paths).await?;
    if let Some(number) = args.number {
        return one(global, &broker, number).await;
    }
    let rows = broker.approvals(None, !args.all).await?;
    let approvals: Vec<Approval> = rows.iter().map(view::approval).collect();
    if global.json {
        output::json(&approvals)?;
    } else {
        output::print(&show::approvals::list(&approvals, clock::system().now()))?;
    }
    Ok(0)
}

async fn one(global: &Global, broker: &Broker, number: ApprovalNumber) -> Result<u8, Failure> {
    let Some(row) = broker.approval(number).await? else {
        return Err(Failure::user(format!("there is no approval {number}"))
            .hint("`gangline approvals --all` lists them all"));
    };
    if global.json {
        output::json(&view::approval(&row))?;
        return Ok(0);
    }
    for line in card(broker, &row).await? {
        output::print(&format!("{line}\n"))?;
    }
    if row.state == ApprovalState::Open {
        let decide = show::approvals::decide(&row.agent, number);
        output::print(&format!("\n{decide}\n"))?;
    }
    Ok(0)
}

/// Returns everything that is known of an approval, a line each.
async fn card(broker: &Broker, row: &ApprovalRow) -> Result<Vec<String>, Failure> {
    let asked = match row.message {
        Some(message) => broker.message(message).await?,
        None => None,
    };
    let asked = asked.map(|row| whole::asked(&row.sender, &row.target, row.id));
    let title = show::approvals::title(&view::approval(row), clock::system().now());
    let always = broker.offer(row.number).await?.map(|offer| offer.describe());
    let facts = Facts {
        always: always.as_deref(),
        title: &title,
        asked: asked.as_deref(),
        tool: &row.tool,
        said_before: row.said_before.as_ref().map_or("", |said| said.as_str()),
    };
    let around = Around {
        agent: row.agent.as_str(),
        asker: None,
        folder: row.folder.as_ref().map_or("", |folder| folder.as_str()),
        home: None,
    };
    Ok(whole::card(facts, &wanted_of_row(&row.tool, row.detail.as_str()), around))
}
