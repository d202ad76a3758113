//! Prices: which row a name has, what a call costs, and what is not known.

use super::*;

fn tokens(input: u64, output: u64) -> Tokens {
    Tokens { input, output, ..Tokens::default() }
}

#[test]
fn every_line_of_the_table_is_read_and_it_has_a_day() {
    let prices = Prices::default();
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(prices.listed.values().map(Vec::len).sum::<usize>() + 1, lines);
    assert_eq!(prices.day().len(), "2026-11-26".len());
    let usual = |rows: &Vec<Row>| rows.iter().filter(|(above, _)| *above == 0).count();
    assert!(prices.listed.values().all(|rows| usual(rows) == 1));
}

/// An unknown model has no cost: not a cost of 0, and not a relative's.
#[test]
fn a_name_has_its_own_price_or_none() {
    let prices = Prices::default();
    let million = tokens(1_000_000, 0);
    for (model, cost) in [
        ("gpt-5", Some(1_250_000)),
        ("openai/gpt-5", Some(1_250_000)),
        ("GPT-5", Some(1_250_000)),
        ("gpt-5-2025-08-07", Some(1_250_000)),
        ("gpt-5-mini", Some(250_000)),
        ("gpt-5.5", None),
        ("gpt-5-codex", None),
        ("gpt-55", None),
        ("gpt-5-2025-8-7", None),
        ("claude-haiku-4-5-20251001", Some(1_000_000)),
        ("claude-haiku-4-5@20251001", Some(1_000_000)),
        ("gemini-2.5-flash-latest", Some(300_000)),
        ("standin-guide", None),
        ("", None),
    ] {
        assert_eq!(prices.cost(model, &million), cost, "{model}");
    }
}

#[test]
fn each_kind_of_token_has_its_price_and_long_prompts_have_theirs() {
    let prices = Prices::default();
    let all = Tokens {
        input: 1000,
        output: 100,
        cache_read: 10_000,
        cache_write: 2000,
        cache_write_hour: 500,
    };
    assert_eq!(all.counted(), 3600);
    assert_eq!(all.prompt(), 13_500);
    let cost = 1000 * 5 + 100 * 25 + 10_000 / 2 + 2000 * 25 / 4 + 500 * 10;
    assert_eq!(prices.cost("claude-opus-4-6", &all), Some(cost));
    let at = |cache_read| prices.cost("claude-sonnet-4-6", &Tokens { cache_read, ..all });
    assert_eq!(at(196_500), Some(3000 + 1500 + 58_950 + 7500 + 3000));
    assert_eq!(
        at(196_501),
        Some(6000 + 2250 + 117_901 + 15_000 + 6000),
        "over 200,000, rounded up"
    );
    assert_eq!(prices.cost("gpt-5-nano", &tokens(1, 0)), Some(1), "rounded up");
    assert_eq!(prices.cost("o3", &tokens(u64::MAX, u64::MAX)), Some(MICROS_MAX));
}

#[test]
fn the_configuration_wins() {
    let flat = Price { input: 1, output: 2, cache_read: 1, cache_write: 1, cache_write_hour: 1 };
    let of = |name: &str| (name.to_owned(), Price { input: 7_000_000, ..flat });
    let prices = Prices::new([of("standin-guide"), of("local/gpt-5")].into());
    assert_eq!(prices.cost("standin-guide", &tokens(1000, 0)), Some(7000));
    assert_eq!(prices.cost("gpt-5-2025-08-07", &tokens(1000, 0)), Some(7000));
    assert_eq!(prices.cost("gpt-5-mini", &tokens(1000, 0)), Some(250));
}

#[test]
fn dollars_are_read_and_written() {
    for (text, read) in [
        ("5", Some(5_000_000)),
        ("0.25", Some(250_000)),
        ("0.000001", Some(1)),
        ("0.0000001", None),
        ("", None),
        (".5", None),
        ("-1", None),
        ("1e3", None),
        ("9999999999999", None),
    ] {
        assert_eq!(micros(text), read, "{text}");
    }
    for (micros, text) in [
        (0, "$0.00"),
        (4_200, "$0.0042"),
        (250_000, "$0.25"),
        (500_000, "$0.50"),
        (12_500_000, "$12.50"),
        (12_345_678, "$12.34"),
        (1, "$0.0000"),
    ] {
        assert_eq!(dollars(micros), text);
    }
}
