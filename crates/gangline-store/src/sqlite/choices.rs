//! Statements of choices: what a person's answer to a finding does, and the end of the finding, in one commit.

use gangline_core::{MessageId, finding::ChoiceWord, pause::PauseReason};

use super::{Writer, causes, fault::Fault, findings, messages, orders, pauses, turn_orders};
use crate::{
    error::FindingError,
    types::{ChoiceDone, Desired, FindingAnswer, FindingAnswered, FindingRow, RestartWhen},
};

/// Resolves a finding by a person's choice, and does what the choice says.
pub(crate) fn answer(
    w: &mut Writer,
    answer: &FindingAnswer,
) -> Result<Result<FindingAnswered, FindingError>, Fault> {
    let FindingAnswer { number, choice, by, .. } = answer;
    // First: what the choice does resolves findings of its own accord, and not by a choice.
    let finding = match findings::decide(w, *number, *choice, by)? {
        Ok(finding) => finding,
        Err(error) => return Ok(Err(error)),
    };
    let done = carry_out(w, &finding, answer)?;
    Ok(Ok(FindingAnswered { finding, done }))
}

fn carry_out(
    w: &mut Writer,
    finding: &FindingRow,
    answer: &FindingAnswer,
) -> Result<ChoiceDone, Fault> {
    let FindingAnswer { choice, by, released, .. } = answer;
    let agent = &finding.agent;
    match choice {
        ChoiceWord::Resume => {
            pauses::resume_all(w, agent)?;
            turn_orders::resume(w, agent, by)?;
            Ok(ChoiceDone::Resumed)
        }
        ChoiceWord::Abort => {
            let ends = turn_orders::open_turn(&w.connection, agent)?;
            if let Some(turn) = ends {
                turn_orders::end_one(w, agent, (turn, by))?;
            }
            pauses::end(w, agent, (PauseReason::Escalation, None))?;
            findings::pause_over(w, agent, PauseReason::Escalation)?;
            Ok(ChoiceDone::Aborted(ends))
        }
        ChoiceWord::Retry => about(finding, |message| {
            Ok(match messages::retry(w, message, by)? {
                true => ChoiceDone::Retried(message),
                false => ChoiceDone::NotGivenUp(message),
            })
        }),
        ChoiceWord::Release => {
            about(finding, |root| Ok(ChoiceDone::Released(causes::release(w, root, *released)?)))
        }
        ChoiceWord::Start => {
            orders::desire(w, agent, Desired::Up, by)?;
            Ok(ChoiceDone::Started)
        }
        ChoiceWord::Restart => {
            orders::restart(w, agent, RestartWhen::Immediately, by)?;
            Ok(ChoiceDone::Restarted)
        }
        ChoiceWord::Dismiss => Ok(ChoiceDone::Dismissed),
    }
}

fn about(
    finding: &FindingRow,
    choice: impl FnOnce(MessageId) -> Result<ChoiceDone, Fault>,
) -> Result<ChoiceDone, Fault> {
    match finding.message {
        Some(message) => choice(message),
        None => Ok(ChoiceDone::NoMessage),
    }
}
