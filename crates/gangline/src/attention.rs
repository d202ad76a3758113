//! Answers to findings from the command line and over HTTP: the daemon's part by its socket, the rest
//! by the store.

use gangline_agent::attention::{self, Left, NotChosen, Site};
use gangline_core::{
    AgentName, ApprovalNumber, FindingNumber, QuestionNumber, Redactor,
    approval::{self, DecisionLine, Reach},
    finding::ChoiceWord,
    pause::Continue,
    question::{self, Standing},
    shown,
};
use gangline_os::change_notice;
use gangline_store::{FindingError, FindingRow, NewAnswer, RuleRow, Ruling, Stored};

use crate::{
    control::{self, Taken, Word},
    failure::Failure,
    fleet, owner,
};

#[cfg(test)]
mod tests;

/// What was chosen, and what came of it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) row: FindingRow,
    pub(crate) choice: ChoiceWord,
    pub(crate) done: String,
}

/// Answers a finding: does what the word says, then resolves it.
pub(crate) async fn answer(
    site: Site<'_>,
    number: FindingNumber,
    said: &str,
) -> Result<Answered, Failure> {
    let (row, choice) = match attention::chosen(site.store, number, said).await {
        Ok(chosen) => chosen,
        Err(error) => return Err(not_chosen(site, error).await),
    };
    if attention::guides(&row, choice) {
        let done = guide(site, &row, choice).await?;
        return Ok(Answered { row, choice, done });
    }
    let done = match attention::carry_out(site, &row, choice).await? {
        Left::Done(done) => done,
        Left::Resume => tell(site, &row.agent, Word::Resume).await?,
        Left::Abort => tell(site, &row.agent, Word::Interrupt).await?,
    };
    attention::settle(site, number, choice).await?;
    Ok(Answered { row, choice, done })
}

/// Answers an escalation: its rows are all that is needed. Returns what came of it.
async fn guide(site: Site<'_>, row: &FindingRow, choice: ChoiceWord) -> Result<String, Failure> {
    let agent = &row.agent;
    let ends = attention::guide(site, row, choice).await.map_err(not_found)?;
    let runs = fleet::holder(site.paths, agent)?.is_some();
    if choice == ChoiceWord::Resume && runs {
        // A backend that is parked, or waits for a login, is tried again: that is no row. What was
        // answered stands without it.
        let _ = control::tell_aside((site.store, site.paths), agent, Word::Resume).await;
    }
    let word = attention::continues(choice).unwrap_or(Continue::Resume);
    let held = control::still_held(site.store, agent, word).await?;
    let later = if runs { "" } else { " once its daemon runs" };
    let done = match (word, ends, &held) {
        (Continue::Resume, _, Some(held)) => return Ok(held.clone()),
        (Continue::Resume, _, None) => format!("{agent} goes on{later}"),
        (Continue::Abort, Some(_), _) => format!("{agent} ends its turn{later}"),
        (Continue::Abort, None, Some(_)) => "no turn is open".to_owned(),
        (Continue::Abort, None, None) => format!("{agent} goes on{later}: no turn is open"),
    };
    Ok(held.map_or_else(|| done.clone(), |held| format!("{done}. {held}")))
}

/// Tells an agent; returns what came of it.
async fn tell(site: Site<'_>, agent: &AgentName, word: Word) -> Result<String, Failure> {
    let taken = control::tell_aside((site.store, site.paths), agent, word).await?;
    let held = control::held_after(site.store, agent, word).await?;
    if word == Word::Resume
        && taken.is_ok()
        && let Some(held) = held
    {
        return Ok(held);
    }
    let done = match (word, taken) {
        (Word::Resume, Ok(Taken::ByDaemon)) => format!("{agent} goes on"),
        (Word::Resume, taken) => {
            taken?;
            format!("{agent} goes on once its daemon runs")
        }
        (_, Ok(Taken::ByDaemon)) => format!("{agent} ends its turn"),
        (_, Ok(_)) if held.is_some() => "no turn is open".to_owned(),
        (_, Ok(_)) => format!("{agent} goes on once its daemon runs: no turn is open"),
        // It has ended meanwhile.
        (_, Err(_)) if fleet::holder(site.paths, agent)?.is_none() => {
            format!("the daemon of {agent} is not running, so no turn is open")
        }
        (_, Err(refused)) => return Err(held.into_iter().fold(refused, Failure::hint)),
    };
    Ok(held.map_or_else(|| done.clone(), |held| format!("{done}. {held}")))
}

/// Returns the failure with what to do; of `resume` and `abort` also what holds the agent.
async fn not_chosen(site: Site<'_>, error: NotChosen) -> Failure {
    let (agent, said) = match &error {
        NotChosen::NoSuchWord { agent, said, .. } => (agent, said),
        NotChosen::Finding(_) => return explain(error),
    };
    let choice = said.trim().to_lowercase().parse().ok();
    let held = match choice.and_then(attention::continues) {
        Some(word) => control::still_held(site.store, agent, word).await.ok().flatten(),
        None => None,
    };
    held.into_iter().fold(explain(error), Failure::hint)
}

fn explain(error: NotChosen) -> Failure {
    match error {
        NotChosen::Finding(error) => not_found(error),
        NotChosen::NoSuchWord { .. } => {
            Failure::from(error).hint("`gangline attention` shows what each choice does")
        }
    }
}

