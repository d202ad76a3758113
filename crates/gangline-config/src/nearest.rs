//! The nearest known word to one that is not known.

/// Returns the number of single edits (insert, delete, replace, swap of neighbours) between two
/// words.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let replace = last[j] + usize::from(ca != cb);
            let mut best = replace.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Returns the known word at most `edits` away from `word`; the nearest, the first of equals.
pub fn nearest<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    edits: usize,
) -> Option<&'a str> {
    // A longer word costs time and is near to nothing we know.
    if word.len() > 40 {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (distance(&word.to_ascii_lowercase(), candidate), candidate))
        .filter(|(far, _)| *far <= edits)
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// Returns how many edits are still a slip of the finger in a word of this length.
#[must_use]
pub fn slips(word: &str) -> usize {
    match word.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    }
}
