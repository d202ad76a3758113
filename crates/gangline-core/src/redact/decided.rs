//! What is hidden of a text on which somebody decides: a known value, which is shown as its source, and
//! what has the form of a secret, if it is a plain part of one word.
//!
//! Whoever decides must see what runs. So a form alone hides only characters that nothing changes on
//! the way, never a blank, a quote, a separator, a line or a path, and its length is said. All marks
//! stand between [`OPEN`] and [`CLOSE`]; an [`OPEN`] of the text itself is written as a mark too, so
//! no text can pass for one. Start at [`Redactor::decided`].

use std::{ops::Range, sync::Arc};

use super::{KNOWN_MIN, Known, MASK, Redacted, Redactor, UNNAMED, Visible, named, shapes};
use crate::shown;

/// What a mark begins with.
const OPEN: char = '‹';
/// What it ends with.
const CLOSE: char = '›';
/// An [`OPEN`] of the text itself.
const ITSELF: &str = "‹U+2039›";
/// So many characters of what is hidden by its form are shown, if it has [`SHOWN_FROM`].
const FIRST: usize = 4;
/// Of a shorter one too much would be known.
const SHOWN_FROM: usize = 12;
/// What stands between them and their mark.
const CUT: &str = "…";
/// The longest name of a source, in characters.
const SOURCE_MAX: usize = 40;
/// Signs that a word of plain characters may have besides letters and digits.
const PLAIN: &str = "_-.=+:@%,/";
/// A word that begins so may mean another one: `~` a folder, `=` a program's path in some shells.
const NO_BEGIN: &[char] = &['=', '~'];

/// Which parts of a text may be hidden by their form alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maskable<'a> {
    /// None: it is a path, or nobody knows what a shell makes of it.
    Nothing,
    /// Of a shell's command: a part of each of these argument words, as byte ranges.
    Words(&'a [Range<usize>]),
    /// Of any other text: a part of each line.
    Lines,
    /// All of it, if it is one plain word: its name means a secret.
    Value,
}

/// A text for somebody who decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The text, with marks.
    pub text: Redacted,
    /// The byte ranges of the original that marks stand for, in order.
    pub hidden: Vec<Range<usize>>,
}

/// How much the marks of a text hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hidden {
    /// Characters that are hidden by their form.
    pub characters: usize,
    /// Known values, which are shown as their sources.
    pub values: usize,
}

impl Hidden {
    /// Returns the sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let Self { characters, values } = other;
        Self { characters: self.characters + characters, values: self.values + values }
    }

    /// Returns it in words; nothing if nothing is hidden.
    #[must_use]
    pub fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.characters {
            0 => {}
            1 => notes.push("1 character is hidden".to_owned()),
            many => notes.push(format!("{many} characters are hidden")),
        }
        match self.values {
            0 => {}
            1 => notes.push("1 known value is shown by its name".to_owned()),
            many => notes.push(format!("{many} known values are shown by their names")),
        }
        notes
    }
}

impl Redactor {
    /// Returns the text for somebody who decides on it: known values are shown as their sources, and
    /// what has the form of a secret is hidden where it may be.
    #[must_use]
    pub fn decided(&self, text: &str, maskable: Maskable<'_>) -> Decided {
        let mut marks = sources(&self.known(), text);
        let known = marks.len();
        for part in by_form(text, maskable) {
            let next = marks[..known].partition_point(|it| it.at.end <= part.start);
            if marks[next..known].first().is_none_or(|it| part.end <= it.at.start) {
                let mark = form_mark(&text[part.clone()]);
                marks.push(Mark { at: part, text: mark });
            }
        }
        marks.sort_by_key(|mark| mark.at.start);
        // Words that lie within each other are the caller's mistake.
        marks.dedup_by(|next, mark| next.at.start < mark.at.end);
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for mark in &marks {
            push_literal(&mut out, &text[from..mark.at.start]);
            out.push_str(&mark.text);
            from = mark.at.end;
        }
        push_literal(&mut out, &text[from..]);
        let hidden = marks.into_iter().map(|mark| mark.at).collect();
        Decided { text: Redacted(out), hidden }
    }

    /// Returns a text that was made of such texts, with nothing hidden in it but known values.
    #[must_use]
    pub fn sourced(&self, text: &str) -> Redacted {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for mark in sources(&self.known(), text) {
            out.push_str(&text[from..mark.at.start]);
            out.push_str(&mark.text);
            from = mark.at.end;
        }
        out.push_str(&text[from..]);
        Redacted(out)
    }
}

/// Returns whether a name means that its value is a secret.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    named::means_secret(&name.to_ascii_lowercase())
}

/// Returns whether something of such a text is hidden, so that nobody who reads it has seen all.
#[must_use]
pub fn hides(text: &str) -> bool {
    // The second one is of rows from before there were marks.
    text.contains(OPEN) || text.contains(MASK)
}

/// Returns how much the marks of a text hide.
#[must_use]
pub fn hidden(text: &str) -> Hidden {
    let mut sum = Hidden::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((mark, behind)) = after.split_once(CLOSE) else { break };
        match length_of(mark) {
            Some(length) if before.ends_with(CUT) => sum.characters += length.saturating_sub(FIRST),
            Some(length) => sum.characters += length,
            None if mark.starts_with("U+") => {}
            None => sum.values += 1,
        }
        rest = behind;
    }
    sum
}

