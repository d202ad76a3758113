//! JSON that others wrote: reads what the parser refuses only because of half a character.
//!
//! In JSON a character beyond U+FFFF may be written as two escapes, a surrogate pair. A program that
//! cuts a text by UTF-16 units leaves one of them alone, and the parser then refuses the whole text.
//! Here such a half becomes U+FFFD, and the rest is read. Two halves that came in two pieces of one
//! text are put together by a [`Joiner`]. A text that the parser takes is never changed, nor is it
//! looked at twice. Pure. Start at [`from_str`] and [`read`].

use serde::de::DeserializeOwned;

pub use self::find::{find, find_text};

mod find;
#[cfg(test)]
mod tests;

/// Shown in place of what is no character.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
/// `\u` and four digits.
const ESCAPE: usize = 6;

/// The halves of characters at the edges of a text's strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The second half of a pair, with which a string begins.
    begins: Option<u16>,
    /// The first half of a pair, with which a string ends.
    ends: Option<u16>,
}

impl Edges {
    fn are_whole(self) -> bool {
        self == Self::default()
    }
}

/// Reads a value.
///
/// # Errors
/// It is not what `T` needs, whatever is done about half characters.
pub fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    read(text, |text| serde_json::from_str(text)).0
}

/// Reads a value. Bytes that are not UTF-8 are an error.
///
/// # Errors
/// It is not what `T` needs, whatever is done about half characters.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    let first = serde_json::from_slice(bytes);
    match (&first, std::str::from_utf8(bytes)) {
        (Err(_), Ok(text)) => from_str(text),
        _ => first,
    }
}

/// Reads by `reader`, and once more without half characters if that fails. Returns which halves
/// stood at the edges of strings, for a [`Joiner`].
pub fn read<T, E>(
    text: &str,
    mut reader: impl FnMut(&str) -> Result<T, E>,
) -> (Result<T, E>, Edges) {
    let first = reader(text);
    if first.is_ok() {
        return (first, Edges::default());
    }
    match without_halves(text) {
        Some((text, edges)) => (reader(&text), edges),
        None => (first, Edges::default()),
    }
}

/// Returns the text with U+FFFD for each half of a surrogate pair that stands alone; `None` if
/// there is none. Nothing else is changed.
#[must_use]
pub fn without_halves(text: &str) -> Option<(String, Edges)> {
    let bytes = text.as_bytes();
    let (mut mended, mut kept) = (String::new(), 0);
    let mut edges = Edges::default();
    // Where the escape before ended: a quote there is part of the string.
    let (mut at, mut escaped_to) = (0, 0);
    while let Some(place) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        let begin = at + place;
        let Some(unit) = unit(bytes, begin) else {
            at = (begin + 2).min(bytes.len());
            escaped_to = at;
            continue;
        };
        let end = begin + ESCAPE;
        let pair = is_first(unit) && self::unit(bytes, end).is_some_and(is_second);
        at = if pair { end + ESCAPE } else { end };
        if pair || !(is_first(unit) || is_second(unit)) {
            escaped_to = at;
            continue;
        }
        if is_second(unit) && begin > escaped_to && bytes[begin - 1] == b'"' {
            edges.begins = Some(unit);
        }
        if is_first(unit) && bytes.get(end) == Some(&b'"') {
            edges.ends = Some(unit);
        }
        mended.push_str(&text[kept..begin]);
        mended.push(REPLACEMENT);
        (kept, escaped_to) = (end, end);
    }
    (kept > 0).then(|| {
        mended.push_str(&text[kept..]);
        (mended, edges)
    })
}

/// Returns the UTF-16 unit that is written at this place as an escape.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

fn is_first(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_second(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

/// Puts the pieces of one text together where a pair was cut: keeps a first half until the piece
/// that follows.
#[derive(Debug, Default)]
pub struct Joiner(Option<u16>);

impl Joiner {
    /// Returns what the piece adds to the text; `edges` are those of the line that it came in.
    pub fn join(&mut self, piece: String, edges: Edges) -> String {
        if piece.is_empty() || (self.0.is_none() && edges.are_whole()) {
            return piece;
        }
        let mut joined = String::with_capacity(piece.len() + REPLACEMENT.len_utf8());
        let mut rest = piece.as_str();
        if let Some(first) = self.0.take() {
            let after = rest.strip_prefix(REPLACEMENT);
            match after.zip(edges.begins.and_then(|second| whole(first, second))) {
                Some((after, character)) => {
                    joined.push(character);
                    rest = after;
                }
                None => joined.push(REPLACEMENT),
            }
        }
        if let (Some(first), Some(before)) = (edges.ends, rest.strip_suffix(REPLACEMENT)) {
            self.0 = Some(first);
            rest = before;
        }
        joined.push_str(rest);
        joined
    }

    /// Returns what is left of the text at its end: U+FFFD for a half that nothing followed.
    pub fn end(&mut self) -> Option<char> {
        self.0.take().map(|_| REPLACEMENT)
    }
}

fn whole(first: u16, second: u16) -> Option<char> {
    char::decode_utf16([first, second]).next()?.ok()
}
