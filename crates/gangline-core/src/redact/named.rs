//! Secrets recognised by what stands before them: `scheme://user:PASSWORD@`, `password=…` and its
//! like, `Authorization: Bearer …`.
//!
//! Read by hand, in one pass: these words are common in conversation, and patterns for them would
//! be in every daemon's memory. The caller has removed invisible characters. What is only a name, a
//! call, a variable or a placeholder is left alone ([`is_no_secret`]).

use std::ops::Range;

use super::MASK;

/// Ends of names whose values are secret, in small letters.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
];
/// Such a name, if nothing or a sign stands before it: `PWD` and `OLDPWD` are folders.
const PWD: &str = "pwd";
/// The longest name that is looked at, in bytes.
const NAME_MAX: usize = 64;
/// The longest value that is masked in one piece, in bytes.
const VALUE_MAX: usize = 4096;
/// A shorter value is left alone: too much would be masked, and it is no secret for long.
const VALUE_MIN: usize = 4;
/// Shorter values of what may be prose (`token: …`) are left alone; so are those without a digit.
const LOOSE_MIN: usize = 6;
/// Kinds of credentials.
const KINDS: &[&str] = &["basic", "bearer", "digest", "token"];
/// The word before an OAuth token.
const BEARER: &str = "bearer";
/// A shorter word behind `Bearer` is prose; so is one without a digit.
const BEARER_MIN: usize = 16;
/// Values that are no secrets.
const WORDS: &[&str] = &[
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
    "bytes",
    "text",
    "required",
    "optional",
    "hidden",
    "redacted",
    "masked",
    "example",
    "your",
];

/// Returns the places of such values, in no order, perhaps overlapping.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    in_addresses(text, &mut spans);
    assigned(text, &mut spans);
    bearers(text, &mut spans);
    spans.retain(|span| text[span.clone()] != *MASK);
    spans
}

/// Finds the passwords of addresses.
fn in_addresses(text: &str, spans: &mut Vec<Range<usize>>) {
    for (at, sign) in text.match_indices("://") {
        if !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let from = at + sign.len();
        let rest = &text[from..from + text[from..].floor_char_boundary(VALUE_MAX)];
        let ends = |c: char| c.is_whitespace() || "/\\?#'\"`<>".contains(c);
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let Some(login) = authority.rfind('@').map(|at| &authority[..at]) else { continue };
        let Some(colon) = login.find(':') else { continue };
        let password = &login[colon + 1..];
        if !password.is_empty() && !is_placeholder(password) && !is_run(password) {
            spans.push(from + colon + 1..from + login.len());
        }
    }
}

/// Finds the values of names that mean a secret.
fn assigned(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut from = 0;
    for (at, sign) in text.match_indices(['=', ':']) {
        if at < from || is_other_sign(text, at) {
            continue;
        }
        let before = text[..at].trim_end_matches(':');
        let Some(name) = name_before(before) else { continue };
        let after = text[at + sign.len()..].strip_prefix('>').unwrap_or(&text[at + sign.len()..]);
        let value = match name.as_str() {
            name if name.ends_with("authorization") => credentials(after),
            name if means_secret(name) => {
                let tight = sign == "=" && before.ends_with(|c: char| c.is_ascii_alphanumeric());
                value(after, if tight { Form::Tight } else { Form::Loose })
                    .filter(|value| !is_no_secret(name, after, value))
            }
            _ => None,
        };
        if let Some(value) = value {
            let begins = text.len() - after.len();
            spans.push(begins + value.start..begins + value.end);
            from = begins + value.end;
        }
    }
}

/// Returns whether the sign is part of another one: `==`, `!=`, `::`.
fn is_other_sign(text: &str, at: usize) -> bool {
    let (before, after) = (text[..at].chars().next_back(), text[at + 1..].chars().next());
    match text.as_bytes()[at] {
        b':' => before == Some(':') || matches!(after, Some(':' | '=')),
        _ => matches!(before, Some('=' | '!' | '<' | '>' | '+')) || after == Some('='),
    }
}

/// Returns the name before a sign, in small letters; quotes and a few blanks may stand between.
fn name_before(text: &str) -> Option<String> {
    let text = text.trim_end_matches([' ', '\t']);
    let text = text.trim_end_matches(['"', '\'', '`', '\\']);
    let word = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let begin = text.len().saturating_sub(NAME_MAX);
    let tail = &text[text.ceil_char_boundary(begin)..];
    let name = tail.rsplit(|c| !word(c)).next()?;
    (!name.is_empty()).then(|| name.to_ascii_lowercase())
}

/// Returns the name to which the value that begins here is assigned, if it means a secret: the last part
/// of `alias.token`.
pub(super) fn name_of(text: &str, value: usize) -> Option<&str> {
    let before = text[..value].trim_end_matches([' ', '\t', '"', '\'', '`', '\\']);
    let before = before.strip_suffix('>').unwrap_or(before);
    let before = before.strip_suffix(['=', ':'])?.trim_end_matches(':');
    let before = before.trim_end_matches([' ', '\t', '"', '\'', '`', '\\']);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = before.rsplit(|c| !word(c)).next()?.trim_start_matches('-');
    means_secret(&name.to_ascii_lowercase()).then_some(name)
}

