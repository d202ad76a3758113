//! Budgets as tables.

use gangline_api::budget::Budgets;
use gangline_core::price::dollars;

use super::table::{Cell, table};

/// Returns what `budget` prints.
pub(crate) fn list(budgets: &Budgets) -> String {
    let mut text = format!("{}, list prices of {}\n", budgets.day, budgets.prices_of);
    if let Some(why) = &budgets.fleet_held {
        text.push_str(&format!("all agents are held: {why}\n"));
    }
    if budgets.budgets.is_empty() {
        text.push_str("no budgets; `budgets` in agents.yaml sets them\n");
    } else {
        let rows: Vec<_> = budgets
            .budgets
            .iter()
            .map(|it| {
                let of_tokens = it.tokens.map(|most| format!("{} of {most}", it.tokens_spent));
                let of_money =
                    it.usd.map(|most| format!("{} of {}", money(it.usd_spent), money(most)));
                [
                    Cell::from(it.scope.as_str()),
                    Cell::from(it.standing.as_str()),
                    Cell::from(it.action.as_str()),
                    Cell::from(of_tokens.unwrap_or_else(|| "-".to_owned())),
                    Cell::from(of_money.unwrap_or_else(|| "-".to_owned())),
                    Cell::from(unknown(it.unknown_costs)),
                ]
            })
            .collect();
        text.push_str(&table(["BUDGET", "STATE", "THEN", "TOKENS", "COST", "UNPRICED"], &rows));
    }
    if !budgets.spent.is_empty() {
        let rows: Vec<_> = budgets
            .spent
            .iter()
            .map(|it| {
                [
                    Cell::from(it.nick.as_str()),
                    Cell::from(it.counted.source.as_str()),
                    Cell::from(it.counted.tokens.to_string()),
                    Cell::from(it.counted.cache_read.to_string()),
                    Cell::from(it.counted.usd.map_or_else(|| "unknown".to_owned(), money)),
                    Cell::from(unknown(it.counted.unknown_costs)),
                ]
            })
            .collect();
        text.push('\n');
        text.push_str(&table(["NICK", "COUNTED BY", "TOKENS", "CACHE", "COST", "UNPRICED"], &rows));
    }
    text.push_str(&relayed(budgets));
    text
}

/// Returns the requests that went through relays, if any did.
fn relayed(budgets: &Budgets) -> String {
    if budgets.relayed.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = budgets
        .relayed
        .iter()
        .map(|it| {
            [
                Cell::from(it.nick.as_str()),
                Cell::from(it.outcome.as_str()),
                Cell::from(it.calls.to_string()),
                Cell::from(format!("{} ms", it.first_byte_ms)),
                Cell::from(format!("{} ms", it.lasted_ms)),
            ]
        })
        .collect();
    format!("\n{}", table(["NICK", "RELAYED", "CALLS", "BEGAN", "ENDED"], &rows))
}

fn unknown(calls: u64) -> String {
    if calls == 0 { "-".to_owned() } else { calls.to_string() }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it came from there")]
pub(super) fn money(usd: f64) -> String {
    dollars((usd * 1_000_000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    //! What people read.

    use gangline_api::budget::{BudgetLine, Budgets, Counted, RelayedLine, SpentLine};
    use gangline_core::budget::{BudgetAction, CallOutcome, Standing, UsageSource};

    use super::list;

    /// Unknown is shown as unknown, never as 0.
    #[test]
    fn what_is_not_known_is_said() {
        let nick: gangline_core::AgentName = "lab-ada".parse().unwrap();
        let budgets = Budgets {
            day: "2026-11-26".to_owned(),
            ends_at: "2026-11-27T00:00:00Z".to_owned(),
            prices_of: "2026-11-01".to_owned(),
            budgets: vec![BudgetLine {
                scope: "day".to_owned(),
                standing: Standing::Nearly.into(),
                action: BudgetAction::Hold.into(),
                tokens: None,
                tokens_spent: 7,
                usd: Some(5.0),
                usd_spent: 4.1,
                unknown_costs: 3,
            }],
            spent: vec![SpentLine {
                nick: nick.clone(),
                counted: Counted {
                    source: UsageSource::Relay.into(),
                    tokens: 7,
                    cache_read: 9,
                    usd: None,
                    unknown_costs: 3,
                },
            }],
            relayed: vec![RelayedLine {
                nick,
                outcome: CallOutcome::RateLimited.into(),
                calls: 2,
                first_byte_ms: 3,
                lasted_ms: 40,
            }],
            fleet_held: None,
        };
        let text = list(&budgets);
        for part in ["$4.10 of $5.00", "nearly", "relay", "unknown", "rate_limited", "2026-11-01"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("$0.00"), "{text}");
    }
}
