//! `gangline policy`: the rules by which tools run without being asked about: listed, removed, tried on
//! recorded calls, suggested.

mod replay;
mod rule_file;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;
use gangline_agent::rules;
use gangline_api::policy::PolicyRule;
use gangline_core::{rule::Form, shown};
use gangline_os::clock::{self, rfc3339};
use gangline_store::{RuleRow, Store};

use crate::{caller, cli::Global, failure::Failure, names, output, place, show, store, who::Who};

/// List, remove, test or suggest the rules that let calls run without asking
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
    /// Replay recorded calls against the rules, and show what would run without asking
    ///
    /// With a file, its rules replace the present ones, and the decisions that would change are shown.
    /// The file is a JSON list as `policy list --json` and `policy suggest --json` print it. Exits
    /// with code 1 if a call that a person refused would run.
    Test {
        /// A file with rules to try instead of the present ones
        #[arg(value_name = "RULEFILE")]
        file: Option<PathBuf>,
        /// Only this agent's calls
        agent: Option<Who>,
        /// How far back: a number with s, m, h, d or w
        #[arg(long, value_name = "TIME", default_value = "7d", value_parser = span)]
        since: Duration,
    },
    /// Show rules for harmless calls that people often allowed and never refused
    Suggest {
        /// Only this agent's calls
        agent: Option<Who>,
        /// How far back: a number with s, m, h, d or w
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = span)]
        since: Duration,
        /// How often people must have allowed the call
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least)]
        at_least: usize,
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
        Policy::Test { file, agent, since } => {
            let agent = agent.map(|who| names::agent(&installation, &who)).transpose()?;
            return replay::test(global, &store, (file.as_deref(), agent.as_ref(), since)).await;
        }
        Policy::Suggest { agent, since, at_least } => {
            let agent = agent.map(|who| names::agent(&installation, &who)).transpose()?;
            replay::suggest_rules(global, &store, (agent.as_ref(), since, at_least)).await?;
        }
    }
    Ok(0)
}

async fn remove(global: &Global, store: &Store, numbers: &[i64]) -> Result<(), Failure> {
    caller::refuse("change the rules")?;
    let (mut removed, mut missing) = (Vec::new(), Vec::new());
    for number in numbers {
        match store.remove_rule(*number, "the owner").await? {
            Some(row) => removed.push(row),
            None => missing.push(number.to_string()),
        }
    }
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

/// Returns a rule as every surface shows it.
pub(super) fn wire(row: &RuleRow) -> PolicyRule {
    let (command, file, arguments) = parts(&row.rule.form);
    PolicyRule {
        command,
        file,
        arguments,
        number: row.rule.number,
        agent: row.agent.clone(),
        tool: row.rule.tool.clone(),
        directory: row.rule.directory.clone(),
        allows: row.rule.to_string(),
        approval: row.approval,
        made_by: shown::label(&row.made_by.account),
        made_as: shown::label(&row.made_as),
        made_at: rfc3339(row.made_at),
        void: row.void.clone().or_else(|| rules::no_longer_holds(&row.rule)),
    }
}

/// What a rule lets run, in the fields that say it: `command`, `file`, `arguments`.
type Parts = (Option<Vec<String>>, Option<String>, Option<String>);

fn parts(form: &Form) -> Parts {
    match form {
        Form::Command(words) => (Some(words.clone()), None, None),
        Form::File(path) => (None, Some(path.clone()), None),
        Form::Arguments(json) => (None, None, Some(json.clone())),
    }
}

/// Reads a length of time such as `7d`.
fn span(text: &str) -> Result<Duration, &'static str> {
    const WRONG: &str = "give a number with s, m, h, d or w, such as 7d";
    let (number, unit) = text.split_at(text.trim_end_matches(|c: char| !c.is_ascii_digit()).len());
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(WRONG),
    };
    let number: u64 = number.parse().map_err(|_| WRONG)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or(WRONG)
}

fn at_least(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|it| *it > 0).ok_or("give a number from 1")
}

fn rule_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give the rule's number, such as 3: `gangline policy list` shows them")
}
