//! `gangline reminders`: lists the reminders of agents, and deletes one.

use clap::Subcommand;
use gangline_api::inbox::Reminder;
use gangline_core::shown;
use gangline_os::{
    change_notice,
    clock::{self, rfc3339},
};
use gangline_store::{ReminderRow, ReminderState, Store};

use crate::{
    caller, cli::Global, failure::Failure, names, output, place, place::Installation, show, store,
    who::Who,
};

/// How many reminders are listed.
const LISTED: u32 = 500;

/// List the reminders of agents, or delete one
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<What>,
    /// List only this agent's reminders
    agent: Option<Who>,
    /// Also list reminders that have fired
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Delete a reminder that waits
    Cancel {
        /// The reminder's number
        #[arg(value_parser = reminder_number)]
        number: i64,
    },
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    if let Some(What::Cancel { number }) = args.command {
        return cancel(global, (&installation, &store), number).await;
    }
    let agent = args.agent.map(|who| names::known_agent(&installation, &who)).transpose()?;
    let rows = match args.all {
        true => {
            let mut rows = store.all_reminders(agent.as_ref(), LISTED).await?;
            rows.reverse();
            rows
        }
        false => store.reminders(agent.as_ref(), LISTED).await?,
    };
    let reminders: Vec<Reminder> = rows.iter().map(wire).collect();
    match global.json {
        true => output::json(&reminders)?,
        false => output::print(&show::inbox::reminders(&reminders, clock::system().now()))?,
    }
    Ok(0)
}

async fn cancel(
    global: &Global,
    (installation, store): (&Installation, &Store),
    number: i64,
) -> Result<u8, Failure> {
    caller::refuse("delete reminders for the owner")?;
    let Some(row) = store.remove_reminder(number).await? else {
        return Err(match store.reminder(number).await? {
            Some(_) => Failure::user(format!("reminder {number} has fired already")),
            None => Failure::user(format!("there is no reminder {number}")),
        }
        .hint("`gangline reminders` lists those that wait"));
    };
    change_notice::notify(&installation.paths.change_notice(row.agent.folded()));
    match global.json {
        true => output::json(&wire(&row))?,
        false => {
            let text = show::text::one_line(row.body.as_str());
            output::print(&format!("reminder {number} of {} is deleted: {text}\n", row.agent))?;
        }
    }
    Ok(0)
}

/// Returns a reminder as every surface shows it.
pub(super) fn wire(row: &ReminderRow) -> Reminder {
    let state = match row.state {
        ReminderState::Waiting => "waiting",
        ReminderState::Fired => "fired",
    };
    Reminder {
        reminder: row.id,
        agent: row.agent.clone(),
        by: shown::label(&row.by.account),
        body: row.body.to_string(),
        target: Some(row.target.clone()).filter(|target| !target.is_empty()),
        state: state.to_owned(),
        fired: row.fired,
        due_at: rfc3339(row.due_at),
        repeats: row.repeats.clone(),
        made_at: rfc3339(row.created_at),
    }
}

fn reminder_number(text: &str) -> Result<i64, &'static str> {
    text.parse()
        .map_err(|_| "give the reminder's number, such as 3: `gangline reminders` lists them")
}
