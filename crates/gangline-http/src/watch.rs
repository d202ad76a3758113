//! The attention list as a stream of its changes (server-sent events), for the owner.
//!
//! A stream begins with the whole list, so a client that connects again has missed nothing. It looks at
//! the store: changes are told within [`LOOK_EVERY`]. A client that does not read holds nobody up.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Query, State},
    http::HeaderMap,
    response::sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, stream};
use gangline_api::{
    attention::{AttentionChange, AttentionItem},
    error::ErrorCode,
};
use gangline_core::AgentName;
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tracing::warn;

use crate::{WATCHERS_MAX, attention::wire, keys, refusal::Refusal, shared::Shared};

/// How often the list is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A stream in which nothing happens shows a sign of life this often: so its end is noticed.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Whose items are meant; those of all agents if it names none.
#[derive(Debug, Deserialize)]
pub(crate) struct Whose {
    agent: Option<String>,
}

pub(crate) async fn changes(
    State(shared): State<Arc<Shared>>,
    Query(whose): Query<Whose>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Refusal> {
    keys::caller(&shared, &headers).await?.must_be_owner()?;
    let agent = whose.agent.map(|nick| shared.daemons.agent(Some(&nick))).transpose()?;
    let place = Arc::clone(&shared.watchers).try_acquire_owned().map_err(|_| {
        Refusal::new(ErrorCode::Busy, format!("{WATCHERS_MAX} streams are open already"))
            .hint("GET /api/v1/attention lists what waits")
    })?;
    let watch = Watch { shared, agent, before: None, untold: VecDeque::new(), _place: place };
    let told = stream::unfold(watch, |mut watch| async {
        let change = watch.next().await;
        Some((Ok(event(&change)), watch))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(ALIVE_EVERY)))
}

fn event(change: &AttentionChange) -> Event {
    let event = Event::default().event(change.change.as_str());
    event.json_data(&change.item).unwrap_or_else(|_| Event::default().comment("unreadable"))
}

/// One stream.
struct Watch {
    shared: Arc<Shared>,
    agent: Option<AgentName>,
    /// The list as it was told last; none before the first look.
    before: Option<Vec<AttentionItem>>,
    untold: VecDeque<AttentionChange>,
    _place: OwnedSemaphorePermit,
}

impl Watch {
    /// Returns the next change. Cancel-safe: yes.
    async fn next(&mut self) -> AttentionChange {
        loop {
            if let Some(change) = self.untold.pop_front() {
                return change;
            }
            if self.before.is_some() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            let after = match self.shared.store.attention(self.shared.clock.now()).await {
                Ok(items) => items,
                Err(error) => {
                    warn!(%error, "the attention list cannot be read");
                    tokio::time::sleep(LOOK_EVERY).await;
                    continue;
                }
            };
            let of_agent = after.iter().filter(|item| match &self.agent {
                Some(agent) => item.agent == *agent,
                None => true,
            });
            let after: Vec<AttentionItem> = of_agent.map(wire).collect();
            let before = self.before.as_deref().unwrap_or_default();
            self.untold = AttentionChange::between(before, &after).into();
            self.before = Some(after);
        }
    }
}
