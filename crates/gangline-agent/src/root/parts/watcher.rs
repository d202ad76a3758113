//! The supervisor, wired and not yet started: it starts after the socket and before the runner (R0-35).

use std::sync::Arc;

use gangline_core::{
    permission::Permissions,
    reading::Bounds,
    watch::{Detectors, Watch},
};
use gangline_os::{CancellationToken, run_id::RUN_ID};
use gangline_runtime::{Mode, NoPast, NoTools, Purpose, StartOptions, Thinking};
use tokio::sync::mpsc;

use super::{BACKEND_TASKS, JUDGE, Shared};
use crate::{
    nursery::Nursery,
    root::read,
    session::port::BackendPort,
    settings::Settings,
    supervisor::{Ends, Model, State, Supervisor, evaluator::Evaluator, feed::Fed},
    watching::{Judge, Watcher},
};

/// The supervisor's own folder, in the agent's.
const FOLDER: &str = "supervisor";

/// A supervisor that is not started.
pub(super) struct Waiting {
    pub(super) supervisor: Supervisor,
    pub(super) ends: Ends,
    /// Of its backend's tasks, if a model watches.
    pub(super) nursery: Option<Nursery>,
}

/// Wires the supervisor of an agent that is watched.
pub(super) fn waiting(
    settings: &Settings,
    shared: &Shared,
    (fed, stop): (mpsc::Receiver<Fed>, &CancellationToken),
) -> Waiting {
    let watching = &settings.watching;
    let (model, nursery, state) = match &watching.by {
        Watcher::Off | Watcher::Rules => {
            (None, None, State::new(gangline_config::Watcher::RULES, None, None))
        }
        Watcher::Unusable { agent, why } => {
            (None, None, State::new(agent, None, Some(why.clone())))
        }
        Watcher::Model(judge) => {
            let (model, nursery) = model(settings, shared, (judge, stop));
            let state = State::new(&model.agent, judge.model.as_deref(), None);
            (Some(model), Some(nursery), state)
        }
    };
    let supervisor = Supervisor {
        me: read::identity(settings, shared.epoch),
        store: shared.store.clone(),
        agent_loop: shared.agent_loop.clone(),
        unread: shared.unread.clone(),
        watch: Watch::new(watching.limits),
        detectors: Detectors::default(),
        model,
        state,
    };
    let ends = Ends {
        fed,
        showing: shared.showing.clone(),
        ticks: shared.ticks.clone(),
        stop: stop.clone(),
    };
    Waiting { supervisor, ends, nursery }
}

fn model(
    settings: &Settings,
    shared: &Shared,
    (judge, stop): (&Judge, &CancellationToken),
) -> (Model, Nursery) {
    let (spawner, nursery) = Nursery::new(JUDGE, BACKEND_TASKS);
    let port = BackendPort::new(Arc::clone(&judge.make_runtime), spawner, stop.clone());
    let options = options(settings, shared, judge);
    let evaluator = Evaluator::new(port, options, (settings.clock.clone(), shared.epoch));
    (Model { agent: judge.backend.name.clone(), evaluator }, nursery)
}

/// Returns what the supervisor's backend is started with: nothing of the agent's but its state folder.
/// Its environment names no agent and holds no token, so nothing in it can speak for the agent.
fn options(settings: &Settings, shared: &Shared, judge: &Judge) -> StartOptions {
    let folder = settings.paths.agent_dir(settings.agent.nick.as_str()).join(FOLDER);
    let run_id = read::run_id(settings, shared.store.installation_id(), shared.epoch);
    let tmp_dir = folder.join("tmp");
    let mut env = judge.env.clone();
    env.insert(RUN_ID.to_owned(), run_id.of_supervisor().to_string());
    env.insert("TMPDIR".to_owned(), tmp_dir.display().to_string());
    let mut options = StartOptions {
        purpose: Purpose::Judge,
        workdir: folder.join("work"),
        session_dir: folder.join("sessions"),
        tmp_dir,
        command: judge.command.clone(),
        account_dir: judge.account_dir.clone(),
        env: env.into_iter().collect(),
        mode: Mode::Resident,
        model: judge.model.clone(),
        thinking: Some(Thinking::Said(judge.thinking.clone())),
        system_prompt: judge.prompt().to_owned(),
        mcp_servers: Vec::new(),
        permissions: Permissions::Allowlist,
        allowed_tools: Vec::new(),
        bounds: Bounds::default(),
        trusted: None,
        resume: None,
        past: Arc::new(NoPast),
        initial_prompt: None,
        tool_bridge: Vec::new(),
        base_url: judge.base_url.clone(),
        api_key: judge.api_key.clone(),
        extra: judge.backend.extra.clone(),
        tools: Arc::new(NoTools),
    };
    judge.backend.apply(&mut options);
    options
}
