//! The ids of all requirements and contradictions. Start at [`all`].

/// How many requirements each seed has, by the seed's number.
const SEEDS: [usize; 5] = [66, 57, 43, 20, 23];

/// How many contradictions between the seeds are settled.
const CONTRADICTIONS: usize = 48;

/// `R0-01` … `R4-23`, then `C1` … `C48`.
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

/// The ids that a text names as words of their own, and those inside a range: `R0-08 … R0-11` names
/// four. Both ends of a range are of one seed; else only the ends are named.
pub(super) fn named_in(text: &str) -> Vec<String> {
    let text = text.replace('…', " … ");
    let words = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || ['-', '_', '…'].contains(&c)))
        .map(|word| word.trim_matches('-'))
        .filter(|word| !word.is_empty());
    let (mut named, mut range_from): (Vec<String>, Option<(&str, usize)>) = (Vec::new(), None);
    let mut last = None;
    for word in words {
        if word == "…" {
            range_from = last.take();
            continue;
        }
        last = looks_like_one(word).then(|| numbered(word)).flatten();
        if let (Some((seed, from)), Some((other, to))) = (range_from.take(), last)
            && seed == other
        {
            named.extend((from + 1..to).map(|number| match seed {
                "C" => format!("C{number}"),
                _ => format!("{seed}{number:02}"),
            }));
        }
        if looks_like_one(word) {
            named.push(word.to_owned());
        }
    }
    named
}

/// `R0-08` is 8 of `R0-`, `C7` is 7 of `C`.
fn numbered(id: &str) -> Option<(&str, usize)> {
    let begin = id.find('-').map_or(1, |dash| dash + 1);
    Some((id.get(..begin)?, id.get(begin..)?.parse().ok()?))
}
