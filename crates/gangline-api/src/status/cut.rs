//! The beginning of a text, fit to be shown in one line.

use gangline_core::shown;

/// Returns the first line of a text, with what shows nothing written out, cut at so many characters.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let clean = shown::label(&line.replace('\t', " "));
    if clean.chars().count() <= max {
        return clean;
    }
    let kept: String = clean.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
