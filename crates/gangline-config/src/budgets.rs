//! `budgets` and `prices`: what may be spent in a day, and what models cost.

use std::collections::BTreeMap;

use gangline_core::{
    ChannelName,
    budget::{Budget, BudgetAction},
    price::PRICE_MAX,
};

use super::{
    declared::{Declared as _, plain, read, section},
    error::shown,
    node::{Node, Value},
    reader::Reader,
    schema,
};

/// The most tokens of a day that a budget may have.
const TOKENS_MAX: i128 = 1_000_000_000_000_000;
/// The most dollars of a day that a budget may have.
const DOLLARS_MAX: u32 = 100_000_000;
const MICROS: f64 = 1_000_000.0;

section! {
    /// How much may be spent in a day, by the clock on the wall.
    #[schemars(deny_unknown_fields)]
    pub struct DayBudget() |reader, key, node| {
        /// Most tokens, above 0; those that a provider read from its cache do not count.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tokens: Option<u64> = None
            => above_zero(reader, key, &node, |reader| {
                reader.integer(key, &node, 1..=TOKENS_MAX).map(Some)
            }),
        /// Most dollars, above 0; what has no known price does not count.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub usd: Option<f64> = None
            => above_zero(reader, key, &node, |reader| {
                reader.number(key, &node, DOLLARS_MAX).map(Some)
            }),
        /// What happens when one of them is spent.
        #[schemars(schema_with = "schema::budget_action")]
        pub action: BudgetAction = BudgetAction::Hold => reader.word(key, &node),
    }
}

section! {
    /// `budgets`: how much may be spent in a day.
    #[schemars(deny_unknown_fields)]
    pub struct Budgets() |reader, key, node| {
        /// By the whole installation.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub day: Option<DayBudget> = None => budget(reader, key, node).map(Some),
        /// By each agent that has no `budget` of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub agent: Option<DayBudget> = None => budget(reader, key, node).map(Some),
        /// By turns with messages from a channel.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub rooms: BTreeMap<String, DayBudget> = BTreeMap::new() => rooms(reader, key, node),
    }
}

section! {
    /// What a model costs, in dollars for a million tokens.
    #[schemars(deny_unknown_fields)]
    pub struct ModelPrice(input: f64 = 0.0, output: f64 = 0.0) |reader, key, node| {
        /// Of what it reads.
        pub input: f64 = input => reader.number(key, &node, PRICE_MAX),
        /// Of what it writes.
        pub output: f64 = output => reader.number(key, &node, PRICE_MAX),
        /// Of what is read from the cache; absent = as `input`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cache_read: Option<f64> = None => reader.number(key, &node, PRICE_MAX).map(Some),
        /// Of what is written to the cache; absent = as `input`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cache_write: Option<f64> = None => reader.number(key, &node, PRICE_MAX).map(Some),
    }
}

impl Budgets {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl DayBudget {
    /// Returns the budget as the core reckons with it.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget { tokens: self.tokens, micros: self.usd.map(micros), action: self.action }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was checked")]
pub(super) fn micros(dollars: f64) -> u64 {
    ((dollars * MICROS).round() as u64).max(1)
}

/// Says of a 0 what else may be meant.
fn above_zero<T>(
    reader: &mut Reader<'_>,
    key: &str,
    node: &Node,
    number: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> Option<T> {
    let too_little = match node.value {
        Value::Integer(number) => number <= 0,
        Value::Float(number) => number <= 0.0,
        _ => false,
    };
    if too_little {
        reader.fault_help(
            node.place,
            format!("`{key}` of a budget must be above 0"),
            "leave it out for no limit; `enabled: false` keeps an agent from running",
        );
        return None;
    }
    number(reader)
}

/// Reads a budget, which has at least one limit.
pub(super) fn budget(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<DayBudget> {
    let section = reader.section(key, node)?;
    let place = section.place;
    let limits = ["tokens", "usd"].map(|key| section.place_of(key));
    let budget = read(reader, key, section)?;
    if limits == [None, None] {
        reader.fault(place, format!("`{key}` needs `tokens` or `usd`"));
    }
    Some(budget)
}

fn rooms(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<BTreeMap<String, DayBudget>> {
    let section = reader.section(key, node)?;
    let mut rooms = BTreeMap::new();
    for (name, node) in section.entries {
        match name.text.parse::<ChannelName>() {
            Ok(room) => {
                if let Some(budget) = budget(reader, &name.text, node) {
                    rooms.insert(room.folded().to_owned(), budget);
                }
            }
            Err(error) => reader.fault(name.place, error.to_string()),
        }
    }
    Some(rooms)
}

/// Reads prices by model.
pub(super) fn prices(
    reader: &mut Reader<'_>,
    key: &str,
    node: Node,
) -> Option<BTreeMap<String, ModelPrice>> {
    let section = reader.section(key, node)?;
    let mut prices = BTreeMap::new();
    for (name, node) in section.entries {
        if name.text.trim().is_empty() {
            reader.fault(name.place, "a price needs the name of its model");
            continue;
        }
        let called = format!("prices.{}", shown(&name.text));
        let place = node.place;
        let missing = |node: &Node| match &node.value {
            Value::Map(entries) => ModelPrice::NEEDED
                .iter()
                .find(|needed| !entries.iter().any(|(key, _)| key.text == **needed))
                .copied(),
            _ => None,
        };
        if let Some(needed) = missing(&node) {
            reader.fault(place, format!("`{called}` needs `{needed}`"));
        }
        if let Some(price) = plain(reader, &called, node) {
            prices.insert(name.text, price);
        }
    }
    Some(prices)
}
