//! Cline: its provider and its tool servers come by files, which variables name.

use std::path::Path;

use serde_json::json;

use super::{
    By, Counts, Given, Guard, Introduction, Names, Recipe, Refused, Servers, Takes, Wanted,
    Withdrawn, settings,
};
use crate::folder::programs;

pub(in super::super) static CLINE: Recipe = Recipe {
    name: "cline",
    any: false,
    command: &["cline", "--acp"],
    login: "run `cline auth` as the agent's user",
    counts: Counts::None,
    errors: &[],
    remarks: &[],
    guards: &[Guard { choice: "auto_approve", must: None }],
    asking: &[],
    refused: Refused::ModelIsTold,
    withdrawn: Withdrawn::IsForgotten,
    servers: Servers { stdio: true, http: false, by: By::Recipe },
    compact: None,
    lists: false,
    introduction: Introduction::FirstPrompt,
    names: Names::Plain,
    takes: Takes::BOTH,
    brings: &programs::CLINE,
    words: &[],
    prepare,
};

const PROVIDERS: &str = "CLINE_PROVIDER_SETTINGS_PATH";
const SERVERS: &str = "CLINE_MCP_SETTINGS_PATH";
/// Where its servers are by itself, below the home folder.
const USUAL_SERVERS: &str = ".cline/data/settings/cline_mcp_settings.json";
/// What it calls a provider with an address of one's own.
const PROVIDER: &str = "openai-compatible";

fn prepare(wanted: &Wanted<'_>, given: &mut Given) -> Result<(), String> {
    let options = wanted.options;
    // Else it starts a process that outlives it, belongs to all programs of this user, and goes on
    // with the turn of one that was killed.
    given.default("CLINE_SESSION_BACKEND_MODE", "local");
    given.default("DO_NOT_TRACK", "1");
    if let Some(url) = &options.base_url {
        let key = wanted.key().unwrap_or("none");
        let model = wanted.plain_model().unwrap_or("default");
        let file = json!({
            "version": 1,
            "lastUsedProvider": PROVIDER,
            "modes": {},
            "providers": {PROVIDER: {
                "settings": {
                    "provider": PROVIDER, "apiKey": key, "model": model, "baseUrl": url,
                },
                "updatedAt": "2026-01-01T00:00:00.000Z",
                "tokenSource": "manual",
            }},
        });
        let file = settings::write(options, "cline-providers.json", &file.to_string())?;
        given.set(PROVIDERS, file.display().to_string());
        given.set("CLINE_PROVIDER", PROVIDER);
        given.set("CLINE_MODEL", model);
        // Without it a session is refused although the file has the key.
        given.set("CLINE_API_KEY", key);
    } else {
        if let Some(key) = wanted.key() {
            given.set("CLINE_API_KEY", key);
        }
        if let Some(model) = wanted.plain_model() {
            given.set("CLINE_MODEL", model);
        }
    }
    if wanted.servers.is_empty() {
        return Ok(());
    }
    let home = given.env.get("HOME").map(|home| Path::new(home).join(USUAL_SERVERS));
    let theirs = given.env.get(SERVERS).map(|file| Path::new(file).to_path_buf()).or(home);
    let mut servers = theirs.map(|file| settings::servers_in(&file)).unwrap_or_default();
    for server in wanted.servers {
        servers.insert(server.key.clone(), settings::server(server, "stdio"));
    }
    let text = json!({"mcpServers": servers}).to_string();
    let file = settings::write(options, "cline-servers.json", &text)?;
    given.set(SERVERS, file.display().to_string());
    Ok(())
}
