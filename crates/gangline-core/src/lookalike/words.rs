//! Letters in a command, a path or a file's lines that look like others: `рm` with a Cyrillic letter is not
//! `rm`.
//!
//! A word of one script is left alone, as people write messages in their language. What is pointed out
//! is a word that mixes scripts, a variant of an ASCII character anywhere, and the name of a command
//! of which every letter looks like another. In a line of a file, where nobody knows what is a command's
//! name, a word counts of which every letter looks like another if Latin letters stand in the line and no
//! word of another script. Start at [`remarks`] and [`in_line`].

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::known;
use crate::shown;

/// So many are named; the rest is counted.
const NAMED_MAX: usize = 2;
/// The longest word that is quoted, in characters.
const WORD_MAX: usize = 20;
/// Behind these a command begins.
const SEPARATORS: &str = ";|&(\n`{";
/// Letters of other scripts, each before the one that it looks like.
const TWINS: &str = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkтtмmнhгrьbпnиuӏlвbзzοoαaνvιiκkρpτtυuχxγyεeηnβbωwζzօoսuհhոnցgզqАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX";
/// Signs that are drawn like signs of a shell.
const SIGNS: &str = "∕/⁄/∣|ǃ!‐-‑-−-﹣-⁎*∗*";

/// Returns what is odd about the letters of a text, each in words.
pub(crate) fn remarks(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut notes: Vec<String> = Vec::new();
    let mut more = 0;
    for word in words(text) {
        let Some(c) = word.odd() else { continue };
        let note = told(&word.text, c);
        match notes.len() < NAMED_MAX {
            _ if notes.contains(&note) => {}
            true => notes.push(note),
            false => more += 1,
        }
    }
    match more {
        0 => {}
        1 => notes.push("1 more word has a letter that looks like another".to_owned()),
        more => notes.push(format!("{more} more words have letters that look like others")),
    }
    notes
}

/// Returns what is odd about the letters of a line of a file, in words.
pub(crate) fn in_line(line: &str) -> Option<String> {
    if line.is_ascii() {
        return None;
    }
    let words = words(line);
    let foreign = |word: &&Word| word.text.chars().any(is_foreign);
    let whole = |word: &Word| word.text.chars().filter(|c| c.is_alphabetic()).all(passes);
    let latin = line.contains(|c: char| c.is_ascii_alphabetic());
    let passing = latin && words.iter().filter(foreign).all(whole);
    let wide = line.chars().any(is_wide);
    let odd = |word: &Word| {
        let mixes = word.text.contains(|c: char| c.is_ascii_alphabetic());
        let odd = |c: &char| {
            let variant = is_variant(*c) && !is_small_or_round(*c) && !wide;
            variant || is_foreign(*c) && (mixes || passing && whole(word))
        };
        Some((word.text.clone(), word.text.chars().find(odd)?))
    };
    words.iter().find_map(odd).map(|(word, c)| told(&word, c))
}

/// Returns whether a letter passes for a Latin one.
fn passes(c: char) -> bool {
    twin(c).is_some()
}

/// Returns whether a character is of a script that is written with wide signs, so that wide forms of ASCII
/// are its own.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether it is a raised, lowered or circled form, which is drawn as that: `m²`.
fn is_small_or_round(c: char) -> bool {
    matches!(c, '\u{aa}' | '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{ba}' | '\u{2b0}'..='\u{2ff}'
        | '\u{1d2c}'..='\u{1d6a}' | '\u{2070}'..='\u{209f}' | '\u{2460}'..='\u{24ff}'
        | '\u{1f100}'..='\u{1f1ff}')
}

fn told(word: &str, c: char) -> String {
    let (word, code) = (shown::cut(word, WORD_MAX), u32::from(c));
    match twin(c) {
        Some(like) => format!("in `{word}` stands `{c}` (U+{code:04X}), which looks like `{like}`"),
        None => format!("`{word}` mixes Latin letters with `{c}` (U+{code:04X})"),
    }
}

/// A run of letters, digits and what looks like them.
struct Word {
    text: String,
    /// Whether a command may begin with it.
    leads: bool,
}

impl Word {
    /// Returns its first character that passes for another one.
    fn odd(&self) -> Option<char> {
        let latin = self.text.contains(|c: char| c.is_ascii_alphabetic());
        let mut letters = self.text.chars().filter(|c| c.is_alphabetic());
        let all = self.leads && letters.all(|c| twin(c).is_some());
        let odd = |c: &char| is_variant(*c) || is_foreign(*c) && (latin || all);
        self.text.chars().find(odd)
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = String::new();
    // Whether a command may begin, and whether the present word of the shell is its name.
    let (mut begins, mut leads) = (true, true);
    for c in text.chars() {
        if c.is_alphanumeric() || is_combining_mark(c) || is_variant(c) {
            word.push(c);
            begins = false;
            continue;
        }
        if !word.is_empty() {
            words.push(Word { text: std::mem::take(&mut word), leads });
        }
        if SEPARATORS.contains(c) {
            (begins, leads) = (true, true);
        } else if c.is_whitespace() && !begins {
            leads = false;
        }
    }
    words.push(Word { text: word, leads });
    words
}

/// Returns whether a character is another form of an ASCII character: full width, bold, or a sign that
/// is drawn like one.
fn is_variant(c: char) -> bool {
    !c.is_ascii() && variant(c).is_some()
}

fn variant(c: char) -> Option<char> {
    pair(SIGNS, c).or_else(|| {
        let mut parts = c.nfkd();
        let first = parts.next().filter(|it| it.is_ascii_graphic() && !c.is_ascii());
        first.filter(|_| parts.next().is_none())
    })
}

/// Returns whether a letter is of a script whose letters are drawn like Latin ones.
fn is_foreign(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c,
        '\u{250}'..='\u{2af}' | '\u{370}'..='\u{58f}' | '\u{10a0}'..='\u{10ff}'
        | '\u{13a0}'..='\u{167f}' | '\u{1c80}'..='\u{1c8f}' | '\u{1d00}'..='\u{1dbf}'
        | '\u{1f00}'..='\u{1fff}' | '\u{2c80}'..='\u{2cff}' | '\u{2de0}'..='\u{2dff}'
        | '\u{a4d0}'..='\u{a4ff}' | '\u{a640}'..='\u{a69f}' | '\u{ab30}'..='\u{abbf}'
        | '\u{10280}'..='\u{1032f}' | '\u{10400}'..='\u{1044f}' | '\u{118a0}'..='\u{118ff}')
}

/// Returns the ASCII character that a character looks like.
fn twin(c: char) -> Option<char> {
    if c.is_ascii() {
        return Some(c);
    }
    let named = || known(c).and_then(|letters| letters.chars().next());
    variant(c).or_else(|| pair(TWINS, c)).or_else(named)
}

fn pair(pairs: &str, c: char) -> Option<char> {
    let mut pairs = pairs.chars();
    while let (Some(one), Some(other)) = (pairs.next(), pairs.next()) {
        if one == c {
            return Some(other);
        }
    }
    None
}

#[cfg(test)]
mod tests;
