//! From what a session is started with to a loop that can run: configuration, tools, instructions,
//! MCP servers.

use std::{ffi::OsString, sync::Arc};

use gangline_harness::{
    Config, Harness, Level, Thinking, Tool,
    instructions::{self, Places},
    mcp::McpTarget,
    models, tools,
};
use gangline_os::secret::Secret;

use super::{events::Events, host::HostTool, permit::Permits};
use crate::{Purpose, SessionId, StartOptions};

/// Loop iterations of one turn; an agent in a room works longer than one at a prompt.
pub(super) const MAX_TURNS: u32 = 200;
/// Most tokens of one response, where the model is known to be able to give so many.
const MAX_TOKENS: u32 = 32_000;
/// The same where it is not known what the model can.
const MAX_TOKENS_UNKNOWN: u32 = 8_192;
/// How often a response that was cut off is asked to go on.
const CONTINUATIONS: u32 = 4;
/// Keys of MCP servers whose tools would pass for the daemon's own, which need no permission (C35).
const OWN_KEYS: [&str; 2] = ["gangline", "hyperhive"];

/// A loop that lacks its MCP servers only.
pub(super) struct Built {
    pub(super) harness: Harness,
    pub(super) session: SessionId,
    /// What the operator may want to know about the start.
    pub(super) notices: Vec<String>,
}

/// Makes the loop; an error is one line for the operator. Reads files, so it blocks for a moment.
pub(super) fn build(
    options: &StartOptions,
    shared: &Arc<Events>,
    permits: &Arc<Permits>,
) -> Result<Built, String> {
    let found = match options.purpose {
        Purpose::Work => {
            let places = Places::of(&options.workdir, &environment(options));
            instructions::gather(&places.closed_to(options.resolved_bounds().closed))
        }
        Purpose::Judge => instructions::Instructions::default(),
    };
    let mut notices = found.notices.clone();
    let mut config = config(options, &mut notices);
    let mut all = tools::standard(environment(options));
    let mut prompt = found.text.clone();
    if options.purpose == Purpose::Judge {
        all.clear();
    }
    // A list that does not name the tool leaves skills out altogether.
    if permits.may_use("Skill") {
        all.extend(tools::Skills::offered(&found.skills));
        prompt = found.prompt();
    }
    if !prompt.is_empty() {
        config.system_prompt = format!("{}\n\n{prompt}", config.system_prompt.trim_end());
    }
    for spec in options.tools.tools() {
        let (host, shared) = (Arc::clone(&options.tools), Arc::clone(shared));
        all.push(Arc::new(HostTool { spec, host, shared, permits: Arc::clone(permits) }));
    }
    shared.model_is(&config.model);
    let session = options.resume.clone().unwrap_or_else(|| options.new_session());
    let path = options.session_dir.join(format!("{}.jsonl", session.0));
    if options.resume.is_some() && !path.exists() {
        notices.push(format!(
            "session {session} is not in the agent's folder; it begins empty, under the same id"
        ));
    }
    let harness = Harness::new(config, all, Some(Arc::clone(shared) as Arc<_>))
        .map_err(|error| error.to_string())?
        .authorized_by(Arc::clone(permits) as Arc<_>)
        .resume(&path)
        .map_err(|error| error.to_string())?;
    Ok(Built { harness, session, notices })
}

fn config(options: &StartOptions, notices: &mut Vec<String>) -> Config {
    let key = options.api_key.clone().unwrap_or_else(|| Secret::new("none"));
    let mut config = Config::new(key);
    if let Some(model) = &options.model {
        config.model.clone_from(model);
    }
    if let Some(url) = &options.base_url {
        config.base_url = url.trim_end_matches('/').to_owned();
    }
    config.system_prompt.clone_from(&options.system_prompt);
    config.max_turns = MAX_TURNS;
    config.max_tokens = match models::find(&config.model) {
        Some(model) => MAX_TOKENS.min(model.max_output),
        None => MAX_TOKENS_UNKNOWN,
    };
    config.continuations = CONTINUATIONS;
    config.cwd.clone_from(&options.workdir);
    config.closed = options.resolved_bounds().closed;
    if let Some(word) = options.thinking.as_ref().and_then(|thinking| thinking.said()) {
        match Level::parse(word) {
            Some(level) => config.thinking = Thinking::Level(level),
            None => notices.push(format!(
                "thinking: {word:?} is not known here; there is off, low, medium and high"
            )),
        }
    }
    config
}

fn environment(options: &StartOptions) -> Vec<(OsString, OsString)> {
    options.env.iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// Returns the MCP servers of the session, and why others are not among them.
pub(super) fn servers(options: &StartOptions) -> (Vec<McpTarget>, Vec<String>) {
    let mut notices = Vec::new();
    let mut servers = Vec::new();
    for server in &options.mcp_servers {
        if OWN_KEYS.contains(&server.key.as_str()) {
            notices.push(format!("MCP server {}: its key is the daemon's own", server.key));
            continue;
        }
        let (env, cwd) = (environment(options), options.workdir.clone());
        servers.push(McpTarget::new(server.clone(), env, cwd));
    }
    (servers, notices)
}

/// Adds the servers' tools and what they say of themselves.
pub(super) fn with_servers(
    harness: Harness,
    tools: Vec<Arc<dyn Tool>>,
    instructions: &str,
) -> (Harness, Option<String>) {
    match harness.clone().extended(tools, instructions) {
        Ok(extended) => (extended, None),
        Err(error) => (harness, Some(format!("no tool of an MCP server is offered: {error}"))),
    }
}
