//! What is said of budgets.

use gangline_core::budget::{Budget, BudgetAction, BudgetScope, Spent, Standing};

/// Why the whole fleet is held, if not for a budget.
pub(crate) const FLEET_PARKED: &str = "half of the agents parked within 10 minutes: all agents are held until `gangline budget release`";

fn whose(scope: &BudgetScope) -> String {
    match scope {
        BudgetScope::Agent(agent) => format!("the budget of {agent}"),
        BudgetScope::Room(room) => format!("the budget of {room}"),
        BudgetScope::Day => "the budget of the whole installation".to_owned(),
    }
}

/// What the model's client shows when the relay refuses its request.
pub(crate) fn budget_refused(scope: &BudgetScope) -> String {
    format!(
        "Gangline: {} is spent for today, so this request was not sent. {}",
        whose(scope),
        budget_raise(scope)
    )
}

/// What raises a budget.
pub(crate) fn budget_raise(scope: &BudgetScope) -> String {
    format!("`gangline budget raise {scope} AMOUNT` adds to it until midnight")
}

/// How a budget stands, in one sentence.
pub(crate) fn budget_stands(scope: &BudgetScope, budget: &Budget, spent: &Spent) -> String {
    let (whose, shown) = (whose(scope), budget.shown(spent));
    let held = match budget.action {
        BudgetAction::Warn => "",
        BudgetAction::Hold => "; no new turn begins before tomorrow, messages are kept",
        BudgetAction::Stop => {
            "; requests to the model are refused and no new turn begins before tomorrow, messages are \
             kept"
        }
    };
    match budget.standing(spent) {
        Standing::Fine => format!("{whose} has enough left ({shown})"),
        Standing::Nearly => format!("{whose} is nearly spent ({shown})"),
        Standing::Spent => format!("{whose} is spent ({shown}){held}"),
    }
}
