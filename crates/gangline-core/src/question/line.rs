//! Answers as people write them on a line. The mention is stripped before ([`crate::mention`]).

use crate::{
    approval::{Announced, Moment, SEEN_AFTER, view::Extent},
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

/// Returns the line as an answer without its word, `12 2` or `12 1,3`, if it is one. It answers nothing: it may be
/// meant otherwise.
#[must_use]
pub fn without_word(text: &str) -> Option<AnswerLine<'_>> {
    let (number, said) = text.trim().split_once(char::is_whitespace)?;
    let digits = number.trim_start_matches('#').trim_end_matches([':', ',']);
    let number = digits.parse().ok().filter(|_| is_option(digits) && is_option(said))?;
    Some(AnswerLine { number: QuestionNumber(number), said: said.trim() })
}

/// A question that is open to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// Which question.
    pub number: QuestionNumber,
    /// How it was announced in this private conversation; `None` if it was not, or if it is another
    /// agent's.
    pub announced: Option<Announced>,
}

impl Open {
    /// Returns whether whoever says something now can have read the announcement in this conversation.
    /// `said`: when; `None` if the line comes from history.
    #[must_use]
    pub fn is_read(&self, said: Option<Moment>) -> bool {
        let read = |(it, said): (Announced, Moment)| said.since(it.at) >= SEEN_AFTER;
        self.announced.zip(said).is_some_and(read)
    }
}

/// What a line without a number means for the questions that are open to whoever says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bare {
    /// It answers this one.
    Answers(QuestionNumber),
    /// It is an option's number, and may be meant for any of them.
    Several,
    /// It answers nothing: a prompt like any other.
    Prompt,
}

/// Says what a private line without a number means. `open`: every question that is open to that
/// person, wherever it was announced. A line answers the only one, if all of it was announced in this
/// conversation long enough before to be read. `said`: when; `None` if the line comes from history.
#[must_use]
pub fn bare(text: &str, open: &[Open], said: Option<Moment>) -> Bare {
    match open {
        [one] => {
            let is_whole = one.announced.is_some_and(|it| it.extent == Extent::Whole);
            match is_whole && one.is_read(said) {
                true => Bare::Answers(one.number),
                false => Bare::Prompt,
            }
        }
        [_, _, ..] if is_option(text) => Bare::Several,
        [] | [_, _, ..] => Bare::Prompt,
    }
}

/// Returns whether a line is the number of an option, or several of them.
fn is_option(text: &str) -> bool {
    let mut words = text.split([',', ' ']).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}
