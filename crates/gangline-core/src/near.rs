//! The distance between two short words, to guess what a mistyped one meant.

/// Longer words are not compared: nobody mistypes a word of ours that long.
const COMPARED_MAX: usize = 64;
/// Words of at most this many letters may differ by one edit, longer ones by two.
const SHORT: usize = 5;

/// Returns whether `said` may be a mistyped `word`: another text within one edit of a short word,
/// or two edits of a longer one. An edit inserts, drops or replaces a letter, or swaps two
/// neighbours. Case counts.
#[must_use]
pub fn is_near(said: &str, word: &str) -> bool {
    let allowed = if word.chars().count() <= SHORT { 1 } else { 2 };
    said != word && distance(said, word).is_some_and(|edits| edits <= allowed)
}

/// Returns how many edits make one text of the other; `None` if one of them is too long.
#[must_use]
pub fn distance(one: &str, other: &str) -> Option<usize> {
    let one: Vec<char> = one.chars().take(COMPARED_MAX + 1).collect();
    let other: Vec<char> = other.chars().take(COMPARED_MAX + 1).collect();
    if one.len().max(other.len()) > COMPARED_MAX {
        return None;
    }
    // Three rows of the table: a swap looks two rows back.
    let mut before = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests;
