//! The relay, and what knows the budgets.

use gangline_os::task::TaskGroup;
use gangline_relay::Limits;
use tokio::sync::watch;

use super::{RELAY, SPENDING, Shared};
use crate::{
    relaying::{Notes, Prepared},
    root::{logged, read},
    settings::Settings,
    spending::{Spending, SpendingDeps, Wakes},
};

/// Starts the relay, and what knows the budgets. The relay ends after the backend: with the outbox.
pub(super) fn spawn(
    tasks: &mut TaskGroup,
    settings: &Settings,
    shared: &Shared,
    relay: Option<Prepared>,
) {
    let (limits, limit) = watch::channel(Limits::default());
    let reports = relay.map(|relay| {
        let notes = Notes {
            store: shared.store.clone(),
            agent: settings.agent.nick.clone(),
            epoch: shared.epoch,
            clock: settings.clock.clone(),
        };
        let (serve, reports) = relay.serve((limit, notes), shared.flush.clone());
        tasks.spawn(RELAY, serve);
        reports
    });
    let spending = Spending::new(SpendingDeps {
        me: read::identity(settings, shared.epoch),
        store: shared.store.clone(),
        agent_loop: shared.agent_loop.clone(),
        budgets: settings.spending.budgets.clone(),
        everybody: settings.everybody.clone(),
        paths: settings.paths.clone(),
        context: shared.context.clone(),
        prices: settings.spending.prices.clone(),
        limits,
    });
    let wakes =
        Wakes { reports, committed: shared.committed.subscribe(), ticks: shared.ticks.clone() };
    tasks.spawn(SPENDING, logged(SPENDING, spending.run(wakes, shared.flush.clone())));
}
