//! `gangline approve` and `gangline deny`: the owner's word on one approval.

use gangline_api::approval::Decision;
use gangline_broker::{DecideError, Decided, Ruling};
use gangline_core::{Principal, Redactor, Tier, approval};
use gangline_hub::credentials::OWNER;
use gangline_os::doorbell;

use crate::{
    cli::{Global, deciding::Decide},
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
    let masks = Redactor::new([]);
    let known_as = known_as();
    let number = args.number.to_string();
    let word = match decision {
        Decision::Allow => approval::Decision::Allow,
        Decision::Deny => approval::Decision::Deny,
    };
    let said = approval::view::decided(&number, word, &known_as, args.reason.as_deref());
    let ruling = Ruling {
        decision: view::decision(decision),
        by: owner(),
        known_as,
        note: args.reason.map(|reason| masks.redact(&reason)),
        say: Some(masks.redact(&said)),
    };
    let decided = broker.decide(args.number, ruling).await.map_err(explain)?;
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

/// Returns how others know the person at the command line.
fn known_as() -> String {
    match std::env::var("USER") {
        Ok(user) if !user.is_empty() => format!("{user} at the command line"),
        Ok(_) | Err(_) => "the owner at the command line".to_owned(),
    }
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
