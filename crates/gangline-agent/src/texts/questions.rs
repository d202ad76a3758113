//! Texts about questions.

use gangline_core::{AgentName, QuestionNumber, shown};
use gangline_store::QuestionRow;

/// A bare word may be meant for an approval and for a question: it does nothing.
pub(crate) fn or_approval(said: &str, number: QuestionNumber) -> String {
    let said = shown::label(said.trim());
    format!(
        "`{said}` alone may be meant for an approval or for question {number}, so it does nothing: \
         say `answer {number} {said}`, or `{said}` with the approval's number (`status` shows it)"
    )
}

/// An option's number alone, where several questions are open to whoever says it.
pub(crate) fn several(said: &str, me: &AgentName, open: &[QuestionRow]) -> String {
    let said = shown::label(said.trim());
    let words: Vec<String> = open
        .iter()
        .map(|row| match row.agent == *me {
            true => format!("`answer {} {said}`", row.number),
            false => format!("`/msg {} answer {} {said}`", row.agent, row.number),
        })
        .collect();
    let (count, words) = (open.len(), words.join(" or "));
    format!("{count} questions are open to you, so `{said}` alone answers none: say {words}")
}
