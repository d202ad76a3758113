//! GitHub Copilot: variables name its provider; tool servers over stdio come by an argument, since
//! those in the session are dropped without a word.

use serde_json::{Map, Value, json};

use super::{
    ANSWER, By, Counts, Given, Guard, Introduction, Meaning, Names, Recipe, Refused, Servers,
    Takes, Wanted, Withdrawn, settings,
};
use crate::folder::programs;

pub(in super::super) static COPILOT: Recipe = Recipe {
    name: "copilot",
    any: false,
    command: &["copilot", "--acp"],
    login: "run `copilot login` as the agent's user",
    counts: Counts::OfTheProcess,
    errors: &["Error: "],
    remarks: &["Info: "],
    guards: &[Guard { choice: "allow_all", must: Some("off") }],
    asking: &[],
    refused: Refused::PromptEnds,
    withdrawn: Withdrawn::IsForgotten,
    servers: Servers { stdio: true, http: true, by: By::Recipe },
    compact: Some("compact"),
    lists: true,
    introduction: Introduction::FirstPrompt,
    names: Names::Plain,
    takes: Takes::BOTH,
    brings: &programs::COPILOT,
    words: &[
        ("not found on provider", Meaning::Request),
        // It tells the status of its last try behind its own sentence.
        ("last error: 429", Meaning::Limit),
        ("failed to get response from the ai model", Meaning::Provider),
    ],
    prepare,
};

fn prepare(wanted: &Wanted<'_>, given: &mut Given) -> Result<(), String> {
    let options = wanted.options;
    given.default("COPILOT_AUTO_UPDATE", "false");
    if let Some(url) = &options.base_url {
        // Without a login; it speaks to nobody but the provider.
        given.default("COPILOT_OFFLINE", "true");
        let window = wanted.context_window().to_string();
        given.default("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", &window);
        given.default("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", &ANSWER.to_string());
        given.set("COPILOT_PROVIDER_BASE_URL", url);
        given.set("COPILOT_PROVIDER_API_KEY", wanted.key().unwrap_or("none"));
        given.set("COPILOT_MODEL", wanted.plain_model().unwrap_or("default"));
    } else {
        if let Some(key) = wanted.key() {
            given.set("COPILOT_GITHUB_TOKEN", key);
        }
        if let Some(model) = wanted.plain_model() {
            given.set("COPILOT_MODEL", model);
        }
    }
    if wanted.servers.is_empty() {
        return Ok(());
    }
    let entry = |server: &crate::McpServer| {
        let mut entry = settings::server(server, "local");
        entry["tools"] = json!(["*"]);
        (server.key.clone(), entry)
    };
    let servers: Map<String, Value> = wanted.servers.iter().map(entry).collect();
    let text = json!({"mcpServers": servers}).to_string();
    // A file, so that no header of a server stands in the list of processes.
    let file = settings::write(options, "copilot-servers.json", &text)?;
    given.args.extend(["--additional-mcp-config".to_owned(), format!("@{}", file.display())]);
    Ok(())
}
