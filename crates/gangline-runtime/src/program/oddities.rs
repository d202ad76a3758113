//! How often a program wrote something odd, by kind: the first is told, then only numbers.

use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// Kinds that are told apart; what comes beyond is counted as one.
const KINDS_MAX: usize = 64;
/// The name of those.
const OTHERS: &str = "other kinds";

#[derive(Debug, Default)]
pub(crate) struct Oddities(BTreeMap<String, Count>);

#[derive(Debug, Default)]
struct Count {
    seen: u64,
    told: u64,
}

impl Oddities {
    /// Counts one of this kind. Returns its number if it is told: the first, the tenth, the
    /// hundredth and so on.
    pub(crate) fn count(&mut self, kind: &str) -> Option<u64> {
        let known = self.0.contains_key(kind) || self.0.len() < KINDS_MAX;
        let count = self.0.entry(if known { kind } else { OTHERS }.to_owned()).or_default();
        count.seen = count.seen.saturating_add(1);
        let power = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
        let tells = power.take_while(|power| *power <= count.seen).last() == Some(count.seen);
        tells.then(|| {
            count.told = count.seen;
            count.seen
        })
    }

    /// Returns the kinds of which more came than was told, with their numbers, and forgets all.
    pub(crate) fn rest(&mut self) -> Vec<(String, u64)> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.filter(|(_, count)| count.seen > count.told)
            .map(|(kind, count)| (kind, count.seen))
            .collect()
    }
}
