//! Foreign text made safe to show: invisible characters are written out, as `<U+202E>`.
//!
//! Three forms are exact, for what somebody decides on or recognises somebody by: [`code`] (a
//! command on one line), [`lines`] (the same on its own lines) and [`label`] (names, headings,
//! notes). [`talk`] is for conversation, where emoji, Persian and Hebrew need characters that show
//! nothing themselves. None of them cuts; whoever cuts a text does it after masking and before this.

use std::fmt::Write as _;

/// How a line break is shown where a text has to stay on one line.
pub const BREAK: char = '⏎';

/// Returns a command, a path or another argument of a tool on one line, exactly: a newline as `⏎`,
/// every other character that shows nothing, or is a blank other than the space, as `<U+00A0>`.
#[must_use]
pub fn code(text: &str) -> String {
    written(text, |out, c| match c {
        '\n' => out.push(BREAK),
        // It is no line break here.
        BREAK => mark(out, c),
        c if is_odd_blank(c) => mark(out, c),
        c => push(out, c),
    })
}

/// Returns the same with line breaks and tabs as they are, for a view of several lines.
#[must_use]
pub fn lines(text: &str) -> String {
    written(text, |out, c| match c {
        '\n' | '\t' => out.push(c),
        c if is_odd_blank(c) => mark(out, c),
        c => push(out, c),
    })
}

/// Returns names as a sentence lists them: `a`, `a and b`, `a, b and c`; nothing of none.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Returns a nick, a heading, a note or another text of one line: every character that shows
/// nothing, a newline among them, as `<U+000A>`.
#[must_use]
pub fn label(text: &str) -> String {
    written(text, push)
}

/// Returns what is said in a conversation: overrides and isolates of the writing direction,
/// U+2028, U+2029, and tag characters outside of a flag are written out, all else is left alone.
/// Control characters are for the wire to judge, see [`crate::split::clean`].
#[must_use]
pub fn talk(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let flag = flag(rest);
        if flag > 0 {
            out.push_str(&rest[..flag]);
            rest = &rest[flag..];
            continue;
        }
        if is_direction(c) || is_tag(c) || matches!(c, '\u{2028}' | '\u{2029}') {
            mark(&mut out, c);
        } else {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Returns foreign text on one line of a terminal or a log, a newline as ` ⏎ `, everything else that
/// a terminal could obey or that shows nothing written out.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' => out.push_str(" ⏎ "),
            '\t' => out.push(' '),
            c => push(&mut out, c),
        }
    }
    out
}

/// Returns at most `most` characters of a text, with a mark if there were more.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(most.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Writes a character, or its number if it shows nothing (see [`is_hidden`]).
pub fn push(out: &mut String, c: char) {
    if is_hidden(c) { mark(out, c) } else { out.push(c) }
}

/// Returns whether a character shows nothing of itself: controls, format characters (general
/// category Cf), separators of lines and paragraphs, and what Unicode lets a font ignore
/// (Default_Ignorable_Code_Point: variation selectors, fillers, tags).
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || !c.is_ascii()
            && matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character looks like a space and is none to a shell.
fn is_odd_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

/// Returns whether a character turns the direction of what follows, up to another one.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Returns the length in bytes of the flag of a country's part that the text begins with, or 0:
/// a black flag, the tags of two letters or three digits, of one to four more, and the closing tag.
fn flag(text: &str) -> usize {
    let Some(tags) = text.strip_prefix('\u{1f3f4}') else { return 0 };
    let ascii =
        |c: char| char::from_u32(u32::from(c).checked_sub(0xe_0000)?).filter(char::is_ascii);
    let spelled: String = tags.chars().map_while(ascii).take(8).collect();
    let Some((name, _)) = spelled.split_once('\u{7f}') else { return 0 };
    let of_country = if name.starts_with(|c: char| c.is_ascii_digit()) { 3 } else { 2 };
    let Some((country, part)) = name.split_at_checked(of_country) else { return 0 };
    let letters = |text: &str| text.bytes().all(|c| c.is_ascii_lowercase());
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    let known = (letters(country) || digits(country))
        && (1..=4).contains(&part.len())
        && part.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    // Each tag takes as many bytes as the flag.
    if known { (1 + name.len() + 1) * '\u{1f3f4}'.len_utf8() } else { 0 }
}

fn written(text: &str, mut write: impl FnMut(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| write(&mut out, c));
    out
}

fn mark(out: &mut String, c: char) {
    let _ = write!(out, "<U+{:04X}>", u32::from(c));
}

#[cfg(test)]
mod tests;
