//! What a model's tokens cost: list prices of a named day, and the configuration's own.
//!
//! A model that is in neither has no known cost. Start at [`Prices::cost`].

use std::collections::BTreeMap;

use crate::usage::{MICROS_MAX, TOKENS_MAX};

/// The table: data with its day.
const TABLE: &str = include_str!("../data/prices.txt");
/// A price is told for so many tokens.
const MILLION: u128 = 1_000_000;
/// No price is higher, in dollars for a million tokens.
pub const PRICE_MAX: u32 = 100_000;

/// Tokens of one call of a model, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Read, without what came from the cache and what was written to it.
    pub input: u64,
    /// Written, thoughts included.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Read and written to the cache, for the usual time.
    pub cache_write: u64,
    /// Read and written to the cache for an hour.
    pub cache_write_hour: u64,
}

impl Tokens {
    /// Returns the tokens as they are believed: none more than [`TOKENS_MAX`].
    #[must_use]
    pub fn bounded(self) -> Self {
        let Self { input, output, cache_read, cache_write, cache_write_hour } = self;
        Self {
            input: input.min(TOKENS_MAX),
            output: output.min(TOKENS_MAX),
            cache_read: cache_read.min(TOKENS_MAX),
            cache_write: cache_write.min(TOKENS_MAX),
            cache_write_hour: cache_write_hour.min(TOKENS_MAX),
        }
    }

    /// Returns what a budget of tokens counts: all but what came from the cache.
    #[must_use]
    pub fn counted(&self) -> u64 {
        let written = self.cache_write.saturating_add(self.cache_write_hour);
        self.input.saturating_add(self.output).saturating_add(written)
    }

    /// Returns how long the prompt was.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        let written = self.cache_write.saturating_add(self.cache_write_hour);
        self.input.saturating_add(self.cache_read).saturating_add(written)
    }
}

/// A model's prices, each in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Of what is read.
    pub input: u64,
    /// Of what is written.
    pub output: u64,
    /// Of what is read from the cache.
    pub cache_read: u64,
    /// Of what is written to the cache.
    pub cache_write: u64,
    /// Of what is written to the cache for an hour.
    pub cache_write_hour: u64,
}

impl Price {
    /// Returns what a call costs, in millionths of a dollar, rounded up; at most [`MICROS_MAX`].
    #[must_use]
    pub fn cost(&self, tokens: &Tokens) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
            (tokens.cache_write_hour, self.cache_write_hour),
        ];
        let sum: u128 =
            parts.iter().map(|(many, each)| u128::from(*many) * u128::from(*each)).sum();
        u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX).min(MICROS_MAX)
    }
}

/// A row of the table: from which length of a prompt on it holds, and the price.
type Row = (u64, Price);

/// Prices by model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    day: String,
    listed: BTreeMap<String, Vec<Row>>,
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// Returns the list prices and, in their place, the configuration's.
    #[must_use]
    pub fn new(own: BTreeMap<String, Price>) -> Self {
        let mut day = String::new();
        let mut listed = BTreeMap::<String, Vec<Row>>::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once(' ') {
                Some(("day", of)) => of.clone_into(&mut day),
                Some((model, rest)) => {
                    let rows = listed.entry(model.to_owned()).or_default();
                    rows.extend(row(rest));
                }
                None => {}
            }
        }
        let own = own.into_iter().map(|(model, price)| (bare(&model), price)).collect();
        Self { day, listed, own }
    }

    /// Returns the day of the list prices: `2026-11-26`.
    #[must_use]
    pub fn day(&self) -> &str {
        &self.day
    }

    /// Returns what a call cost, in millionths of a dollar; `None`: nobody knows this model's price.
    #[must_use]
    pub fn cost(&self, model: &str, tokens: &Tokens) -> Option<u64> {
        let name = bare(model);
        let own = self.own.iter().find(|(known, _)| is_release(&name, known));
        if let Some((_, price)) = own {
            return Some(price.cost(tokens));
        }
        let (_, rows) = self.listed.iter().find(|(known, _)| is_release(&name, known))?;
        let holding = rows.iter().filter(|(above, _)| *above == 0 || tokens.prompt() > *above);
        let (_, price) = holding.max_by_key(|(above, _)| *above)?;
        Some(price.cost(tokens))
    }
}

impl Default for Prices {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

/// Returns the name without its provider.
fn bare(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase()
}

/// Returns whether a name is a model's own or that of one of its dated releases.
fn is_release(name: &str, model: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else { return false };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = rest.split(['-', '@']).skip(1).collect();
    match parts.as_slice() {
        [] => rest.is_empty(),
        ["latest"] => true,
        [day] => day.len() == 8 && digits(day),
        [year, month, day] => {
            [year.len(), month.len(), day.len()] == [4, 2, 2]
                && [year, month, day].into_iter().all(|part| digits(part))
        }
        _ => false,
    }
}

fn row(rest: &str) -> Option<Row> {
    let mut words = rest.split(' ').peekable();
    let above = match words.peek().and_then(|word| word.strip_prefix('>')) {
        Some(tokens) => {
            words.next();
            tokens.parse().ok()?
        }
        None => 0,
    };
    let input = words.next().and_then(micros)?;
    let mut price = || match words.next()? {
        "-" => Some(input),
        word => micros(word),
    };
    let (output, cache_read) = (price()?, price()?);
    let (cache_write, cache_write_hour) = (price()?, price()?);
    Some((above, Price { input, output, cache_read, cache_write, cache_write_hour }))
}

/// Reads dollars, with at most six digits behind the point, as millionths of a dollar.
#[must_use]
pub fn micros(dollars: &str) -> Option<u64> {
    let (whole, part) = dollars.split_once('.').unwrap_or((dollars, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || part.len() > 6 || !plain(whole) || !plain(part) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + part)
}

/// Writes millionths of a dollar as dollars for people: `$0.0042`, `$12.50`.
#[must_use]
pub fn dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let digits = format!("{part:06}");
    let fine = digits.trim_end_matches('0');
    let shown =
        if fine.len() < 2 || whole > 0 { &digits[..2] } else { &digits[..fine.len().min(4)] };
    format!("${whole}.{shown}")
}

#[cfg(test)]
mod tests;