pub(super) fn means_secret(name: &str) -> bool {
    let pwd = || {
        let before = name.strip_suffix(PWD)?;
        (before.is_empty() || before.ends_with(['_', '-', '.'])).then_some(())
    };
    NAMES.iter().any(|end| name.ends_with(end)) || pwd().is_some()
}

/// Returns whether the whole value of such a name may be a secret.
pub(super) fn is_value(word: &str) -> bool {
    word.len() >= VALUE_MIN && !is_placeholder(word)
}

/// How sure it is that a value follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `password=hunter2`.
    Tight,
    /// `password: hunter2`, `password = hunter2`: what has no quotes may be prose or code.
    Loose,
}

/// Returns the value that a text begins with.
fn value(text: &str, form: Form) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    if let Some(quoted) = quoted(text, start) {
        return (quoted.len() >= VALUE_MIN).then_some(quoted);
    }
    let value = bare(text, start);
    let word = &text[value.clone()];
    let sure = form == Form::Tight && start == 0 && word.len() >= VALUE_MIN;
    let loose = word.len() >= LOOSE_MIN && has_digit(word) && !word.contains('/');
    (sure || loose).then_some(value)
}

/// Returns what stands between the quotes that begin at a place, each behind as many backslashes as
/// the first: text may be quoted within a quoted text.
fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let slashes = |text: &str| text.len() - text.trim_end_matches('\\').len();
    let rest = &text[start..];
    let escape = rest.len() - rest.trim_start_matches('\\').len();
    let quote = rest[escape..].chars().next().filter(|c| "\"'`".contains(*c))?;
    let from = start + escape + 1;
    let within = &text[from..from + text[from..].floor_char_boundary(VALUE_MAX)];
    let line = &within[..within.find('\n').unwrap_or(within.len())];
    let closes = |(at, _): &(usize, &str)| slashes(&line[..*at]) == escape;
    let end = line.match_indices(quote).find(closes).map_or(line.len(), |(at, _)| at - escape);
    Some(from..from + end)
}

/// Returns the word that begins at a place.
fn bare(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..start + text[start..].floor_char_boundary(VALUE_MAX)];
    let ends = |c: char| c.is_whitespace() || "\"'`\\,;&|<>()[]{}".contains(c);
    start..start + rest.find(ends).unwrap_or(rest.len())
}

/// Returns whether a value is a name, a call, a folder or a placeholder.
fn is_no_secret(name: &str, text: &str, value: &Range<usize>) -> bool {
    let word = &text[value.clone()];
    let small = word.to_ascii_lowercase();
    let is_folder = name.ends_with(PWD) && word.starts_with(['/', '~', '.']);
    let is_call = text[value.end..].starts_with('(');
    let is_name = means_secret(&small) && !has_digit(word);
    is_folder || is_call || is_name || is_placeholder(word) || is_run(word)
}

/// Returns whether a shell would run something of a value: who has to allow that must see it.
fn is_run(word: &str) -> bool {
    word.contains("$(") || word.contains('`')
}

fn is_placeholder(word: &str) -> bool {
    let small = word.to_ascii_lowercase();
    let blots = |sign: char| word.chars().all(|c| c == sign);
    word.starts_with(['$', '%', '{', '<'])
        || ['*', '.', 'x', 'X', '•', '…'].into_iter().any(blots)
        || WORDS.contains(&small.as_str())
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_alphabetic())
}

/// Returns the credentials behind `Authorization:`, without the word for their kind.
fn credentials(text: &str) -> Option<Range<usize>> {
    let signs = [' ', '\t', '"', '\'', '\\'];
    let after = |at: usize| at + text[at..].len() - text[at..].trim_start_matches(signs).len();
    let first = bare(text, after(0));
    let second = bare(text, after(first.end));
    let is_kind = KINDS.contains(&text[first.clone()].to_ascii_lowercase().as_str());
    let follows = text[first.end..].starts_with([' ', '\t']);
    let may_be_kind = follows && text[first.clone()].chars().all(|c| c.is_ascii_alphabetic());
    let found = if is_kind || may_be_kind { second } else { first };
    let word = &text[found.clone()];
    let is_secret = !is_placeholder(word) && (is_kind || !is_prose(word));
    (word.len() >= LOOSE_MIN && is_secret).then_some(found)
}

/// Returns whether a word is only small letters: `Authorization: see the manual`.
fn is_prose(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase())
}

/// Finds tokens after the word `Bearer`, anywhere in the text.
fn bearers(text: &str, spans: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices(['b', 'B']) {
        let found = text.as_bytes().get(at..at + BEARER.len());
        if !found.is_some_and(|found| found.eq_ignore_ascii_case(BEARER.as_bytes())) {
            continue;
        }
        let from = at + BEARER.len();
        let start = text.len() - text[from..].trim_start_matches(' ').len();
        let value = bare(text, start);
        if start > from && value.len() >= BEARER_MIN && has_digit(&text[value.clone()]) {
            spans.push(value);
        }
    }
}

#[cfg(test)]
mod tests;
