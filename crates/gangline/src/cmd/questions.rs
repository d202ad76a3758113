//! `gangline questions`: lists what agents have asked.

use gangline_api::inbox::{Question, Vote};
use gangline_core::{
    question::{self, Choose, QuestionState},
    shown,
};
use gangline_os::{
    clock::{self, rfc3339},
    terminal,
};
use gangline_store::{QuestionFilter, QuestionRow};

use crate::{cli::Global, failure::Failure, names, output, place, show, store, who::Who};

/// How many questions are listed.
const LISTED: u32 = 200;

/// List open questions of the agents
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List only this agent's questions
    agent: Option<Who>,
    /// Also list answered, expired and withdrawn questions
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let asker = args.agent.map(|who| names::known_agent(&installation, &who)).transpose()?;
    let filter = QuestionFilter { asker, closed: args.all, ..QuestionFilter::default() };
    let mut rows = store.questions(filter, LISTED).await?;
    rows.reverse();
    let mut questions = Vec::new();
    for row in &rows {
        // An owner who decides wants to know what agents have said.
        let votes = match row.state {
            QuestionState::Open => store.votes(row.number).await?,
            QuestionState::Answered | QuestionState::Expired | QuestionState::Cancelled => {
                Vec::new()
            }
        };
        questions.push(Question { votes: votes.into_iter().map(vote).collect(), ..wire(row) });
    }
    match global.json {
        true => output::json(&questions)?,
        false => output::print(&show::inbox::questions(
            &questions,
            clock::system().now(),
            terminal::columns(),
        ))?,
    }
    Ok(0)
}

/// Returns a question as every surface shows it.
pub(super) fn wire(row: &QuestionRow) -> Question {
    Question {
        number: row.number,
        agent: row.agent.clone(),
        to: row.asked.to_string(),
        rule: row.rule.to_string(),
        question: row.body.to_string(),
        options: row.options.clone(),
        multi: row.choose == Choose::Several,
        state: row.state.to_string(),
        answer: row.answer.as_ref().map(ToString::to_string),
        answerer: row.answered_by.as_deref().map(shown::label),
        votes: Vec::new(),
        asked_at: rfc3339(row.asked_at),
        expires_at: row.expires_at.map(rfc3339),
        answered_at: row.answered_at.map(rfc3339),
    }
}

fn vote(it: question::Vote) -> Vote {
    Vote { agent: it.by, answer: it.answer }
}
