//! What the whole file comes to for one agent's spending: its budgets, its relay, the prices.

use gangline_core::{
    ChannelName,
    budget::{Budget, BudgetAction, BudgetScope},
    price::{Price, Prices},
};

use super::{AgentConfig, Config, ModelPrice, budgets::micros};

impl Config {
    /// Returns every budget that bounds this agent.
    #[must_use]
    pub fn budgets_of(&self, agent: &AgentConfig) -> Vec<(BudgetScope, Budget)> {
        let own = agent.budget.as_ref().or(self.budgets.agent.as_ref());
        let own = own.map(|it| (BudgetScope::Agent(agent.nick.clone()), it.budget()));
        let here = |room: &ChannelName| agent.channels.contains(room);
        let rooms = self.budgets.rooms.iter().filter_map(|(name, it)| {
            let room: ChannelName = name.parse().ok()?;
            here(&room).then(|| (BudgetScope::Room(room), it.budget()))
        });
        let day = self.budgets.day.as_ref().map(|it| (BudgetScope::Day, it.budget()));
        own.into_iter().chain(rooms).chain(day).collect()
    }

    /// Returns whether this agent's backend reaches its model by the relay.
    #[must_use]
    pub fn relays(&self, agent: &AgentConfig) -> bool {
        let stops = || {
            let mut all = self.budgets_of(agent).into_iter();
            all.any(|(_, budget)| budget.action == BudgetAction::Stop)
        };
        agent.relay.unwrap_or_else(stops)
    }

    /// Returns what models cost.
    #[must_use]
    pub fn price_list(&self) -> Prices {
        let of = |dollars: f64| if dollars > 0.0 { micros(dollars) } else { 0 };
        let price = |it: &ModelPrice| {
            let cache_write = of(it.cache_write.unwrap_or(it.input));
            Price {
                input: of(it.input),
                output: of(it.output),
                cache_read: of(it.cache_read.unwrap_or(it.input)),
                cache_write,
                cache_write_hour: cache_write,
            }
        };
        Prices::new(self.prices.iter().map(|(model, it)| (model.clone(), price(it))).collect())
    }
}

#[cfg(test)]
mod tests {
    //! What a file's budgets come to for an agent.

    use super::super::parse;
    use super::*;

    const AGENTS: &str = "agents:\n- {nick: spark-ada, directory: /w, channels: ['#a', '#b']}\n\
        - {nick: spark-bob, directory: /w, channels: ['#b'], budget: {tokens: 7, action: stop}}\n";

    fn config(more: &str) -> Config {
        parse(&format!("{AGENTS}{more}"), "x").unwrap()
    }

    #[test]
    fn an_agent_has_its_own_budget_its_rooms_and_the_days() {
        let config = config(
            "budgets: {day: {usd: 50.5}, agent: {tokens: 9, usd: 0.000001, action: warn}, rooms: {'#A': {usd: 1}}}\n",
        );
        let of = |at: usize| -> Vec<(String, Option<u64>, Option<u64>, BudgetAction)> {
            let all = config.budgets_of(&config.agents[at]).into_iter();
            all.map(|(scope, it)| (scope.to_string(), it.tokens, it.micros, it.action)).collect()
        };
        let (hold, warn) = (BudgetAction::Hold, BudgetAction::Warn);
        let day = ("day".to_owned(), None, Some(50_500_000), hold);
        let own = ("spark-ada".to_owned(), Some(9), Some(1), warn);
        assert_eq!(of(0), [own, ("#a".to_owned(), None, Some(1_000_000), hold), day.clone()]);
        assert_eq!(of(1), [("spark-bob".to_owned(), Some(7), None, BudgetAction::Stop), day]);
        let relayed: Vec<_> = config.agents.iter().map(|agent| config.relays(agent)).collect();
        assert_eq!(relayed, [false, true], "a budget that stops needs the relay");
    }

    #[test]
    fn prices_of_the_file_win() {
        let config = config("prices: {standin-guide: {input: 2, output: 4, cache_read: 0}}\n");
        let tokens = gangline_core::price::Tokens {
            input: 10,
            output: 10,
            cache_read: 10,
            cache_write: 10,
            cache_write_hour: 0,
        };
        let prices = config.price_list();
        assert_eq!(prices.cost("standin-guide", &tokens), Some(80));
        assert_eq!(prices.cost("other", &tokens), None);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (more, expected) in [
            ("budgets: {day: {usd: 0}}", "`usd` of a budget must be above 0"),
            ("budgets: {day: {tokens: 0}}", "`tokens` of a budget must be above 0"),
            ("budgets: {day: {usd: -1}}", "`usd` of a budget must be above 0"),
            ("budgets: {day: {action: stop}}", "`day` needs `tokens` or `usd`"),
            ("budgets: {day: {usd: 1, action: pause}}", "pause"),
            ("budgets: {rooms: {general: {usd: 1}}}", "general"),
            ("prices: {m: {input: 1}}", "`prices.m` needs `output`"),
            ("prices: {m: {input: 1, output: 1, cached: 1}}", "cached"),
        ] {
            let error = parse(&format!("{AGENTS}{more}\n"), "x").unwrap_err().to_string();
            assert!(error.contains(expected), "{more}: {error}");
        }
        let off = AGENTS.replace("budget:", "relay: false, budget:");
        let error = parse(&off, "x").unwrap_err().to_string();
        assert!(error.contains("`relay: false` of spark-bob"), "{error}");
    }
}
