//! `gangline budget`: what may be spent today and what was, more for today, the end of a fleet's hold.

use clap::Subcommand;
use gangline_api::budget::{BudgetLine, Budgets, RelayedLine, SpentLine};
use gangline_core::budget::{self, Budget, BudgetScope, Day, Raise, Spent};
use gangline_hub::credentials::OWNER;
use gangline_os::{
    change_notice,
    clock::{UnixMicros, rfc3339},
};
use gangline_store::{NewRaise, Store};

use crate::{
    caller,
    cli::Global,
    configuration::{self, Loaded},
    failure::Failure,
    output, owner, place, show, store,
};

/// Show what may be spent today and what was spent; add to a budget for today
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the budgets of today and what each agent spent (the default)
    Show,
    /// Add to a budget until midnight
    Raise {
        /// An agent's nick, a channel such as '#general', or `day` for the whole installation
        #[arg(value_name = "NICK|CHANNEL|day")]
        scope: BudgetScope,
        /// How much more: $2.50, or tokens such as 500k
        #[arg(value_name = "AMOUNT")]
        amount: Raise,
    },
    /// Let all agents go on that are held together
    Release,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command.unwrap_or(What::Show) {
        What::Show => show(global).await?,
        What::Raise { scope, amount } => raise(global, scope, amount).await?,
        What::Release => release(global).await?,
    }
    Ok(0)
}

async fn show(global: &Global) -> Result<(), Failure> {
    let installation = place::existing(&global.place())?;
    let loaded = configuration::load(&installation.paths.config_file)?;
    let store = store::existing(&installation.paths).await?;
    let budgets = budgets(&loaded, &store).await?;
    match global.json {
        true => output::json(&budgets),
        false => output::print(&show::budget::list(&budgets)),
    }
}

fn today() -> Result<Day, Failure> {
    budget::day(&owner::now())
        .ok_or_else(|| Failure::environment(anyhow::anyhow!("the clock is beyond the calendar")))
}

/// Returns the budgets of the configuration, each once.
fn configured(loaded: &Loaded) -> Vec<(BudgetScope, Budget)> {
    let config = &loaded.config;
    let mut all: Vec<_> = config.agents.iter().flat_map(|agent| config.budgets_of(agent)).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.dedup_by(|one, other| one.0 == other.0);
    all
}

fn usd(micros: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "to the cent it is exact far beyond any budget")]
    let dollars = micros as f64 / 1_000_000.0;
    dollars
}

/// Returns how everything stands today.
async fn budgets(loaded: &Loaded, store: &Store) -> Result<Budgets, Failure> {
    let day = today()?;
    let since = UnixMicros(day.begins);
    let mut lines = Vec::new();
    for (scope, limit) in configured(loaded) {
        let spent = store.spent(scope.clone(), since).await?;
        let limit = limit.raised(&store.raised(scope.clone(), &day.name).await?);
        lines.push(line(&scope, &limit, &spent));
    }
    let spent = store.spent_by_agent(since).await?.into_iter().map(|row| {
        let known = row.spent.micros > 0 || row.spent.unknown == 0;
        SpentLine {
            nick: row.agent,
            source: row.source,
            tokens: row.spent.tokens,
            cache_read: row.cache_read,
            usd: known.then(|| usd(row.spent.micros)),
            unknown_costs: row.spent.unknown,
        }
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

async fn raise(global: &Global, scope: BudgetScope, raise: Raise) -> Result<(), Failure> {
    caller::refuse("raise budgets")?;
    let installation = place::existing(&global.place())?;
    let loaded = configuration::load(&installation.paths.config_file)?;
    let store = store::existing(&installation.paths).await?;
    let Some((_, limit)) = configured(&loaded).into_iter().find(|(known, _)| *known == scope)
    else {
        let known: Vec<String> =
            configured(&loaded).iter().map(|(scope, _)| scope.to_string()).collect();
        let hint = match known.is_empty() {
            true => "the configuration has no budget".to_owned(),
            false => format!("there are budgets of {}", known.join(", ")),
        };
        return Err(Failure::user(format!("there is no budget of {scope}")).hint(hint));
    };
    let fits = (raise.tokens > 0 && limit.tokens.is_some())
        || (raise.micros > 0 && limit.micros.is_some());
    if !fits {
        let hint = "its limit is in the other one of tokens and dollars";
        return Err(
            Failure::user(format!("{raise} adds nothing to the budget of {scope}")).hint(hint)
        );
    }
    let day = today()?;
    let by = OWNER.to_owned();
    store.raise_budget(NewRaise { scope: scope.clone(), day: day.name, raise, by }).await?;
    if scope == BudgetScope::Day {
        store.release_fleet(OWNER).await?;
    }
    tell(&installation.paths, &loaded);
    if global.json {
        return output::json(&budgets(&loaded, &store).await?);
    }
    output::print(&format!(
        "the budget of {scope} has {raise} more until midnight; agents hear of it within 30 seconds\n"
    ))
}

async fn release(global: &Global) -> Result<(), Failure> {
    caller::refuse("let agents go on")?;
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    if !store.release_fleet(OWNER).await? {
        return Err(Failure::user("the agents are not held together").hint(
            "`gangline budget raise NICK AMOUNT` lets one agent go on that its own budget holds",
        ));
    }
    if let Some(loaded) = installation.configuration() {
        tell(&installation.paths, &loaded);
        if global.json {
            return output::json(&budgets(&loaded, &store).await?);
        }
    }
    output::print("the agents go on within 30 seconds\n")
}

fn tell(paths: &gangline_os::paths::Paths, loaded: &Loaded) {
    for agent in &loaded.config.agents {
        change_notice::notify(&paths.change_notice(agent.nick.folded()));
    }
}
