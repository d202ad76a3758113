//! Mentions: which agent a line is for, and the prompt made from it.
//!
//! A line addresses an agent by `@nick` or `@short-name` anywhere, or by either of them with `:` or
//! `,` behind it at its start, or at the start of one of its lines if it is a message of several
//! (R0-36). Case is folded; a name is a whole word: `@spark-ada-2` is not for `spark-ada`.

use std::{iter::Peekable, str::Chars};

use crate::{
    name::{AgentName, fold},
    near,
    shown::BREAK,
};

pub use frame::{Frame, Place, escape, prompt_text};

mod frame;

/// Returns those of the agents that the line addresses, in the order in which they are given.
///
/// A word that is one agent's whole name is not another's short name.
#[must_use]
pub fn addressed<'a>(text: &str, agents: &[&'a AgentName]) -> Vec<&'a AgentName> {
    let text = plain(text);
    let mut found: Vec<&AgentName> = Vec::new();
    for word in at_words(&text) {
        found.extend(named(word, agents));
    }
    for line in text.split(BREAK) {
        let mut rest = line.trim_start();
        while let Some((called, tail)) = vocative(rest, agents) {
            found.extend(called);
            rest = tail;
        }
    }
    agents.iter().copied().filter(|agent| found.contains(agent)).collect()
}

/// Returns the line without the addresses at its start and end, for what reads the whole text as
/// a word (`@ada yes 12` and `yes 12 @ada` are `yes 12`).
#[must_use]
pub fn strip(text: &str, agents: &[&AgentName]) -> String {
    let text = plain(text);
    let mut rest = text.trim();
    loop {
        if let Some((_, tail)) = vocative(rest, agents) {
            rest = tail.trim_start();
        } else if let Some(tail) = leading_at(rest, agents) {
            rest = tail;
        } else if let Some(head) = trailing_at(rest, agents) {
            rest = head;
        } else {
            return rest.to_owned();
        }
    }
}

/// What a line addressed to an unknown name was meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unheard<'a> {
    /// An agent is called nearly so.
    Near {
        /// What was written.
        said: String,
        /// Who may have been meant.
        meant: &'a AgentName,
    },
    /// No agent has this name or a similar one.
    Nobody {
        /// What was written.
        said: String,
    },
}

/// Returns what its author should hear about a line in a room that addresses no agent and tries to:
/// it names somebody by `@word`, or `word:` at its start, and that is nearly an agent's name; or it
/// begins with an `@word` that nobody has for a name. `is_here` knows the names of all others.
#[must_use]
pub fn unheard<'a>(
    text: &str,
    agents: &[&'a AgentName],
    is_here: &dyn Fn(&str) -> bool,
) -> Option<Unheard<'a>> {
    if !addressed(text, agents).is_empty() {
        return None;
    }
    let text = plain(text);
    let start = text.trim_start();
    let called = word_of(start);
    let called = start[called.len()..].starts_with([':', ',']).then_some(called);
    let names = at_words(&text).chain(called).map(|word| word.trim_end_matches(['-', '_']));
    for said in names.filter(|word| !word.is_empty() && !is_here(word)) {
        let folded = fold(said);
        // The nearest of those that are near; of several, the first.
        let edits = |agent: &&&AgentName| {
            let names = [agent.folded().to_owned(), fold(agent.short())];
            let near = names.iter().filter(|name| near::is_near(&folded, name));
            near.filter_map(|name| near::distance(&folded, name)).min()
        };
        let near = agents.iter().filter(|agent| edits(agent).is_some());
        if let Some(meant) = near.min_by_key(edits) {
            return Some(Unheard::Near { said: said.to_owned(), meant });
        }
    }
    let said = word_of(start.strip_prefix('@')?);
    let name = said.starts_with(char::is_alphabetic) && !is_here(said);
    name.then(|| Unheard::Nobody { said: said.to_owned() })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// Returns the words that follow an `@` which itself follows no word.
fn at_words(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').filter_map(|(at, _)| {
        // A word before it makes a mail address of it; markdown's underscore does not.
        let free = !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        free.then(|| word_of(&text[at + 1..]))
    })
}

fn word_of(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// Returns the agents that a word names: by whole name, else by short name. Hyphens and
/// underscores behind it may belong to the sentence.
fn named<'a>(word: &str, agents: &[&'a AgentName]) -> Vec<&'a AgentName> {
    let bare = word.trim_end_matches(['-', '_']);
    for word in [word, bare] {
        let word = fold(word);
        for name in [AgentName::as_str, AgentName::short] {
            let found: Vec<&AgentName> =
                agents.iter().copied().filter(|agent| fold(name(agent)) == word).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// Returns the agents that the text begins with (`nick:`, `short-name,`), and the text behind that.
fn vocative<'a, 't>(
    text: &'t str,
    agents: &[&'a AgentName],
) -> Option<(Vec<&'a AgentName>, &'t str)> {
    let word = word_of(text);
    let tail = text[word.len()..].strip_prefix([':', ','])?;
    let ends = tail.is_empty() || tail.starts_with(char::is_whitespace);
    let called = named(word, agents);
    (ends && !called.is_empty()).then(|| (called, tail.trim_start()))
}

fn leading_at<'t>(text: &'t str, agents: &[&AgentName]) -> Option<&'t str> {
    let word = word_of(text.strip_prefix('@')?);
    let named = !named(word, agents).is_empty();
    named.then(|| text[1 + word.len()..].trim_start_matches([':', ',']).trim_start())
}

fn trailing_at<'t>(text: &'t str, agents: &[&AgentName]) -> Option<&'t str> {
    let at = text.rfind('@')?;
    let word = &text[at + 1..];
    let is_last = word.chars().all(is_word) && !named(word, agents).is_empty();
    let free = text[..at].ends_with(char::is_whitespace);
    (is_last && free).then(|| text[..at].trim_end().trim_end_matches(','))
}

/// Returns the text without IRC formatting (a colour's digits included) and control characters.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\u{3}' {
            let colour = |c: &char| c.is_ascii_digit();
            let shown = rest.next_if(colour).is_some();
            let _second_digit = rest.next_if(colour);
            let mut ahead = rest.clone();
            if shown && ahead.next() == Some(',') && ahead.next().is_some_and(|c| colour(&c)) {
                let _comma = rest.next();
                let _first = rest.next();
                let _second = rest.next_if(colour);
            }
        } else if c == '\u{4}' {
            skip_hex_colours(&mut rest);
        } else if c.is_whitespace() {
            out.push(' ');
        } else if !c.is_control() {
            out.push(c);
        }
    }
    out
}

/// Skips the one or two colours behind a code for them: six digits, a comma, six more.
fn skip_hex_colours(rest: &mut Peekable<Chars<'_>>) {
    let Some(behind) = behind_colour(rest.clone()) else { return };
    *rest = behind.clone();
    let mut second = behind;
    if second.next() == Some(',')
        && let Some(behind) = behind_colour(second)
    {
        *rest = behind;
    }
}

/// Returns what follows six hexadecimal digits; `None` if they are not there.
fn behind_colour(mut text: Peekable<Chars<'_>>) -> Option<Peekable<Chars<'_>>> {
    (0..6).all(|_| text.next().is_some_and(|c| c.is_ascii_hexdigit())).then_some(text)
}

#[cfg(test)]
mod tests;
