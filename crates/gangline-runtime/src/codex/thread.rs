//! With what a conversation begins: who serves the model, tools, permissions, the shell's
//! environment. The program forgets most of it at its end, so it is sent each time.

use std::collections::BTreeMap;

use gangline_os::run_id::RUN_ID;
use serde_json::{Map, Value, json};

use super::{SERVER, effort, permit::Gate};
use crate::{
    McpPlace, McpServer, Purpose, SessionId, StartOptions, Thinking, ToolSpec,
    folder::projects::{self, Trust},
};

#[cfg(test)]
pub(in crate::codex) mod tests;

/// The provider that the options make.
const PROVIDER: &str = "gangline";
/// Where a key without an address belongs to.
const USUAL_ADDRESS: &str = "https://api.openai.com/v1";
/// Commands are asked about before they run, each of them, also those that only look: the program
/// tells us and waits. What was allowed must reach the agent's socket and the network, which no
/// sandbox of the program lets through; and what ran before somebody answered would need a sandbox
/// that not every machine has.
const APPROVALS: &str = "untrusted";
const SANDBOX: &str = "danger-full-access";
/// Nothing is allowed to a session that only judges, and what was not asked about writes nothing.
const JUDGES_IN: &str = "read-only";
/// A tool may wait for a human.
const TOOL_SECONDS: u32 = 3600;
const SERVER_START_SECONDS: u32 = 30;

/// The beginnings of a session's conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Thread {
    /// What every beginning has.
    common: Map<String, Value>,
    /// What only a new one takes.
    tools: Vec<Value>,
}

impl Thread {
    pub(super) fn new(options: &StartOptions, tools: &[ToolSpec], trust: Trust) -> Self {
        let mut common = Map::new();
        let mut add = |name: &str, value: Value| common.insert(name.to_owned(), value);
        let judges = options.purpose == Purpose::Judge;
        add("cwd", json!(options.workdir));
        add("approvalPolicy", json!(APPROVALS));
        add("sandbox", json!(if judges { JUDGES_IN } else { SANDBOX }));
        if judges {
            add("ephemeral", json!(true));
        }
        if !options.system_prompt.is_empty() {
            add("developerInstructions", json!(options.system_prompt));
        }
        if has_provider(options) {
            add("modelProvider", json!(PROVIDER));
        }
        add("config", config(options, tools, trust));
        let tools = tools.iter().map(tool).collect();
        Self { common, tools }
    }

    /// Returns how a new one is begun, with this model.
    pub(super) fn start(&self, model: Option<&str>) -> Value {
        let mut params = self.with_model(model);
        if !self.tools.is_empty() {
            params.insert("dynamicTools".to_owned(), json!(self.tools));
        }
        params.into()
    }

    /// Returns how this one is gone on with.
    pub(super) fn resume(&self, session: &SessionId, model: Option<&str>) -> Value {
        let mut params = self.with_model(model);
        params.insert("threadId".to_owned(), json!(session.0));
        params.insert("excludeTurns".to_owned(), json!(true));
        params.into()
    }

    fn with_model(&self, model: Option<&str>) -> Map<String, Value> {
        let mut params = self.common.clone();
        if let Some(model) = model {
            params.insert("model".to_owned(), json!(model));
        }
        params
    }
}

/// Returns whether the options say who serves the model.
pub(super) fn has_provider(options: &StartOptions) -> bool {
    options.base_url.is_some() || options.api_key.is_some()
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.input_schema,
    })
}

fn config(options: &StartOptions, tools: &[ToolSpec], trust: Trust) -> Value {
    let mut config = Map::new();
    let mut add = |name: &str, value: Value| config.insert(name.to_owned(), value);
    let trusted = |folder| (folder, json!({"trust_level": trust.word()}));
    let projects: Map<String, Value> = projects::told(options).into_iter().map(trusted).collect();
    add("projects", projects.into());
    if has_provider(options) {
        add("model_providers", json!({PROVIDER: provider(options)}));
    }
    // What nobody says is the user's own settings' affair.
    let said = options.thinking.as_ref().and_then(Thinking::said);
    let level = said.and_then(|word| word.parse().ok());
    if let Some(level) = level.filter(|level| effort::LEVELS.contains(level)) {
        add("model_reasoning_effort", json!(effort::word(level)));
    }
    if options.purpose == Purpose::Judge || trust == Trust::None {
        add("project_doc_max_bytes", json!(0));
    }
    if options.purpose == Purpose::Judge {
        add("include_permissions_instructions", json!(false));
        add("include_environment_context", json!(false));
        add("skills", json!({"include_instructions": false}));
    }
    add("shell_environment_policy", shell(options));
    // A login shell would set another PATH than the one that we give.
    add("allow_login_shell", json!(false));
    let servers = servers(options, tools);
    if !servers.is_empty() {
        add("mcp_servers", servers.into());
    }
    config.into()
}

/// The key goes over the pipe: no environment and no command line holds it, so no shell has it.
fn provider(options: &StartOptions) -> Value {
    let mut provider = json!({
        "name": "Gangline",
        "base_url": options.base_url.as_deref().unwrap_or(USUAL_ADDRESS),
        "wire_api": "responses",
        // Told after some seconds instead of half a minute.
        "request_max_retries": 2,
        "stream_max_retries": 2,
    });
    if let (Some(key), Some(fields)) = (&options.api_key, provider.as_object_mut()) {
        fields.insert("experimental_bearer_token".to_owned(), json!(key.expose()));
    }
    provider
}

/// Its shells get what the program was given; a policy of the user's could take the agent's name
/// and token away.
fn shell(options: &StartOptions) -> Value {
    let mut set = BTreeMap::new();
    let given = |name: &str| options.env.iter().any(|(it, _)| it == name);
    if let (Some(session), false) = (&options.resume, given("GT_SESSION_ID")) {
        set.insert("GT_SESSION_ID", session.0.clone());
    }
    json!({
        "inherit": "all",
        "ignore_default_excludes": true,
        "exclude": [],
        "include_only": [],
        "set": set,
    })
}

fn servers(options: &StartOptions, tools: &[ToolSpec]) -> Map<String, Value> {
    let gate = Gate::of(options);
    let run_id = options.env.iter().find(|(name, _)| name == RUN_ID);
    // The daemon's own tools come over the pipe, under their plain names.
    let others = options.mcp_servers.iter().filter(|it| tools.is_empty() || it.key != SERVER);
    others.map(|server| (server.key.clone(), entry(server, &gate, run_id))).collect()
}

fn entry(server: &McpServer, gate: &Gate, run_id: Option<&(String, String)>) -> Value {
    let mut entry = match &server.place {
        McpPlace::Stdio { command, env } => {
            let (program, args) = command.split_first().unzip();
            let mut env = env.clone();
            // The program gives a server little of its own environment; the run id must be there.
            env.extend(run_id.cloned());
            json!({
                "command": program.cloned().unwrap_or_default(),
                "args": args.unwrap_or_default(),
                "env": env,
            })
        }
        McpPlace::Http { url, headers } => json!({"url": url, "http_headers": headers}),
    };
    // Without `approve` the program asks us about each call, and the gate decides.
    let mode = if gate.allows_all() { "approve" } else { "prompt" };
    if let Some(fields) = entry.as_object_mut() {
        fields.insert("default_tools_approval_mode".to_owned(), json!(mode));
        fields.insert("tool_timeout_sec".to_owned(), json!(TOOL_SECONDS));
        fields.insert("startup_timeout_sec".to_owned(), json!(SERVER_START_SECONDS));
    }
    entry
}
