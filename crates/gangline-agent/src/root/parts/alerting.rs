//! The daemon's sender of alerts.

use std::sync::Arc;

use gangline_alerts::{Room, Sender, Whose};
use gangline_api::event::StepState;
use gangline_os::lock::probe;
use tokio::sync::watch;

use super::{ALERTS, Parts, Shared, whereabouts};
use crate::{alerts::posting::AsAgent, root::logged, settings::Settings};

impl Parts {
    /// Starts the sender of alerts, if there is a place to tell them.
    pub(in crate::root) fn start_alerts(&mut self) -> StepState {
        let Some(sender) = self.alerts.take() else { return StepState::Absent };
        self.tasks.spawn(ALERTS, logged(ALERTS, sender.run(self.intake.clone())));
        StepState::Done
    }
}

/// Sends the agent's alerts while no hub runs, and posts them where agents post their own.
pub(super) fn sender(settings: &Settings, shared: &Shared) -> Option<Sender> {
    if settings.alerts.channel.is_none() && settings.alerts.targets.is_empty() {
        return None;
    }
    // Its sender is gone: the plan stays as it is.
    let (_, plan) = watch::channel(Arc::clone(&settings.alerts));
    let hub_lock = settings.paths.hub_lock();
    let may_post = settings.alerts.as_agent || !settings.irc.is_own();
    Some(Sender {
        store: shared.store.clone(),
        clock: settings.clock.clone(),
        plan: plan.clone(),
        whose: Whose::Of(settings.agent.nick.clone()),
        by: format!("{} {}", settings.agent.nick, shared.epoch.0),
        // The installation's own server is the hub's: without one there is nobody to read it.
        room: may_post.then(|| -> Arc<dyn Room> {
            Arc::new(AsAgent {
                agent: settings.agent.nick.clone(),
                store: shared.store.clone(),
                plan,
                whereabouts: whereabouts(shared),
                outbox: Arc::clone(&shared.outbox),
            })
        }),
        hub_runs: Box::new(move || matches!(probe(&hub_lock), Ok(Some(_)))),
        raised: Arc::clone(&shared.alerts.own),
    })
}
