//! What the hub's HTTP interface asks of the daemons, the configuration and the chat server.

use std::{borrow::Cow, collections::HashMap, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use gangline_agent::attention::Site;
use gangline_api::{
    budget::Budgets,
    error::{ApiError, ErrorCode},
};
use gangline_core::{AgentName, cause::TURNS_PER_CAUSE, likeness};
use gangline_http::{Client, Daemons, Order};
use gangline_hub::hub::HttpOptions;
use gangline_mcp::{
    ToolSpec,
    rpc::Call,
    table::{User, offered},
};
use gangline_os::{
    CancellationToken,
    paths::{Overrides, Paths},
};
use gangline_runtime::{ToolCall, ToolHost as _, toolserver::OUTSIDE};
use gangline_store::Store;
use tokio::sync::Mutex;

use crate::{
    attention, budgets,
    configuration::{self, Loaded},
    control::{self, Word},
    failure::Failure,
    mcp::outside::Outside,
    names,
    who::Who,
};

/// Under which nick a client speaks whose token has no label.
const NAMELESS: &str = "operator";
/// How others know the owner who answers over HTTP.
const HTTP_OWNER: &str = "owner over HTTP";

/// Returns the HTTP interface that the configuration wants; none if it wants none.
pub(crate) fn options(loaded: &Loaded, paths: &Paths) -> Result<Option<HttpOptions>, Failure> {
    let http = &loaded.config.http;
    if !http.enabled {
        return Ok(None);
    }
    let Some(ip) = configuration::loopback(&http.host) else {
        let text = format!("`http.host` is not a loopback address: {}", http.host);
        return Err(Failure::config(anyhow::anyhow!(text)).hint("write `host: 127.0.0.1`"));
    };
    Ok(Some(HttpOptions {
        address: SocketAddr::new(ip, http.port),
        host: http.host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        daemons: Arc::new(HubDaemons { paths: paths.clone(), clients: Mutex::default() }),
    }))
}

/// The hosts of clients, by agent and token.
type Hosts = HashMap<(AgentName, Option<i64>), Arc<Outside>>;

/// The way to the daemons.
struct HubDaemons {
    paths: Paths,
    /// The hosts of the clients that have called.
    clients: Mutex<Hosts>,
}

impl HubDaemons {
    async fn host(&self, store: &Store, client: &Client) -> Result<Arc<Outside>, Failure> {
        let mut clients = self.clients.lock().await;
        let key = (client.agent.clone(), client.token);
        if let Some(host) = clients.get(&key) {
            return Ok(Arc::clone(host));
        }
        let place = Overrides {
            config: Some(self.paths.config_file.clone()),
            state: Some(self.paths.state.clone()),
            folder: None,
        };
        let name = name_of(client.label.trim(), &client.agent);
        let who = (&client.agent, &*name, client.user());
        let host = Arc::new(Outside::at_hub((place, self.paths.clone()), store.clone(), who)?);
        clients.insert(key, Arc::clone(&host));
        Ok(host)
    }
}

/// Returns under which name a program with a token of this label speaks: under none that people would take for
/// ours, for an owner's or for an agent's.
fn name_of<'a>(label: &'a str, agent: &AgentName) -> Cow<'a, str> {
    match label {
        "" => NAMELESS.into(),
        label
            if likeness::is_like_ours(label)
                || likeness::is_like_agent_of(agent.server(), label) =>
        {
            format!("mcp_{label}").into()
        }
        label => label.into(),
    }
}

#[async_trait]
impl Daemons for HubDaemons {
    fn agent(&self, word: Option<&str>) -> Result<AgentName, ApiError> {
        let loaded = configuration::quiet(&self.paths.config_file);
        let agents: Vec<AgentName> =
            loaded.iter().flat_map(Loaded::enabled).map(|agent| agent.nick.clone()).collect();
        let Some(word) = word else {
            return match agents.as_slice() {
                [one] => Ok(one.clone()),
                [] => Err(ApiError::new(ErrorCode::NotFound, "there is no agent")),
                _ => Err(ApiError::new(ErrorCode::BadRequest, "there are several agents")
                    .hint("name one: ?agent=NICK")
                    .hint(configuration::known_agents(agents.iter()))),
            };
        };
        let who: Who = word
            .parse()
            .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("{word}: {error}")))?;
        let found = names::meant(&who, &agents).and_then(|agent| match agents.contains(&agent) {
            true => Ok(agent),
            false => Err(configuration::unknown(&agent, agents.iter())),
        });
        found.map_err(|failure| told(ErrorCode::NotFound, &failure))
    }

    async fn order(
        &self,
        store: &Store,
        agent: AgentName,
        order: Order,
    ) -> Result<Option<String>, ApiError> {
        let word = match order {
            Order::Compact => Word::Compact,
            Order::NewSession => Word::Clear,
            Order::Pause { until } => Word::Pause { until },
            Order::Resume => Word::Resume,
            Order::Abort => Word::Interrupt,
        };
        match control::tell_aside((store, &self.paths), &agent, word).await {
            Ok(done) => {
                let held = control::held_after(store, &agent, word).await;
                let held = held.map_err(|failure| told(ErrorCode::Unavailable, &failure))?;
                match done {
                    Ok(_) => Ok(held),
                    Err(refused) => {
                        let refused = held.into_iter().fold(refused, Failure::hint);
                        Err(told(ErrorCode::Conflict, &refused))
                    }
                }
            }
            Err(failure) => Err(told(ErrorCode::Unavailable, &failure)),
        }
    }

    async fn answer(&self, store: &Store, number: i64, said: &str) -> Result<String, ApiError> {
        let loaded = configuration::quiet(&self.paths.config_file);
        let released = loaded.map_or(TURNS_PER_CAUSE, |it| it.config.turns_per_cause.into());
        let site = Site { store, paths: &self.paths, by: HTTP_OWNER, released };
        let done = attention::answer_any(site, number, said).await;
        done.map_err(|failure| told(ErrorCode::Conflict, &failure))
    }

    async fn budgets(&self, store: &Store) -> Result<Budgets, ApiError> {
        let unusable = |failure: &Failure| told(ErrorCode::Unavailable, failure);
        let loaded = configuration::load(&self.paths.config_file).map_err(|it| unusable(&it))?;
        budgets::of_today(&loaded, store).await.map_err(|it| unusable(&it))
    }

    fn tools(&self, user: User) -> Vec<ToolSpec> {
        offered(user)
    }

    async fn call(
        &self,
        store: &Store,
        client: &Client,
        call: Call,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        let Call { id, name, input, .. } = call;
        match self.host(store, client).await {
            Ok(host) => {
                host.call_unless(ToolCall { turn: OUTSIDE, id, name, input }, taken_back).await
            }
            Err(failure) => Some(Err(failure.sentence())),
        }
    }
}

fn told(code: ErrorCode, failure: &Failure) -> ApiError {
    let error = ApiError::new(code, failure.sentence());
    failure.remedies().into_iter().fold(error, |error, hint| error.hint(hint))
}

#[cfg(test)]
mod tests {
    //! Under which name a program speaks.

    use super::*;

    #[test]
    fn no_label_makes_a_program_look_like_us_or_an_agent() {
        let agent = "oak-ada".parse().unwrap();
        for label in ["owner", "0wner", "operator", "supervisor", "system1", "oak_ada", "0ak-bob"] {
            assert_eq!(name_of(label, &agent), format!("mcp_{label}"));
        }
        for label in ["an editor", "ori", "matrix"] {
            assert_eq!(name_of(label, &agent), label);
        }
        assert_eq!(name_of("", &agent), "operator");
    }
}