/// Returns the failure of a finding that is not there or not open.
pub(crate) fn not_found(error: FindingError) -> Failure {
    let hint = match &error {
        FindingError::Unknown(_) => "`gangline attention` lists what waits",
        FindingError::Resolved { .. } => "`gangline attention --all` shows what became of it",
        FindingError::NoSuchChoice { .. } => "`gangline attention` shows what each choice does",
        FindingError::Store(_) => "try again: a finding is never resolved twice",
    };
    Failure::from(error).hint(hint)
}

/// Answers whatever waits under a number, as the owner. Returns what was done.
pub(crate) async fn answer_any(site: Site<'_>, number: i64, said: &str) -> Result<String, Failure> {
    let store = site.store;
    if store.one_finding(FindingNumber(number)).await?.is_some() {
        return answer(site, FindingNumber(number), said).await.map(|it| it.done);
    }
    if let Some(row) = store.question(QuestionNumber(number)).await? {
        let answer = question::resolve(&row.options, row.choose, said).map_err(|error| {
            Failure::user(format!("question {number} is not answered: {error}"))
        })?;
        let new = NewAnswer {
            by: owner::principal(),
            known_as: site.by.to_owned(),
            standing: Standing::Decides,
            text: Redactor::new([]).redact(&answer),
        };
        let closed = store.answer_question(row.number, new).await.map_err(Failure::from)?;
        for agent in std::iter::once(&closed.row.agent).chain(closed.row.asked.agents()) {
            change_notice::notify(&site.paths.change_notice(agent.folded()));
        }
        return Ok(format!("question {number} is {}", closed.row.state));
    }
    let approval = ApprovalNumber(number);
    if store.approval(approval).await?.is_none() && store.change(approval).await?.is_none() {
        let nothing = Failure::user(format!("nothing waits under {number}"));
        return Err(nothing.hint("`gangline attention` lists what waits, with its numbers"));
    }
    decide(site, approval, said).await
}

/// Decides an approval or a change by `yes`, `no REASON` or `yes always`.
async fn decide(site: Site<'_>, number: ApprovalNumber, said: &str) -> Result<String, Failure> {
    let Some(DecisionLine { decision, reach, reason, .. }) = decision(number, said) else {
        return Err(undecided(number, said));
    };
    let masks = Redactor::new([]);
    let text = approval::view::decided(&number.to_string(), decision, site.by, reason.as_deref());
    let ruling = Ruling {
        decision,
        by: owner::principal(),
        known_as: site.by.to_owned(),
        note: reason.as_deref().map(|reason| masks.redact(reason)),
        say: Some(masks.redact(&text)),
    };
    let store = site.store;
    let (agent, text) = if store.change(number).await?.is_some() {
        if reach == Reach::Always {
            return Err(no_always(number));
        }
        let row = store.decide_change(number, ruling).await.map_err(Failure::from)?;
        change_notice::notify(&site.paths.change_notice("hub"));
        (row.agent, text)
    } else if reach == Reach::Always {
        let always = store.decide_always(number, ruling).await.map_err(Failure::from)?;
        let stored = stored(&always.stored).trim_end().replace('\n', "; ");
        (always.decided.agent, format!("{text}; {stored}"))
    } else {
        (store.decide(number, ruling).await.map_err(Failure::from)?.agent, text)
    };
    change_notice::notify(&site.paths.change_notice(agent.folded()));
    Ok(text)
}

/// Returns the failure of `always` for a change: no rule can stand for one.
pub(crate) fn no_always(number: ApprovalNumber) -> Failure {
    let text = format!("approval {number} is about one change, so it cannot be allowed always");
    Failure::user(text)
        .hint(format!("`gangline approve {number}` allows it, as the answer `yes` does"))
}

/// Returns what `always` stored, and how to undo it: lines.
pub(crate) fn stored(stored: &Stored) -> String {
    let rules = match stored {
        Stored::Nothing(why) => {
            return format!("the agent will ask again: no rule is stored, because {why}\n");
        }
        Stored::Rules(rules) => rules,
    };
    let line = |row: &RuleRow| {
        format!("rule {} of {} is stored: {}\n", row.rule.number, row.agent, row.rule)
    };
    let lines: String = rules.iter().map(line).collect();
    let numbers: Vec<String> = rules.iter().map(|row| row.rule.number.to_string()).collect();
    format!("{lines}to undo it: `gangline policy remove {}`\n", numbers.join(" "))
}

/// Reads an answer to an approval in the words of the chat.
pub(crate) fn decision(number: ApprovalNumber, said: &str) -> Option<DecisionLine> {
    let (word, rest) = said.trim().split_once(char::is_whitespace).unwrap_or((said.trim(), ""));
    let line = approval::parse(&format!("{word} {number} {}", rest.trim()))?;
    (line.number == Some(number)).then_some(line)
}

/// Returns the failure of words that decide nothing.
pub(crate) fn undecided(number: ApprovalNumber, said: &str) -> Failure {
    Failure::user(format!("`{}` does not decide approval {number}", shown::label(said)))
        .hint("say `yes`, `no`, `no` with a reason, or `yes always`")
        .hint(format!("`gangline approvals {number}` shows all of it"))
}
