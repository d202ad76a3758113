//! The ids of all requirements and contradictions. Start at [`all`].

/// How many requirements each seed has, by the seed's number.
const SEEDS: [usize; 5] = [66, 57, 43, 20, 23];

/// How many contradictions between the seeds are settled.
const CONTRADICTIONS: usize = 36;

/// `R0-01` … `R4-23`, then `C1` … `C36`.
pub(super) fn all() -> impl Iterator<Item = String> {
    let rules = SEEDS
        .into_iter()
        .enumerate()
        .flat_map(|(seed, count)| (1..=count).map(move |number| format!("R{seed}-{number:02}")));
    rules.chain((1..=CONTRADICTIONS).map(|number| format!("C{number}")))
}

/// Whether a text has the form of an id, known or not.
pub(super) fn looks_like_one(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    match text.strip_prefix('R') {
        Some(rest) => rest.split_once('-').is_some_and(|(seed, number)| {
            seed.len() == 1 && digits(seed) && number.len() == 2 && digits(number)
        }),
        None => text.strip_prefix('C').is_some_and(|rest| rest.len() <= 2 && digits(rest)),
    }
}

/// The ids that a text names as words of their own.
pub(super) fn named_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .map(|word| word.trim_matches('-'))
        .filter(|word| looks_like_one(word))
}
