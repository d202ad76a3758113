//! Restarts that were ordered: one daemon after the other, each ready before the next one ends.

use std::time::Duration;

use gangline_core::{AgentName, agent::AgentPhase};
use gangline_os::clock::UnixMicros;
use gangline_store::{AgentRow, Order, Restart, RestartWhen, Store};
use tracing::{info, warn};

use crate::kept::{DRAIN_BUDGET, Reconciler, Standing};

/// A daemon that is not ready after this time does not hold up the others.
const READY_BUDGET: Duration = Duration::from_secs(120);

/// The restart that is under way.
#[derive(Debug, Default)]
pub(super) struct Roll {
    current: Option<Current>,
    /// Whether some restart waits for its turn or for its daemon to be idle.
    waiting: bool,
}

#[derive(Debug)]
struct Current {
    agent: AgentName,
    restart: Restart,
    begun: UnixMicros,
}

impl Roll {
    /// Returns whether there is something to look for soon.
    pub(super) fn is_busy(&self) -> bool {
        self.current.is_some() || self.waiting
    }

    /// Goes on with the restart that is under way, or begins the next one that may be begun.
    pub(super) async fn on(
        &mut self,
        now: UnixMicros,
        (store, orders, rows): (&Store, &[Order], &[AgentRow]),
        reconciler: &mut Reconciler,
    ) {
        if let Some(current) = &mut self.current {
            if let Some(restart) = current.followed_by(orders, rows)
                && reconciler.end(&current.agent)
            {
                info!(agent = %current.agent, number = restart.number, by = restart.by, "restarts again");
                (current.restart, current.begun) = (restart.clone(), now);
                return;
            }
            if !current.is_over(now, rows, reconciler) {
                return;
            }
            self.current = None;
        }
        let mut pending: Vec<(&AgentName, &Restart)> =
            orders.iter().filter_map(|order| pending(order, rows, reconciler)).collect();
        pending.sort_by_key(|(_, restart)| restart.number);
        self.waiting = !pending.is_empty();
        for (agent, restart) in pending {
            let may = match restart.when {
                RestartWhen::Immediately => true,
                RestartWhen::WhenIdle => match rows.iter().find(|row| row.agent == *agent) {
                    Some(row) => is_idle(now, store, row).await,
                    None => true,
                },
            };
            if may && reconciler.end(agent) {
                info!(%agent, number = restart.number, by = restart.by, "restarts");
                let (agent, restart) = (agent.clone(), restart.clone());
                self.current = Some(Current { agent, restart, begun: now });
                return;
            }
        }
    }
}

impl Current {
    /// Returns the order by which its successor is to end, too: nobody waits until that one is ready.
    fn followed_by<'a>(&self, orders: &'a [Order], rows: &[AgentRow]) -> Option<&'a Restart> {
        let order = orders.iter().find(|order| order.agent == self.agent)?;
        let next = order.restart.as_ref().filter(|next| next.when == RestartWhen::Immediately)?;
        let row = rows.iter().find(|row| row.agent == self.agent)?;
        let began = row.epoch > self.restart.ends;
        (began && next.number > self.restart.number && row.epoch <= next.ends).then_some(next)
    }

    /// Its successor is ready, or will not be.
    fn is_over(&self, now: UnixMicros, rows: &[AgentRow], reconciler: &Reconciler) -> bool {
        let known = reconciler.known().find(|known| known.agent == Some(&self.agent));
        let Some(known) = known.filter(|known| known.wanted) else { return true };
        if let Standing::GivenUp { code } = known.standing {
            warn!(agent = %self.agent, code, "did not come back");
            return true;
        }
        let row = rows.iter().find(|row| row.agent == self.agent);
        let Some(row) = row.filter(|row| row.epoch > self.restart.ends) else {
            // The turn may settle, and a killed one is started at once; but a program that does not
            // start at all must not hold up every other order.
            let over = now.since(self.begun) > DRAIN_BUDGET.saturating_add(READY_BUDGET);
            if over {
                warn!(agent = %self.agent, "did not come back in time; the others continue");
            }
            return over;
        };
        if row.ready_at.is_some() {
            info!(agent = %self.agent, "restarted");
            return true;
        }
        // It waits for a human, and nobody knows how long.
        if row.is_parked() || needs_login(row) {
            return true;
        }
        if now.since(self.begun.max(row.started_at)) > READY_BUDGET {
            warn!(agent = %self.agent, "is not ready yet; the others continue");
            return true;
        }
        false
    }
}

/// Returns the restart of this order if it is still to be done and its daemon runs; one that does
/// not run will be another one anyway.
fn pending<'a>(
    order: &'a Order,
    rows: &[AgentRow],
    reconciler: &Reconciler,
) -> Option<(&'a AgentName, &'a Restart)> {
    let restart = order.restart.as_ref()?;
    let row = rows.iter().find(|row| row.agent == order.agent)?;
    let known = reconciler.known().find(|known| known.agent == Some(&order.agent))?;
    let up = known.wanted && matches!(known.standing, Standing::Up { .. });
    (up && row.epoch <= restart.ends).then_some((&order.agent, restart))
}

/// Returns whether the daemon of this row has no turn and is not about to begin one. What it says
/// may be a moment old; a turn that began in that moment may settle before the end. A store that
/// cannot be read makes nobody idle.
pub async fn is_idle(now: UnixMicros, store: &Store, row: &AgentRow) -> bool {
    let held = row.holding(now).next().is_some() || needs_login(row);
    match row.known_phase() {
        Some(AgentPhase::Parked | AgentPhase::Down) => true,
        Some(AgentPhase::Idle) if held => true,
        Some(AgentPhase::Idle) => {
            let due = store.pending(&row.agent, now, 1).await;
            due.is_ok_and(|rows| rows.is_empty())
        }
        Some(AgentPhase::Starting | AgentPhase::Working | AgentPhase::Interrupting) | None => false,
    }
}

pub(super) fn needs_login(row: &AgentRow) -> bool {
    let told = row.status_json.as_deref().and_then(|text| serde_json::from_str(text).ok());
    told.is_some_and(|told: serde_json::Value| !told["needs_login"].is_null())
}
