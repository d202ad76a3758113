//! Texts on their way in and out: what is pasted, by what it is known again, and what of a screen
//! is an answer. Pure.

use super::{
    profile::{Kind, Paste, Profile},
    screen::{is_border, squash},
};

#[cfg(test)]
mod tests;

/// Characters by whose sight a text is known to have arrived.
const TAIL: usize = 24;
/// Bytes and lines that every input box shows as a whole.
const SHORT: usize = 300;
const SHORT_LINES: usize = 4;
/// Characters by which the echo of a text is found again.
const HEAD: usize = 24;
/// The most that is kept of an answer: its end.
pub(super) const ANSWER_MAX: usize = 256 * 1024;
/// What stands in place of the rest.
const CUT: &str = "[the beginning is left out]\n";

/// Returns the text as it may be typed: no control characters, so that nothing in it is a key.
pub(super) fn typed(text: &str, paste: Paste) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let line_end = match paste {
        Paste::Bracketed => '\n',
        Paste::OneLine => ' ',
    };
    let mut typed = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' => typed.push(line_end),
            '\t' => typed.push_str("    "),
            c if c.is_control() => {}
            c => typed.push(c),
        }
    }
    typed
}

/// By what a text is known again in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Receipt {
    whole: String,
    /// Where its last characters begin.
    tail: usize,
}

/// How much of an input is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight<'a> {
    /// All of it; without the text it shows this.
    Whole { before: &'a str },
    /// Its beginning may be somewhere else.
    End,
}

impl Receipt {
    pub(super) fn of(text: &str) -> Self {
        let whole = essence(text);
        let tail = whole.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
        Self { whole, tail }
    }

    /// Says whether an input shows the text; `before` is what it showed without it.
    pub(super) fn seen(&self, input: &str, sight: Sight<'_>, profile: &Profile) -> bool {
        let placeholder = |text: &String| input.contains(&squash(text));
        let shown = essence(input);
        let itself = match (self.whole.as_str(), sight) {
            ("", Sight::Whole { before }) => input != before,
            ("", Sight::End) => !input.is_empty(),
            // Not less, and not twice.
            (whole, Sight::Whole { before }) => {
                let behind = shown.strip_prefix(&essence(before));
                // What it showed before may have been a hint.
                behind.is_some_and(|rest| rest == whole) || shown == whole
            }
            (whole, Sight::End) => shown.ends_with(&whole[self.tail..]),
        };
        itself || profile.placeholders.iter().any(placeholder)
    }

    /// Says whether a program that took `taken` took the text: that, or a long one with words of the
    /// program's own around it.
    pub(super) fn is_in(&self, taken: &str) -> bool {
        let taken = essence(taken);
        taken == self.whole || (self.tail > 0 && taken.contains(&self.whole))
    }

    /// Says whether the text is so short that an input box shows all of it.
    pub(super) fn is_short(text: &str) -> bool {
        text.len() <= SHORT && text.lines().count() <= SHORT_LINES
    }
}

/// Returns what every terminal shows as it is: of symbols and marks many make something else.
fn essence(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() || c.is_ascii_graphic()).collect()
}

/// Rows of history and screen, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Captured {
    /// The rows, wrapped ones joined.
    pub(super) lines: Vec<String>,
    /// Whether more has come than the history keeps.
    pub(super) overflowed: bool,
}

/// What of a capture was written by the program since the prompt.
pub(super) struct Since<'a> {
    pub(super) captured: &'a Captured,
    /// What was typed.
    pub(super) prompt: &'a str,
}

