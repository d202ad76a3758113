//! Texts that came from a model, a tool or a stranger, made fit for one line.

/// Control characters that mean formatting on IRC: bold, colour, reset, monospace, reverse,
/// italics, strikethrough, underline.
const FORMATTING: [char; 8] =
    ['\u{2}', '\u{3}', '\u{f}', '\u{11}', '\u{16}', '\u{1d}', '\u{1e}', '\u{1f}'];

/// Returns the text as one line: a run of CR, LF, NUL and tabs becomes one space, IRC formatting
/// stays, every other control character (escape sequences, CTCP's 0x01, C1) is dropped.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_break = false;
    for c in text.chars() {
        let breaks = matches!(c, '\r' | '\n' | '\0' | '\t');
        if breaks && !in_break {
            out.push(' ');
        }
        if !c.is_control() || FORMATTING.contains(&c) {
            out.push(c);
        }
        in_break = breaks;
    }
    out
}

/// Returns at most `max` bytes of the text, cut at a character's border.
#[must_use]
pub fn cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns whether a text fits a mask, in which `*` is any text and `?` any character. Takes time by
/// the product of both lengths at most.
#[must_use]
pub fn matches(text: &str, mask: &str) -> bool {
    let (mut text, mut mask) = (text.chars(), mask.chars());
    // Where to go on if what follows the last `*` does not fit here.
    let mut again = None;
    loop {
        let mut rest = mask.clone();
        match rest.next() {
            Some('*') => {
                mask = rest;
                again = Some((text.clone(), mask.clone()));
                continue;
            }
            Some(wanted) => {
                let mut after = text.clone();
                if after.next().is_some_and(|c| wanted == '?' || wanted == c) {
                    (text, mask) = (after, rest);
                    continue;
                }
            }
            None if text.clone().next().is_none() => return true,
            None => {}
        }
        let Some((from, behind)) = &mut again else { return false };
        if from.next().is_none() {
            return false;
        }
        (text, mask) = (from.clone(), behind.clone());
    }
}
