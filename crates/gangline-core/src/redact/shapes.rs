//! Key shapes: secrets recognised by their form alone.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::SHORT;

/// What may stand before a shape that begins like a word: no word, or the escape of a line break
/// in JSON text (`\nsk-…`).
const LEFT: &str = r#"(?:^|[^A-Za-z0-9_]|\\[nrtbf]|\\u[0-9a-fA-F]{4})"#;

/// Shapes whose beginning cannot be taken for a word.
const PLAIN: &[&str] = &[
    r"sk-ant-[A-Za-z0-9_-]{8,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"glt_[0-9a-f]{32,64}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
];

/// Shapes that need a border on their left; the first group is the secret.
const BORDERED: &[&str] = &[r"AKIA[0-9A-Z]{16}", r"AIza[A-Za-z0-9_-]{30,}", r"hf_[A-Za-z0-9]{20,}"];

/// The loosest shape; masked only if a digit is in it (`sk-learn-compatible-estimators` is none).
const LOOSE: &str = r"sk-[A-Za-z0-9_-]{20,}";

/// Every shape has one of these in it. Short text without any needs no pattern: a daemon that has
/// met no secret has built none of them, which are the largest things in its heap.
const SIGNS: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "xox",
    "glpat-",
    "glt_",
    "eyJ",
    "AKIA",
    "AIza",
    "hf_",
    "-----BEGIN ",
];
const PEM_BEGIN: &str = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
const PEM_END: &str = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";

struct Shapes {
    plain: Option<Regex>,
    bordered: Option<Regex>,
    loose: Option<Regex>,
    pem_begin: Option<Regex>,
    pem_end: Option<Regex>,
}

// The patterns are constants: a test proves that each compiles.
static SHAPES: LazyLock<Shapes> = LazyLock::new(|| Shapes {
    plain: Regex::new(&PLAIN.join("|")).ok(),
    bordered: Regex::new(&format!("{LEFT}({})", BORDERED.join("|"))).ok(),
    loose: Regex::new(&format!("{LEFT}({LOOSE})")).ok(),
    pem_begin: Regex::new(PEM_BEGIN).ok(),
    pem_end: Regex::new(PEM_END).ok(),
});

/// Returns the places of key shapes in the text, in no order, perhaps overlapping.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = keys(text);
    if suspicious(text) {
        pem(text, &mut spans);
    }
    spans
}

/// Returns the places of those that are one word, without blocks of lines.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    if !suspicious(text) {
        return spans;
    }
    if let Some(plain) = &SHAPES.plain {
        spans.extend(plain.find_iter(text).map(|found| found.range()));
    }
    if let Some(bordered) = &SHAPES.bordered {
        let keys = bordered.captures_iter(text).filter_map(|found| found.get(1));
        spans.extend(keys.map(|key| key.range()));
    }
    if let Some(loose) = &SHAPES.loose {
        let keys = loose.captures_iter(text).filter_map(|found| found.get(1));
        let keys = keys.filter(|key| key.as_str().contains(|c: char| c.is_ascii_digit()));
        spans.extend(keys.map(|key| key.range()));
    }
    spans
}

/// Returns whether a shape may be in the text.
fn suspicious(text: &str) -> bool {
    text.len() > SHORT || SIGNS.iter().any(|sign| text.contains(sign))
}

/// Finds private key blocks. One that has no end (a cut output) is masked as far as what follows
/// looks like key material.
fn pem(text: &str, spans: &mut Vec<Range<usize>>) {
    let (Some(begin), Some(end)) = (&SHAPES.pem_begin, &SHAPES.pem_end) else { return };
    let mut begins = begin.find_iter(text).peekable();
    if begins.peek().is_none() {
        return;
    }
    let mut ends = end.find_iter(text).peekable();
    let mut covered = 0;
    for head in begins {
        if head.start() < covered {
            continue;
        }
        while ends.next_if(|foot| foot.start() < head.end()).is_some() {}
        covered = ends.peek().map_or_else(|| material_end(text, head.end()), |foot| foot.end());
        spans.push(head.start()..covered);
    }
}

fn material_end(text: &str, from: usize) -> usize {
    let material = |c: char| c.is_ascii_alphanumeric() || "+/=\\ \t\n".contains(c);
    text[from..].find(|c| !material(c)).map_or(text.len(), |length| from + length)
}

#[cfg(test)]
mod tests;
