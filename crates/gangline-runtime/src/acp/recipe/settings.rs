//! Files that recipes write, and tool servers in the form that most settings have.

use std::path::PathBuf;

use gangline_os::fsio;
use serde_json::{Map, Value, json};

use crate::{McpPlace, McpServer, StartOptions};

/// Settings of a user are no longer than this, in bytes.
const SETTINGS_MAX: u64 = 1024 * 1024;

/// Writes a file that only we read, in the folder of the agent's sessions.
pub(super) fn write(options: &StartOptions, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = options.session_dir.join(name);
    fsio::write_private(&path, text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(path)
}

/// Returns the user's own servers in a settings file, if there are any.
pub(super) fn servers_in(file: &std::path::Path) -> Map<String, Value> {
    let text = fsio::read_foreign_text(file, SETTINGS_MAX).unwrap_or_default();
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    settings["mcpServers"].as_object().cloned().unwrap_or_default()
}

/// Returns one server in the form of settings files. `stdio` is the word for a program.
pub(super) fn server(server: &McpServer, stdio: &str) -> Value {
    match &server.place {
        McpPlace::Stdio { command, env } => {
            let (program, args) = command.split_first().unzip();
            json!({
                "type": stdio,
                "command": program.cloned().unwrap_or_default(),
                "args": args.unwrap_or_default(),
                "env": env,
            })
        }
        McpPlace::Http { url, headers } => json!({"type": "http", "url": url, "headers": headers}),
    }
}
