//! The only place where secrets are masked: the store, the outbox and the transcripts take
//! [`Redacted`], and only a [`Redactor`] makes one from foreign text.
//!
//! Three kinds of secrets are found: *known values* (given at start), *key shapes* (recognised by
//! their form) and *named values* (recognised by what stands before them, such as `password=`). Matching looks through characters that show nothing ([`shown::is_hidden`]), so that stripping them later cannot put a secret together again.

use std::{
    borrow::Cow,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use regex::Regex;

use crate::shown;

mod decided;
mod named;
mod shapes;

pub use decided::{Decided, Hidden, Maskable, hidden, hides, names_a_secret};

/// What stands in place of a secret.
pub const MASK: &str = "[masked]";

/// Known values shorter than this (in characters, trimmed) are not masked: they would blot out
/// ordinary words.
pub const KNOWN_MIN: usize = 8;

/// Longer text, in bytes, is searched for everything at once, by patterns that take memory.
const SHORT: usize = 8 * 1024;

/// A line of a multi-line secret is masked by itself from this length, if it has no blank inside.
const LINE_MIN: usize = 16;

/// After so many rounds in which masking made a new match, the whole text is masked.
const ROUNDS: usize = 4;

/// Text that passed a [`Redactor`], was read back from the store, or is a constant of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Redacted(String);

impl Redacted {
    /// Takes text that was redacted before it was stored.
    #[must_use]
    pub fn from_store(text: String) -> Self {
        Self(text)
    }

    /// Takes a constant of the program.
    #[must_use]
    pub fn constant(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Takes a piece of a redacted text, or redacted texts joined by the program's own words.
    pub(crate) fn derived(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the longest beginning of at most `bytes` bytes that ends at a character's border.
    #[must_use]
    pub fn head(&self, bytes: usize) -> Self {
        Self(self.0[..self.0.floor_char_boundary(bytes)].to_owned())
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Redacted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for Redacted {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A value that must not be shown, and where it comes from.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// What stands for it where somebody decides: the name of its variable, or what it is.
    pub source: String,
    /// The value.
    pub value: String,
}

impl KnownSecret {
    /// Returns a value with its source.
    #[must_use]
    pub fn new(source: impl Into<String>, value: impl Into<String>) -> Self {
        Self { source: source.into(), value: value.into() }
    }
}

impl fmt::Debug for KnownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecret").field("source", &self.source).finish_non_exhaustive()
    }
}

/// What stands for a known value of which nobody said what it is. Shorter than [`KNOWN_MIN`], so that no
/// value is in it.
const UNNAMED: &str = "secret";

/// A form in which a known value is looked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Needle {
    text: String,
    source: Arc<str>,
}

/// Masks secrets. A clone is cheap and shares what is known.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<Known>,
    later: Option<Arc<Mutex<Later>>>,
}

/// Known values that come into being while the program runs.
struct Later {
    /// Returns those that were not there at the last call.
    look: Box<dyn FnMut() -> Vec<KnownSecret> + Send>,
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    /// Every form in which a known value is looked for, longest first, without invisible characters.
    needles: Vec<Needle>,
    /// All needles at once, to skip the search in long text that has none. `None`: search always.
    /// Made when the first long text comes: short text is searched as quickly without.
    any: OnceLock<Option<Regex>>,
}

impl Known {
    fn of(mut needles: Vec<Needle>) -> Self {
        needles.sort_by(|a, b| b.text.len().cmp(&a.text.len()).then_with(|| a.cmp(b)));
        needles.dedup_by(|a, b| a.text == b.text);
        Self { needles, any: OnceLock::new() }
    }

    /// Returns whether a known value may be in the text.
    fn any(&self, text: &str) -> bool {
        if text.len() <= SHORT {
            return true;
        }
        let any = self.any.get_or_init(|| {
            let all: Vec<_> =
                self.needles.iter().map(|needle| regex::escape(&needle.text)).collect();
            (!all.is_empty()).then(|| Regex::new(&all.join("|")).ok()).flatten()
        });
        any.as_ref().is_none_or(|any| any.is_match(text))
    }

    /// Returns what is to be masked: byte ranges in order, apart from each other.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let seen = Visible::of(text);
        let mut spans = shapes::spans(&seen.text);
        spans.extend(named::spans(&seen.text));
        if self.any(&seen.text) {
            for needle in &self.needles {
                find_overlapping(&seen.text, &needle.text, &mut spans);
            }
        }
        let spans = spans.into_iter().map(|span| seen.origin(&span)).collect();
        merged(spans)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("known", &self.known.needles.len()).finish()
    }
}

