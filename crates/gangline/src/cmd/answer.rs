//! `gangline answer`: answers what waits under a number: a question, an approval or a finding.

use gangline_agent::attention::Site;
use gangline_api::approval::Decision;
use gangline_core::{
    ApprovalNumber, FindingNumber, QuestionNumber, Redactor,
    approval::Reach,
    attention::{Affects, ItemKind},
    cause::TURNS_PER_CAUSE,
    question,
    question::Standing,
};
use gangline_os::change_notice;
use gangline_store::{AnswerError, NewAnswer, QuestionClosed, Store};

use super::{decide, prompt, questions};
use crate::{
    attention, caller,
    cli::{Global, approval::Decide},
    failure::Failure,
    output, place,
    place::Installation,
    show, store,
};

/// Answer what waits for you under a number
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number: `gangline attention` lists all that waits, `gangline questions` the questions
    #[arg(value_parser = number)]
    number: i64,
    /// For a question the number of an option (several: 1,3) or a text; for an approval `yes`, `no
    /// REASON` or `yes always`; for a finding one of its choices
    #[arg(required_unless_present = "cancel")]
    answer: Vec<String>,
    /// Withdraw the question instead; the agent gets the answer `[cancelled]`
    #[arg(long, conflicts_with = "answer")]
    cancel: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("answer for the owner")?;
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let said = args.answer.join(" ");
    match (kind(&store, args.number).await?, args.cancel) {
        (Some(ItemKind::Approval), true) => Err(Failure::user(format!(
            "{} is an approval, which only its agent withdraws",
            args.number
        ))
        .hint(format!("`gangline answer {} no` refuses it", args.number))),
        (Some(ItemKind::Approval), false) => approval(global, args.number, &said).await,
        (Some(ItemKind::Finding), true) => {
            finding(global, &installation, &store, args.number, "dismiss").await
        }
        (Some(ItemKind::Finding), false) => {
            finding(global, &installation, &store, args.number, &said).await
        }
        (Some(ItemKind::Question) | None, cancel) => {
            let said = (!cancel).then_some(said.as_str());
            question(global, &installation, &store, (QuestionNumber(args.number), said)).await
        }
    }
}

/// Returns what a number is of; all count in one sequence.
async fn kind(store: &Store, number: i64) -> Result<Option<ItemKind>, Failure> {
    if store.question(QuestionNumber(number)).await?.is_some() {
        return Ok(Some(ItemKind::Question));
    }
    if store.one_finding(FindingNumber(number)).await?.is_some() {
        return Ok(Some(ItemKind::Finding));
    }
    let approval = ApprovalNumber(number);
    let known =
        store.approval(approval).await?.is_some() || store.change(approval).await?.is_some();
    Ok(known.then_some(ItemKind::Approval))
}

async fn question(
    global: &Global,
    installation: &Installation,
    store: &Store,
    (number, said): (QuestionNumber, Option<&str>),
) -> Result<u8, Failure> {
    let paths = &installation.paths;
    let closed = match said {
        None => store.cancel_question(number, decide::owner()).await.map_err(explain),
        Some(said) => answered(store, number, said).await,
    }?;
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
        prompt::warn_if_down(paths, &row.agent, "the answer");
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

/// Decides an approval in the words of the chat: `yes`, `no REASON`, `yes always`.
async fn approval(global: &Global, number: i64, said: &str) -> Result<u8, Failure> {
    let Some(parsed) = attention::decision(ApprovalNumber(number), said) else {
        return Err(attention::undecided(ApprovalNumber(number), said));
    };
    let decide = Decide { number: ApprovalNumber(number), reason: parsed.reason };
    match (parsed.decision, parsed.reach) {
        (Decision::Allow, Reach::Always) => decide::always(global, decide).await,
        (decision, _) => decide::run(global, decide, decision).await,
    }
}

async fn finding(
    global: &Global,
    installation: &Installation,
    store: &Store,
    number: i64,
    said: &str,
) -> Result<u8, Failure> {
    let number = FindingNumber(number);
    let loaded = installation.configuration();
    let released = loaded.map_or(TURNS_PER_CAUSE, |it| it.config.turns_per_cause.into());
    let by = caller::name();
    let site = Site { store, paths: &installation.paths, by: &by, released };
    let answered = attention::answer(site, number, said).await?;
    if global.json {
        let row = store.one_finding(number).await?.unwrap_or(answered.row);
        output::json(&show::attention::wire(&row.into_item(Affects::default())))?;
    } else {
        let (choice, agent) = (answered.choice, &answered.row.agent);
        output::print(&format!("finding {number} of {agent}: {choice}: {}\n", answered.done))?;
    }
    Ok(0)
}

fn explain(error: AnswerError) -> Failure {
    let hint = match &error {
        AnswerError::Unknown(_) => {
            "`gangline attention` lists what waits, `gangline questions` the questions"
        }
        AnswerError::Closed(_) => "`gangline questions --all` shows the answer and who gave it",
        AnswerError::Store(_) => "try again: an answer is never stored twice",
    };
    Failure::from(error).hint(hint)
}

/// Reads a number of the attention list.
pub(super) fn number(text: &str) -> Result<i64, &'static str> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let wanted = "give a number, such as 12: `gangline attention` lists what waits";
    digits.parse().map_err(|_| wanted)
}