/// Returns the length that a mark says, if it stands for something that is hidden by its form.
fn length_of(mark: &str) -> Option<usize> {
    let length = mark.strip_suffix(" characters").or_else(|| mark.strip_suffix(" character"))?;
    length.parse().ok()
}

/// Returns a source as it is shown: no mark within a mark, and no value within its own name.
pub(super) fn source(name: &str, forms: &[String]) -> Arc<str> {
    let plain = |c: &char| !shown::is_hidden(*c) && ![OPEN, CLOSE].contains(c);
    let name: String = name.chars().filter(plain).take(SOURCE_MAX).collect();
    let tells = forms.iter().any(|form| name.contains(form.as_str()));
    let counts = length_of(&name).is_some() || name.starts_with("U+");
    if tells || counts || name.trim().is_empty() { UNNAMED.into() } else { name.trim().into() }
}

/// What stands in place of a part of the text.
struct Mark {
    at: Range<usize>,
    text: String,
}

/// Returns the marks of known values, in order, apart from each other, none over two lines.
fn sources(known: &Known, text: &str) -> Vec<Mark> {
    let seen = Visible::of(text);
    if !known.any(&seen.text) {
        return Vec::new();
    }
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for needle in &known.needles {
        let mut spans = Vec::new();
        super::find_overlapping(&seen.text, &needle.text, &mut spans);
        found.extend(spans.iter().map(|span| (seen.origin(span), &*needle.source)));
    }
    found.sort_by(|(a, _), (b, _)| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    let mut apart: Vec<(Range<usize>, &str)> = Vec::new();
    for (span, source) in found {
        match apart.last_mut() {
            Some((last, _)) if span.start < last.end => last.end = last.end.max(span.end),
            Some(_) | None => apart.push((span, source)),
        }
    }
    let marks = |(span, source): (Range<usize>, &str)| -> Vec<Mark> {
        let mark = format!("{OPEN}{source}{CLOSE}");
        let lines = lines_of(text, span).filter(|line| !line.is_empty());
        lines.map(|at| Mark { at, text: mark.clone() }).collect()
    };
    apart.into_iter().flat_map(marks).collect()
}

/// Returns the lines of a part of the text, without their breaks.
fn lines_of(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut from = part.start;
    text[part].split('\n').map(move |line| {
        let at = from..from + line.len();
        from = at.end + 1;
        at
    })
}

/// Returns the parts of the text that have the form of a secret and may be hidden, in order.
fn by_form(text: &str, maskable: Maskable<'_>) -> Vec<Range<usize>> {
    let pieces: Vec<Range<usize>> = match maskable {
        Maskable::Nothing => Vec::new(),
        Maskable::Words(words) => {
            let whole = |at: &&Range<usize>| text.get((*at).clone()).is_some_and(is_plain_word);
            words.iter().filter(whole).cloned().collect()
        }
        Maskable::Lines => lines_of(text, 0..text.len()).collect(),
        Maskable::Value if may_hide(text) && named::is_value(text) => {
            return std::iter::once(0..text.len()).collect();
        }
        Maskable::Value => lines_of(text, 0..text.len()).collect(),
    };
    let mut parts = Vec::new();
    for piece in pieces {
        let line = &text[piece.clone()];
        let mut spans = shapes::keys(line);
        // A value that something else takes by its name may be what runs.
        let uses = |span: &Range<usize>| {
            named::name_of(line, span.start).is_some_and(|name| takes(text, name))
        };
        spans.extend(named::spans(line).into_iter().filter(|span| !uses(span)));
        let spans = super::merged(spans).into_iter().filter(|span| may_hide(&line[span.clone()]));
        parts.extend(spans.map(|span| piece.start + span.start..piece.start + span.end));
    }
    parts
}

/// Returns whether a text takes a value by its name: `$token`, `${token}`, `%token%`, `run(token)`. Some
/// shells do not tell small letters from others.
fn takes(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        whole && (before.ends_with(['$', '{', '%', '(']) || after.starts_with(')'))
    })
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || PLAIN.contains(c)
}

/// Returns whether a shell gives the word to a program as it stands here.
fn is_plain_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(is_plain) && !word.starts_with(NO_BEGIN)
}

/// Returns whether a part of a word may be hidden: nothing that changes on the way, and no path.
fn may_hide(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| is_plain(c) && c != '/')
}

fn form_mark(part: &str) -> String {
    // All of it is ASCII.
    let length = part.len();
    match part.get(..FIRST).filter(|_| length >= SHOWN_FROM) {
        Some(first) => format!("{first}{CUT}{OPEN}{length} characters{CLOSE}"),
        None if length == 1 => format!("{OPEN}1 character{CLOSE}"),
        None => format!("{OPEN}{length} characters{CLOSE}"),
    }
}

fn push_literal(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        out.push_str(ITSELF);
        rest = after;
    }
    out.push_str(rest);
}

const _: () = assert!(UNNAMED.len() < KNOWN_MIN && FIRST < SHOWN_FROM);

#[cfg(test)]
mod tests;
