//! Answers as people write them on a line. The mention is stripped before ([`crate::mention`]).

use crate::{
    approval::{Moment, SEEN_AFTER},
    id::QuestionNumber,
};

/// The word that an answer with a number begins with.
const ANSWER: &str = "answer";

/// A line that has the form of an answer: `answer 12 2`, `answer 12 free text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLine<'a> {
    /// Which question.
    pub number: QuestionNumber,
    /// What is answered; may be empty.
    pub said: &'a str,
}

/// Returns the line as an answer, if it is one.
#[must_use]
pub fn parse(text: &str) -> Option<AnswerLine<'_>> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace)?;
    if !word.eq_ignore_ascii_case(ANSWER) {
        return None;
    }
    let rest = rest.trim_start();
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (number, said) = rest.split_at(end);
    let number = number.trim_end_matches([':', ',']).trim_start_matches('#');
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits)?;
    Some(AnswerLine { number: QuestionNumber(number), said: said.trim() })
}

/// A question that was announced in a private conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Which question.
    pub number: QuestionNumber,
    /// When it was announced there; `None` if it was not.
    pub at: Option<Moment>,
}

/// Returns the question that a line without a number answers. `open`: every open question to that
/// person, wherever it was announced. Only the one that is open, and was announced in this private
/// conversation long enough ago to be read.
#[must_use]
pub fn bare(open: &[Announced], said: Moment) -> Option<QuestionNumber> {
    let [one] = open else { return None };
    let announced = one.at?;
    (said.since(announced) >= SEEN_AFTER).then_some(one.number)
}
