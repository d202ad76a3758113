//! The backend's start options and its tools.

use std::sync::Arc;

use gangline_config::{AgentAnswers, AgentConfig};
use gangline_core::{model::ModelName, question::AnswerRule, trust};
use gangline_os::{clock::SharedClock, fsio};
use gangline_runtime::{StartOptions, Thinking};
use gangline_store::EpochStart;

use super::{Shared, whereabouts};
use crate::{
    asking::Asker,
    carrying::Waiting,
    environment,
    past::Recorded,
    prompt,
    root::{closed, read},
    session::resume_from,
    settings::Settings,
    speech::Speaker,
    tools::{About, AgentTools},
};

/// Returns what says the agent's words.
pub(super) fn speaker(settings: &Settings, shared: &Shared) -> Speaker {
    Speaker {
        agent: settings.agent.nick.clone(),
        store: shared.store.clone(),
        paths: settings.paths.clone(),
        redactor: Arc::clone(&shared.redactor),
        agent_loop: shared.agent_loop.clone(),
        outbox: Arc::clone(&shared.outbox),
        committed: shared.committed.clone(),
        owners_only: Arc::new(settings.owners_only.clone()),
        max_hops: trust::Policy::default().max_hops,
    }
}

/// Returns what asks for the agent.
pub(super) fn asker(settings: &Settings, shared: &Shared) -> Asker {
    Asker {
        alerts: shared.alerts.clone(),
        speaker: speaker(settings, shared),
        whereabouts: whereabouts(shared),
        clock: SharedClock::clone(&settings.clock),
        alarm: Arc::clone(&shared.alarm),
        own: settings.irc.is_own(),
        rooms: settings.agent.channels.iter().cloned().collect(),
        agent_answers: settings.agent.agent_answers.map(rule_of),
        epoch: shared.epoch,
    }
}

fn rule_of(answers: AgentAnswers) -> AnswerRule {
    match answers {
        AgentAnswers::First => AnswerRule::First,
        AgentAnswers::Vote => AnswerRule::Vote,
        AgentAnswers::Consensus => AnswerRule::Consensus,
        AgentAnswers::Never => AnswerRule::Never,
    }
}

/// Returns the tools that the agent has in its session.
pub(super) fn tools(settings: &Settings, shared: &Shared) -> AgentTools {
    AgentTools {
        server_key: settings.server_key.as_str(),
        speaker: speaker(settings, shared),
        turn: shared.context.clone(),
        asker: asker(settings, shared),
        whereabouts: whereabouts(shared),
        clock: SharedClock::clone(&settings.clock),
        showing: shared.showing.clone(),
        alarm: Arc::clone(&shared.alarm),
        about: About {
            role: settings.agent.role,
            own_server: settings.irc.is_own(),
            pronouns: settings.agent.operator_pronouns.clone(),
            reminders: read::reminders(settings),
        },
        whispers: whispers(shared),
    }
}

/// Returns the way to the whispers that wait.
pub(super) fn whispers(shared: &Shared) -> Waiting {
    Waiting { count: shared.whispers.clone(), agent_loop: shared.agent_loop.clone() }
}

/// Returns the effort of the configuration.
pub(super) fn thinking(agent: &AgentConfig) -> Thinking {
    match &agent.thinking {
        gangline_config::Thinking::Said(word) => Thinking::Said(word.clone()),
        usual @ gangline_config::Thinking::Usual => Thinking::Usual(usual.word().to_owned()),
    }
}

/// Returns what the backend is started with.
pub(super) fn start_options(
    settings: &Settings,
    shared: &Shared,
    started: &EpochStart,
) -> StartOptions {
    let agent = &settings.agent;
    let folder = settings.paths.agent_dir(agent.nick.as_str());
    let run_id = read::run_id(settings, shared.store.installation_id(), shared.epoch);
    if let Err(error) = fsio::private_dir(&read::notes(settings)) {
        tracing::warn!(%error, "the agent has no folder for its notes");
    }
    let mut options = StartOptions {
        purpose: gangline_runtime::Purpose::Work,
        workdir: agent.directory.clone(),
        session_dir: folder.join("sessions"),
        tmp_dir: folder.join(environment::TMP),
        command: settings.command(),
        account_dir: agent.account_dir.clone(),
        env: environment::whole(settings, &run_id),
        mode: read::mode(agent),
        model: shared.model.as_ref().map(ModelName::to_string).or_else(|| agent.model.clone()),
        thinking: Some(match shared.effort {
            Some(level) => Thinking::Said(level.to_string()),
            None => thinking(agent),
        }),
        system_prompt: prompt::system(agent, &read::notes(settings)),
        mcp_servers: settings.mcp_servers.clone(),
        permissions: agent.permissions,
        allowed_tools: agent.allowed_tools.clone(),
        bounds: closed::bounds(settings),
        trusted: settings.trusted.clone(),
        resume: resume_from(started.session.clone()),
        past: Arc::new(Recorded { store: shared.store.clone(), agent: agent.nick.clone() }),
        initial_prompt: None,
        tool_bridge: settings.tool_bridge.clone(),
        base_url: agent.base_url.clone(),
        api_key: settings.api_key.clone(),
        extra: agent.extra.clone(),
        tools: Arc::new(tools(settings, shared)),
    };
    if let Some(own) = read::auto_compact(agent) {
        options.extra.entry(read::AUTO_COMPACT.to_owned()).or_insert(own.into());
    }
    settings.backend.apply(&mut options);
    options
}
