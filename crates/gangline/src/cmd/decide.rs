//! `gangline approve` and `gangline deny`: the owner's word on one approval.

use gangline_api::approval::Decision;
use gangline_broker::{DecideError, Decided};
use gangline_core::{Principal, Redactor, Tier};
use gangline_hub::credentials::OWNER;
use gangline_os::doorbell;

use crate::{
    cli::{Decide, Global},
    failure::Failure,
    output, place, store, unmark, view,
};

pub(super) async fn run(global: &Global, args: Decide, decision: Decision) -> Result<u8, Failure> {
    if unmark::is_marked() {
        return Err(Failure::user("an agent does not decide approvals").hint(
            "this shell was started by an agent (GANGLINE_RUN is set): use one of your own",
        ));
    }
    let paths = place::of_existing(global)?;
    let broker = store::existing(&paths).await?;
    let note = args.note.map(|note| Redactor::new([]).redact(&note));
    let decided = broker
        .decide(args.number, view::decision(decision), owner(), note)
        .await
        .map_err(explain)?;
    doorbell::ring(&paths.doorbell(decided.agent.folded()));
    if global.json {
        let row = broker.approval(args.number).await?;
        output::json(&row.as_ref().map(view::approval))?;
    } else {
        output::print(&told(&decided, decision))?;
    }
    Ok(0)
}

/// Returns who speaks on the command line: whoever can write the state folder is its owner.
pub(super) fn owner() -> Principal {
    Principal { account: OWNER.to_owned(), tier: Tier::Owner }
}

fn explain(error: DecideError) -> Failure {
    let hint = match &error {
        DecideError::Unknown(_) => "`gangline approvals` lists those that wait",
        DecideError::Closed { .. } => "`gangline approvals --all` tells by whom",
        DecideError::Store(_) => "try again: a decision that was written is not taken twice",
    };
    Failure::from(error).hint(hint)
}

fn told(decided: &Decided, decision: Decision) -> String {
    let word = match decision {
        Decision::Allow => "allowed",
        Decision::Deny => "denied",
    };
    let when = if decided.for_next_attempt {
        "; the turn that asked is gone, so this counts for the next attempt"
    } else {
        ""
    };
    format!("approval {} of {} is {word}{when}\n", decided.number, decided.agent)
}
