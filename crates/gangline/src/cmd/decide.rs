//! `gangline approve` and `gangline deny`: the owner's word on one approval.

use gangline_api::{
    approval::{Approval, Decision},
    policy::PolicyRule,
};
use gangline_core::{ApprovalNumber, Principal, QuestionNumber, Redactor, approval};
use gangline_os::{change_notice, paths::Paths};
use gangline_store::{DecideError, Decided, Ruling, Store, Stored};
use serde::Serialize;

use super::policy;
use crate::{
    attention,
    caller::{self, Caller},
    cli::{Global, approval::Decide},
    failure::Failure,
    output, place, store, view,
};

pub(super) async fn run(global: &Global, args: Decide, decision: Decision) -> Result<u8, Failure> {
    caller::refuse("decide approvals")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    if store.change(args.number).await?.is_some() {
        return change(global, (&paths, &store), (&args, decision)).await;
    }
    let decided = match store.decide(args.number, ruling(&args, decision)).await {
        Ok(decided) => decided,
        Err(error) => return Err(explain(&store, error).await),
    };
    change_notice::notify(&paths.change_notice(decided.agent.folded()));
    if global.json {
        let row = store.approval(args.number).await?;
        output::json(&row.as_ref().map(view::approval))?;
    } else {
        output::print(&outcome(&decided, decision))?;
    }
    Ok(0)
}

/// Allows it for good: the rules are stored with the decision, and shown.
pub(super) async fn always(global: &Global, args: Decide) -> Result<u8, Failure> {
    caller::refuse("decide approvals")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    if store.change(args.number).await?.is_some() {
        return Err(attention::no_always(args.number));
    }
    let ruling = ruling(&args, Decision::Allow);
    let always = match store.decide_always(args.number, ruling).await {
        Ok(always) => always,
        Err(error) => return Err(explain(&store, error).await),
    };
    change_notice::notify(&paths.change_notice(always.decided.agent.folded()));
    if global.json {
        let (rules, no_rule) = match &always.stored {
            Stored::Rules(rules) => (rules.iter().map(policy::wire).collect(), None),
            Stored::Nothing(why) => (Vec::new(), Some(why.clone())),
        };
        let row = store.approval(args.number).await?;
        let approval = row.as_ref().map(view::approval);
        output::json(&Printed { approval, rules, no_rule })?;
    } else {
        output::print(&outcome(&always.decided, Decision::Allow))?;
        output::print(&attention::stored(&always.stored))?;
    }
    Ok(0)
}

/// Decides what a manager has asked for; the hub applies what is allowed.
async fn change(
    global: &Global,
    (paths, store): (&Paths, &Store),
    (args, decision): (&Decide, Decision),
) -> Result<u8, Failure> {
    let row = match store.decide_change(args.number, ruling(args, decision)).await {
        Ok(row) => row,
        Err(error) => return Err(explain(store, error).await),
    };
    change_notice::notify(&paths.change_notice(row.agent.folded()));
    change_notice::notify(&paths.change_notice("hub"));
    if global.json {
        output::json(&view::change(&row))?;
        return Ok(0);
    }
    let (number, agent) = (row.number, &row.agent);
    output::print(&match decision {
        Decision::Allow => format!(
            "approval {number} of {agent} is allowed: the hub applies it; `gangline approvals \
             {number}` shows what comes of it\n"
        ),
        Decision::Deny => format!("approval {number} of {agent} is denied\n"),
    })?;
    Ok(0)
}

/// What `approve --always --json` prints.
#[derive(Serialize)]
struct Printed {
    approval: Option<Approval>,
    rules: Vec<PolicyRule>,
    /// Why there is no rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_rule: Option<String>,
}

fn ruling(args: &Decide, decision: Decision) -> Ruling {
    let masks = Redactor::new([]);
    let known_as = known_as();
    let number = args.number.to_string();
    let said = approval::view::decided(&number, decision, &known_as, args.reason.as_deref());
    Ruling {
        decision,
        by: owner(),
        known_as,
        note: args.reason.as_ref().map(|reason| masks.redact(reason)),
        say: Some(masks.redact(&said)),
    }
}

/// Returns the principal at the command line: a user who can write the state folder is its owner.
pub(super) fn owner() -> Principal {
    crate::owner::principal()
}

/// Returns how others know the person at the command line.
fn known_as() -> String {
    format!("{} at the command line", Caller::here().known_as())
}

async fn explain(store: &Store, error: DecideError) -> Failure {
    let hint = match &error {
        DecideError::Unknown(number) => match is_question(store, *number).await {
            Some(failure) => return failure,
            None => "`gangline approvals` lists the open ones",
        },
        DecideError::Closed { .. } => "`gangline approvals --all` shows by whom",
        DecideError::Store(_) => "try again: a decision is never stored twice",
    };
    Failure::from(error).hint(hint)
}

/// Returns the failure for a number that is a question's; both count in one sequence.
pub(super) async fn is_question(store: &Store, number: ApprovalNumber) -> Option<Failure> {
    store.question(QuestionNumber(number.0)).await.ok().flatten()?;
    let failure = Failure::user(format!("{number} is a question, not an approval"));
    Some(failure.hint(format!("`gangline answer {number} TEXT` answers it")))
}

fn outcome(decided: &Decided, decision: Decision) -> String {
    let word = match decision {
        Decision::Allow => "allowed",
        Decision::Deny => "denied",
    };
    let when = if decided.for_next_attempt {
        "; the turn that asked is gone, so this applies to the next attempt"
    } else {
        ""
    };
    format!("approval {} of {} is {word}{when}\n", decided.number, decided.agent)
}
