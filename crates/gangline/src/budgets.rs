//! The budgets of today and what was spent, as every surface shows them.

use gangline_api::budget::{BudgetLine, Budgets, Counted, RelayedLine, SpentLine, usd};
use gangline_core::budget::{self, Budget, BudgetScope, Day, Spent};
use gangline_os::clock::{UnixMicros, rfc3339};
use gangline_store::Store;

use crate::{configuration::Loaded, failure::Failure, owner};

pub(crate) fn today() -> Result<Day, Failure> {
    budget::day(&owner::now())
        .ok_or_else(|| Failure::environment(anyhow::anyhow!("the clock is beyond the calendar")))
}

/// Returns the budgets of the configuration, each once.
pub(crate) fn configured(loaded: &Loaded) -> Vec<(BudgetScope, Budget)> {
    let config = &loaded.config;
    let mut all: Vec<_> = config.agents.iter().flat_map(|agent| config.budgets_of(agent)).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.dedup_by(|one, other| one.0 == other.0);
    all
}

/// Returns how everything stands today.
pub(crate) async fn of_today(loaded: &Loaded, store: &Store) -> Result<Budgets, Failure> {
    let day = today()?;
    let since = UnixMicros(day.begins);
    let mut lines = Vec::new();
    for (scope, limit) in configured(loaded) {
        let spent = store.spent(scope.clone(), since).await?;
        let limit = limit.raised(&store.raised(scope.clone(), &day.name).await?);
        lines.push(line(&scope, &limit, &spent));
    }
    let spent = store.spent_by_agent(None, since).await?.into_iter().map(|row| SpentLine {
        counted: Counted::of(row.source, &row.spent, row.cache_read),
        nick: row.agent,
    });
    let relayed = store.relayed_on(&day.name).await?.into_iter().map(|row| {
        let calls = u64::try_from(row.calls).unwrap_or(0);
        let mean = |sum: i64| u64::try_from(sum).unwrap_or(0) / 1000 / calls.max(1);
        RelayedLine {
            nick: row.agent,
            outcome: row.outcome,
            calls,
            first_byte_ms: mean(row.first_byte_micros),
            lasted_ms: mean(row.lasted_micros),
        }
    });
    Ok(Budgets {
        ends_at: rfc3339(UnixMicros(day.ends)),
        prices_of: loaded.config.price_list().day().to_owned(),
        budgets: lines,
        spent: spent.collect(),
        relayed: relayed.collect(),
        fleet_held: store.fleet_hold().await?.map(|hold| hold.why),
        day: day.name,
    })
}

fn line(scope: &BudgetScope, limit: &Budget, spent: &Spent) -> BudgetLine {
    BudgetLine {
        scope: scope.to_string(),
        standing: limit.standing(spent).into(),
        action: limit.action.into(),
        tokens: limit.tokens,
        tokens_spent: spent.tokens,
        usd: limit.micros.map(usd),
        usd_spent: usd(spent.micros),
        unknown_costs: spent.unknown,
    }
}
