//! What the socket's requests need.

use std::sync::Arc;

use gangline_core::permission::Policy;
use gangline_os::{CancellationToken, fsio};
use gangline_runtime::Capabilities;

use super::{
    Shared,
    options::{asker, speaker, tools, whispers},
    whereabouts,
};
use crate::{
    control::{readable::Readable, requests::Requests},
    environment,
    root::{closed, read},
    settings::Settings,
    tokens::{OWNER_TOKEN, Proof, Tokens},
};

/// Returns it.
pub(super) fn requests(
    settings: &Settings,
    shared: &Shared,
    (can, asked_to_end): (Capabilities, CancellationToken),
    proof: Proof,
) -> Requests {
    Requests {
        me: Arc::new(read::identity(settings, shared.epoch)),
        everybody: settings.everybody.clone(),
        speaker: speaker(settings, shared),
        context: shared.context.clone(),
        showing: shared.showing.clone(),
        unread: shared.unread.clone(),
        whereabouts: whereabouts(shared),
        asker: asker(settings, shared),
        calls: shared.calls.clone(),
        members: shared.members.subscribe(),
        agent_loop: shared.agent_loop.clone(),
        rooms: shared.rooms.clone(),
        committed: shared.committed.subscribe(),
        model_owner: settings.backend.owner(),
        can,
        tokens: Tokens {
            proof,
            agent: shared.token.clone(),
            owner_file: settings.paths.state.join(OWNER_TOKEN),
            run_id: read::run_id(settings, shared.store.installation_id(), shared.epoch),
        },
        tools: tools(settings, shared),
        whispers: whispers(shared),
        readable: readable(settings),
        asked_to_end,
    }
}

/// Returns what the agent's own tools may read without a question.
fn readable(settings: &Settings) -> Readable {
    let agent = &settings.agent;
    let mut bounds = closed::resolved(settings);
    let tmp = settings.paths.agent_dir(agent.nick.as_str()).join(environment::TMP);
    bounds.open.extend([&agent.directory, &tmp].map(|folder| fsio::resolved(folder)));
    let policy = Policy::of_agent(agent.permissions, &agent.allowed_tools, []);
    Readable { policy, bounds }
}
