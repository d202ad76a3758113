//! `gangline answer`: answers a question of an agent, or withdraws it.

use gangline_core::{ApprovalNumber, QuestionNumber, Redactor, question, question::Standing};
use gangline_os::change_notice;
use gangline_store::{AnswerError, NewAnswer, QuestionClosed, Store};

use super::{decide, prompt, questions};
use crate::{caller, cli::Global, failure::Failure, output, place, store};

/// Answer an agent's question
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question's number: `gangline questions` lists them
    #[arg(value_parser = number)]
    number: QuestionNumber,
    /// The number of an option (several: 1,3), or a text
    #[arg(required_unless_present = "cancel")]
    answer: Vec<String>,
    /// Withdraw the question instead; the agent gets the answer `[cancelled]`
    #[arg(long, conflicts_with = "answer")]
    cancel: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("answer for the owner")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    let closed = match args.cancel {
        true => store.cancel_question(args.number, decide::owner()).await.map_err(explain),
        false => answered(&store, args.number, &args.answer.join(" ")).await,
    };
    let closed = match closed {
        Ok(closed) => closed,
        Err(failure) => return Err(is_approval(&store, args.number).await.unwrap_or(failure)),
    };
    let row = &closed.row;
    for agent in std::iter::once(&row.agent).chain(row.asked.agents()) {
        change_notice::notify(&paths.change_notice(agent.folded()));
    }
    if global.json {
        output::json(&questions::wire(row))?;
    } else {
        let answer = row.answer.as_ref().map(|it| question::text::one_line(it.as_str()));
        let (number, agent, state) = (row.number, &row.agent, row.state);
        let answer = answer.unwrap_or_default();
        output::print(&format!("question {number} of {agent} is {state}: {answer}\n"))?;
    }
    if closed.message.is_some() {
        prompt::warn_if_down(&paths, &row.agent, "the answer");
    }
    Ok(0)
}

async fn answered(
    store: &Store,
    number: QuestionNumber,
    said: &str,
) -> Result<QuestionClosed, Failure> {
    let row = store.question(number).await?.ok_or(AnswerError::Unknown(number));
    let row = row.map_err(explain)?;
    let answer = question::resolve(&row.options, row.choose, said)
        .map_err(|error| Failure::user(format!("question {number} is not answered: {error}")))?;
    let new = NewAnswer {
        by: decide::owner(),
        known_as: caller::name(),
        standing: Standing::Decides,
        text: Redactor::new([]).redact(&answer),
    };
    store.answer_question(number, new).await.map_err(explain)
}

/// Returns the failure for a number that is an approval's; both count in one sequence.
async fn is_approval(store: &Store, number: QuestionNumber) -> Option<Failure> {
    store.approval(ApprovalNumber(number.0)).await.ok().flatten()?;
    let failure = Failure::user(format!("{number} is an approval, not a question"));
    Some(failure.hint(format!(
        "`gangline approve {number}` allows it, `gangline deny {number}` refuses it"
    )))
}

fn explain(error: AnswerError) -> Failure {
    let hint = match &error {
        AnswerError::Unknown(_) => "`gangline questions` lists the open ones",
        AnswerError::Closed(_) => "`gangline questions --all` shows the answer and who gave it",
        AnswerError::Store(_) => "try again: an answer is never stored twice",
    };
    Failure::from(error).hint(hint)
}

fn number(text: &str) -> Result<QuestionNumber, &'static str> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let wanted = "give the question's number, such as 12: `gangline questions` lists them";
    digits.parse().map(QuestionNumber).map_err(|_| wanted)
}
