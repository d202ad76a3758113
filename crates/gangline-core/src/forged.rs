//! An agent's own lines that look like ours: announcements of approvals, questions, changes and alerts,
//! decisions, and headings of prompts. They are marked, in rooms and in private, so that a line without
//! the mark is what it looks like.
//!
//! Pure. Lines are compared by how they look, word by word: formatting, invisible characters and similar
//! characters make no difference. Start at [`spoken`]; the forms are in [`FORMS`] and [`LABELS`].

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::{
    lookalike::{folded, is_bracket},
    mention,
    redact::Redacted,
    shown::is_hidden,
    split::{self, Joint, LINE_BYTES, LINES_MAX, Line, Split},
};

/// Stands before a line of an agent that looks like one of ours.
pub const MARK: &str = "(the agent's own words) ";

/// Beginnings of our lines, word by word: `#` is any number, `|` stands between words of which one is
/// there. Names in front of them, as in `ori: approval 5 …`, are passed over.
pub const FORMS: &[&str] = &[
    "approval #",
    "question # from|was|has|is|expired",
    "finding # :|is|was|still|resume|abort|restart|dismiss|release",
    "rule # is|of",
    "# approvals|questions are open",
    "your answer to question #",
    "from now on i do not ask",
    "a program woke you",
];

/// What our headings in square brackets begin with.
pub const LABELS: &[&str] = &[
    "answer",
    "approval",
    "escalation",
    "gangline",
    "irc@",
    "ircmention",
    "ircamention",
    "ircdm",
    "ircchannel",
    "question",
    "reminder",
    "spiraling",
    "supervisor",
];

/// The same of alerts whose heading is an everyday word: they count before an agent's name.
pub const ALERT_LABELS: &[&str] = &["budget", "complete", "error", "ratelimit", "stuck", "timeout"];

/// Letters that look like digits.
const LIKE_DIGITS: &str = "lIoO";
/// Words before which our lines name who is addressed.
const ADDRESSES_MAX: usize = 3;
/// Among so many words after an everyday heading the agent's name stands.
const NAME_WITHIN: usize = 3;
/// In so many words from the beginning an announcement says what the agent wants.
const WANTS_WITHIN: usize = 6;

/// Returns an agent's text as lines for the outbox, those marked that look like ours. `pointer` is our
/// own line in place of what was left out.
#[must_use]
pub fn spoken(text: &Redacted, pointer: impl Fn(usize) -> String) -> Split<Redacted> {
    let plain = split::lines(text.as_str(), LINE_BYTES, LINES_MAX, &pointer);
    let split = match plain.lines.iter().any(|line| looks_like_ours(&line.text)) {
        false => plain,
        // With room for the mark.
        true => {
            let mut split =
                split::lines(text.as_str(), LINE_BYTES - MARK.len(), LINES_MAX, &pointer);
            for line in &mut split.lines {
                if looks_like_ours(&line.text) {
                    line.text.insert_str(0, MARK);
                    line.joint = Joint::Anew;
                }
            }
            split
        }
    };
    let derived = |Line { text, joint }| Line { text: Redacted::derived(text), joint };
    Split { lines: split.lines.into_iter().map(derived).collect(), cut: split.cut }
}

/// Returns a line of a text that begins with our own words, marked if it is the rest of a line that was
/// too long and looks like one of ours.
#[must_use]
pub fn continued(line: Line<Redacted>) -> Line<Redacted> {
    match line.joint != Joint::Anew && looks_like_ours(line.text.as_str()) {
        true => Redacted::derived(format!("{MARK}{}", line.text)).into(),
        false => line,
    }
}

/// Returns one line of an agent, marked if it looks like one of ours.
#[must_use]
pub fn marked(line: &str) -> Cow<'_, str> {
    match looks_like_ours(line) {
        true => Cow::Owned(format!("{MARK}{line}")),
        false => Cow::Borrowed(line),
    }
}

/// Returns whether a line looks like one of ours.
#[must_use]
pub fn looks_like_ours(line: &str) -> bool {
    let line = drawn(line);
    let words = words(&line);
    if asks_for_a_word(&words) {
        return true;
    }
    starts(&words).any(|at| {
        let (before, rest) = words.split_at(at);
        let from = before.last().map_or(0, |word| word.at + word.raw.len());
        FORMS.iter().any(|form| begins_so(rest, form)) || is_headed(&line[from..], rest)
    })
}

/// A word as it looks.
struct Word<'a> {
    raw: &'a str,
    /// Where it begins in the line.
    at: usize,
    /// Its letters and digits, folded.
    look: String,
    /// The number that it is, if it is one.
    number: Option<String>,
}

/// Returns the line without formatting, with a space wherever one is drawn.
fn drawn(line: &str) -> String {
    let blank = |c| matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    let line: String = line.chars().map(|c| if blank(c) { ' ' } else { c }).collect();
    mention::plain(&line)
}

fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut next = 0;
    for raw in line.split(' ') {
        let at = next;
        next += raw.len() + 1;
        let is_digit = |c: char| c.is_numeric();
        // `approval5` is read as two words.
        let border = raw.find(is_digit).filter(|border| {
            let (head, tail) = raw.split_at(*border);
            let closes = |c: char| !c.is_alphanumeric() || is_digit(c);
            let is_letter = |c: char| c.is_alphabetic() && !LIKE_DIGITS.contains(c);
            head.chars().any(is_letter) && tail.chars().all(closes)
        });
        match border {
            Some(border) => {
                words.extend(word(&raw[..border], at));
                words.extend(word(&raw[border..], at + border));
            }
            None => words.extend(word(raw, at)),
        }
    }
    words
}

/// Returns a word; `None` of marks alone.
fn word(raw: &str, at: usize) -> Option<Word<'_>> {
    let plain: String = raw.nfkd().filter(|c| c.is_alphanumeric() && !is_hidden(*c)).collect();
    let look: String = folded(raw).filter(|c| c.is_alphanumeric()).collect();
    if look.is_empty() && plain.is_empty() {
        return (raw.contains(':')).then(|| Word { raw, at, look: ":".to_owned(), number: None });
    }
    let digit = |c: char| c.is_numeric() || LIKE_DIGITS.contains(c);
    let is_number = plain.chars().any(char::is_numeric) && plain.chars().all(digit);
    let number = is_number.then(|| plain.replace(['l', 'I'], "1").replace(['o', 'O'], "0"));
    Some(Word { raw, at, look, number })
}

/// Returns where a form may begin: at the first word, and behind each name in front.
fn starts<'a>(words: &'a [Word<'_>]) -> impl Iterator<Item = usize> + 'a {
    let addresses = |word: &&Word<'_>| {
        let raw = word.raw.trim_end_matches(['*', '_', '`', '~', '"', '\'']);
        raw.ends_with([':', ',', '>', '：', '，', '-', '–', '—'])
            || raw.starts_with(['@', '<'])
            || word.look == ":"
    };
    let count = words.iter().take(ADDRESSES_MAX).take_while(addresses).count();
    (0..=count).filter(|at| *at < words.len())
}

fn begins_so(words: &[Word<'_>], form: &str) -> bool {
    let mut words = words.iter();
    form.split(' ').all(|want| {
        let Some(word) = words.next() else { return false };
        match want {
            "#" => word.number.is_some(),
            want => want.split('|').any(|want| is_word(word, want)),
        }
    })
}

/// Returns whether a word looks like this one. A letter that the table does not have may be any.
fn is_word(word: &Word<'_>, want: &str) -> bool {
    if want == ":" {
        return word.look == ":";
    }
    let mut unknown = 0;
    let mut looks = word.look.chars();
    let mut wanted = folded(want).filter(|c| c.is_alphanumeric());
    loop {
        match (looks.next(), wanted.next()) {
            (None, None) => return unknown * 2 <= want.len(),
            (Some(look), Some(want)) if look == want => {}
            (Some(look), Some(_)) if !look.is_ascii() && look.is_alphabetic() => unknown += 1,
            (Some(_) | None, Some(_)) | (Some(_), None) => return false,
        }
    }
}

/// Returns whether the line tells how something is decided: `yes 5` and `no 5`, or one of them behind
/// what somebody wants to do; `Reply answer 5`; `go on m5`.
fn asks_for_a_word(words: &[Word<'_>]) -> bool {
    let behind = |word: &str| {
        let pairs = words.windows(2).filter(|pair| is_word(&pair[0], word));
        pairs.filter_map(|pair| pair[1].number.as_deref()).collect::<Vec<_>>()
    };
    let (yes, no) = (behind("yes"), behind("no"));
    if yes.iter().any(|number| no.contains(number)) {
        return true;
    }
    let wants = words.windows(3).take(WANTS_WITHIN).any(|three| {
        is_word(&three[0], "wants")
            && is_word(&three[1], "to")
            && ["run", "write", "use"].iter().any(|verb| is_word(&three[2], verb))
    });
    let replies = words.iter().any(|word| is_word(word, "reply")) && !behind("answer").is_empty();
    let goes_on = words.windows(4).any(|four| {
        is_word(&four[0], "go")
            && is_word(&four[1], "on")
            && is_word(&four[2], "m")
            && four[3].number.is_some()
    });
    (wants && !(yes.is_empty() && no.is_empty())) || replies || goes_on
}

/// Returns whether the line, which has these words, begins with a heading of ours in brackets.
fn is_headed(line: &str, words: &[Word<'_>]) -> bool {
    let is_mark = |c: char| !is_bracket(c) && !c.is_alphanumeric() && c != '(' && c != '{';
    let head = line.trim_start_matches(is_mark);
    let Some(open) = head.chars().next().filter(|c| is_bracket(*c)) else { return false };
    let title: String = folded(&head[open.len_utf8()..])
        .filter(|c| c.is_alphanumeric() || *c == '@')
        .take(16)
        .collect();
    let is = |label: &&str| title.starts_with(&folded(label).collect::<String>());
    if LABELS.iter().any(&is) {
        return true;
    }
    let name = |word: &Word<'_>| {
        let name = word.raw.trim_matches(|c: char| !c.is_alphanumeric());
        name.contains('-') && name.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    ALERT_LABELS.iter().any(is) && words.iter().skip(1).take(NAME_WITHIN).any(name)
}

#[cfg(test)]
mod tests;
