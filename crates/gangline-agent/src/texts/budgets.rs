//! What is said of budgets.

use gangline_core::{
    AgentName,
    budget::{Budget, BudgetAction, BudgetScope, Spent, Standing},
};

/// Why the whole fleet is held, if not for a budget.
pub(crate) const FLEET_PARKED: &str = "half of the agents parked within 10 minutes: all agents are held until `gangline budget release`";

fn whose(scope: &BudgetScope) -> String {
    match scope {
        BudgetScope::Agent(agent) => format!("the budget of {agent}"),
        BudgetScope::Room(room) => format!("the budget of {room}"),
        BudgetScope::Day => "the budget of the whole installation".to_owned(),
    }
}

/// How a refusal by the relay begins and what it says, whichever budget it is about.
const REFUSED: (&str, &str) = ("Gangline: ", " is spent for today, so this request was not sent.");

/// What the model's client shows when the relay refuses its request.
pub(crate) fn budget_refused(scope: &BudgetScope) -> String {
    let (begins, says) = REFUSED;
    format!("{begins}{}{says} {}", whose(scope), budget_raise(scope))
}

/// Returns whether a backend failed because the relay refused its request: each has its own words around
/// the refusal.
pub(crate) fn is_budget_refusal(why: &str) -> bool {
    let (begins, says) = REFUSED;
    why.split_once(begins).is_some_and(|(_, rest)| rest.contains(says))
}

/// What raises a budget. In a shell an unquoted `#` begins a comment.
pub(crate) fn budget_raise(scope: &BudgetScope) -> String {
    let scope = match scope {
        BudgetScope::Room(room) => format!("'{room}'"),
        BudgetScope::Agent(_) | BudgetScope::Day => scope.to_string(),
    };
    format!("`gangline budget raise {scope} AMOUNT` adds to it until midnight")
}

/// The alert about a budget: how it stands, and what helps.
pub(crate) fn budget_alert(agent: &AgentName, cause: &str, help: &str) -> String {
    format!("[BUDGET] {agent}: {cause}. {help}")
}

/// Names a budget that holds an agent, with what was spent of it.
pub(crate) fn budget_holds(scope: &BudgetScope, budget: &Budget, spent: &Spent) -> String {
    format!("{}, {}", whose(scope), budget.shown(spent))
}

/// How a budget stands, in one sentence.
pub(crate) fn budget_stands(scope: &BudgetScope, budget: &Budget, spent: &Spent) -> String {
    let (whose, shown) = (whose(scope), budget.shown(spent));
    let held = match budget.action {
        BudgetAction::Warn => "",
        BudgetAction::Hold => "; no new turn begins before tomorrow, messages are stored",
        BudgetAction::Stop => {
            "; requests to the model are refused and no new turn begins before tomorrow, messages are \
             stored"
        }
    };
    match budget.standing(spent) {
        Standing::Fine => format!("{whose} has enough left ({shown})"),
        Standing::Nearly => format!("{whose} is nearly spent ({shown})"),
        Standing::Spent => format!("{whose} is spent ({shown}){held}"),
    }
}
