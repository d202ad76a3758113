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
    "approval|approvals #",
    "approval|approvals no|nr|num|number|request #",
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
/// Letters that are drawn as small capitals, from a to z.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ";
/// The first letters of alphabets in circles, in squares and of flags.
const ENCLOSED: [u32; 3] = [0x1f150, 0x1f170, 0x1f1e6];
/// Behind it clients draw every text from right to left.
const RIGHT_TO_LEFT: char = '\u{202e}';
/// How a line begins that clients show as something the agent does.
const ACTION: &str = "\u{1}ACTION ";
/// So many single letters in a row are read as one word.
const SPACED_OUT: usize = 4;
/// Words behind which `yes 5` is an instruction.
const TELLS_TO: [&str; 5] = ["say", "reply", "type", "write", "with"];
/// Words before which our lines name who is addressed.
const ADDRESSES_MAX: usize = 6;
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

/// Returns whether a line looks like one of ours: as it is, with letters in other dresses as letters, and
/// turned round if it has the sign for that.
#[must_use]
pub fn looks_like_ours(line: &str) -> bool {
    let undressed = || line.chars().map(|c| letter(c).unwrap_or(c)).collect::<String>();
    let is_dressed = line.chars().any(|c| letter(c).is_some());
    let is_turned = line.contains(RIGHT_TO_LEFT);
    reads_like_ours(line)
        || (is_dressed && reads_like_ours(&undressed()))
        || (is_turned && reads_like_ours(&line.chars().rev().collect::<String>()))
}

fn reads_like_ours(line: &str) -> bool {
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
    let line = line.strip_prefix(ACTION).unwrap_or(line);
    let drawn = |c| match c {
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '№' => ' ',
        // A sign in front of the words.
        c if enclosed(c).is_some() => ' ',
        c => c,
    };
    mention::plain(&line.chars().map(drawn).collect::<String>())
}

/// Returns the letter that a character is in another dress.
fn letter(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let mut capitals = SMALL_CAPITALS.chars().zip('a'..='z');
    capitals.find(|(small, _)| *small == c).map(|(_, letter)| letter).or_else(|| enclosed(c))
}

/// Returns the letter that a character has in a circle, in a square or for a flag.
fn enclosed(c: char) -> Option<char> {
    let mut places = ENCLOSED.iter().filter_map(|first| u32::from(c).checked_sub(*first));
    let place = places.find(|place| *place < 26)?;
    ('a'..='z').nth(usize::try_from(place).ok()?)
}

/// Returns the words of a line; letters that stand alone, one after the other, are one word.
fn words(line: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut alone = 0;
    for word in parts(line) {
        let is_letter = word.number.is_none() && word.look.chars().count() == 1 && word.look != ":";
        alone = if is_letter { alone + 1 } else { 0 };
        words.push(word);
        if alone >= SPACED_OUT {
            let run = if alone == SPACED_OUT { SPACED_OUT } else { 2 };
            let rest = words.split_off(words.len() - run + 1);
            if let Some(first) = words.last_mut() {
                first.look.extend(rest.iter().flat_map(|word| word.look.chars()));
            }
        }
    }
    words
}

fn parts(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut next = 0;
    for raw in line.split(' ') {
        let at = next;
        next += raw.len() + 1;
        let is_digit = |c: char| c.is_numeric();
        // `approval5` is read as two words.
        let border = raw.find(is_digit).filter(|_| !is_first_of_a_form(raw)).filter(|border| {
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

/// Returns whether a word looks like one that a form begins with: the 1 of `approva1` is no number.
fn is_first_of_a_form(raw: &str) -> bool {
    let look = || folded(raw).filter(|c| c.is_alphanumeric());
    let mut firsts = FORMS.iter().filter_map(|form| form.split(' ').next());
    firsts.any(|first| first.split('|').any(|first| first != "#" && look().eq(folded(first))))
}

/// Returns a word; `None` of marks alone.
fn word(raw: &str, at: usize) -> Option<Word<'_>> {
    let plain: String = raw.nfkd().filter(|c| c.is_alphanumeric() && !is_hidden(*c)).collect();
    let look: String = folded(raw).filter(|c| c.is_alphanumeric()).collect();
    // A vertical line is not a letter of its own.
    if plain.is_empty() && look.chars().all(|c| c == 'l') {
        return (raw.contains(':')).then(|| Word { raw, at, look: ":".to_owned(), number: None });
    }
    let digit = |c: char| c.is_numeric() || LIKE_DIGITS.contains(c);
    let mut figures = raw.chars().filter(|c| c.is_alphanumeric());
    let is_roman = !figures.clone().any(|c| c.is_ascii()) && figures.all(char::is_numeric);
    let is_number = plain.chars().any(char::is_numeric) && plain.chars().all(digit);
    let is_number = is_number || (is_roman && !plain.is_empty());
    let number = is_number.then(|| plain.replace(['l', 'I'], "1").replace(['o', 'O'], "0"));
    Some(Word { raw, at, look, number })
}

/// Returns where a form may begin: at the first word, and behind each name in front.
fn starts<'a>(words: &'a [Word<'_>]) -> impl Iterator<Item = usize> + 'a {
    let addresses = |word: &&Word<'_>| {
        let raw = word.raw.trim_end_matches(['*', '_', '`', '~', '"', '\'']);
        raw.ends_with([':', ',', '>', '：', '，', '-', '–', '—'])
            || raw.starts_with(['@', '<'])
            || (raw.starts_with('(') && raw.ends_with(')'))
            || (word.number.is_some() && raw.ends_with(['.', ')']))
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
    let is_wanted = |three: &[Word<'_>]| {
        is_word(&three[0], "wants")
            && is_word(&three[1], "to")
            && ["run", "write", "use"].iter().any(|verb| is_word(&three[2], verb))
    };
    let wants = words.windows(3).take(WANTS_WITHIN).any(is_wanted);
    // `wants to run (for ori, in ~/x): …`: what follows may stand in the next line.
    let is_headed = words.windows(4).take(WANTS_WITHIN).any(|four| {
        is_wanted(&four[..3]) && is_word(&four[3], "for") && four[3].raw.starts_with('(')
    });
    let quote = |c: char| !c.is_alphanumeric() && c != '@';
    let is_told = |word: &Word<'_>| {
        word.raw.trim_start_matches(quote).starts_with('@')
            || TELLS_TO.iter().any(|told| is_word(word, told))
    };
    let of_owner = words.iter().any(|word| is_word(word, "owner"));
    let instructs = words.windows(3).any(|three| {
        is_word(&three[1], "yes") && three[2].number.is_some() && (of_owner || is_told(&three[0]))
    });
    if is_headed || instructs {
        return true;
    }
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
