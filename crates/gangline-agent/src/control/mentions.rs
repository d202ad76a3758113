//! The `@nick` mentions in a text. Pure.

use gangline_core::name::fold;

#[cfg(test)]
mod tests;

/// The maximum number of names in one text that are checked.
const NAMES_MAX: usize = 20;

/// Returns the names behind each `@` that are not known, each once, as they are written.
pub(super) fn unknown(text: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices('@') {
        // A word before it makes a mail address of it.
        if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        let rest = &text[at + 1..];
        let word = &rest[..rest.find(|c| !is_nick(c)).unwrap_or(rest.len())];
        let starts = word.starts_with(|c: char| !c.is_ascii_digit() && c != '-');
        let new = !found.iter().any(|other| fold(other) == fold(word));
        if starts && new && !known(word) && found.len() < NAMES_MAX {
            found.push(word.to_owned());
        }
    }
    found
}

/// Returns whether a word names somebody, be it with what may belong to the sentence at its end.
pub(super) fn is(word: &str, name: &str, short: &str) -> bool {
    let bare = word.trim_end_matches(['-', '_']);
    [word, bare].into_iter().any(|word| fold(word) == fold(name) || fold(word) == fold(short))
}

fn is_nick(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-[]\\`_^{|}".contains(c)
}
