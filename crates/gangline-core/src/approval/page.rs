//! A whole approval as lines of IRC; long lines are split, nothing is dropped.

/// What a line begins with that continues the one before it. Nothing else of a view begins so.
pub const CONTINUES: &str = "↪ ";

/// Returns the lines, each cut into pieces of at most `max_bytes` bytes; a piece that continues a
/// line says so. Blanks stay where they are.
#[must_use]
pub fn wire(view: &[String], max_bytes: usize) -> Vec<String> {
    // A mark, and room for any character behind it.
    let max_bytes = max_bytes.max(CONTINUES.len() + 4);
    view.iter().flat_map(|line| pieces(line, max_bytes)).collect()
}

fn pieces(line: &str, max_bytes: usize) -> Vec<String> {
    let mut out = Vec::new();
    let (mut rest, mut mark) = (line, "");
    loop {
        let at = rest.floor_char_boundary(max_bytes - mark.len());
        out.push(format!("{mark}{}", &rest[..at]));
        rest = &rest[at..];
        mark = CONTINUES;
        if rest.is_empty() {
            return out;
        }
    }
}

#[cfg(test)]
mod tests;
