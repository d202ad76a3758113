//! What is wrong with a configuration, and how it is shown: place, sentence, quoted line, help.

use std::fmt;

/// How much of a long line is quoted, in characters.
const QUOTED_MAX: usize = 100;
/// The maximum number of faults, and of warnings, that are quoted and shown; the rest is counted.
pub(super) const SHOWN_MAX: usize = 20;

/// A place in the text; both numbers count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One fault, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where; absent when the whole text is meant.
    pub place: Option<Place>,
    /// What is wrong, as a short sentence without a full stop.
    pub message: String,
    /// The line of the text, control characters made visible, at most about 100 characters.
    pub quoted: Option<Quoted>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A quoted line and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    text: String,
    indent: usize,
    width: usize,
}

/// Something allowed that is probably not meant: shown in the same form, and not fatal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    source_name: String,
    problem: Problem,
}

impl Warning {
    pub(super) fn new(source_name: &str, problem: Problem) -> Self {
        Self { source_name: visible(source_name.chars()), problem }
    }

    /// Returns what is odd, and where.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.show(f, &self.source_name)
    }
}

/// A configuration that cannot be used; `Display` shows its faults with their lines, the first 20.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    source_name: String,
    problems: Vec<Problem>,
}

impl ConfigError {
    pub(super) fn new(source_name: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.place);
        Self { source_name: visible(source_name.chars()), problems }
    }

    /// Returns the error for a file of `bytes` bytes, more than
    /// [`MAX_CONFIG_BYTES`](super::MAX_CONFIG_BYTES); for a reader that looks at the file's size
    /// before it reads.
    #[must_use]
    pub fn too_large(source_name: &str, bytes: u64) -> Self {
        let limit = super::MAX_CONFIG_BYTES;
        let message = format!("the file has {bytes} bytes; at most {limit} are read");
        Self::new(source_name, vec![Problem { place: None, message, quoted: None, help: None }])
    }

    /// Returns every fault, in the order of the lines; never empty.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN_MAX).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.show(f, &self.source_name)?;
        }
        match self.problems.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Problem {
    fn show(&self, f: &mut fmt::Formatter<'_>, source_name: &str) -> fmt::Result {
        match self.place {
            Some(Place { line, column }) => write!(f, "{source_name}:{line}:{column}: ")?,
            None => write!(f, "{source_name}: ")?,
        }
        f.write_str(&self.message)?;
        if let (Some(place), Some(quoted)) = (self.place, &self.quoted) {
            let number = place.line.to_string();
            let gap = " ".repeat(number.len());
            let indent = " ".repeat(quoted.indent);
            let marks = "^".repeat(quoted.width);
            write!(f, "\n{number} | {}\n{gap} | {indent}{marks}", quoted.text)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

/// Makes text from the file fit to be shown: control characters visible, at most 80 characters.
pub(super) fn shown(text: &str) -> String {
    let mut out = visible(text.chars().take(80));
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

fn visible(chars: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for c in chars {
        match c {
            '\t' => out.push('→'),
            // Bidirectional overrides could make a message read as something else.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('�'),
            c if c.is_control() => out.push('�'),
            c => out.push(c),
        }
    }
    out
}

/// Quotes the line at `place`, marking the word there. With `secret` the value's text is hidden.
pub(super) fn quote(source: &str, place: Place, secret: Secrecy) -> Option<Quoted> {
    let line = source.lines().nth(place.line.checked_sub(1)?)?;
    let line: Vec<char> = without_secret(line).chars().collect();
    let column = place.column.saturating_sub(1).min(line.len());
    let start = column.saturating_sub(QUOTED_MAX / 2);
    let (before, after) = line.split_at(column);
    let prefix = visible(before.iter().skip(start).copied());
    let indent = prefix.chars().count();
    let (rest, width) = match secret {
        Secrecy::Plain => {
            let rest = visible(after.iter().take(QUOTED_MAX / 2).copied());
            (rest, word_width(after).min(QUOTED_MAX / 2))
        }
        Secrecy::HideValue => {
            let key: String = after.iter().take_while(|c| **c != ':').collect();
            let width = key.chars().count();
            (format!("{}: ***", visible(key.chars())), width)
        }
    };
    Some(Quoted { text: format!("{prefix}{rest}"), indent, width: width.max(1) })
}

/// Cuts a line after a key that may hold a secret, or after the host of an address that may be secret.
fn without_secret(line: &str) -> String {
    const ENDS: [&str; 9] = [
        "password",
        "passwd",
        "secret",
        "token",
        "api_key",
        "apikey",
        "key",
        "authorization",
        "cookie",
    ];
    for (at, _) in line.match_indices(':') {
        let word = line[..at].trim_end_matches([' ', '"', '\'']).to_ascii_lowercase();
        if ENDS.iter().any(|end| word.ends_with(end)) && !line[at + 1..].trim().is_empty() {
            return format!("{}: ***", &line[..at]);
        }
    }
    without_path(line)
}

/// The longest path of an address that is quoted, in bytes: a longer one may be a secret, like a webhook's.
const PATH_SHOWN: usize = 8;

/// Cuts a line after the host of an address that has a long path, and before one that has a login.
fn without_path(line: &str) -> String {
    for (at, _) in line.match_indices("://") {
        let begin = at + "://".len();
        let rest = &line[begin..];
        let end = |marks: &[char]| rest.find(marks).unwrap_or(rest.len());
        let all = end(&[' ', '\t', '"', '\'', ',', '}', ']']);
        let host = end(&['/', '?', '#', '\\']).min(all);
        if rest[..host].contains('@') {
            return format!("{}***", &line[..begin]);
        }
        if all - host > PATH_SHOWN {
            return format!("{}/***", &line[..begin + host]);
        }
    }
    line.to_owned()
}

/// Whether the quoted line may show its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// The whole line is quoted.
    Plain,
    /// Only the key: the value may be a password.
    HideValue,
}

fn word_width(rest: &[char]) -> usize {
    let end = match rest.first() {
        Some(quote @ ('"' | '\'')) => {
            rest.iter().skip(1).position(|c| c == quote).map_or(rest.len(), |at| at + 2)
        }
        _ => rest
            .iter()
            .position(|c| matches!(c, ' ' | '\t' | ':' | ',' | ']' | '}' | '#'))
            .unwrap_or(rest.len()),
    };
    end.max(1)
}
