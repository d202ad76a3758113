//! `gangline budget`: what may be spent today and what was, more for today, the end of a fleet's hold.

use clap::Subcommand;
use gangline_core::budget::{BudgetScope, Raise};
use gangline_hub::credentials::OWNER;
use gangline_os::change_notice;
use gangline_store::NewRaise;

use crate::{
    budgets, caller,
    cli::Global,
    configuration::{self, Loaded},
    failure::Failure,
    output, place, show, store,
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
    let today = budgets::of_today(&loaded, &store).await?;
    match global.json {
        true => output::json(&today),
        false => output::print(&show::budget::list(&today)),
    }
}

async fn raise(global: &Global, scope: BudgetScope, raise: Raise) -> Result<(), Failure> {
    caller::refuse("raise budgets")?;
    let installation = place::existing(&global.place())?;
    let loaded = configuration::load(&installation.paths.config_file)?;
    let store = store::existing(&installation.paths).await?;
    let Some((_, limit)) =
        budgets::configured(&loaded).into_iter().find(|(known, _)| *known == scope)
    else {
        let known: Vec<String> =
            budgets::configured(&loaded).iter().map(|(scope, _)| scope.to_string()).collect();
        let hint = match known.is_empty() {
            true => "the configuration has no budget".to_owned(),
            false => format!("there are budgets of {}", known.join(", ")),
        };
        return Err(Failure::user(format!("there is no budget of {scope}")).hint(hint));
    };
    let fits = (raise.tokens > 0 && limit.tokens.is_some())
        || (raise.micros > 0 && limit.micros.is_some());
    if !fits {
        let hint = match limit.tokens.is_some() {
            true => "its limit is in tokens: give tokens, such as 500k",
            false => "its limit is in dollars: give dollars, such as '$2.50'",
        };
        return Err(
            Failure::user(format!("{raise} adds nothing to the budget of {scope}")).hint(hint)
        );
    }
    let day = budgets::today()?;
    let by = OWNER.to_owned();
    store.raise_budget(NewRaise { scope: scope.clone(), day: day.name, raise, by }).await?;
    if scope == BudgetScope::Day {
        store.release_fleet(OWNER).await?;
    }
    tell(&installation.paths, &loaded);
    if global.json {
        return output::json(&budgets::of_today(&loaded, &store).await?);
    }
    output::print(&format!("the budget of {scope} has {raise} more until midnight\n"))
}

async fn release(global: &Global) -> Result<(), Failure> {
    caller::refuse("let agents go on")?;
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    if !store.release_fleet(OWNER).await? {
        return Err(Failure::user("the agents are not held together")
            .hint("`gangline budget raise NICK AMOUNT` adds to the budget that holds one agent"));
    }
    if let Some(loaded) = installation.configuration() {
        tell(&installation.paths, &loaded);
        if global.json {
            return output::json(&budgets::of_today(&loaded, &store).await?);
        }
    }
    output::print("the agents go on\n")
}

fn tell(paths: &gangline_os::paths::Paths, loaded: &Loaded) {
    for agent in &loaded.config.agents {
        change_notice::notify(&paths.change_notice(agent.nick.folded()));
    }
}