impl Since<'_> {
    /// Returns the answer; empty if there is none.
    pub(super) fn answer(&self, profile: &Profile) -> String {
        let lines = match profile.kind {
            Kind::Line => self.without_prompt(profile),
            Kind::Box => self.behind_the_echo(profile),
        };
        let plain: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        let block = last_block(&plain, &profile.answer);
        let kept: Vec<&str> = block.into_iter().filter(|line| !is_chrome(line, profile)).collect();
        bounded(&dedent(&kept, &profile.answer), self.captured.overflowed)
    }

    /// The lines begin behind the echo; the last one is the next prompt.
    fn without_prompt(&self, profile: &Profile) -> &[String] {
        let end = self
            .captured
            .lines
            .iter()
            .rposition(|line| !line.trim().is_empty())
            .map_or(0, |at| at + 1);
        match self.captured.lines[..end].split_last() {
            Some((last, rest)) if is_prompt(last, profile) => rest,
            _ => &self.captured.lines[..end],
        }
    }

    fn behind_the_echo(&self, profile: &Profile) -> &[String] {
        let is_input = |line: &&String| sign_of(line, profile).is_some();
        let input = self.captured.lines.iter().rposition(|line| is_input(&line));
        let end = input.unwrap_or(self.captured.lines.len());
        let head: String = squash(self.prompt).chars().take(HEAD).collect();
        let is_echo = |line: &String| {
            sign_of(line, profile).is_some_and(|rest| {
                let rest = squash(rest);
                let placeholder = profile.placeholders.iter().any(|it| rest.contains(&squash(it)));
                let same = !rest.is_empty() && (rest.starts_with(&head) || head.starts_with(&rest));
                placeholder || same
            })
        };
        let Some(echo) = self.captured.lines[..end].iter().rposition(is_echo) else {
            return &self.captured.lines[..end];
        };
        // The echo goes on until an empty line.
        let behind = self.captured.lines[echo..end].iter().position(|line| line.trim().is_empty());
        &self.captured.lines[behind.map_or(end, |at| echo + at)..end]
    }
}

/// Returns what follows the input's sign, if the line has one.
fn sign_of<'a>(line: &'a str, profile: &Profile) -> Option<&'a str> {
    let bare = line.trim_start_matches(is_border);
    profile.ready.iter().find_map(|sign| {
        let rest = bare.strip_prefix(sign.trim_end())?;
        (rest.is_empty() || rest.starts_with([' ', '\u{a0}'])).then_some(rest)
    })
}

fn is_prompt(line: &str, profile: &Profile) -> bool {
    let line = line.trim_end();
    profile.ready.iter().any(|sign| line.ends_with(sign.trim_end()))
}

/// Returns the lines from the last that begins an answer; all of them, where none does.
fn last_block<'a>(lines: &[&'a str], marks: &[String]) -> Vec<&'a str> {
    let begins = |line: &&str| marks.iter().any(|mark| line.starts_with(mark.as_str()));
    let from = lines.iter().rposition(begins).unwrap_or(0);
    lines[from..].to_vec()
}

/// Says whether a line is a frame, or one of the program's own notes.
fn is_chrome(line: &str, profile: &Profile) -> bool {
    let bare = line.trim_start();
    let note = |mark: &String| bare.starts_with(mark.as_str());
    let frame = !bare.is_empty() && bare.chars().all(is_border);
    frame || profile.chrome.iter().any(note)
}

/// Takes away the mark and the indentation that belongs to it, and empty lines around.
fn dedent(lines: &[&str], marks: &[String]) -> String {
    let mut width = 0;
    let mut out: Vec<&str> = Vec::with_capacity(lines.len());
    for line in lines {
        let mark = marks.iter().find_map(|mark| line.strip_prefix(mark.as_str()));
        if let Some(rest) = mark {
            width = line.chars().count() - rest.chars().count();
            out.push(rest);
        } else {
            let indent = line.chars().take(width).take_while(|c| *c == ' ').count();
            out.push(&line[indent..]);
        }
    }
    let first = out.iter().position(|line| !line.trim().is_empty()).unwrap_or(out.len());
    let last = out.iter().rposition(|line| !line.trim().is_empty()).map_or(first, |at| at + 1);
    out[first..last].join("\n")
}

/// Keeps the end of a text that is too long, and says so; also when the beginning was lost before.
fn bounded(text: &str, overflowed: bool) -> String {
    let room = ANSWER_MAX - CUT.len();
    if text.is_empty() || (text.len() <= room && !overflowed) {
        return text.to_owned();
    }
    let mut from = text.len().saturating_sub(room);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let rest = &text[from..];
    let rest = match rest.split_once('\n') {
        Some((_, lines)) if from > 0 => lines,
        Some(_) | None => rest,
    };
    format!("{CUT}{rest}")
}
