//! What tells the agent loop that there is something to do: due times, looks into the store, change
//! notices.

use std::sync::Arc;

use gangline_config::Role;
use gangline_core::{effort::EffortLevel, model::ModelName};
use gangline_os::{CancellationToken, change_notice::ChangeNotice, clock::SharedClock};

use super::Shared;
use crate::{
    agent_loop::ChangeNotices,
    alarms::Alarms,
    calls::Calls,
    effort,
    fleet::Fleet,
    looks::{LookDeps, Looks},
    model,
    root::read,
    settings::Settings,
    updates::Updates,
};

pub(super) fn alarms(settings: &Settings, shared: &Shared) -> Alarms {
    Alarms {
        alerts: shared.alerts.clone(),
        me: Arc::new(read::identity(settings, shared.epoch)),
        store: shared.store.clone(),
        agent_loop: shared.agent_loop.clone(),
        rescan: Arc::clone(&shared.rescan),
        outbox: Arc::clone(&shared.outbox),
        made: Arc::clone(&shared.alarm),
        committed: shared.committed.clone(),
    }
}

pub(super) fn calls(settings: &Settings, shared: &Shared) -> Calls {
    Calls {
        agent: settings.agent.nick.clone(),
        store: shared.store.clone(),
        clock: SharedClock::clone(&settings.clock),
        rescan: Arc::clone(&shared.rescan),
    }
}

/// Returns the task that tells a manager what needs an update; other agents have none.
pub(super) fn updates(settings: &Settings, shared: &Shared) -> Option<Updates> {
    let fleet = Fleet {
        paths: settings.paths.clone(),
        store: shared.store.clone(),
        me: settings.agent.nick.clone(),
    };
    let rescan = Arc::clone(&shared.rescan);
    (settings.agent.role == Role::Manager).then_some(Updates { fleet, rescan })
}

pub(super) fn looks(settings: &Settings, shared: &Shared) -> Looks {
    Looks::new(LookDeps {
        agent: settings.agent.nick.clone(),
        epoch: shared.epoch,
        store: shared.store.clone(),
        clock: settings.clock.clone(),
    })
}

/// Returns the model that somebody has chosen.
pub(super) fn chosen_model(settings: &Settings) -> Option<ModelName> {
    let own = model::file(&settings.paths, &settings.agent.nick, &settings.backend.owner());
    model::current(&own, settings.model_file.as_deref())
}

/// Returns the effort that somebody has chosen.
pub(super) fn chosen_effort(settings: &Settings) -> Option<EffortLevel> {
    effort::chosen(&settings.paths, &settings.agent.nick, &settings.backend.owner())
}

pub(super) fn change_notices(
    settings: &Settings,
    shared: &Shared,
    (outside, intake): (ChangeNotice, CancellationToken),
) -> ChangeNotices {
    ChangeNotices {
        outside,
        inside: Arc::clone(&shared.rescan),
        outbox: Arc::clone(&shared.outbox),
        alarm: Arc::clone(&shared.alarm),
        committed: shared.committed.clone(),
        intake,
        model_file: model::file(&settings.paths, &settings.agent.nick, &settings.backend.owner()),
        model_outside: settings.model_file.clone(),
        model: shared.model.clone(),
        effort_file: effort::file(&settings.paths, &settings.agent.nick, &settings.backend.owner()),
        effort: shared.effort,
    }
}
