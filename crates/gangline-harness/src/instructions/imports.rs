//! Imports of a `CLAUDE.md`: words that begin with `@` and name a file. Pure.

/// Returns the paths that a text imports, in order. What stands in code is none.
pub(super) fn of(text: &str) -> Vec<String> {
    let mut fence: Option<&str> = None;
    let mut paths = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => paths.extend(words(line)),
        }
    }
    paths
}

/// Returns the imports of one line. Every second piece between backticks is code.
fn words(line: &str) -> impl Iterator<Item = String> {
    line.split('`').step_by(2).flat_map(str::split_whitespace).filter_map(|word| {
        let path = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
        (!path.is_empty()).then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests;
