//! `gangline inbox`: what agents have sent to the owners.

use clap::Subcommand;
use gangline_api::inbox::Letter;
use gangline_core::shown;
use gangline_os::{
    change_notice,
    clock::{self, rfc3339},
    terminal,
};
use gangline_store::{LetterError, LetterFilter, LetterRow, Store};

use super::prompt;
use crate::{
    caller, cli::Global, failure::Failure, names, output, owner, place, place::Installation, show,
    store, who::Who,
};

/// How many letters are listed.
const LISTED: u32 = 200;

/// List the letters that agents sent to the owners, answer them, or put them away
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<What>,
    /// List only this agent's letters
    agent: Option<Who>,
    /// Also list letters that are answered or put away
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Answer a letter; its sender gets the answer as a message
    Answer {
        /// The letter's number
        #[arg(value_parser = letter_number)]
        number: i64,
        /// The answer
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Put a letter away without an answer
    Done {
        /// The letter's number
        #[arg(value_parser = letter_number)]
        number: i64,
    },
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    match args.command {
        None => {
            let agent =
                args.agent.map(|who| names::known_agent(&installation, &who)).transpose()?;
            let filter = LetterFilter { agent, settled: args.all, ..LetterFilter::default() };
            let rows = store.letters(filter, LISTED).await?;
            let letters: Vec<Letter> = rows.iter().map(wire).collect();
            match global.json {
                true => output::json(&letters)?,
                false => output::print(&show::inbox::letters(
                    &letters,
                    clock::system().now(),
                    terminal::columns(),
                ))?,
            }
            // An agent that lists them has not read them for the owner.
            if caller::refuse("read for the owner").is_ok() {
                store.read_letters(rows.iter().map(|row| row.id).collect()).await?;
            }
        }
        Some(What::Answer { number, text }) => {
            settle(global, &installation, &store, (number, Some(text.join(" ")))).await?;
        }
        Some(What::Done { number }) => {
            settle(global, &installation, &store, (number, None)).await?;
        }
    }
    Ok(0)
}

async fn settle(
    global: &Global,
    installation: &Installation,
    store: &Store,
    (number, text): (i64, Option<String>),
) -> Result<(), Failure> {
    caller::refuse("settle the owner's letters")?;
    let letter = store.letter(number).await?.ok_or(LetterError::Unknown(number));
    let letter = letter.map_err(explain)?;
    let answer = text.map(|text| owner::answer_to(&letter, (&caller::name(), &text)));
    let settled = store.settle_letter(number, caller::name(), answer).await;
    let (letter, message) = settled.map_err(explain)?;
    change_notice::notify(&installation.paths.change_notice(letter.agent.folded()));
    let row = store.letter(number).await?;
    match (global.json, row) {
        (true, Some(row)) => output::json(&wire(&row))?,
        (true, None) | (false, _) => output::print(&match message {
            Some(id) => format!("letter {number} is answered: {} gets {id}\n", letter.agent),
            None => format!("letter {number} is put away\n"),
        })?,
    }
    if message.is_some() {
        prompt::warn_if_down(&installation.paths, &letter.agent, "the answer");
    }
    Ok(())
}

fn wire(row: &LetterRow) -> Letter {
    Letter {
        letter: row.id,
        agent: row.agent.clone(),
        body: row.body.to_string(),
        state: row.state.to_string(),
        in_reply_to: row.in_reply_to,
        answer: row.answer,
        settled_by: row.settled_by.as_deref().map(shown::label),
        sent_at: rfc3339(row.sent_at),
    }
}

fn explain(error: LetterError) -> Failure {
    let hint = match &error {
        LetterError::Unknown(_) => "`gangline inbox` lists the open ones",
        LetterError::Settled { .. } => "`gangline inbox --all` shows by whom",
        LetterError::Store(_) => "try again: an answer is never stored twice",
    };
    Failure::from(error).hint(hint)
}

fn letter_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give the letter's number, such as 3: `gangline inbox` lists them")
}
