//! The daemon's tools, the agent's tool servers and our hooks, for a program in a terminal: told by
//! arguments and files, in the form that its profile names (R3-14, R3-20).

use gangline_core::permission::{self, Permit};
use gangline_os::{fsio, secret::Secret};
use serde_json::{Value, json};

use super::{
    hooks::{self, Hooks},
    profile::Form,
};
use crate::{
    McpPlace, McpServer, StartOptions, ToolServer,
    folder::project::{Project, joined},
};

/// The files, beside the session's.
const SERVERS_FILE: &str = "tmux-tools.json";
const SETTINGS_FILE: &str = "tmux-settings.json";
/// The variable that holds the proof for the daemon's tools, where no file can.
const TOKEN_VARIABLE: &str = "GANGLINE_TOOLS_TOKEN";

/// What is added to the program's start.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Offer {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// What cannot be offered, and why.
    pub(super) notices: Vec<String>,
}

/// What of the daemon a program is told of.
#[derive(Clone, Copy, Default)]
pub(super) struct Ours<'a> {
    pub(super) tools: Option<&'a ToolServer>,
    /// The program's hooks, and the words by which they reach us.
    pub(super) hooks: Option<(&'a Hooks, &'a [String])>,
    /// What an owner has allowed of the folder.
    pub(super) project: Option<&'a Project>,
}

/// Returns what to add so that the program has its tools; `words` are those of the profile.
///
/// # Errors
/// One line: a file cannot be written.
pub(super) fn offer(
    options: &StartOptions,
    (form, words): (Form, &[String]),
    ours: Ours<'_>,
) -> Result<Offer, String> {
    match form {
        Form::Json => in_files(options, words, ours),
        Form::Flags => Ok(in_flags(options, words, ours)),
    }
}

/// `{file}` is a list of servers, `{settings}` says which tools run unasked, and which hooks.
fn in_files(options: &StartOptions, words: &[String], ours: Ours<'_>) -> Result<Offer, String> {
    let own = ours.tools.map(ToolServer::over_http);
    let servers: Vec<&McpServer> = options.mcp_servers.iter().chain(&own).collect();
    // No server of the project takes the place of a configured one, or of the daemon's.
    let mut entries = ours.project.map(|project| project.servers.clone()).unwrap_or_default();
    entries.retain(|key, _| key != options.tools.server_key());
    entries.extend(servers.iter().map(|server| (server.key.clone(), entry(server))));
    let policy = options.policy();
    let built_in = permission::BUILT_INS.iter().map(|tool| (*tool).to_owned());
    let mut allow: Vec<String> =
        built_in.filter(|tool| policy.permit(tool) == Permit::Allow).collect();
    for server in servers {
        let tools = server.allowed_tools.iter();
        allow.extend(tools.map(|tool| permission::mcp_tool(&server.key, tool)));
    }
    // What is not on the list a human decides, not the program's own judgement.
    let mut settings = json!({"permissions": {"defaultMode": "default", "allow": allow}});
    if let Some((hooks, words)) = ours.hooks {
        settings["hooks"] = hooks.settings(words);
    }
    if let Some(project) = ours.project {
        settings = joined(json!(project.settings), settings);
    }
    let mut args = words.to_vec();
    for (hole, file, content) in [
        ("{file}", SERVERS_FILE, json!({"mcpServers": entries})),
        ("{settings}", SETTINGS_FILE, settings),
    ] {
        let path = options.session_dir.join(file);
        // Tokens are in it.
        fsio::write_private(&path, content.to_string().as_bytes())
            .map_err(|error| error.to_string())?;
        for word in &mut args {
            *word = word.replace(hole, &path.display().to_string());
        }
    }
    Ok(Offer { args, ..Offer::default() })
}

fn entry(server: &McpServer) -> Value {
    match &server.place {
        McpPlace::Stdio { command, env } => {
            let (program, args) = command.split_first().unwrap_or((&EMPTY, &[]));
            json!({"type": "stdio", "command": program, "args": args, "env": env})
        }
        McpPlace::Http { url, headers } => json!({"type": "http", "url": url, "headers": headers}),
    }
}

static EMPTY: String = String::new();

/// `{set}` is one setting. Arguments can be read by everybody on the machine: what is secret is
/// given in the environment, or not at all.
fn in_flags(options: &StartOptions, words: &[String], ours: Ours<'_>) -> Offer {
    let mut offer = Offer::default();
    let mut add = |setting: &str| {
        offer.args.extend(words.iter().map(|word| word.replace("{set}", setting)));
    };
    // Texts and lists are written the same in TOML.
    if let Some((_, words)) = ours.hooks {
        add(&format!("notify={}", json!(hooks::with_argument(words))));
    }
    let mut set = |key: &str, name: &str, value: &Value| {
        add(&format!("mcp_servers.{key}.{name}={value}"));
    };
    let unasked = json!("approve");
    let mut withheld = Vec::new();
    for server in &options.mcp_servers {
        match &server.place {
            McpPlace::Stdio { command, env } if env.is_empty() && !command.is_empty() => {
                set(&server.key, "command", &json!(command[0]));
                set(&server.key, "args", &json!(command[1..]));
            }
            McpPlace::Http { url, headers } if headers.is_empty() => {
                set(&server.key, "url", &json!(url));
            }
            McpPlace::Stdio { .. } | McpPlace::Http { .. } => {
                withheld.push(server.key.clone());
                continue;
            }
        }
        if server.allowed_tools.iter().any(|tool| tool == "*") {
            set(&server.key, "default_tools_approval_mode", &unasked);
        }
    }
    let mut env = Vec::new();
    if let Some((own, url, token)) = ours.tools.and_then(address) {
        set(&own, "url", &json!(url));
        set(&own, "bearer_token_env_var", &json!(TOKEN_VARIABLE));
        set(&own, "default_tools_approval_mode", &unasked);
        env.push((TOKEN_VARIABLE.to_owned(), token.expose().to_owned()));
    }
    offer.env = env;
    offer.notices = withheld
        .into_iter()
        .map(|key| {
            format!(
                "the tool server {key} is not offered in a terminal: its keys would be seen by all"
            )
        })
        .collect();
    offer
}

fn address(own: &ToolServer) -> Option<(String, String, Secret)> {
    let server = own.over_http();
    let McpPlace::Http { url, headers } = server.place else { return None };
    let token = headers.get("Authorization")?.strip_prefix("Bearer ")?;
    Some((server.key, url, Secret::new(token)))
}

#[cfg(test)]
mod tests;
