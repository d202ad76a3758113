//! Arguments of the commands about approvals.

use clap::{Args, Subcommand};
use gangline_core::ApprovalNumber;

use super::who::Who;

#[derive(Debug, Args)]
pub(crate) struct Approvals {
    /// Show all of this one: the whole command or change, who asked, and why
    #[arg(value_parser = approval_number, conflicts_with = "all")]
    pub(crate) number: Option<ApprovalNumber>,
    /// Closed ones too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The approval's number
    #[arg(value_parser = approval_number)]
    pub(crate) number: ApprovalNumber,
    /// Why; the model is told why it was refused
    #[arg(long, value_name = "TEXT", alias = "note")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) decide: Decide,
    /// Allow it without asking from now on: store the exact rule and show it. `gangline policy
    /// remove` undoes it
    #[arg(long)]
    pub(crate) always: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// List the rules: the agent, who allowed it and when, and the exact words
    List {
        /// Only this agent's rules
        agent: Option<Who>,
    },
    /// Remove rules: the agents ask again for what they allowed
    Remove {
        /// The rules' numbers
        #[arg(required = true, value_parser = rule_number)]
        numbers: Vec<i64>,
    },
}

fn rule_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give the rule's number, such as 3: `gangline policy list` shows them")
}

fn approval_number(text: &str) -> Result<ApprovalNumber, &'static str> {
    if text.parse::<gangline_core::MessageId>().is_ok() {
        return Err(
            "this is a message, which `gangline trace` shows; an approval has a bare number, \
                    such as 12: `gangline approvals` lists them",
        );
    }
    text.parse().map(ApprovalNumber).map_err(|_| "give the approval's number, such as 12")
}
