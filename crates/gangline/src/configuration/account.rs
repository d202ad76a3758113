//! From which account at a model's provider an agent spends, and who else does, as far as the configuration
//! tells it: the same backend, address, key, login folder and variables.

use gangline_agent::Account;
use gangline_config::{AgentConfig, Profile};
use gangline_runtime::registry::Found;

use super::Loaded;

#[cfg(test)]
mod tests;

impl Loaded {
    /// Returns the account of an agent with this backend.
    pub(crate) fn account(&self, (agent, found): (&AgentConfig, &Found)) -> Account {
        let same = |other: &&AgentConfig| {
            other.nick != agent.nick
                && other.profile == Profile::Host
                && self.driven(other, None).is_ok_and(|driven| {
                    driven.found.name == found.name && is_same(agent, &driven.agent)
                })
        };
        let how = match (&agent.api_key_env, &agent.account_dir) {
            (Some(name), _) => format!("with the key in `{name}`"),
            (None, Some(folder)) => format!("with the login in {}", folder.display()),
            (None, None) => "with its own login".to_owned(),
        };
        // In a container of its own an agent has a login of its own.
        let alone = agent.profile == Profile::Container && agent.api_key_env.is_none();
        let others = self.enabled().filter(|_| !alone).filter(same);
        Account {
            name: format!("{} {how}", found.name),
            others: others.map(|other| other.nick.clone()).collect(),
        }
    }
}

fn is_same(one: &AgentConfig, other: &AgentConfig) -> bool {
    (&one.base_url, &one.api_key_env, &one.account_dir, &one.env)
        == (&other.base_url, &other.api_key_env, &other.account_dir, &other.env)
}