impl Redactor {
    /// Returns a redactor that masks these values, as they are and JSON-escaped, and key shapes.
    /// Values are trimmed; those shorter than [`KNOWN_MIN`] characters are passed over.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self::named(secrets.into_iter().map(|value| KnownSecret::new(UNNAMED, value)))
    }

    /// Returns the same of values whose sources are known.
    #[must_use]
    pub fn named(secrets: impl IntoIterator<Item = KnownSecret>) -> Self {
        let needles = secrets.into_iter().flat_map(|secret| needles_of(&secret));
        Self { known: Arc::new(Known::of(needles.collect())), later: None }
    }

    /// Returns a redactor that masks, from now on, what `look` returns as well. It is called before each
    /// text, and returns the values that were not there at the last call; older ones stay masked.
    #[must_use]
    pub fn with_later(self, look: impl FnMut() -> Vec<KnownSecret> + Send + 'static) -> Self {
        let known = Arc::clone(&self.known);
        let later = Later { look: Box::new(look), known };
        Self { later: Some(Arc::new(Mutex::new(later))), ..self }
    }

    /// Returns all values that are known by now.
    fn known(&self) -> Arc<Known> {
        let Some(later) = &self.later else { return Arc::clone(&self.known) };
        let mut later = later.lock().unwrap_or_else(PoisonError::into_inner);
        let more = (later.look)();
        if !more.is_empty() {
            let more = more.iter().flat_map(needles_of);
            let needles = later.known.needles.iter().cloned().chain(more).collect();
            later.known = Arc::new(Known::of(needles));
        }
        Arc::clone(&later.known)
    }

    /// Returns the text with every known value and every key shape masked. Time is linear in the
    /// text for a given set of secrets.
    #[must_use]
    pub fn redact(&self, text: &str) -> Redacted {
        let known = self.known();
        let mut text = Cow::Borrowed(text);
        for _ in 0..ROUNDS {
            let spans = known.spans(&text);
            if spans.is_empty() {
                return Redacted(text.into_owned());
            }
            text = Cow::Owned(masked(&text, &spans));
        }
        // A secret that overlaps our own mask could be made by masking without end.
        if known.spans(&text).is_empty() {
            Redacted(text.into_owned())
        } else {
            Redacted::constant(MASK)
        }
    }
}

/// The text without characters that show nothing, and where each byte of it stood.
struct Visible<'a> {
    text: Cow<'a, str>,
    /// For each byte of `text` its place in the original; empty if nothing was left out.
    places: Vec<usize>,
}

impl<'a> Visible<'a> {
    fn of(text: &'a str) -> Self {
        if !text.contains(invisible) {
            return Self { text: Cow::Borrowed(text), places: Vec::new() };
        }
        let mut kept = String::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, c) in text.char_indices().filter(|(_, c)| !invisible(*c)) {
            kept.push(c);
            places.extend(at..at + c.len_utf8());
        }
        Self { text: Cow::Owned(kept), places }
    }

    /// Returns the range of the original that a (non-empty) range of the visible text stands for.
    fn origin(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.places.get(span.start);
        let last = span.end.checked_sub(1).and_then(|last| self.places.get(last));
        match (first, last) {
            (Some(first), Some(last)) => *first..*last + 1,
            (None, _) | (_, None) => span.clone(),
        }
    }
}

fn invisible(c: char) -> bool {
    shown::is_hidden(c) && !matches!(c, '\n' | '\t')
}

fn find_overlapping(text: &str, needle: &str, spans: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(needle) {
        let start = from + at;
        spans.push(start..start + needle.len());
        from = text.ceil_char_boundary(start + 1);
    }
}

fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

fn masked(text: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        out.push_str(MASK);
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns every form of a secret that is looked for.
fn needles_of(secret: &KnownSecret) -> Vec<Needle> {
    let forms = forms_of(&secret.value);
    let source = decided::source(&secret.source, &forms);
    forms.into_iter().map(|text| Needle { text, source: Arc::clone(&source) }).collect()
}

fn forms_of(secret: &str) -> Vec<String> {
    let plain: String = secret.trim().chars().filter(|c| !invisible(*c)).collect();
    let mut forms = vec![plain.clone()];
    forms.extend(
        plain
            .lines()
            .map(str::trim)
            .filter(|line| line.chars().count() >= LINE_MIN && !line.contains(char::is_whitespace))
            .map(str::to_owned),
    );
    // The value as it was given, for escapes of the characters that `plain` leaves out.
    let raw = secret.trim();
    for original in [raw.to_owned(), plain.clone(), plain.replace('\n', "\r\n")] {
        for escape in [json_escaped, json_escaped_ascii] {
            let once = escape(&original);
            forms.push(escape(&once));
            forms.push(once);
        }
    }
    forms.retain(|form| form.chars().count() >= KNOWN_MIN && !MASK.contains(form.as_str()));
    forms
}

/// Returns the text as it stands inside a JSON string, non-ASCII characters as they are.
fn json_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Returns the text as it stands inside a JSON string of ASCII only.
fn json_escaped_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in json_escaped(text).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
