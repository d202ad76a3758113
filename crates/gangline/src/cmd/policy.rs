//! `gangline policy`: lists and removes the rules by which tools run without being asked about.

use clap::Subcommand;
use gangline_api::{
    event::{Event, Notice},
    policy::PolicyRule,
};
use gangline_core::{Redactor, shown};
use gangline_os::clock::{self, rfc3339};
use gangline_store::{NewEvent, RuleRow, Store};

use crate::{caller, cli::Global, failure::Failure, names, output, place, show, store, who::Who};

/// List or remove the rules made by `always`, which let calls run without asking
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Policy,
}

#[derive(Debug, Subcommand)]
enum Policy {
    /// List the rules: the agent, who allowed it and when, and the exact words
    List {
        /// List only this agent's rules
        agent: Option<Who>,
    },
    /// Remove rules; the agents ask again for what the rules allowed
    Remove {
        /// The rules' numbers
        #[arg(required = true, value_parser = rule_number)]
        numbers: Vec<i64>,
    },
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    match args.command {
        Policy::List { agent } => {
            let agent = agent.map(|who| names::agent(&installation, &who)).transpose()?;
            let rules = store.rules(agent.as_ref()).await?;
            let rules: Vec<PolicyRule> = rules.iter().map(wire).collect();
            match global.json {
                true => output::json(&rules)?,
                false => output::print(&show::policy::list(&rules, clock::system().now()))?,
            }
        }
        Policy::Remove { numbers } => remove(global, &store, &numbers).await?,
    }
    Ok(0)
}

async fn remove(global: &Global, store: &Store, numbers: &[i64]) -> Result<(), Failure> {
    caller::refuse("change the rules")?;
    let (mut removed, mut missing) = (Vec::new(), Vec::new());
    for number in numbers {
        match store.remove_rule(*number).await? {
            Some(row) => removed.push(row),
            None => missing.push(number.to_string()),
        }
    }
    record(store, &removed, "is removed by the owner").await?;
    if global.json {
        output::json(&removed.iter().map(wire).collect::<Vec<_>>())?;
    } else {
        let line = |row: &RuleRow| {
            let (number, agent, rule) = (row.rule.number, &row.agent, &row.rule);
            format!("rule {number} of {agent} is removed; the agent asks again for {rule}\n")
        };
        output::print(&removed.iter().map(line).collect::<String>())?;
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure::user(format!("there is no rule {}", missing.join(", ")))
            .hint("`gangline policy list` shows the rules")),
    }
}

/// Records what happened to rules, so that `logs` shows it.
pub(super) async fn record(store: &Store, rules: &[RuleRow], what: &str) -> Result<(), Failure> {
    let event = |row: &RuleRow| {
        let text = format!("rule {} {what}: {}", row.rule.number, row.rule);
        let notice = Event::from(Notice { code: "rule".to_owned(), text });
        let payload = String::from_utf8(notice.encode().ok()?).ok()?;
        Some(NewEvent {
            agent: row.agent.clone(),
            epoch: None,
            turn: None,
            kind: notice.kind().to_owned(),
            payload: Redactor::new([]).redact(&payload),
        })
    };
    store.append(rules.iter().filter_map(event).collect()).await?;
    Ok(())
}

/// Returns a rule as every surface shows it.
pub(super) fn wire(row: &RuleRow) -> PolicyRule {
    PolicyRule {
        number: row.rule.number,
        agent: row.agent.clone(),
        tool: row.rule.tool.clone(),
        directory: row.rule.directory.clone(),
        allows: row.rule.to_string(),
        approval: row.approval,
        made_by: shown::label(&row.made_by.account),
        made_as: shown::label(&row.made_as),
        made_at: rfc3339(row.made_at),
    }
}

fn rule_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give the rule's number, such as 3: `gangline policy list` shows them")
}
